"""An exercise as data: what a solution is given, what every PE must hold after it, and how long it may take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.packaged import shipped

__all__ = ["TOUR", "Exercise", "Mistake", "Values", "source_of"]

Values = Mapping[str, NDArray[np.int64]]
"""A whole number for each PE by the name of its range."""

TOUR = shipped("pixelflow.course", "tour.ipynb")
"""A notebook that goes through the first session."""

_STUBS = shipped("pixelflow.course", "stubs")


@dataclass(frozen=True, slots=True)
class Exercise:
    """One task of the course.

    ``given`` draws values of ranges; ``expected`` says what ranges hold afterwards, from these values and from x and y
    of the PEs. ``ranges`` are the sizes in bytes of what both name, which a solution must keep. ``budget`` is the
    cycles that a good solution needs, with a little room.
    """

    number: int
    name: str
    title: str
    shows: str
    budget: int
    ranges: Mapping[str, int]
    given: Callable[[np.random.Generator, int], Values]
    expected: Callable[[Values, NDArray[np.int64], NDArray[np.int64]], Values]

    @property
    def stub(self) -> str:
        """What a student begins with: the text of the task, declarations, and no instruction."""
        return source_of(self.name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A byte of a PE that is not as expected; ``given`` are the values of ranges that this PE started with."""

    lane: int
    x: int
    y: int
    range: str
    byte: int
    expected: int
    found: int
    given: Mapping[str, int]


def source_of(name: str) -> Path:
    """Return the file of an exercise's stub."""
    return _STUBS / f"{name}.mc"
