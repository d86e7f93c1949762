"""Notes: what is to be said of a difference between a paper and a machine, and the rule that printed digits follow."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from pixelflow.evidence.figures.derivation import Number

__all__ = ["Digits", "Note", "Quotation", "Reason"]


class Reason(StrEnum):
    """What kind of note it is."""

    CONTRADICTION = "contradiction"
    """The paper says one thing in one place and another thing in another; both are quoted."""
    READING = "reading"
    """The print can be read in more than one way; one is taken, and the others are named."""
    MODEL = "this model"
    """The simulated machine does something of its own; how much that makes is predicted."""
    UNEXPLAINED = "unexplained"
    """Nothing here says why. That is known, and it excuses nothing."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """What a paper says in one place, in its own words or figures."""

    section: str
    quote: str

    def __str__(self) -> str:
        return f"{self.section}: “{self.quote}”"


@dataclass(frozen=True, slots=True)
class Note:
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
        """Whether a figure is printed as ``published`` where the last digit stands for ``step``; 0 for all digits."""
        if not step:
            return value == published
        # As decimal fractions: 8.45 / 0.1 in binary is not what a reader computes.
        exact, unit = Fraction(str(value)), Fraction(str(step))
        return (exact + (unit / 2 if self is Digits.ROUNDED else 0)) // unit * unit == Fraction(str(published))
