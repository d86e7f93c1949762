"""Tables of rows: how a paper's figures stand beside what was measured, for people and in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pixelflow.evidence.paper import CheckedClaim, Verified
from pixelflow.evidence.row import Number, Row, RowVerdict
from pixelflow.simd.report import Column, Json, Part, Table, table_object

__all__ = ["deviation_text", "figure_text", "percent_text", "table_data", "table_parts"]

_UNEXPLAINED = "UNEXPLAINED"
_ROWS_OF_A_UNIT = 3
"""Where units have fewer rows on the average, they stand with each row and not in a heading."""


def figure_text(value: Number | None) -> str:
    """Return a count in full and a fraction with five digits; a dash where there is none."""
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.5g}"


def deviation_text(value: Number | None) -> str:
    """Return by how much a figure is off, with its sign; 0 where it is not."""
    if not value:
        return "-" if value is None else "0"
    return f"{value:+,}" if isinstance(value, int) else f"{value:+,.3g}"


def percent_text(value: float | None) -> str:
    """Return the same in percent, with two digits after the point, or more where these would all be zero."""
    if not value:
        return "-" if value is None else "0"
    return f"{value:+.2f}" if abs(value) >= 0.005 else f"{value:+.1g}"


def table_parts(found: CheckedClaim) -> Iterator[Part]:
    """Yield a finding as one table, or one for each unit, and what decides its figures."""
    claim, rows = found.claim, found.rows
    title = f"{claim.name.capitalize()}: {claim.title} ({claim.place})"
    units = [(unit, list(part)) for unit, part in groupby(rows, key=lambda row: row.unit)]
    if not rows:
        yield f"{title}: {found.reason}"
    elif len(units) == 1 or len(units) * _ROWS_OF_A_UNIT <= len(rows):
        for index, (unit, part) in enumerate(units):
            if index:
                yield ""
                title = claim.name.capitalize()
            yield _table(part, f"{title}, {unit}", one_unit=True)
    else:
        yield _table(rows, title, one_unit=False)
    for basis in dict.fromkeys(row.basis for row in rows):
        yield f"  {basis.standing}: {basis.text}"
    if found.measured is not None and found.measured.text:
        yield f"  {found.measured.text}"
    if claim.notes:
        yield f"  see also: {', '.join(note.name for note in claim.notes)}"


def _table(rows: Sequence[Row], title: str = "", *, one_unit: bool) -> Table:
    """Return rows as people and JSON have them; deviations in percent only where there is room."""
    names = [[note.name for note in row.notes] for row in rows]
    unexplained = [[_UNEXPLAINED] * (row.verdict is RowVerdict.UNEXPLAINED) for row in rows]
    notes = [" ".join(first + own) for first, own in zip(unexplained, names, strict=True)]
    columns = (
        Column("row", least=10),
        Column("published", figure_text, "published"),
        Column("formula", figure_text, "formula"),
        Column("measured", figure_text, "measured"),
        Column("deviation", deviation_text, "deviation"),
        Column("%", percent_text, "deviation_percent", optional=True),
        Column("standing", key="standing", fixed=True),
        Column("notes", least=max(len(name) for text in ("notes", *notes) for name in text.split() or ("",))),
        *(Column(None, key=key) for key in ("item", "unit", "printed_step", "basis", "outcome", "notes", "detail")),
    )
    cells = [
        (
            row.item if one_unit or row.unit in row.item else f"{row.item}, {row.unit}",
            row.published, row.formula, row.measured, row.deviation, row.percent, str(row.basis.standing), text,
            row.item, row.unit, row.step or None, row.basis.text, row.verdict, own, row.detail or None,
        )
        for row, text, own in zip(rows, notes, names, strict=True)
    ]  # fmt: skip
    return Table(columns, cells, title)


def table_data(verified: Verified) -> dict[str, Json]:
    """Return the whole verification for JSON; what is not known is null."""
    paper, verdicts = verified.paper, verified.verdicts
    return {
        paper.name: paper.title,
        "config": {"preset": paper.preset, "sha256": paper.sha256},
        "tables": [
            {
                "name": found.claim.name,
                "title": found.claim.title,
                "section": found.claim.place,
                "notes": [note.name for note in found.claim.notes],
                "rows": table_object(_table(found.rows, one_unit=True)),
                "reading": (found.measured.text if found.measured else "") or None,
            }
            for found in verified.findings
        ],
        "notes": {
            note.name: {
                "section": note.section,
                "reason": note.reason,
                "text": note.text,
                "covers_percent": {"measured": note.measured, "formula": note.formula},
            }
            for note in verified.notes
        },
        "without_figures": paper.without if verified.complete else {},
        "summary": {
            "rows": sum(verdicts.values()),
            "outcomes": {verdict.value: verdicts[verdict] for verdict in RowVerdict},
            "measured": verified.measured,
            "formula_only": verified.formula_only,
        },
    }
