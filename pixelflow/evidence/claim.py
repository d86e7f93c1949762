"""Claims: a paper's statement in one place, what was measured for it, and how that came out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple, cast

from pixelflow.evidence.derivation import Derivation, Number, same

# Checks: a result that was computed, and how far it may be off. What is not held makes a verification fail.


class Check(NamedTuple):
    """Results of a program: ``found`` may be ``most``. ``by`` says what they were compared with."""

    item: str
    found: Number
    most: Number
    unit: str
    by: str
    digest: str = ""
    """The beginning of a SHA-256 of all the bits, where they are the result."""

    @property
    def held(self) -> bool:
        """True where the results are right; a figure that is not a number is not."""
        return self.found <= self.most


# Notes: what is to be said of a difference between a paper and a machine, and the rule that printed digits follow.


class Reason(StrEnum):
    """Kind of a note."""

    CONTRADICTION = "contradiction"
    """The paper says one thing in one place and another thing in another; both are quoted."""
    READING = "reading"
    """The print can be read in more than one way; one is taken, and the others are named."""
    MODEL = "this model"
    """The simulated machine differs from the print; the size of the effect is predicted."""
    UNEXPLAINED = "unexplained"
    """Nothing here says why. That is known, and it excuses nothing."""


class Quotation(NamedTuple):
    """Quotation of a paper: one place, in its own words or figures."""

    section: str
    quote: str

    def __str__(self) -> str:
        return f"{self.section}: “{self.quote}”"


class Note(NamedTuple):
    """One note; ``section`` is where in the paper it belongs, ``places`` what a contradiction quotes."""

    name: str
    section: str
    reason: Reason
    text: str
    places: tuple[Quotation, ...] = ()
    readings: tuple[str, ...] = ()
    """The other readings, each in a sentence with what it gives."""

    @property
    def full(self) -> str:
        """The text with the places that it quotes and the other readings."""
        quoted = "; ".join(map(str, self.places))
        others = f"other readings: {'; '.join(self.readings)}" if self.readings else ""
        return ". ".join(part for part in (self.text, quoted, others) if part)


class Digits(StrEnum):
    """How a table prints figures of more digits than it has: chosen once for a table."""

    ROUNDED = "rounded"
    CUT = "cut"

    def prints(self, value: Number, published: Number, step: Number) -> bool:
        """True where a figure is printed as ``published`` if the last digit counts ``step``; 0 for all digits."""
        if not step:
            return value == published
        # As decimal fractions: 8.45 / 0.1 in binary is not what a reader computes.
        exact, unit = Fraction(str(value)), Fraction(str(step))
        return (exact + (unit / 2 if self is Digits.ROUNDED else 0)) // unit * unit == Fraction(str(published))


# Rows: a published figure with its formula and what was measured, and what becomes of a difference.
#
# No range excuses anything. A measured figure that is not the published one is *predicted*, to the last digit, by an
# expression of machine parameters and of counts that the program's structure gives; or the print contradicts itself and
# the formula is what another place gives; or the formula is one reading of several; or the difference is unexplained,
# which a note must say. Anything else is *off*, and a verification fails. A prediction must hold, also
# where the figure would be printed as it was.


class Figure(NamedTuple):
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


class Basis(NamedTuple):
    """Foundation of a measured figure: how well founded that rule is, and the rule in words."""

    standing: str
    text: str


class Row(NamedTuple):
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
    """The value that the measured figure must have."""
    derived: Derivation | None = None
    """The value that the formula must have, from the other place of a contradiction."""
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
    def met(self) -> bool:
        """True where the print has this figure, as it is or in one of the ways to read it."""
        return self.verdict is RowVerdict.EQUAL or (self.verdict is RowVerdict.READING and self.prints(self.found))

    @property
    def fitted(self) -> bool:
        """True where the row is equal because a parameter was chosen so."""
        return self.verdict is RowVerdict.EQUAL and self.basis.standing == _FITTED

    @property
    def alone(self) -> bool:
        """True where the row is shown and compared with nothing: none is published, and nothing derives it."""
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
        """True where a derivation gives another figure than the one that is there."""
        return (self.predicted is not None and not same(self.predicted.value, self.measured)) or (
            self.derived is not None and not same(self.derived.value, self.formula)
        )

    @property
    def _tied(self) -> bool:
        """True where something says, to the last digit, what is measured."""
        if self.measured is None or self.predicted is not None:
            return True
        return self.prints(self.measured) if self.formula is None else same(self.measured, self.formula)

    def prints(self, value: Number | None) -> bool:
        """True where a figure, or none, would be printed as it was published."""
        return value is None or (self.published is not None and self.digits.prints(value, self.published, self.step))


# Layouts: a table with the rows and columns that the paper prints, and the rows of figures that belong to its places.


class CellOf(NamedTuple):
    """One place of a printed table: the row that has its figure, by item and unit, and the form of the print."""

    item: str
    unit: str = "cycles"
    suffix: str = ""
    """Text after the figure in print, such as the K of thousands."""
    scale: int = 1
    """Divisor of the figure in print."""
    printed: str = ""
    """Item of the row that has the published figure, where one is printed for several places."""


class PrintedForm(NamedTuple):
    """A table as printed: its headings, and rows of texts and places of figures."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str | CellOf, ...], ...]

    @property
    def cells(self) -> Iterator[CellOf]:
        """The places of figures, row by row."""
        return (cell for row in self.rows for cell in row if isinstance(cell, CellOf))


