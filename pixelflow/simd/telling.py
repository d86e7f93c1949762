"""How long work tells what it does, and how far it has come."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Counting", "Telling", "unseen"]


class Telling(Protocol):
    """Takes what is being done now; ``share`` is how much of that is done, 0 to 1, where somebody knows."""

    def __call__(self, text: object, /, share: float | None = None) -> object:
        """Take it; costs next to nothing where nobody looks."""


class Counting(Protocol):
    """Takes which of ``total`` steps begins, counted from 1, and what it is."""

    def __call__(self, number: int, total: int, text: object, /) -> object:
        """Take it; costs next to nothing where nobody looks."""


def unseen(number: int, total: int, text: object, /) -> None:
    """Tell nobody."""
