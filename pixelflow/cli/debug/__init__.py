"""Looking into runs: in a terminal, in a browser, in a notebook; comparing two."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pixelflow.cli.debug.exploring import explore

__all__ = ["explore"]


def __getattr__(name: str) -> object:
    if name != "explore":  # commands load nothing of it
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pixelflow.cli.debug.exploring import explore

    return explore
