"""Who carries out many pieces of work that need nothing from each other: whoever measures them takes it as a value.

Processes that work side by side share the processors of this host: each heeds its part of them.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

__all__ = ["HERE", "Sealed", "Workers", "share_processors", "usable_threads"]

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
_Value = TypeVar("_Value")


class Workers(Protocol):
    """Takes a function and its arguments; both travel to another process, so they are values of files' top level."""

    def each(
        self,
        work: Callable[[_Item], _Found],
        items: Sequence[_Item],
        name: Callable[[_Item], str] = str,
        weight: Callable[[_Item], float] | None = None,
    ) -> Iterator[_Found]:
        """Yield what the function gives for every item, in their order; ``name`` says in messages which one it is.

        Where several work side by side the item with the greatest ``weight`` is begun first, so that none waits long
        for the last one.
        """


class _Here:
    """This process, one item after the other."""

    def each(
        self,
        work: Callable[[_Item], _Found],
        items: Sequence[_Item],
        name: Callable[[_Item], str] = str,
        weight: Callable[[_Item], float] | None = None,
    ) -> Iterator[_Found]:
        """Yield what the function gives for every item."""
        del name, weight  # of the item that a lost process had: this one is not lost; and nobody works beside it
        return map(work, items)


HERE: Workers = _Here()
"""This process."""


class Sealed(Generic[_Value]):
    """A value that is unpacked when somebody asks for it, where it was sent to another process."""

    def __init__(self, value: _Value) -> None:
        self._values = [value]
        self._packed = b""

    @property
    def value(self) -> _Value:
        """The value."""
        if not self._values:
            self._values = [pickle.loads(self._packed)]
        return self._values[0]

    def __getstate__(self) -> bytes:
        return self._packed or pickle.dumps(self._values[0], pickle.HIGHEST_PROTOCOL)

    def __setstate__(self, packed: bytes) -> None:
        self._values, self._packed = [], packed


class _Share:
    """How many processes work side by side."""

    processes = 1


def usable_threads() -> int:
    """Return on how many processors this process may run: its part of them where it is one of several."""
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:
        found = os.cpu_count() or 1
    return max(1, found // _Share.processes)


def share_processors(processes: int) -> None:
    """Say that this process is one of so many that work side by side; nodes that are made from now on heed it."""
    _Share.processes = processes
