"""Grounds: how a machine's account came by its figures, what these rest on, and which work of a picture it counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import reduce

from pixelflow.simd.units import Constant, Standing

__all__ = ["FigureStanding", "Ground", "HowCounted", "Origin", "Work", "ground_of"]


class Origin(StrEnum):
    """Where a figure is from."""

    EXECUTED = "executed"
    """Counted over what was carried out."""
    FORMULA = "formula"
    """Worked out from counts; nothing carried it out."""
    GIVEN = "given"
    """A size or a clock of the machine."""


class FigureStanding(StrEnum):
    """What a reader should take a figure for; the first of these that holds."""

    UNSAID = "not said"
    """The machine does not declare it."""
    INVENTED = "invented"
    """A rate or a size takes part that no source gives, or that somebody has set."""
    FORMULA = "formula"
    """No such, but nothing carried it out."""
    PART = "part"
    """A part of it is of a formula, the rest was carried out."""
    FITTED = "fitted"
    """Carried out, at rates that were chosen so that published figures come out."""
    EXECUTED = "executed"
    """Carried out, at rates that have a source."""
    GIVEN = "given"
    """A size or a clock that has a source."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What figures rest on; of two, what rests on both. Without an origin nobody has said it."""

    origins: frozenset[Origin] = frozenset()
    constants: tuple[Constant, ...] = ()
    """The rates and sizes that take part."""
    formulas: tuple[str, ...] = ()
    """What is worked out, in words."""

    @classmethod
    def executed(cls, *constants: Constant) -> Ground:
        """Return that of a count over what was carried out."""
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
    """Return what a figure rests on that is made of those that are named; unsaid where one of them is.

    What is said of a part of a figure, as ``traffic: texels``, belongs to the whole.
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
    """What has to be done for a picture, whoever does it."""

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
    """It takes no cycles here, or somebody else does it."""
    NONE = "none"
    """There is no such work on the machine."""
