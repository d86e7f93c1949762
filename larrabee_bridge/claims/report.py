"""All claims in the order of the paper, and rows: a claim with what its measure found, or why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from larrabee_bridge.claims.measures import (  # noqa: F401  (they enter measures into the register)
    architecture,
    cores,
    rasterizer,
    tiles,
    traffic,
)
from larrabee_bridge.claims.measures.bench import LONG, MEASURES, Bench, NotMeasured
from larrabee_bridge.claims.published.architecture import CLAIMS as ARCHITECTURE
from larrabee_bridge.claims.published.claim import Claim, Kind, Measured
from larrabee_bridge.claims.published.renderer import CLAIMS as RENDERER
from larrabee_bridge.claims.published.studies import CLAIMS as STUDIES
from pixelflow.simd.records import record

__all__ = ["CLAIMS", "Row", "by_class", "closing", "is_long", "measured_rows"]

CLAIMS: tuple[Claim, ...] = (*ARCHITECTURE, *RENDERER, *STUDIES)
"""Every one, in the order of the paper."""


@record
class Row:
    """A claim, and what was measured or why nothing was."""

    claim: Claim
    measured: Measured | None
    reason: str = ""

    @property
    def text(self) -> str:
        """What stands in the column of what was measured."""
        if self.measured is None:
            return f"nothing: {self.reason}"
        match self.measured.equal(self.claim):
            case True:
                return f"equal in {_words(self.measured.compared(self.claim))}: {self.measured.text}"
            case False:
                return f"DIFFERS in {_words(self.measured.differing(self.claim))}: {self.measured.text}"
        return self.measured.text


def _words(names: Iterable[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


def is_long(claim: Claim) -> bool:
    """Return whether its measure takes seconds."""
    return claim.measure in LONG


def measured_rows(claims: Iterable[Claim], bench: Bench, *, quick: bool = False) -> Iterator[Row]:
    """Measure claims one after the other, now, on a bench where they share what they can; ``quick`` omits long ones."""
    for claim in claims:
        if quick and is_long(claim):
            yield Row(claim, None, "takes seconds, left out")
            continue
        if claim.measure is None:
            yield Row(claim, None, claim.reason)
            continue
        try:
            yield Row(claim, MEASURES[claim.measure](bench, claim.values))
        except NotMeasured as why:
            yield Row(claim, None, str(why))


def by_class(rows: Iterable[Row]) -> Counter[Kind]:
    """Return how many rows are of each class; a row of two counts in both."""
    return Counter(kind for row in rows for kind in row.claim.kinds)


def closing() -> str:
    """Return what nothing here says."""
    return (
        "Nothing here validates games, area or power, nor figures 10, 13, 14 and 17 to 20 of the paper. Our programs "
        "are not theirs, our scenes are no games, and the latencies of the core model are a descendant's."
    )
