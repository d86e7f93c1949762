"""The verification as Markdown and as a picture of its report."""

from __future__ import annotations

import io
from collections.abc import Iterator

from pixelflow import __version__
from pixelflow.config import THESIS
from pixelflow.simd.report import as_text
from tessellation.published.notes import NOTES
from tessellation.published.thesis import TITLE
from tessellation.reproduction import WITHOUT_FIGURES
from tessellation.reproduction.report.verification import summary, verified_report
from tessellation.reproduction.report.verified import Verified, deviation_text, figure_text, percent_text

__all__ = ["markdown", "svg"]

_PICTURE_WIDTH = 110


def markdown(verified: Verified) -> str:
    """Return the report as Markdown, with every column of every table and the notes as targets of links."""
    return "\n".join(_markdown(verified)) + "\n"


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
            cells = [_escaped(row.item), row.unit, *figures, deviation_text(row.deviation), percent_text(row.percent)]
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


def svg(verified: Verified) -> str:
    """Return a picture of the report; equal reports give equal text."""
    from rich.console import Console
    from rich.text import Text

    drawn = as_text(verified_report(verified).all_parts, _PICTURE_WIDTH, color=True)
    console = Console(record=True, width=_PICTURE_WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.from_ansi(drawn.rstrip("\n")))
    return console.export_svg(title="pixelflow verify", unique_id="pixelflow-verify")
