"""Documents: a verification as Markdown and as a picture of its report."""

from __future__ import annotations

import io
from collections.abc import Iterator

from pixelflow import __version__
from pixelflow.evidence.figures import Note, figure_text
from pixelflow.evidence.paper import Verified
from pixelflow.evidence.report import evidence_report, summary
from pixelflow.evidence.tables import (
    derivation_lines,
    deviation_text,
    digits_text,
    percent_text,
    verdict_text,
)
from pixelflow.simd.report import as_text, html

__all__ = ["markdown", "svg"]

_PICTURE_WIDTH = 110


def markdown(verified: Verified) -> str:
    """Return the report as Markdown: every column of every table, and the notes as targets of links."""
    if verified.paper.in_words:
        return html.markdown(evidence_report(verified, _PICTURE_WIDTH))
    return "\n".join(_markdown(verified)) + "\n"


def _markdown(verified: Verified) -> Iterator[str]:
    paper = verified.paper
    yield f"# pixelflow verify {__version__}\n"
    yield f"{paper.title}; machine `{paper.sha256}`.\n"
    yield from (f"{line}.\n" for line in (*summary(verified), *(each.text for each in verified.remarks if each.text)))
    for found in verified.findings:
        claim = found.claim
        yield f"## {claim.name.capitalize()}: {claim.title}\n"
        yield f"{paper.name.capitalize()}: {claim.place}.\n"
        yield "| row | unit | published | formula | measured | busy | deviation | % | standing | outcome | notes |"
        yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | --- |"
        for row in found.rows:
            figures = [figure_text(value) for value in (row.published, row.formula, row.measured, row.busy)]
            notes = ", ".join(map(_link, row.notes)) + (f" ({row.detail})" if row.detail else "")
            cells = [_escaped(row.item), row.unit, *figures, deviation_text(row.deviation), percent_text(row.percent)]
            yield "| " + " | ".join([*cells, row.basis.standing, verdict_text(row) or row.verdict, notes]) + " |"
        yield ""
        for basis in dict.fromkeys(row.basis for row in found.rows):
            yield f"- *{basis.standing}*: {basis.text}"
        if digits := digits_text(claim, found.rows):
            yield f"- few digits: {digits}"
        yield from (f"- {_escaped(line.strip())}" for line in derivation_lines(found.rows))
        yield from (f"- see also {_link(note)}" for note in claim.notes)
        yield ""
        if found.checks:
            yield "| result | found | allowed | of | outcome | against |"
            yield "| --- | ---: | ---: | --- | --- | --- |"
            for each in found.checks:
                outcome = "held" if each.held else "WRONG"
                figures = [figure_text(each.found), figure_text(each.most)]
                yield "| " + " | ".join([_escaped(each.item), *figures, each.unit, outcome, each.by]) + " |"
            yield ""
    yield "## Notes\n"
    yield from (
        f'- <a id="{note.name}"></a>**{note.name}** ({note.reason}, {note.section}): {note.full}'
        for note in verified.notes
    )
    if verified.complete:
        yield "\n## Without figures\n"
        yield from (f"- {name}: {reason}" for name, reason in paper.without.items())


def _link(note: Note) -> str:
    return f"[{note.name}](#{note.name})"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def svg(verified: Verified) -> str:
    """Return a picture of the report; equal reports give equal text."""
    from rich.console import Console
    from rich.text import Text

    drawn = as_text(evidence_report(verified, _PICTURE_WIDTH).all_parts, _PICTURE_WIDTH, color=True)
    console = Console(record=True, width=_PICTURE_WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    console.print(Text.from_ansi(drawn.rstrip("\n")))
    return console.export_svg(title="pixelflow verify", unique_id="pixelflow-verify")
