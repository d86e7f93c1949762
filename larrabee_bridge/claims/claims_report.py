"""The report of claims: what Seiler et al. 2008 claim beside what is found here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from larrabee_bridge.claims.published.claim import Kind
from larrabee_bridge.claims.report import Row, by_class, closing
from pixelflow.simd.report import Column, Fact, Json, Part, Report, Table, counted

__all__ = ["claims_report"]

_TITLE = "Seiler et al., Larrabee: A Many-Core x86 Architecture for Visual Computing, SIGGRAPH 2008"
_TABLE_WIDTH = 110
"""Columns below which each claim becomes a block of lines."""
_PLACE = 7
_SHARES = {"claim": 24, "published": 16, "measured here": 26, "conditions": 24}
"""Columns of a place and of each text in the narrowest table; texts of wider ones are divided alike."""


def claims_report(rows: Sequence[Row], width: int, *, quiet: bool = False) -> Report:
    """Return the claims beside what is measured, for a screen of ``width`` columns; ``quiet`` leaves only these."""
    wrong = [row.claim.name for row in rows if row.measured is not None and row.measured.equal(row.claim) is False]
    shown = [*(_table(rows, width) if width >= _TABLE_WIDTH else _blocks(rows))]
    return Report(
        results=shown if quiet else [*_head(), *shown, *_tail(rows)],
        schema="pixelflow.larrabee-claims/1",
        data={
            "claims": [_row_object(row) for row in rows],
            "classes": {kind.value: count for kind, count in by_class(rows).items()},
            "closing": closing(),
        },
        failure=f"figures that must be the same are others here: {', '.join(wrong)}" if wrong else None,
    )


def _head() -> tuple[Part, ...]:
    return (
        f"Claims of {_TITLE}, in our words. R reproducible, M mechanical, P by proxy, N not reproducible.",
        "",
    )


def _tail(rows: Sequence[Row]) -> Iterator[Part]:
    notes = [row.claim for row in rows if row.claim.note]
    if notes:
        yield from ("", "at odds with itself", *(f"  {claim.where}: {claim.note}" for claim in notes))
    yield from ("", _summary(rows), closing())


def _letters(kinds: Iterable[Kind]) -> str:
    return "/".join(kind.letter for kind in kinds)


def _table(rows: Sequence[Row], width: int) -> Iterator[Part]:
    spare = width - _TABLE_WIDTH
    place = min(_PLACE + spare, max(_PLACE, *(len(row.claim.where) for row in rows)))
    texts = sum(_SHARES.values()) + spare - (place - _PLACE)
    columns = [
        Column("where", least=place),
        Column("", fixed=True),
        *(Column(name, least=texts * share // sum(_SHARES.values())) for name, share in _SHARES.items()),
    ]
    claims = ((row.claim, row.text) for row in rows)
    yield Table(
        columns,
        [(c.where, _letters(c.kinds), c.text, c.published, text, c.conditions) for c, text in claims],
    )


def _blocks(rows: Sequence[Row]) -> Iterator[Part]:
    for row in rows:
        claim = row.claim
        yield f"{claim.where} ({_letters(claim.kinds)}) {claim.name}: {claim.text}"
        for label, text in (
            ("published", claim.published),
            ("measured", row.text),
            ("conditions", claim.conditions),
        ):
            yield Fact(text, f"  {label}", hang=14)
        yield ""


def _row_object(row: Row) -> dict[str, Json]:
    claim, measured = row.claim, row.measured
    return {
        "name": claim.name,
        "where": claim.where,
        "claim": claim.text,
        "classes": [kind.value for kind in claim.kinds],
        "published": {"text": claim.published, "values": dict(claim.values)},
        "measured": None if measured is None else {"text": measured.text, "values": dict(measured.figures)},
        "expected": dict(claim.expected),
        "compared": [] if measured is None else list(measured.compared(claim)),
        "equal": None if measured is None else measured.equal(claim),
        "reason": row.reason or None,
        "conditions": claim.conditions,
        "note": claim.note or None,
    }


def _summary(rows: Sequence[Row]) -> str:
    """Return how many rows are of which class, and what became of them."""
    classes = by_class(rows)
    parts = ", ".join(f"{classes[kind]} {kind.value}" for kind in Kind if classes[kind])
    two = sum(len(row.claim.kinds) > 1 for row in rows)
    measured = [(row.measured, row.claim) for row in rows if row.measured is not None]
    compared = [found.equal(claim) for found, claim in measured if found.equal(claim) is not None]
    text = f"{counted(len(rows), 'claim')}: {parts}" + (f" ({two} of two classes)" if two else "")
    text += f"; {len(measured)} measured, {len(rows) - len(measured)} not"
    if compared:
        text += f"; of {len(compared)} with figures that must be the same, {sum(compared)} have them"
    return f"{text}."