Value = int | float | bool | str | None
"""A measured figure; text where it is a name, None where there is none."""


class ClaimClass(StrEnum):
    """Kind of check that a claim allows here."""

    REPRODUCIBLE = "reproducible"
    """With scenes and programs that anybody has."""
    MECHANICAL = "mechanical"
    """Arithmetic, or a rule that a run follows or breaks."""
    PROXY = "proxy"
    """Only something alike: the games, traces or units that were measured are not public."""
    NOT = "not reproducible"
    """Not even that."""

    @property
    def letter(self) -> str:
        """Its first letter, as tables have it."""
        return self.value[0].upper()


class ClaimVerdict(StrEnum):
    """How a sentence came out."""

    REPRODUCED = "reproduced"
    """Every figure that is compared is the same, and one at least was found by executing something."""
    IN_RANGE = "in range"
    """Every figure is in what is printed: a range, a bound, or few digits; of all scenes, not of one."""
    CONSTANT = "constant"
    """Every figure is the same, and all of them are read back from what the model was given: no measurement."""
    CONTRADICTED = "contradicted"
    """A printed figure does not hold, and exactly its declared substitute was measured."""
    MISSED = "not reproduced"
    """A figure is outside the printed range, and the claim says why, or that the cause is unknown."""
    DIFFERS = "differs"
    """A figure is neither the printed one nor its substitute, or a span contradicts what the claim says of it."""
    UNMEASURABLE = "not measurable"
    """Without a measure; the claim says what one would need."""
    UNCOMPARED = "not compared"
    """A measure was left out or could not run here, or found nothing that could be compared."""


