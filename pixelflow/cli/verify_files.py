"""The verification as JSON, Markdown and SVG."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from pixelflow import __version__
from pixelflow.cli.output import output_file
from pixelflow.cli.screen import Screen
from pixelflow.cli.verify_report import show_verified, summary
from pixelflow.cli.verify_rows import Verified, deviation_text, figure_text, percent_text
from pixelflow.config import THESIS
from tessellation.published.notes import NOTES
from tessellation.published.rows import Outcome, Row
from tessellation.published.thesis import TITLE
from tessellation.reproduction import WITHOUT_FIGURES

__all__ = ["SCHEMA", "verified_object", "write_markdown", "write_svg"]

SCHEMA = "pixelflow.verify/1"
_PICTURE_WIDTH = 110


def verified_object(verified: Verified) -> dict[str, Any]:
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
                "rows": [_row_object(row) for row in rows],
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


def _row_object(row: Row) -> dict[str, Any]:
    return {
        "item": row.item,
        "unit": row.unit,
        "published": row.published,
        "printed_step": row.step or None,
        "formula": row.formula,
        "measured": row.measured,
        "deviation": row.deviation,
        "deviation_percent": row.percent,
        "standing": row.basis.standing,
        "basis": row.basis.text,
        "outcome": row.outcome,
        "notes": list(row.notes),
        "detail": row.detail or None,
    }


def write_markdown(path: str, verified: Verified) -> None:
    """Write the report as Markdown, with every column of every table and the notes as targets of links."""
    with output_file(path) as stream:
        stream.write("\n".join(_markdown(verified)) + "\n")


def _markdown(verified: Verified) -> Iterator[str]:
    yield f"# pixelflow verify {__version__}\n"
    yield f"{TITLE}; machine `{THESIS.sha256}`.\n"
    yield from (f"{line}.\n" for line in summary(verified))
    for table, rows in verified.tables:
        yield f"## {table.name.capitalize()}: {table.title}\n"
        yield f"Thesis: {table.section}.\n"
        yield "| row | unit | published | formula | measured | deviation | % | standing | outcome | notes |"
        yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |"
        for row in rows:
            figures = [figure_text(value) for value in (row.published, row.formula, row.measured)]
            notes = ", ".join(_link(name) for name in row.notes) + (f" ({row.detail})" if row.detail else "")
            cells = [_escaped(row.item), row.unit, *figures, deviation_text(row), percent_text(row)]
            yield "| " + " | ".join([*cells, row.basis.standing, row.outcome, notes]) + " |"
        yield ""
        for basis in dict.fromkeys(row.basis for row in rows):
            yield f"- *{basis.standing}*: {basis.text}"
        yield from (f"- see also {_link(name)}" for name in table.notes)
        yield ""
    yield "## Notes\n"
    yield from (
        f'- <a id="{note.name}"></a>**{note.name}** ({note.reason}, {note.section}): {note.text}'
        for note in verified.notes
    )
    if verified.complete:
        yield "\n## Without figures\n"
        yield from (f"- {name}: {reason}" for name, reason in WITHOUT_FIGURES.items())


def _link(name: str) -> str:
    return f"[{name}](#{NOTES[name].name})"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def write_svg(path: str, verified: Verified) -> None:
    """Write a picture of the report; equal reports give equal bytes."""
    from rich.console import Console
    from rich.text import Text

    drawn = io.StringIO()
    sheet = Screen(_PICTURE_WIDTH, color=True, quiet=False, verbose=False, json=False, sink=drawn.write)
    show_verified(sheet, verified)
    console = Console(record=True, width=_PICTURE_WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.from_ansi(drawn.getvalue().rstrip("\n")))
    with output_file(path) as stream:
        stream.write(console.export_svg(title="pixelflow verify", unique_id="pixelflow-verify"))
