"""Drawing of a frame, whatever it shows: what live displays, single frames and pictures need to know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Group

__all__ = ["FrameDrawing"]


@dataclass(frozen=True, slots=True)
class FrameDrawing:
    """A frame that can be drawn at any size."""

    title: str
    """What it is of."""
    frame: Callable[[int, int], Group]
    """Draws it into so many columns and lines."""
    text: Callable[[int], str]
    """Returns all of it as plain lines of so many columns."""
