"""What stops a run that is being looked at, and what is known when it did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.debugger.values.expression import StopCondition
from pixelflow.observe import Blocked, Executed, Signalled, StageBegan, Taken
from pixelflow.simd.isa.places import Code

__all__ = ["Anywhere", "Bytes", "Changed", "Cycle", "Hit", "Semaphore", "StageBegin", "Stop", "Subject", "Touched"]

Touched = Executed | Signalled | Taken | Blocked | StageBegan
"""Events that a stop can be about."""


@dataclass(frozen=True, slots=True)
class Semaphore:
    """A semaphore: signals to it, taking from it, and waiting for it."""

    number: int


@dataclass(frozen=True, slots=True)
class Cycle:
    """A position of the run."""

    cycle: int


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes of PEs, by name where they have one."""

    text: str
    start: int
    size: int
    lanes: tuple[int, ...] | None
    """None for all PEs."""


@dataclass(frozen=True, slots=True)
class StageBegin:
    """A stage, which a MARK begins."""

    name: str


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Any position at which an instruction begins, and the end: for a condition that has become true."""


Subject = Code | Semaphore | Cycle | Bytes | StageBegin | Anywhere


@dataclass(slots=True)
class Stop:
    """One thing that stops the run, at every ``count``-th time that it is met on the way forwards."""

    number: int
    subject: Subject
    count: int = 1
    condition: StopCondition | None = None
    """What must hold besides: a meeting without it is none."""
    met: int = 0

    def meets(self, event: Touched) -> bool:
        """Whether the stop is about an event."""
        match self.subject:
            case Code():
                return isinstance(event, Executed) and event.index in self.subject.indices
            case Semaphore():
                return not isinstance(event, Executed | StageBegan) and event.semaphore == self.subject.number
            case StageBegin():
                return isinstance(event, StageBegan) and event.name == self.subject.name
        return False

    def is_due(self) -> bool:
        """Count one meeting; return whether it is one to stop at."""
        self.met += 1
        return self.met % self.count == 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A stop was met at the position; ``event`` is about to happen there (None for a cycle)."""

    stop: Stop
    event: Touched | None


@dataclass(frozen=True)
class Changed:
    """Watched bytes have changed in the cycle before the position."""

    stop: Stop
    cycle: int
    by: tuple[tuple[str, int], ...]
    """What may have changed them: (stream, position of the instruction)."""
    lanes: NDArray[np.int64]
    """The PEs in which they have."""
    before: NDArray[np.uint8]
    """uint8[bytes, PEs]: what the bytes of these PEs were."""
    after: NDArray[np.uint8]
