"""What a claim of the paper is, and what was found about it here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType

from pixelflow.simd.records import record

__all__ = ["Claim", "Kind", "Measured", "Number"]

Number = int | float | bool | str | None
"""A figure; text where it is a name, None where there is none."""


class Kind(StrEnum):
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


@record
class Claim:
    """A quantitative claim of Seiler et al. 2008, in our words, with the figures that are printed."""

    name: str
    where: str
    """Section, table or figure of the paper."""
    text: str
    published: str
    """The figures as a reader would find them."""
    kinds: tuple[Kind, ...]
    conditions: str
    """What the figure here is of, and what it cannot say."""
    values: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """The printed figures by name; where a measure finds a figure of the same name, the two are compared."""
    expected: Mapping[str, Number] = field(default_factory=lambda: MappingProxyType({}))
    """Figures that follow from the claim and are not printed: none held up, none out of order; compared as well."""
    measure: str | None = None
    """The measure that stands beside the claim."""
    reason: str = ""
    """Why there is no measure, where there is none."""
    note: str = ""
    """Where the paper is at odds with itself, or leaves something open."""

    @property
    def wanted(self) -> Mapping[str, Number]:
        """The figures that a measure may be compared with, printed ones first."""
        return {**self.values, **self.expected}


@record
class Measured:
    """What a measure found: a line for people, and the figures by name."""

    text: str
    figures: Mapping[str, Number] = field(default_factory=dict)

    def differing(self, claim: Claim) -> tuple[str, ...]:
        """Return the figures that must be the same, printed or expected, and were found to be others."""
        return tuple(name for name in self.compared(claim) if self.figures[name] != claim.wanted[name])

    def compared(self, claim: Claim) -> tuple[str, ...]:
        """Return the figures that are compared: printed or expected ones that were found."""
        return tuple(name for name in claim.wanted if name in self.figures)

    def equal(self, claim: Claim) -> bool | None:
        """Return whether every figure that is compared is the same; None where none is."""
        return not self.differing(claim) if self.compared(claim) else None
