"""Account of a picture: a machine's work for it, in terms common to all machines, and the provenance of the figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pixelflow.simd.drawing.triangles import FAR
from pixelflow.simd.report import Json, counted
from pixelflow.simd.units import Constant, Standing

if TYPE_CHECKING:
    from pixelflow.simd.report import TimeSpan

# Grounds: the origin of the figures in a machine's account, their sources, and the work of a picture that it counts.


class Origin(StrEnum):
    """Origin of a figure."""

    EXECUTED = "executed"
    """Counted over what was executed."""
    FORMULA = "formula"
    """Computed from counts; not executed."""
    GIVEN = "given"
    """A size or a clock of the machine."""


class FigureStanding(StrEnum):
    """Provenance of a figure; the first of these that holds."""

    UNSAID = "not said"
    """The machine does not declare it."""
    INVENTED = "invented"
    """Depends on a rate or a size without a source, or one set by the user."""
    FORMULA = "formula"
    """No such, but nothing executed it."""
    PART = "part"
    """A part of it is of a formula, the rest was executed."""
    FITTED = "fitted"
    """Executed, at rates that were chosen so that published figures come out."""
    EXECUTED = "executed"
    """Executed, at rates that have a source."""
    GIVEN = "given"
    """A size or a clock that has a source."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Sources of figures; of two, the union. Without an origin the source is not recorded."""

    origins: frozenset[Origin] = frozenset()
    constants: tuple[Constant, ...] = ()
    """The rates and sizes that take part."""
    formulas: tuple[str, ...] = ()
    """How it is computed, in words."""

    @classmethod
    def executed(cls, *constants: Constant) -> Ground:
        """Return that of a count over what was executed."""
        return cls(frozenset({Origin.EXECUTED}), constants)

    @classmethod
    def formula(cls, how: str, *constants: Constant) -> Ground:
        """Return that of a formula, in words."""
        return cls(frozenset({Origin.FORMULA}), constants, (how,))

    @classmethod
    def given(cls, *constants: Constant) -> Ground:
        """Return that of a size or a clock."""
        return cls(frozenset({Origin.GIVEN}), constants)

    def __or__(self, other: Ground) -> Ground:
        constants = {each.key: each for each in (*self.constants, *other.constants)}
        formulas = dict.fromkeys((*self.formulas, *other.formulas))
        return Ground(self.origins | other.origins, tuple(constants.values()), tuple(formulas))

    def resting_on(self, standing: Standing) -> tuple[Constant, ...]:
        """Return the constants of one standing."""
        return tuple(each for each in self.constants if each.standing is standing)

    @property
    def standing(self) -> FigureStanding:
        """The one standing of a figure that rests on it."""
        if not self.origins:
            return FigureStanding.UNSAID
        if self.resting_on(Standing.INVENTED):
            return FigureStanding.INVENTED
        if Origin.FORMULA in self.origins:
            return FigureStanding.PART if Origin.EXECUTED in self.origins else FigureStanding.FORMULA
        if Origin.EXECUTED in self.origins:
            return FigureStanding.FITTED if self.resting_on(Standing.FITTED) else FigureStanding.EXECUTED
        return FigureStanding.FITTED if self.resting_on(Standing.FITTED) else FigureStanding.GIVEN


def ground_of(grounds: Mapping[str, Ground], names: Iterable[str]) -> Ground:
    """Return the ground of a figure made of the named ones; unsaid if one of them is.

    The ground of a part of a figure, as ``traffic: texels``, belongs to the whole.
    """
    found = []
    for name in names:
        parts = [each for key, each in grounds.items() if key.startswith(f"{name}: ")]
        if name not in grounds and not parts:
            return Ground()
        found += [grounds[name]] if name in grounds else []
        found += parts
    return reduce(Ground.__or__, found, Ground())


class Work(Enum):
    """Work that a picture needs, on any machine."""

    VERTICES = "camera and light of vertices"
    SETUP = "edges and planes of triangles"
    BINNING = "triangles to regions or tiles"
    COVERAGE = "pixels that are covered"
    TESTS = "depth and stencil"
    COLOURS = "colours of pixels"
    TEXELS = "texels, filtered"
    BLENDING = "blending, sorting"
    MEMORY = "waiting for memory"
    FEED = "instructions on their way"
    OUTPUT = "the picture on its way out"
    COMMANDS = "commands and state"


class HowCounted(StrEnum):
    """How a machine's cycles have a piece of work."""

    PROGRAM = "programs"
    UNITS = "units"
    """Fixed functions whose time is simulated."""
    FORMULA = "formula"
    PART = "in part"
    FREE = "free"
    """It takes no cycles here, or another part does it."""
    NONE = "none"
    """There is no such work on the machine."""


# Pictures, and drawn frames with their accounts.


ALL_PARTS = "of all parts"
"""Default title of the sum of cycles by stage."""


EQUAL = "every pixel equal"
"""Statement about a picture whose pixels all have the colour and the depth that 64-bit integers give."""


