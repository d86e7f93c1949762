"""Snapshot of a part: what `snapshot` returns and `restore` takes."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Snapshot"]

Snapshot: TypeAlias = dict[str, Any]
"""State by stable name: plain values, arrays, dataclasses, and snapshots of the parts inside.

Only the part that made it knows what stands under a name; a saved file that holds anything else is refused as damaged.
"""
