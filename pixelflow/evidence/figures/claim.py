"""Claims: what a paper says in one place, what was measured beside it, and how that came out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

from pixelflow.evidence.figures.check import Check
from pixelflow.evidence.figures.derivation import Derivation, Number
from pixelflow.evidence.figures.note import Digits, Note
from pixelflow.evidence.figures.row import Basis, Row, RowVerdict

__all__ = ["CheckedClaim", "Claim", "ClaimClass", "ClaimVerdict", "Measured", "PrintedRange", "Value"]

Value = int | float | bool | str | None
"""A measured figure; text where it is a name, None where there is none."""


class ClaimClass(StrEnum):
    """What can be done about a claim here."""

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
    """Every figure lies in what is printed: a range, a bound, or few digits; of all scenes, not of one."""
    CONSTANT = "constant"
    """Every figure is the same, and all of them are read back from what the model was given: no measurement."""
    CONTRADICTED = "contradicted"
    """A printed figure does not hold, and exactly what is said to stand in its place was found."""
    MISSED = "not reproduced"
    """Something lies outside of what is printed, and the claim says why, or that nobody knows."""
    DIFFERS = "differs"
    """A figure is neither printed nor what is said to stand in its place, or a span is missed or kept against that."""
    UNMEASURABLE = "not measurable"
    """There is no measure, and the claim says what one would need."""
    UNCOMPARED = "not compared"
    """A measure was left out or could not run here, or found nothing that could be compared."""


@dataclass(frozen=True, slots=True)
class PrintedRange:
    """What is printed as a range, as a bound, or in few digits; both ends belong to it."""

    least: Number = -math.inf
    most: Number = math.inf

    def holds(self, value: Number) -> bool:
        """Whether a figure would have been printed so."""
        return self.least <= value <= self.most

    @classmethod
    def digits(cls, value: Number, step: Number) -> PrintedRange:
        """Return what is printed as ``value`` where the last digit counts ``step``: "about 70 %" is 65 to 75 %."""
        return cls(round(value - step / 2, 12), round(value + step / 2, 12))


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper claims in one place: a table or some figures of its text, or a sentence.

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
    """What the figure here is of, and what it cannot say."""
    values: Mapping[str, Number] = field(default_factory=dict)
    """The printed figures by name."""
    expected: Mapping[str, Number] = field(default_factory=dict)
    """Figures that follow from the claim and are not printed: none held up, none out of order."""
    spans: Mapping[str, PrintedRange] = field(default_factory=dict)
    """What is printed as a range: every figure that the measure has under this name (`Measured.spread`) lies in it."""
    constants: frozenset[str] = frozenset()
    """Of ``values`` those that the model was given, and that a measure reads back."""
    missed: str = ""
    """Why a span is not kept, where one is not: with it the claim is *not reproduced*, and fails as soon as it is."""
    instead: Mapping[str, Derivation] = field(default_factory=dict)
    """What stands here in the place of printed figures that do not hold: with it the claim is *contradicted*."""
    reason: str = ""
    """Why there is no measure, where there is none."""
    notes: tuple[Note, ...] = ()
    """On the whole of it: where the paper is at odds with itself, or leaves something open."""
    digits: Digits | None = None
    """How the table prints figures that have more digits than it, where that matters."""

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
    """What a measure found: rows of a table, and what they say; of a sentence a line for people, figures by name.

    ``spread`` has for each of the claim's spans what was found for every scene, by its name. ``checks`` are the results
    that the programs of a table gave, where they were computed.
    """

    text: str = ""
    figures: Mapping[str, Value] = field(default_factory=dict)
    spread: Mapping[str, Mapping[str, Number]] = field(default_factory=dict)
    rows: tuple[Row, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedClaim:
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
        """The figures in whose place exactly that stands which is said to."""
        return tuple(row for row in self.rows if row.verdict is RowVerdict.PREDICTED)

    @property
    def differing(self) -> tuple[str, ...]:
        """What is compared and neither the same nor contradicted; spans that were to be missed, or to be kept."""
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
        """What lies outside of what is printed: the span and the scene."""
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


_NOTHING = ClaimVerdict.UNCOMPARED
