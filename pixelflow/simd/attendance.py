"""Attendance of a run: reports of its progress, its limit, and its interruption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from typing import Protocol, TypeVar

from pixelflow.simd.errors import CycleLimitError

_Found = TypeVar("_Found")

_LOOK_SECONDS = 0.1


class Telling(Protocol):
    """Receiver of the current activity; ``share`` is the part of it that is done, 0 to 1, where that is known."""

    def __call__(self, text: object, /, share: float | None = None) -> object:
        """Take it; costs next to nothing where it is not shown."""


class Counting(Protocol):
    """Receiver of the number of the step that begins, 1 to ``total``, and its name."""

    def __call__(self, number: int, total: int, text: object, /) -> object:
        """Take it; costs next to nothing where it is not shown."""


def unseen(number: int, total: int, text: object, /) -> None:
    """Report nothing."""


class Going(Protocol):
    """A run in progress, as watched from outside; its figures are a moment old."""

    @property
    def cycle(self) -> int:
        """Cycles or instructions so far."""

    @property
    def counted(self) -> str:
        """Unit of ``cycle``: cycles, or instructions where time comes afterwards."""

    @property
    def places(self) -> str:
        """Places of its instructions."""

    @property
    def interrupted(self) -> bool:
        """True where it has been asked to end."""

    def interrupt(self) -> None:
        """End the run with KeyboardInterrupt before its next step, where everything is consistent."""


@dataclass(slots=True)
class Attendance:
    """Limit of a run of a machine, and its progress as watched from outside: a `Going`."""

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
        """The place of the current instruction."""
        return self.where(self.at)

    def interrupt(self) -> None:
        """End the run with KeyboardInterrupt at its next step."""
        self.interrupted = True

    def come(self, cycle: int, at: int) -> None:
        """Note the progress of the run; raises KeyboardInterrupt where it has been asked to end."""
        self.cycle, self.at = cycle, at
        if self.interrupted:
            raise KeyboardInterrupt(f"at {self.counted} {cycle:,}, {self.places}")

    def check(self, cycles: int, found: str = "") -> None:
        """Raise CycleLimitError where a run takes more cycles than its limit; ``found`` replaces its position."""
        if self.limit is not None and cycles > self.limit:
            raise CycleLimitError(f"cycle limit {self.limit} reached{found or f' at {self.places}'}")


def heard(work: Callable[[], _Found], look: Callable[[], None]) -> _Found:
    """Return the result of native code, which hears no signal: ``look`` is called ten times a second meanwhile.

    An error of ``look`` is raised at once; the work then continues until the process ends.
    """
    outcome: list[Callable[[], _Found]] = []

    def execute() -> None:
        try:
            found = work()
        except BaseException as error:
            raised = error

            def again() -> _Found:
                raise raised

            outcome.append(again)
        else:
            outcome.append(lambda: found)

    thread = Thread(target=execute, name="native code", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_SECONDS)
        look()
    return outcome[0]()