class Bound(Enum):
    """Bounds for the cycles of work left out of an account; all of them are formulas, none was executed."""

    FLOOR = "picture at least"
    """With that work the picture takes no fewer cycles in all."""
    AT_MOST = "at most more"
    """Increase of the picture's cycles at most."""
    ABOUT = "about more"
    """Increase if nothing else continues meanwhile, evenly shared by all parts."""
    OPEN = "no bound"


class FreeWork(NamedTuple):
    """Work that a picture needs and that a machine's account does not charge."""

    what: str
    code: str
    """Code of its caveat."""
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
        """Basis of its cycles; None without cycles."""
        return None if self.cycles is None else Ground.formula(self.what, *self.constants)


class Picture(NamedTuple):
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
        """Return whether every pixel has the same depth and colour."""
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
    """Parts over which the cycles by stage are added up."""
    facts: tuple[tuple[str, str], ...] = field(default=())
    """Further facts: (name, text)."""
    lane_bits: int = 32
    """Bits that a lane works on in a cycle."""
    interval: int | None = None
    """Cycles from one picture to the next where pictures overlap; None where one is drawn after the other."""
    free: tuple[FreeWork, ...] = ()
    """Work not included in ``cycles``."""
    own_arithmetic: str = ""
    """Why its pixels may differ from those of 64-bit integers; empty where none may."""
    grounds: Mapping[str, Ground] = field(default_factory=dict)
    """Basis of the figures, by the names of the fields above, and by name and part: ``traffic: texels``."""
    counted: Mapping[Work, HowCounted] = field(default_factory=dict)
    """How the cycles have the work of a picture."""
    works: Mapping[str, Work] = field(default_factory=dict)
    """The work that each stage does, by the names in ``stages``; one that does several at once is missing."""
    part: str = "part"
    """Name of one of its parts."""
    timeline: tuple[tuple[str, tuple[TimeSpan, ...]], ...] = ()
    """Activity over time, part by part, in the cycles of ``cycles``; empty if not known."""
    ended: tuple[int, ...] = ()
    """End of each part's work, in cycles, 0 for a part that had none; empty if not known."""
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
        """Cycles from one picture to the next when they follow each other: with ``cycles``, rate and latency."""
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


class PictureDifference(NamedTuple):
    """A machine's picture next to the expected one."""

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
        """Return the difference of a machine's picture."""
        mine = side.picture
        other = np.flatnonzero(mine.colours != expected.colours)
        apart = mine.colours.reshape(-1)[other].astype(np.int16) - expected.colours.reshape(-1)[other]
        depths = int(np.count_nonzero(mine.depths != expected.depths))
        largest = int(np.abs(apart).max(initial=0))
        return cls(len(np.unique(other // 3)), depths, largest, mine.depths.size, side.own_arithmetic)

    @property
    def wrong(self) -> bool:
        """True if there is a difference that is not allowed."""
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
    """A scene on machines side by side, with the picture that 64-bit integers draw."""

    scene: str
    triangles: int
    """Triangles with an area once their corners are rounded."""
    dropped: int
    """Triangles without an area."""
    expected: Picture
    sides: tuple[DrawnFrame, ...]
    asked: frozenset[Work] = frozenset(Work)
    """The work that the scene asks for."""
    built: Mapping[str, tuple[Constant, ...]] = field(default_factory=dict)
    """Hardware data of the modelled machines by side: year, process, area, as far as a source gives it."""
    refused: tuple[tuple[str, str], ...] = ()
    """Machines that do not draw the scene, and why."""

    @property
    def identical(self) -> bool:
        """True if every machine has drawn every pixel, depth and colour, as expected."""
        return all(side.picture.equals(self.expected) for side in self.sides)

    @property
    def differences(self) -> tuple[PictureDifference, ...]:
        """Each machine's picture next to the expected one."""
        return tuple(PictureDifference.of(side, self.expected) for side in self.sides)

    @property
    def wrong(self) -> bool:
        """True if a machine has drawn a pixel differently without a reason."""
        return any(each.wrong for each in self.differences)


# Work left out of accounts: in JSON, and of several pictures together.


def free_standing(free: FreeWork) -> str:
    """Return the standing of the cycles of work left out, ``-`` without cycles."""
    return "-" if free.ground is None else free.ground.standing.value


def free_object(free: FreeWork) -> dict[str, Json]:
    """Return the JSON object of work left out."""
    return {
        "what": free.what,
        "of": [work.value for work in free.of],
        "bound": free.bound.value,
        "cycles": free.cycles,
        "standing": free_standing(free),
        "why": free.why,
    }


_IN_ALL = {Bound.FLOOR: "in all at least", Bound.AT_MOST: "in all at most more:", Bound.ABOUT: "in all about more:"}


def free_lines(free: Sequence[FreeWork]) -> Iterator[str]:
    """Yield the work left out of several pictures, with cycles and their standing; unbounded work is in one line."""
    for each in free:
        if each.cycles is not None:
            path = f", {each.why}" if each.bound is Bound.FLOOR and each.why else ""
            yield f"{each.what}: {_IN_ALL[each.bound]} {each.cycles:,} cycles ({free_standing(each)}){path}"
    unbounded = [each.what for each in free if each.cycles is None]
    if unbounded:
        yield f"no bound: {'; '.join(dict.fromkeys(unbounded))}"
