"""One published figure beside its formula and what was executed."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from fractions import Fraction

from pixelflow.simd.records import record
from pixelflow.simd.units import Standing
from tessellation.published.notes import NOTES, PRINTED_DIGITS, Range

__all__ = ["Basis", "Number", "Outcome", "Row"]

Number = int | float
"""A count, or a rate or share that is no whole number."""


class Outcome(StrEnum):
    """How a row came out."""

    EQUAL = "equal"
    EXPLAINED = "explained"
    """Formula or measurement differ from the published figure, and notes cover all of it."""
    UNEXPLAINED = "unexplained"
    UNCHECKED = "unchecked"
    """Published, but there is neither a formula nor anything to execute."""
    UNPUBLISHED = "unpublished"
    """Measured, but the thesis prints no figure."""


@record
class Basis:
    """What decides a measured figure: how well founded that rule is, and the rule in words."""

    standing: Standing
    text: str


@record
class Row:
    """One figure of a table; None where the thesis prints none, no formula exists or nothing can be executed."""

    item: str
    published: Number | None
    formula: Number | None
    measured: Number | None
    basis: Basis
    unit: str = "cycles"
    step: Number = 0
    """The size of the last printed digit, where the thesis prints less than the whole figure."""
    notes: tuple[str, ...] = ()
    detail: str = ""
    """What the row adds to its notes."""
    within: Range | None = None
    """Percent that the measured figure may be off here; None for as many as a note allows."""
    parts: Number | None = None
    """What the named parts of the measured figure add up to, where they are known; no note excuses another sum."""

    @property
    def found(self) -> Number | None:
        """The measured figure, or the formula's where nothing was executed."""
        return self.formula if self.measured is None else self.measured

    @property
    def deviation(self) -> Number | None:
        """How far the found figure is from the published one, in its unit."""
        if self.published is None or self.found is None:
            return None
        return self.found - self.published

    @property
    def percent(self) -> float | None:
        """The same in percent of the published figure; None where that is zero."""
        return 100 * (self.found / self.published - 1) if self.published and self.found is not None else None

    @property
    def differences(self) -> tuple[Number, ...]:
        """Those of formula and measured figure that are not the published one, however little it may be."""
        if self.published is None:
            return ()
        return tuple(value for value, _ in self._sides if value != self.published)

    @property
    def _sides(self) -> tuple[tuple[Number, bool], ...]:
        """Formula and measured figure, as far as there are any, each with whether it was measured."""
        return tuple(
            (value, side) for value, side in ((self.formula, False), (self.measured, True)) if value is not None
        )

    @property
    def outcome(self) -> Outcome:
        """How the row came out."""
        if self.published is None:
            return Outcome.UNPUBLISHED
        if self.found is None:
            return Outcome.UNCHECKED
        if self.parts is not None and self.measured != self.parts:
            return Outcome.UNEXPLAINED
        if not self.differences:
            return Outcome.EQUAL
        covered = all(self._excused(value, measured) for value, measured in self._sides if value != self.published)
        return Outcome.EXPLAINED if covered else Outcome.UNEXPLAINED

    def noted(self, *names: str, detail: str = "", within: Range | None = None) -> Row:
        """Return the row with those of the notes that apply: none where nothing differs or can be compared.

        ``within`` narrows what they excuse of the measured figure, in percent.

        Where the published figure has fewer digits and that covers every difference, other notes are left out.
        """
        if self.published is None or (self.found is not None and not self.differences):
            return self
        if any(self._prints_as_published(value) for value in self.differences):
            rest = [value for value in self.differences if not self._prints_as_published(value)]
            names = (PRINTED_DIGITS, *(names if rest else ()))
            detail = detail if rest else ""
        return replace(self, notes=names, detail=detail, within=within)

    def _excused(self, value: Number, measured: bool) -> bool:
        """Return whether the notes account for all of what the formula, or the measured figure, is off."""
        if PRINTED_DIGITS in self.notes and self._prints_as_published(value):
            return True
        if not self.published:
            return False
        percent = round(100 * (value / self._whole - 1), 9)
        if measured and self.within is not None and not self.within[0] <= percent <= self.within[1]:
            return False
        ranges = (NOTES[name].measured if measured else NOTES[name].formula for name in self.notes)
        return any(low <= percent <= high for low, high in filter(None, ranges))

    @property
    def _whole(self) -> Number:
        """The published figure with all its digits, where the formula gives them."""
        if self.formula is not None and self._prints_as_published(self.formula):
            return self.formula
        return self.published

    def _prints_as_published(self, value: Number) -> bool:
        """Return whether the value, cut or rounded to the last printed digit, is the published one."""
        if not self.step:
            return False
        # As decimal fractions: 8.45 / 0.1 in binary is not what a reader computes.
        exact, step, published = (Fraction(str(number)) for number in (value, self.step, self.published))
        whole = exact // step
        return published in (whole * step, (exact + step / 2) // step * step)
