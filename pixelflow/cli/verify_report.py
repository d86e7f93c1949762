"""The verification as text: a table of rows for each table of the thesis, notes, and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from pixelflow import __version__
from pixelflow.cli.screen import Column, Screen, counted
from pixelflow.cli.verify_rows import Verified, deviation_text, figure_text, percent_text
from pixelflow.config import THESIS
from tessellation.published.rows import Outcome, Row
from tessellation.published.thesis import TITLE
from tessellation.reproduction import WITHOUT_FIGURES, Reproduction

__all__ = ["show_list", "show_verified", "summary"]

_UNEXPLAINED = "UNEXPLAINED"
_ROWS_OF_A_UNIT = 3
"""Where units have fewer rows on the average, they stand with each row and not in a heading."""


def show_verified(screen: Screen, verified: Verified) -> None:
    """Print the report."""
    screen.paragraph(f"pixelflow verify {__version__}: {TITLE}; machine {THESIS.sha256[:12]}")
    for table, rows in verified.tables:
        screen.text()
        _show_table(screen, table, rows)
    _show_notes(screen, verified)
    screen.text()
    for line in summary(verified):
        screen.paragraph(line)


def _show_table(screen: Screen, table: Reproduction, rows: Sequence[Row]) -> None:
    title = f"{table.name.capitalize()}: {table.title} ({table.section})"
    units = [(unit, list(part)) for unit, part in groupby(rows, key=lambda row: row.unit)]
    if len(units) == 1 or len(units) * _ROWS_OF_A_UNIT <= len(rows):
        for index, (unit, part) in enumerate(units):
            if index:
                screen.text()
                title = table.name.capitalize()
            screen.table(*_layout(screen, part, one_unit=True), title=f"{title}, {unit}")
    else:
        screen.table(*_layout(screen, rows, one_unit=False), title=title)
    for basis in dict.fromkeys(row.basis for row in rows):
        screen.paragraph(f"{basis.standing}: {basis.text}", indent="  ")
    if table.notes:
        screen.paragraph(f"see also: {', '.join(table.notes)}", indent="  ")


def _layout(screen: Screen, rows: Sequence[Row], *, one_unit: bool) -> tuple[list[Column], list[list[str]]]:
    """Return the columns that fit: deviations in percent, and those in the unit alone where there is no room."""
    cells = [_cells(row, one_unit=one_unit) for row in rows]
    columns = [
        Column("row", least=10),
        *(Column(name, numbers=True) for name in ("published", "formula", "measured", "deviation", "%")),
        Column("standing", fixed=True),
        Column("notes", least=max(len(name) for *_, notes in cells for name in ("notes", *notes.split()))),
    ]
    if screen.fits(columns, cells):
        return columns, cells
    kept = [index for index, column in enumerate(columns) if column.name != "%"]
    fewer = [columns[index] for index in kept], [[row[index] for index in kept] for row in cells]
    return fewer if screen.fits(*fewer) else (columns, cells)


def _cells(row: Row, *, one_unit: bool) -> list[str]:
    item = row.item if one_unit or row.unit in row.item else f"{row.item}, {row.unit}"
    notes = " ".join(row.notes)
    if row.outcome is Outcome.UNEXPLAINED:
        notes = f"{_UNEXPLAINED} {notes}".rstrip()
    figures = (figure_text(value) for value in (row.published, row.formula, row.measured))
    return [item, *figures, deviation_text(row), percent_text(row), str(row.basis.standing), notes]


def _show_notes(screen: Screen, verified: Verified) -> None:
    if verified.notes:
        screen.text()
        screen.text("notes")
        for note in verified.notes:
            screen.paragraph(f"{note.name} ({note.reason}, {note.section}): {note.text}", indent="  ")
    if verified.complete:
        screen.text()
        screen.text("without figures")
        for name, reason in WITHOUT_FIGURES.items():
            screen.paragraph(f"{name}: {reason}", indent="  ")


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


def show_list(screen: Screen, tables: Sequence[Reproduction]) -> None:
    """Print what can be verified."""
    columns = [Column("name", fixed=True), Column("section", fixed=True), Column("title")]
    screen.table(columns, [[table.name, table.section, table.title] for table in tables])
