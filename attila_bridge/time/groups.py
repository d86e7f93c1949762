"""Groups: four inputs that a shader carries out in step."""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["FRAGMENTS", "VERTICES", "Group", "Vertex"]

VERTICES, FRAGMENTS = 0, 1
"""Kinds of groups."""

Group: TypeAlias = tuple[int, int, int, "tuple[Vertex, ...]"]
"""Kind, draw, the quad of fragments (-1 for vertices), the vertices."""

Vertex: TypeAlias = tuple[int, bool, bool]
"""Entry of the output queue (-1: padding), whether it only stands for a vertex that is there already, whether it is
the last one of its draw."""
