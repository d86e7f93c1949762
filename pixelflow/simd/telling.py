"""How long work tells what it does, and how far it has come."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Telling"]


class Telling(Protocol):
    """Takes what is being done now; ``share`` is how much of that is done, 0 to 1, where somebody knows."""

    def __call__(self, text: object, /, share: float | None = None) -> object:
        """Take it; costs next to nothing where nobody looks."""
