"""Sentences: how a paper's claims in words stand beside what was measured, for people and in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pixelflow.evidence.figures import Row, figure_text
from pixelflow.evidence.paper import CheckedClaim, ClaimClass, ClaimVerdict, Verified
from pixelflow.simd.report import Column, Fact, Json, Part, Table

__all__ = ["letters", "measured_text", "sentence_data", "sentence_parts"]

_TABLE_WIDTH = 110
"""Columns below which each claim becomes a block of lines."""
_PLACE = 7
_SHARES = {"claim": 24, "published": 16, "measured here": 26, "conditions": 24}
"""Columns of a place and of each text in the narrowest table; texts of wider ones are divided alike."""


def letters(classes: Iterable[ClaimClass]) -> str:
    """Return classes as tables have them."""
    return "/".join(each.letter for each in classes)


def measured_text(found: CheckedClaim) -> str:
    """Return what stands in the column of what was measured."""
    if found.measured is None:
        return f"nothing: {found.reason}"
    if not found.rows:
        return found.measured.text
    if found.differing:
        return f"DIFFERS in {', '.join(found.differing).replace('_', ' ')}: {found.measured.text}"
    others = [row.item for row in found.rows if row not in found.contradicted]
    parts = [f"contradicted in {', '.join(map(_instead, found.contradicted))}"] if found.contradicted else []
    parts += [f"equal in {', '.join(others)}"] if others else []
    return f"{'; '.join(parts).replace('_', ' ')}: {found.measured.text}"


def _instead(row: Row) -> str:
    return f"{row.item} (printed {figure_text(row.published)}, here {figure_text(row.measured)})"


def sentence_parts(findings: Sequence[CheckedClaim], width: int) -> Iterator[Part]:
    """Yield findings as a table, or as blocks of lines on a narrow screen."""
    if width < _TABLE_WIDTH:
        yield from _blocks(findings)
        return
    spare = width - _TABLE_WIDTH
    place = min(_PLACE + spare, max(_PLACE, *(len(found.claim.place) for found in findings)))
    texts = sum(_SHARES.values()) + spare - (place - _PLACE)
    columns = [
        Column("where", least=place),
        Column("", fixed=True),
        *(Column(name, least=texts * share // sum(_SHARES.values())) for name, share in _SHARES.items()),
    ]
    claims = ((found.claim, measured_text(found)) for found in findings)
    yield Table(
        columns,
        [(c.place, letters(c.classes), c.title, c.published, text, c.conditions) for c, text in claims],
    )


def _blocks(findings: Sequence[CheckedClaim]) -> Iterator[Part]:
    for found in findings:
        claim = found.claim
        yield f"{claim.place} ({letters(claim.classes)}) {claim.name}: {claim.title}"
        yield Fact(claim.published, "  published", hang=14)
        yield Fact(measured_text(found), "  measured", hang=14)
        yield Fact(claim.conditions, "  conditions", hang=14)
        yield ""


def sentence_data(verified: Verified) -> dict[str, Json]:
    """Return the claims beside what was measured for JSON; what is not known is null."""
    return {
        "claims": [_object(found) for found in verified.findings],
        "classes": {each.value: count for each, count in verified.classes.items()},
        "summary": {
            "claims": len(verified.findings),
            "measured": sum(found.measured is not None for found in verified.findings),
            "outcomes": {each.value: verified.outcomes[each] for each in ClaimVerdict},
        },
        "closing": verified.paper.closing,
    }


def _object(found: CheckedClaim) -> dict[str, Json]:
    claim, measured = found.claim, found.measured
    return {
        "name": claim.name,
        "where": claim.place,
        "claim": claim.title,
        "classes": [each.value for each in claim.classes],
        "published": {"text": claim.published, "values": dict(claim.values)},
        "measured": None if measured is None else {"text": measured.text, "values": dict(measured.figures)},
        "expected": dict(claim.expected),
        "compared": [row.item for row in found.rows],
        "instead": {
            name: {"value": each.value, "expression": each.expression, "names": dict(each.names)}
            for name, each in claim.instead.items()
        },
        "outcome": found.verdict,
        "equal": None if found.verdict is ClaimVerdict.UNCOMPARED else found.verdict is ClaimVerdict.EQUAL,
        "reason": found.reason or None,
        "conditions": claim.conditions,
        "note": " ".join(note.text for note in claim.notes) or None,
    }
