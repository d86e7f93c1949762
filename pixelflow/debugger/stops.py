"""What stops a run that is being looked at, and what is known when it did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.observe import Blocked, Executed, Signalled, Taken
from pixelflow.simd.isa.places import Code

__all__ = ["Bytes", "Changed", "Cycle", "Hit", "Semaphore", "Stop", "Touched"]

Touched = Executed | Signalled | Taken | Blocked
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


@dataclass(slots=True)
class Stop:
    """One thing that stops the run, at every ``count``-th time that it is met on the way forwards."""

    number: int
    subject: Code | Semaphore | Cycle | Bytes
    count: int = 1
    met: int = 0

    def meets(self, event: Touched) -> bool:
        """Whether the stop is about an event."""
        match self.subject:
            case Code():
                return isinstance(event, Executed) and event.index in self.subject.indices
            case Semaphore():
                return not isinstance(event, Executed) and event.semaphore == self.subject.number
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
