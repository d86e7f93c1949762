"""Pictures, and drawn frames: what a machine did for a picture, in terms that hold for every one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from pixelflow.simd.drawing.account.grounds import Ground, HowCounted, Work
from pixelflow.simd.drawing.triangles import FAR
from pixelflow.simd.report import TimeSpan, counted
from pixelflow.simd.units import Constant

__all__ = ["ALL_PARTS", "EQUAL", "Bound", "Comparison", "DrawnFrame", "FreeWork", "Picture", "PictureDifference"]

ALL_PARTS = "of all parts"
"""What cycles by stage are added up over where nothing else is said."""


EQUAL = "every pixel equal"
"""What is said of a picture whose pixels all have the colour and the depth that 64-bit integers give them."""


class Bound(Enum):
    """What the cycles of work say that an account leaves out; all of them are formulas, none was executed."""

    FLOOR = "picture at least"
    """With that work the picture takes no fewer cycles in all."""
    AT_MOST = "at most more"
    """The picture takes at most so many more."""
    ABOUT = "about more"
    """So many more if nothing else goes on meanwhile, evenly shared by all parts."""
    OPEN = "no bound"


@dataclass(frozen=True, slots=True)
class FreeWork:
    """Work that a picture needs and that a machine's account has for nothing."""

    what: str
    bound: Bound
    why: str
    """How its cycles are derived, or why they are not."""
    cycles: int | None = None
    """By formula, as ``bound`` says; None where nothing bounds them."""
    of: tuple[Work, ...] = ()
    """Which work of a picture it is, or a part of."""
    constants: tuple[Constant, ...] = ()
    """The rates and sizes in the formula."""

    @property
    def ground(self) -> Ground | None:
        """What its cycles rest on; None where there are none."""
        return None if self.cycles is None else Ground.formula(self.what, *self.constants)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """``colours`` is uint8[row, column, rgb], ``depths`` int64[row, column], FAR where nothing was drawn."""

    colours: np.ndarray
    depths: np.ndarray

    @classmethod
    def empty(cls, width: int, height: int, background: tuple[int, int, int] = (0, 0, 0)) -> Picture:
        """Return a picture without triangles."""
        colours = np.empty((height, width, 3), np.uint8)
        colours[:] = background
        return cls(colours, np.full((height, width), FAR, np.int64))

    def equals(self, other: Picture) -> bool:
        """Whether every pixel has the same depth and colour."""
        return np.array_equal(self.colours, other.colours) and np.array_equal(self.depths, other.depths)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnFrame:
    """One machine's picture and its account; every count is a sum over what was executed, where it is not a formula."""

    machine: str
    parts: int
    """Nodes or cores."""
    lanes: int
    """Lanes of all parts together."""
    clock_mhz: float
    cycles: int
    """From the first cycle of the first part to the last of the last."""
    work: int
    """Cycles in which parts were busy, of all parts together."""
    stages: dict[str, int]
    """Cycles of all parts, or of all their threads alone, by what they were spent on."""
    mix: dict[str, int]
    """Instructions of all parts together, by family."""
    covered_lanes: float
    """Of the blocks of pixels that a triangle reaches (128x64 PEs, or the 4x4 lanes of a core), the share that it
    covers; 0 where there is none."""
    enabled_lanes: float | None
    """Share of the lanes that were enabled, over all cycles; None where that is not counted."""
    traffic: dict[str, int]
    """Bytes that were moved, by way."""
    picture: Picture
    whose_stages: str = ALL_PARTS
    """What the cycles by stage are added up over."""
    facts: tuple[tuple[str, str], ...] = field(default=())
    """What else is worth knowing: (name, text)."""
    lane_bits: int = 32
    """Bits that a lane works on in a cycle."""
    interval: int | None = None
    """Cycles from one picture to the next where pictures overlap; None where one is drawn after the other."""
    free: tuple[FreeWork, ...] = ()
    """What is left out of ``cycles``."""
    own_arithmetic: str = ""
    """Why its pixels may differ from those of 64-bit integers; empty where none may."""
    grounds: Mapping[str, Ground] = field(default_factory=dict)
    """What the figures rest on, by the names of the fields above, and by name and part: ``traffic: texels``."""
    counted: Mapping[Work, HowCounted] = field(default_factory=dict)
    """How the cycles have the work of a picture."""
    part: str = "part"
    """What one of its parts is called."""
    timeline: tuple[tuple[str, tuple[TimeSpan, ...]], ...] = ()
    """What went on when, part by part, in the cycles of ``cycles``; empty where that is not known."""
    ended: tuple[int, ...] = ()
    """Up to which cycle each part had something to do, 0 where it never had; empty where nobody says it."""
    twice: int = 0
    """Cycles that ``work`` has twice, since a part did two things in one cycle."""

    @property
    def whole(self) -> str:
        """The machine with its parts in words: ``Larrabee (4 cores)``."""
        return f"{self.machine} ({counted(self.parts, self.part)})"

    @property
    def milliseconds(self) -> float:
        """Time for the picture at the machine's clock."""
        return self.cycles / self.clock_mhz / 1e3

    @property
    def next_after(self) -> int:
        """Cycles from one picture to the next, where they follow each other: with ``cycles``, rate beside latency."""
        return self.cycles if self.interval is None else self.interval

    @property
    def imbalance(self) -> float | None:
        """Share of the cycles of all parts in which they have done all they have to do, and the last one has not.

        A part alone loses none; None where several do not say when each of them ended.
        """
        return self._share(self._imbalance)

    @property
    def waiting(self) -> float | None:
        """Share of the cycles of all parts that they are not busy, without imbalance; None as there.

        They wait with work before them, or for the picture's end after the last part's. With it and imbalance, busy
        cycles (those that count twice once) are all cycles: parts x cycles.
        """
        lost = self._imbalance
        return self._share(None if lost is None else self.parts * self.cycles - (self.work - self.twice) - lost)

    @property
    def _imbalance(self) -> int | None:
        if self.parts == 1:
            return 0
        return sum(max(self.ended) - each for each in self.ended) if self.ended else None

    def _share(self, cycles: int | None) -> float | None:
        """Return which share of the cycles of all parts some are; 0 of a picture that takes none."""
        return None if cycles is None else cycles / max(1, self.parts * self.cycles)

    def milliseconds_at(self, clock_mhz: float) -> float:
        """Return the time for the picture at another clock."""
        return self.cycles / clock_mhz / 1e3

    @property
    def lane_cycles(self) -> int:
        """Cycles of all parts together times the lanes of one: what was paid, whatever the clock."""
        return self.work * (self.lanes // self.parts)


@dataclass(frozen=True, slots=True)
class PictureDifference:
    """A machine's picture beside the one that is expected."""

    colours: int
    """Pixels of another colour."""
    depths: int
    """Pixels of another depth."""
    largest: int
    """The largest difference of a colour, in 255ths."""
    pixels: int
    """Of the whole picture."""
    reason: str
    """Why there may be any; empty where there may not."""

    @classmethod
    def of(cls, side: DrawnFrame, expected: Picture) -> PictureDifference:
        """Return by how much what a machine drew differs."""
        mine = side.picture
        apart = np.abs(mine.colours.astype(np.int16) - expected.colours.astype(np.int16)).max(axis=2)
        depths = int((mine.depths != expected.depths).sum())
        return cls(int((apart > 0).sum()), depths, int(apart.max(initial=0)), apart.size, side.own_arithmetic)

    @property
    def wrong(self) -> bool:
        """Whether there is a difference that must not be."""
        return not self.reason and bool(self.colours or self.depths)

    @property
    def text(self) -> str:
        """The finding, as a clause."""
        if not (self.colours or self.depths):
            return EQUAL
        if self.wrong:
            return "PIXELS DIFFER"
        colours = (
            f"{self.colours:,} with another colour (by {self.largest} of 255 at most)"
            if self.colours
            else "none with another colour"
        )
        return f"of {self.pixels:,} pixels {colours}, {self.depths:,} with another depth; {self.reason}"


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A scene on machines side by side, beside the picture that 64-bit integers draw."""

    scene: str
    triangles: int
    """That have an area once their corners are rounded."""
    dropped: int
    """That have none."""
    expected: Picture
    sides: tuple[DrawnFrame, ...]
    asked: frozenset[Work] = frozenset(Work)
    """The work that the scene asks for."""
    built: Mapping[str, tuple[Constant, ...]] = field(default_factory=dict)
    """What the modelled machines were, by the names of the sides: year, process, area, as far as a source says it."""
    refused: tuple[tuple[str, str], ...] = ()
    """Machines that do not draw the scene, and why."""

    @property
    def identical(self) -> bool:
        """Whether every machine has drawn every pixel, depth and colour, as it is expected."""
        return all(side.picture.equals(self.expected) for side in self.sides)

    @property
    def differences(self) -> tuple[PictureDifference, ...]:
        """Each machine's picture beside the one that is expected."""
        return tuple(PictureDifference.of(side, self.expected) for side in self.sides)

    @property
    def wrong(self) -> bool:
        """Whether a machine has drawn a pixel otherwise that may not."""
        return any(each.wrong for each in self.differences)