class PrintedRange(NamedTuple):
    """A range, a bound, or a figure in few digits, as printed; both ends belong to it."""

    least: Number = -math.inf
    most: Number = math.inf

    def holds(self, value: Number) -> bool:
        """True where a figure would have been printed so."""
        return self.least <= value <= self.most

    @classmethod
    def digits(cls, value: Number, step: Number) -> PrintedRange:
        """Return what is printed as ``value`` where the last digit counts ``step``: "about 70 %" is 65 to 75 %."""
        return cls(round(value - step / 2, 12), round(value + step / 2, 12))


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of a paper in one place: a table, some figures of its text, or a sentence.

    The measure of a table gives its rows. A sentence has a class, its figures as a reader would find them, and
    conditions; figures of its measure that have the name of one of ``values`` or ``expected`` must be the same.
    """

    name: str
    place: str
    """Section, table or figure of the paper."""
    title: str
    """The heading of a table, or the sentence in our words."""
    classes: tuple[ClaimClass, ...] = ()
    published: str = ""
    conditions: str = ""
    """Conditions of the figure measured here, and its limits."""
    values: Mapping[str, Number] = field(default_factory=dict)
    """The printed figures by name."""
    expected: Mapping[str, Number] = field(default_factory=dict)
    """Figures that follow from the claim and are not printed: none held up, none out of order."""
    spans: Mapping[str, PrintedRange] = field(default_factory=dict)
    """Printed ranges: every figure that the measure has under this name (`Measured.spread`) is inside."""
    rules: frozenset[str] = frozenset()
    """Spans that are a direction or a bound in words: no figure is printed for them."""
    constants: frozenset[str] = frozenset()
    """Figures that the measure reads back from the model's input, or that hold by construction."""
    missed: str = ""
    """Why a span is not kept, where one is not: with it the claim is *not reproduced*, and fails as soon as it is."""
    instead: Mapping[str, Derivation] = field(default_factory=dict)
    """Substitutes for printed figures that do not hold: with them the claim is *contradicted*."""
    reason: str = ""
    """Why there is no measure; empty where there is one."""
    notes: tuple[Note, ...] = ()
    """On the whole of it: where the paper is at odds with itself, or leaves something open."""
    digits: Digits | None = None
    """How the table prints figures that have more digits than it, where that matters."""
    layout: PrintedForm | None = None
    """How the table is printed, where it is one."""

    def compared(self, figures: Mapping[str, Value]) -> tuple[Row, ...]:
        """Return rows of the printed and expected figures that were found."""
        basis = Basis("/".join(self.classes), self.conditions)
        wanted = [(name, value) for name, value in {**self.values, **self.expected}.items() if name in figures]
        return tuple(
            Row(name, value, None, cast("Number", figures[name]), basis, unit="", predicted=self.instead.get(name))
            for name, value in wanted
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """Findings of a measure: rows of a table, and what they say; of a sentence a line for people, figures by name.

    ``spread`` has for each of the claim's spans what was found for every scene, by its name. ``checks`` are the results
    that the programs of a table gave, where they were computed.
    """

    text: str = ""
    figures: Mapping[str, Value] = field(default_factory=dict)
    spread: Mapping[str, Mapping[str, Number]] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    checks: tuple[Check, ...] = ()


class CheckedClaim(NamedTuple):
    """A claim with what was measured, or the reason why nothing was."""

    claim: Claim
    measured: Measured | None
    reason: str = ""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the measure, or those that its figures make."""
        return () if self.measured is None else self.measured.rows or self.claim.compared(self.measured.figures)

    @property
    def checks(self) -> tuple[Check, ...]:
        """The results that were computed for it."""
        return () if self.measured is None else self.measured.checks

    @property
    def contradicted(self) -> tuple[Row, ...]:
        """The figures that equal their declared substitutes."""
        return tuple(row for row in self.rows if row.verdict is RowVerdict.PREDICTED)

    @property
    def differing(self) -> tuple[str, ...]:
        """Figures that are neither equal nor contradicted, and spans whose outcome is not the declared one, by name."""
        fine = (RowVerdict.EQUAL, RowVerdict.PREDICTED)
        rows = tuple(row.item for row in self.rows if row.verdict not in fine)
        if self.claim.missed:
            return rows if self.outside or not self.judged else (*rows, *self.judged)
        return (*rows, *dict.fromkeys(span for span, _ in self.outside))

    @property
    def judged(self) -> tuple[str, ...]:
        """The spans of which something was found."""
        return (
            () if self.measured is None else tuple(name for name in self.claim.spans if self.measured.spread.get(name))
        )

    @property
    def outside(self) -> tuple[tuple[str, str], ...]:
        """Figures outside their printed range: the span and the scene."""
        if self.measured is None:
            return ()
        found = self.measured.spread
        return tuple(
            (span, each)
            for span in self.judged
            for each, value in found[span].items()
            if not self.claim.spans[span].holds(value)
        )

    @property
    def verdict(self) -> ClaimVerdict:
        """How the sentence came out, the worst of its figures first."""
        if self.measured is None:
            return ClaimVerdict.UNMEASURABLE if self.reason and self.reason == self.claim.reason else _NOTHING
        if not self.rows and not self.judged:
            return _NOTHING
        if self.differing:
            return ClaimVerdict.DIFFERS
        if self.outside:
            return ClaimVerdict.MISSED
        if self.contradicted:
            return ClaimVerdict.CONTRADICTED
        if self.judged:
            return ClaimVerdict.IN_RANGE
        read = all(row.item in self.claim.constants for row in self.rows)
        return ClaimVerdict.CONSTANT if read else ClaimVerdict.REPRODUCED

    @property
    def kind(self) -> str:
        """The verdict in words for people: a printed figure or a rule, and on which sides figures missed it.

        JSON has the verdict itself. *Bracketed* is a claim of which every span that is missed has figures both below
        and above it.
        """
        verdict = self.verdict
        if verdict in (ClaimVerdict.REPRODUCED, ClaimVerdict.IN_RANGE):
            printed = set(self.judged) - self.claim.rules or any(row.item in self.claim.values for row in self.rows)
            return "printed figure met" if printed else "rule holds (no figure printed)"
        if verdict is ClaimVerdict.MISSED:
            return "bracketed" if all(map(self._bracketed, {span for span, _ in self.outside})) else "missed"
        return verdict.value

    def _bracketed(self, name: str) -> bool:
        assert self.measured is not None  # as something is outside
        span, found = self.claim.spans[name], self.measured.spread[name].values()
        return min(found) < span.least and max(found) > span.most


_NOTHING = ClaimVerdict.UNCOMPARED
