"""Who carries out many pieces of work that need nothing from each other: whoever measures them takes it as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

__all__ = ["HERE", "Workers"]

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")


class Workers(Protocol):
    """Takes a function and its arguments; both travel to another process, so they are values of files' top level."""

    def each(
        self, work: Callable[[_Item], _Found], items: Sequence[_Item], name: Callable[[_Item], str] = str
    ) -> Iterator[_Found]:
        """Yield what the function gives for every item, in their order; ``name`` says in messages which one it is."""


class _Here:
    """This process, one item after the other."""

    def each(
        self, work: Callable[[_Item], _Found], items: Sequence[_Item], name: Callable[[_Item], str] = str
    ) -> Iterator[_Found]:
        """Yield what the function gives for every item."""
        del name  # of the item that a lost process had: this one is not lost
        return map(work, items)


HERE: Workers = _Here()
"""This process."""
