"""Reports as HTML and Markdown: a title, facts as a table without heads, tables, and text as paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from pixelflow.simd.report.forms import printable
from pixelflow.simd.report.model import Fact, Part, Report, Table
from pixelflow.simd.report.text import cell_text

__all__ = ["html", "markdown"]


def html(report: Report) -> str:
    """Return a report as a piece of a page."""
    head = _html(" · ".join((report.title, *report.subject)))
    parts = [f"<p><strong>{head}</strong></p>"] if report.title else []
    for facts, part in _shown(report):
        if facts:
            rows = "".join(f"<tr><th>{_html(label)}</th><td>{_html(text)}</td></tr>" for label, text in facts)
            parts.append(f"<table>{rows}</table>")
        else:
            parts.append(_html_part(part))
    return "<div>" + "".join(parts) + "</div>"


def _html_part(part: Part) -> str:
    if isinstance(part, Table):
        heads, rows, numbers = _text_cells(part)
        styles = [' style="text-align: right"' if n else "" for n in numbers]
        head = "".join(f"<th>{_html(name)}</th>" for name in heads)
        body = "".join(
            f"<tr>{''.join(f'<td{s}>{_html(cell)}</td>' for s, cell in zip(styles, row, strict=True))}</tr>"
            for row in rows
        )
        title = f"<p>{_html(part.title)}</p>" if part.title else ""
        return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    text = part if isinstance(part, str) else part.text or ""
    if "\n" in text:
        return f'<pre style="line-height: 1">{_html(text)}</pre>'
    return f"<p>{_html(text.strip())}</p>"


def markdown(report: Report) -> str:
    """Return a report as a document of its own."""
    lines = [f"# {_marked(' · '.join((report.title, *report.subject)))}", ""] if report.title else []
    for facts, part in _shown(report):
        lines += ["| | |", "| --- | --- |", *map(_row, facts), ""] if facts else [*_markdown_part(part), ""]
    return "\n".join(lines)


def _markdown_part(part: Part) -> Iterator[str]:
    if not isinstance(part, Table):
        text = part if isinstance(part, str) else part.text or ""
        yield from (["```text", text, "```"] if "\n" in text else [_marked(text.strip())])
        return
    heads, rows, numbers = _text_cells(part)
    if part.title:
        yield from (f"## {_marked(part.title)}", "")
    yield _row(heads)
    yield _row(["--:" if n else "---" for n in numbers])
    yield from map(_row, rows)


def _shown(report: Report) -> Iterator[tuple[list[tuple[str, str]], Part]]:
    """Yield facts that follow each other together, and every other part that has a text by itself."""
    facts: list[tuple[str, str]] = []
    for part in (*report.parts, *report.results, ""):
        if isinstance(part, Fact) and part.label is not None:
            facts.append((part.label, part.text or ""))
            continue
        if facts:
            yield facts, part
            facts = []
        if part if isinstance(part, str) else part.text if isinstance(part, Fact) else part.rows:
            yield facts, part


def _text_cells(table: Table) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return the headings that people see, the cells as text, and which columns hold numbers."""
    shown = [(at, column) for at, column in enumerate(table.columns) if column.label is not None]
    rows = [[cell_text(column, row[at]) for at, column in shown] for row in (*table.rows, *table.foot)]
    return [column.heading for _, column in shown], rows, [column.numbers for _, column in shown]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_marked, cells))} |"


def _marked(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _html(text: str | None) -> str:
    return escape(printable(text or ""))
