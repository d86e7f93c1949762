"""The report of a verification: a table of rows for each table of the thesis, notes, and a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from pixelflow import __version__
from pixelflow.config import THESIS
from pixelflow.simd.report import Column, Json, Part, Report, Table, counted, table_object
from tessellation.published.rows import Outcome, Row
from tessellation.published.thesis import TITLE
from tessellation.reproduction import WITHOUT_FIGURES, Reproduction
from tessellation.reproduction.report.verified import Verified, deviation_text, figure_text, percent_text

__all__ = ["summary", "verified_report"]

_UNEXPLAINED = "UNEXPLAINED"
_ROWS_OF_A_UNIT = 3
"""Where units have fewer rows on the average, they stand with each row and not in a heading."""
_MOST_NAMED = 20


def verified_report(verified: Verified, *, strict: bool = False) -> Report:
    """Return the report; it fails where a row deviates without a note, or with ``strict`` where any deviates."""
    parts: list[Part] = [f"pixelflow verify {__version__}: {TITLE}; machine {THESIS.sha256[:12]}"]
    for table, rows in verified.tables:
        parts += ["", *_table(table, rows)]
    parts += [*_notes(verified), "", *summary(verified)]
    failure = _failure(verified.failures(strict=strict), strict=strict)
    return Report(parts=parts, schema="pixelflow.verify/1", data=_object(verified), failure=failure)


def _table(table: Reproduction, rows: Sequence[Row]) -> Iterator[Part]:
    title = f"{table.name.capitalize()}: {table.title} ({table.section})"
    units = [(unit, list(part)) for unit, part in groupby(rows, key=lambda row: row.unit)]
    if len(units) == 1 or len(units) * _ROWS_OF_A_UNIT <= len(rows):
        for index, (unit, part) in enumerate(units):
            if index:
                yield ""
                title = table.name.capitalize()
            yield _rows_table(part, f"{title}, {unit}", one_unit=True)
    else:
        yield _rows_table(rows, title, one_unit=False)
    for basis in dict.fromkeys(row.basis for row in rows):
        yield f"  {basis.standing}: {basis.text}"
    if table.notes:
        yield f"  see also: {', '.join(table.notes)}"


def _rows_table(rows: Sequence[Row], title: str = "", *, one_unit: bool) -> Table:
    """Return rows as people and JSON have them; deviations in percent only where there is room."""
    notes = [_notes_of(row) for row in rows]
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
            row.item, row.unit, row.step or None, row.basis.text, row.outcome, list(row.notes), row.detail or None,
        )
        for row, text in zip(rows, notes, strict=True)
    ]  # fmt: skip
    return Table(columns, cells, title)


def _notes_of(row: Row) -> str:
    notes = " ".join(row.notes)
    return f"{_UNEXPLAINED} {notes}".rstrip() if row.outcome is Outcome.UNEXPLAINED else notes


def _notes(verified: Verified) -> Iterator[Part]:
    if verified.notes:
        yield from ("", "notes")
        yield from (f"  {note.name} ({note.reason}, {note.section}): {note.text}" for note in verified.notes)
    if verified.complete:
        yield from ("", "without figures")
        yield from (f"  {name}: {reason}" for name, reason in WITHOUT_FIGURES.items())


def summary(verified: Verified) -> tuple[str, str]:
    """Return the last lines: how the rows came out, and where their figures come from."""
    outcomes, reasons = verified.outcomes, verified.reasons
    total = sum(outcomes.values())
    parts = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items()))
    explained = f"{outcomes[Outcome.EXPLAINED]} explained" + (f" ({parts})" if parts else "")
    text = f"{counted(total, 'row')}: {outcomes[Outcome.EQUAL]} equal, {explained}, "
    text += f"{outcomes[Outcome.UNEXPLAINED]} unexplained"
    if outcomes[Outcome.UNCHECKED]:
        text += f", {outcomes[Outcome.UNCHECKED]} unchecked"
    if outcomes[Outcome.UNPUBLISHED]:
        text += f", {outcomes[Outcome.UNPUBLISHED]} without a published figure"
    return text, f"{verified.measured} measured, {verified.formula_only} by formula alone"


def _failure(failures: Sequence[tuple[Reproduction, Row]], *, strict: bool) -> str | None:
    """Return what names the rows that fail, None where none does."""
    if not failures:
        return None
    named = [f"    {_failed(table, row)}" for table, row in failures[:_MOST_NAMED]]
    if len(failures) > _MOST_NAMED:
        named.append(f"    and {len(failures) - _MOST_NAMED} more")
    reason = "and --strict excuses none" if strict else "without a note that accounts for it"
    return "\n".join([f"{counted(len(failures), 'row')} off, {reason}:", *named])


def _failed(table: Reproduction, row: Row) -> str:
    figures = {"published": row.published, "formula": row.formula, "measured": row.measured}
    text = ", ".join(f"{name} {figure_text(value)}" for name, value in figures.items() if value is not None)
    return f"{table.name}: {row.item}: {text} {row.unit}"


def _object(verified: Verified) -> dict[str, Json]:
    """Return the whole verification for JSON; what is not known is null."""
    outcomes = verified.outcomes
    return {
        "thesis": TITLE,
        "config": {"preset": "thesis", "sha256": THESIS.sha256},
        "tables": [
            {
                "name": table.name,
                "title": table.title,
                "section": table.section,
                "notes": list(table.notes),
                "rows": table_object(_rows_table(rows, one_unit=True)),
            }
            for table, rows in verified.tables
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
        "without_figures": WITHOUT_FIGURES if verified.complete else {},
        "summary": {
            "rows": sum(outcomes.values()),
            "outcomes": {outcome.value: outcomes[outcome] for outcome in Outcome},
            "measured": verified.measured,
            "formula_only": verified.formula_only,
        },
    }
