"""Rows: a published figure beside its formula and what was measured, and the notes that excuse what differs.

A note says separately what it excuses: how many percent of the published figure what was measured may be off, and how
many the formula. It excuses nothing else, so that a figure that drifts away is unexplained in spite of its note. Where
rows differ widely, a row narrows the range further (`Row.noted`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

__all__ = ["Basis", "Figure", "Note", "Number", "Range", "Reason", "Row", "RowVerdict"]

Number = int | float
"""A count, or a rate or share that is no whole number."""
Range = tuple[float, float]
"""The least and the greatest deviation, in percent of the published figure, with its sign."""


class Reason(StrEnum):
    """What kind of reason a note gives."""

    DIGITS = "digits"
    """The paper prints fewer digits."""
    ERRATUM = "erratum"
    """The paper contradicts itself, or what it computes from its own numbers."""
    MODEL = "model"
    """The simulated machine does something differently, and why."""


@dataclass(frozen=True, slots=True)
class Note:
    """One reason. ``section`` is the place in the paper; the ranges are what it excuses, None nothing."""

    name: str
    section: str
    reason: Reason
    text: str
    measured: Range | None = None
    formula: Range | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A published number: ``step`` is the size of its last printed digit where it is not a whole figure."""

    section: str
    value: Number
    unit: str
    step: Number = 0


class RowVerdict(StrEnum):
    """How a row came out."""

    EQUAL = "equal"
    EXPLAINED = "explained"
    """Formula or measurement differ from the published figure, and notes cover all of it."""
    UNEXPLAINED = "unexplained"
    UNCHECKED = "unchecked"
    """Published, but there is neither a formula nor anything to measure."""
    UNPUBLISHED = "unpublished"
    """Measured, but the paper prints no figure."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What decides a measured figure: how well founded that rule is, and the rule in words."""

    standing: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; None where the paper prints none, no formula exists or nothing can be measured."""

    item: str
    published: Number | None
    formula: Number | None
    measured: Number | None
    basis: Basis
    unit: str = "cycles"
    step: Number = 0
    """The size of the last printed digit, where the paper prints less than the whole figure."""
    parts: Number | None = None
    """What the named parts of the measured figure add up to, where they are known; no note excuses another sum."""
    notes: tuple[Note, ...] = ()
    detail: str = ""
    """What the row adds to its notes."""
    within: Range | None = None
    """Percent that the measured figure may be off here; None for as many as a note allows."""

    @property
    def found(self) -> Number | None:
        """The measured figure, or the formula's where nothing was measured."""
        return self.formula if self.measured is None else self.measured

    @property
    def deviation(self) -> Number | None:
        """How far the found figure is from the published one, in its unit."""
        return None if self.published is None or self.found is None else self.found - self.published

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
    def verdict(self) -> RowVerdict:
        """How the row came out."""
        if self.published is None:
            return RowVerdict.UNPUBLISHED
        if self.found is None:
            return RowVerdict.UNCHECKED
        if self.parts is not None and self.measured != self.parts:
            return RowVerdict.UNEXPLAINED
        if not self.differences:
            return RowVerdict.EQUAL
        covered = self._excused(self.formula, (note.formula for note in self.notes)) and self._excused(
            self.measured, (note.measured for note in self.notes), self.within
        )
        return RowVerdict.EXPLAINED if covered else RowVerdict.UNEXPLAINED

    def noted(self, *notes: Note, detail: str = "", within: Range | None = None) -> Row:
        """Return the row with those of the notes that apply: none where nothing differs or can be compared.

        A note on printed digits applies where they cover a difference; where they cover every difference, no other
        does. ``within`` narrows what notes excuse of the measured figure, in percent.
        """
        if self.published is None or (self.found is not None and not self.differences):
            return self
        covered = [self._prints_as_published(value) for value in self.differences]
        digits, others = any(covered), not covered or not all(covered)
        kept = tuple(note for note in notes if (digits if note.reason is Reason.DIGITS else others))
        return replace(self, notes=kept, detail=detail if others else "", within=within)

    def _excused(self, value: Number | None, ranges: Iterable[Range | None], within: Range | None = None) -> bool:
        """Return whether the notes account for all of what a value is off."""
        if value is None or value == self.published:
            return True
        if any(note.reason is Reason.DIGITS for note in self.notes) and self._prints_as_published(value):
            return True
        # The published figure with all its digits, where the formula gives them.
        exact = self.formula is not None and self._prints_as_published(self.formula)
        whole = self.formula if exact else self.published
        if not self.published or not whole:
            return False
        percent = round(100 * (value / whole - 1), 9)
        if within is not None and not within[0] <= percent <= within[1]:
            return False
        return any(low <= percent <= high for low, high in filter(None, ranges))

    def _prints_as_published(self, value: Number) -> bool:
        """Return whether the value, cut or rounded to the last printed digit, is the published one."""
        if not self.step:
            return False
        # As decimal fractions: 8.45 / 0.1 in binary is not what a reader computes.
        exact, step, published = (Fraction(str(number)) for number in (value, self.step, self.published))
        whole = exact // step
        return published in (whole * step, (exact + step / 2) // step * step)
