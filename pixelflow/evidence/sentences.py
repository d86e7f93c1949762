"""Sentences: how a paper's claims in words stand beside what was measured, for people and in JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from pixelflow.evidence.figures import CheckedClaim, ClaimClass, ClaimVerdict, Number, Row, figure_text
from pixelflow.evidence.paper import Verified
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
        return f"{found.verdict}: {found.reason}"
    if found.verdict is ClaimVerdict.UNCOMPARED:
        return f"{found.verdict}: {found.measured.text}"
    parts = []
    if found.differing:
        parts.append(f"DIFFERS in {', '.join(found.differing)}")
    if found.contradicted:
        parts.append(f"contradicted in {', '.join(map(_instead, found.contradicted))}")
    known = {*found.differing, *(row.item for row in found.contradicted)}
    same = [row.item for row in found.rows if row.item not in known]
    for what, names in _kinds(found, same):
        parts += [f"{what} in {', '.join(names)}"] if names else []
    parts += [_of_span(found, name) for name in found.judged if name not in found.differing]
    if found.claim.missed and found.verdict is ClaimVerdict.MISSED:
        parts.append(f"reason: {found.claim.missed}")
    return f"{'; '.join(parts).replace('_', ' ')}: {found.measured.text}"


def _kinds(found: CheckedClaim, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield figures that are as printed: those that were executed, and those that were read back."""
    read = found.claim.constants
    yield "reproduced", [name for name in names if name not in read]
    yield "constant", [name for name in names if name in read]


def _of_span(found: CheckedClaim, name: str) -> str:
    """Return how often a span is kept, over everything that was looked at, and from what to what it goes."""
    assert found.measured is not None  # as it is judged
    values, wrong = found.measured.spread[name], sum(span == name for span, _ in found.outside)
    most, least = figure_text(max(values.values())), figure_text(min(values.values()))
    span = most if most == least else f"{least} to {most}"
    if wrong:
        return f"NOT in range in {name} ({span}; {len(values) - wrong} of {len(values)} are)"
    return f"in range in {name} ({span}{', all' if len(values) > 1 else ''})"


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


def _end(value: Number) -> Number | None:
    """Return an end of a span, None where it has none."""
    return value if math.isfinite(value) else None


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
        "constants": [row.item for row in found.rows if row.item in claim.constants],
        "spans": {
            name: {
                "least": _end(claim.spans[name].least),
                "most": _end(claim.spans[name].most),
                "found": {} if measured is None else dict(measured.spread[name]),
                "outside": [each for span, each in found.outside if span == name],
            }
            for name in found.judged
        },
        "missed": claim.missed or None,
        "compared": [row.item for row in found.rows],
        "instead": {
            name: {"value": each.value, "expression": each.expression, "names": dict(each.names)}
            for name, each in claim.instead.items()
        },
        "outcome": found.verdict,
        "reason": found.reason or None,
        "conditions": claim.conditions,
        "note": " ".join(note.text for note in claim.notes) or None,
    }
