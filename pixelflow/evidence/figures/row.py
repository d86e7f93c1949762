"""Rows: a published figure beside its formula and what was measured, and what becomes of a difference.

No range excuses anything. A measured figure that is not the published one is *predicted*, to the last digit, by an
expression of machine parameters and of counts that the program's structure gives; or the print contradicts itself and
the formula is what another place gives; or the formula is one reading of several; or the difference is unexplained,
which a note must say. Anything else is *off*, and a verification fails. Where a prediction stands it must hold, also
where the figure would be printed as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pixelflow.evidence.figures.derivation import Derivation, Number, same
from pixelflow.evidence.figures.note import Digits, Note, Reason

__all__ = ["Basis", "Figure", "Row", "RowVerdict"]


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
    """To all digits that are printed."""
    PREDICTED = "predicted"
    """The measured figure is another one, and exactly the one that the machine's parameters give."""
    CONTRADICTION = "contradiction"
    """Of the print with itself: the formula is what another place gives."""
    READING = "reading"
    """The published figure is read in one of several ways; the measured one is predicted."""
    UNEXPLAINED = "unexplained"
    """Known, and nothing says why."""
    OFF = "off"
    """Not what it must be: neither published nor predicted, or another formula than derived."""
    UNCHECKED = "unchecked"
    """Published, but there is neither a formula nor anything to measure."""
    UNPUBLISHED = "unpublished"
    """Measured, but the paper prints no figure."""


_FITTED = "fitted"


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
    digits: Digits = Digits.ROUNDED
    """How the table of the row prints such figures."""
    predicted: Derivation | None = None
    """What the measured figure must be."""
    derived: Derivation | None = None
    """What the formula must be: what the other place of a contradiction gives."""
    notes: tuple[Note, ...] = ()
    busy: Number | None = None
    """Of what the measured program takes, the cycles in which the path in question is busy."""
    detail: str = ""

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
    def fitted(self) -> bool:
        """Whether the row is equal because a parameter was chosen so."""
        return self.verdict is RowVerdict.EQUAL and self.basis.standing == _FITTED

    @property
    def alone(self) -> bool:
        """Whether the row is shown and compared with nothing: none is published, and nothing derives it."""
        derived = self.predicted is not None or self.derived is not None
        return self.verdict is RowVerdict.UNPUBLISHED and not derived

    @property
    def verdict(self) -> RowVerdict:
        """How the row came out."""
        broken = self._broken
        if self.published is None:
            return RowVerdict.OFF if broken else RowVerdict.UNPUBLISHED
        if self.found is None:
            return RowVerdict.UNCHECKED
        reasons = {note.reason for note in self.notes}
        if broken:
            return RowVerdict.OFF
        if Reason.UNEXPLAINED in reasons:
            return RowVerdict.UNEXPLAINED
        if not self.prints(self.formula):
            told = Reason.CONTRADICTION in reasons and self.derived is not None and self._tied
            return RowVerdict.CONTRADICTION if told else RowVerdict.OFF
        if not self._tied:
            return RowVerdict.OFF
        if Reason.READING in reasons:
            return RowVerdict.READING
        return RowVerdict.EQUAL if self.prints(self.measured) else RowVerdict.PREDICTED

    @property
    def _broken(self) -> bool:
        """Whether a derivation gives another figure than the one that stands there."""
        return (self.predicted is not None and not same(self.predicted.value, self.measured)) or (
            self.derived is not None and not same(self.derived.value, self.formula)
        )

    @property
    def _tied(self) -> bool:
        """Whether something says, to the last digit, what is measured."""
        if self.measured is None or self.predicted is not None:
            return True
        return self.prints(self.measured) if self.formula is None else same(self.measured, self.formula)

    def prints(self, value: Number | None) -> bool:
        """Whether a figure, or none, would be printed as it was published."""
        return value is None or (self.published is not None and self.digits.prints(value, self.published, self.step))
