"""Who carries out many pieces of work that need nothing from each other: whoever measures them takes it as a value.

Processes that work side by side share the processors of this host: each heeds its part of them.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import Generic, Protocol, TypeVar

from pixelflow.simd.errors import CycleLimitError

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


# How long work tells what it does and how far it has come, and how a run is limited and ended from outside.


_LOOK_SECONDS = 0.1


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


class Going(Protocol):
    """A run while it goes on, for those who watch it from outside; what it says is a moment old."""

    @property
    def cycle(self) -> int:
        """How far it has come."""

    @property
    def counted(self) -> str:
        """What ``cycle`` counts: cycles, or instructions where time comes afterwards."""

    @property
    def places(self) -> str:
        """Where it stands."""

    @property
    def interrupted(self) -> bool:
        """Whether somebody has asked it to end."""

    def interrupt(self) -> None:
        """Have it end with KeyboardInterrupt before its next step, so that what it leaves is whole."""


@dataclass(slots=True)
class Attendance:
    """What a run of a machine is given from outside, and says of itself while it goes on: a `Going`."""

    limit: int | None = None
    """Cycles after which it is stopped; None for the machine's own limit."""
    cycle: int = 0
    counted: str = "cycle"
    interrupted: bool = False
    where: Callable[[int], str] = str
    """Names the place of an instruction."""
    at: int = 0
    """The instruction that it has come to."""

    @property
    def places(self) -> str:
        """Where the run stands."""
        return self.where(self.at)

    def interrupt(self) -> None:
        """Have the run end with KeyboardInterrupt at its next step."""
        self.interrupted = True

    def come(self, cycle: int, at: int) -> None:
        """Note how far the run has come; raises KeyboardInterrupt where somebody has asked it to end."""
        self.cycle, self.at = cycle, at
        if self.interrupted:
            raise KeyboardInterrupt(f"at {self.counted} {cycle:,}, {self.places}")

    def check(self, cycles: int, found: str = "") -> None:
        """Raise CycleLimitError where a run takes more cycles than it may; ``found`` is said in place of where."""
        if self.limit is not None and cycles > self.limit:
            raise CycleLimitError(f"cycle limit {self.limit} reached{found or f' at {self.places}'}")


def heard(work: Callable[[], _Found], look: Callable[[], None]) -> _Found:
    """Return what native code gives, which hears no signal: ``look`` is called ten times a second meanwhile.

    What ``look`` raises is raised at once; the work then goes on by itself until the process ends.
    """
    outcome: list[Callable[[], _Found]] = []

    def carry_out() -> None:
        try:
            found = work()
        except BaseException as error:
            raised = error

            def again() -> _Found:
                raise raised

            outcome.append(again)
        else:
            outcome.append(lambda: found)

    thread = Thread(target=carry_out, name="native code", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_SECONDS)
        look()
    return outcome[0]()
