"""One published figure beside its formula and what was executed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from pixelflow.units import Standing
from tessellation.notes import NOTES, PRINTED_DIGITS

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


@dataclass(frozen=True, slots=True)
class Basis:
    """What decides a measured figure: how well founded that rule is, and the rule in words."""

    standing: Standing
    text: str


@dataclass(frozen=True, slots=True)
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
        return tuple(value for value in (self.formula, self.measured) if value not in (None, self.published))

    @property
    def outcome(self) -> Outcome:
        """How the row came out."""
        if self.published is None:
            return Outcome.UNPUBLISHED
        if self.found is None:
            return Outcome.UNCHECKED
        if not self.differences:
            return Outcome.EQUAL
        covered = all(any(self._covers(note, value) for note in self.notes) for value in self.differences)
        return Outcome.EXPLAINED if covered else Outcome.UNEXPLAINED

    def noted(self, *names: str, detail: str = "") -> Row:
        """Return the row with those of the notes that apply: none where nothing differs or can be compared.

        Where the published figure has fewer digits and that covers every difference, other notes are left out.
        """
        if self.published is None or (self.found is not None and not self.differences):
            return self
        if self.step and any(self._covers(PRINTED_DIGITS, value) for value in self.differences):
            rest = [value for value in self.differences if not self._covers(PRINTED_DIGITS, value)]
            names = (PRINTED_DIGITS, *(names if rest else ()))
            detail = detail if rest else ""
        return replace(self, notes=names, detail=detail)

    def _covers(self, name: str, value: Number) -> bool:
        if name == PRINTED_DIGITS:
            return bool(self.step) and self._prints_as_published(value)
        return bool(self.published) and NOTES[name].covers(round(100 * (value / self._whole - 1), 9))

    @property
    def _whole(self) -> Number:
        """The published figure with all its digits, where the formula gives them."""
        if self.step and self.formula is not None and self._prints_as_published(self.formula):
            return self.formula
        return self.published

    def _prints_as_published(self, value: Number) -> bool:
        """Return whether the value, cut or rounded to the last printed digit, is the published one."""
        # As decimal fractions: 8.45 / 0.1 in binary is not what a reader computes.
        exact, step, published = (Fraction(str(number)) for number in (value, self.step, self.published))
        whole = exact // step
        return published in (whole * step, (exact + step / 2) // step * step)
