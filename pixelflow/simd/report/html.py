"""Reports as HTML and Markdown: a title, figures, facts as a table without heads, tables, and text as paragraphs.

A page is the piece that a notebook shows, with what makes it a separate document: nothing is loaded by it, and no
script runs in it. Sections and titles of tables are headings there; a long report has a list of them at its top.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape

from pixelflow import __version__
from pixelflow.simd.errors import printable
from pixelflow.simd.report.model import Fact, Heading, Json, Part, Report, Table
from pixelflow.simd.report.text import cell_text

_STYLE = """
:root { color-scheme: light dark; }
body { margin: 2rem auto; max-width: 64rem; padding: 0 1rem; font: 15px/1.45 system-ui, sans-serif;
  color: light-dark(#1c2024, #e4e6ea); background: light-dark(#ffffff, #16181c); }
h1 { font-size: 1.25rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; margin: 0.4rem 0 1.2rem; font-variant-numeric: tabular-nums; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; border-bottom: 1px solid light-dark(#d5d9df, #34383f); }
h2, h3 { overflow-wrap: anywhere; scroll-margin-top: 0.5rem; } h3 { font-size: 1rem; margin: 1.3rem 0 0.3rem; }
nav ul { columns: 18rem auto; column-gap: 2rem; margin: 0.3rem 0 1.2rem; padding: 0; list-style: none; }
nav li { break-inside: avoid; padding: 0.1rem 0; } nav p { margin: 0; font-weight: 600; }
a { color: light-dark(#1f5fa8, #8ab8ee); }
th, td { padding: 0.15rem 0.7rem 0.15rem 0; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid light-dark(#b8bdc6, #4a4f58); font-weight: 600; }
tbody tr:hover { background: light-dark(#f0f3f7, #20242a); }
th { font-weight: 500; }
td[style*="right"] { white-space: nowrap; }
.wide { --page: light-dark(#ffffff, #16181c); --edge: light-dark(#6b7280, #c0c6d0);
  background: linear-gradient(to right, var(--page) 1rem, transparent) left / 2rem 100% no-repeat local,
    linear-gradient(to left, var(--page) 1rem, transparent) right / 2rem 100% no-repeat local,
    linear-gradient(to right, var(--edge), transparent) left / 0.6rem 100% no-repeat scroll,
    linear-gradient(to left, var(--edge), transparent) right / 0.6rem 100% no-repeat scroll; }
pre { overflow-x: auto; font: 13px/1 ui-monospace, "DejaVu Sans Mono", monospace; }
figure { margin: 1rem 0; } figcaption { font-size: 0.85rem; opacity: 0.8; } img { max-width: 100%; height: auto; }
details { margin: 0.6rem 0; } summary { cursor: pointer; font-size: 1.05rem; font-weight: 600; }
.accent { color: light-dark(#1f5fa8, #8ab8ee); font-weight: 600; }
.failure { border-left: 4px solid #c8404a; padding-left: 0.7rem; white-space: pre-wrap; }
footer { margin-top: 2rem; font-size: 0.8rem; opacity: 0.7; }
""".strip()
_LONG = 4
"""Headings from which a page lists them at its top."""
_FIGURES = "Figures"


def page(report: Report, title: str) -> str:
    """Return a report as a document; ``title`` is used if the report has none.

    A text that is the report's first part is its answer, before the list of headings and all figures.
    """
    name = " · ".join((report.title, *report.subject)) if report.title else title
    failure = f'<p class="failure">{_html(report.failure)}</p>' if report.failure else ""
    notes = "".join(f"<p>{_html(note)}</p>" for note in report.notes)
    foot = " · ".join(["pixelflow-sim " + __version__, *([report.schema] if report.schema else [])])
    head = (
        f'<meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f'<title>{_html(name)}</title><link rel="icon" href="data:,"/><style>{_STYLE}</style>'
    )
    outline = _Outline(sections=bool(report.topics) or any(isinstance(part, Heading) for part in report.all_parts))
    answer = ""
    if report.parts and isinstance(report.parts[0], str):
        answer = _html_part(report.parts[0], outline)
        report = replace(report, parts=report.parts[1:])
    pieces = "".join(_pieces(replace(report, title=""), outline))
    shown = f"{answer}{failure}{outline.contents()}<div>{pieces}</div>"
    body = f"<h1>{_html(name)}</h1>{shown}{notes}<footer>{_html(foot)}</footer>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def html(report: Report) -> str:
    """Return a report as a piece of a page."""
    return "<div>" + "".join(_pieces(report, None)) + "</div>"


@dataclass(slots=True)
class _Outline:
    """The headings of a page: sections, and below them tables with a title; without sections, the titles alone."""

    sections: bool
    found: list[tuple[str, str]] = field(default_factory=list)
    """Anchor and text of those that are listed."""
    _taken: set[str] = field(default_factory=set)

    def heading(self, text: str, *, table: bool = False) -> str:
        """Return a heading as HTML, with a separate anchor."""
        word = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "section"
        anchor, again = word, 1
        while anchor in self._taken:
            again += 1
            anchor = f"{word}-{again}"
        self._taken.add(anchor)
        below = table and self.sections
        if not below:
            self.found.append((anchor, text))
        tag = "h3" if below else "h2"
        return f'<{tag} id="{anchor}">{_html(text)}</{tag}>'

    def contents(self) -> str:
        """Return the list of headings as links; nothing where there are few."""
        if len(self.found) < _LONG:
            return ""
        links = "".join(f'<li><a href="#{anchor}">{_html(text)}</a></li>' for anchor, text in self.found)
        return f'<nav aria-label="contents"><p>Contents</p><ul>{links}</ul></nav>'


def _pieces(report: Report, outline: _Outline | None) -> Iterator[str]:
    """Yield the parts of a report as HTML, with headings where there is an outline that lists them."""
    head = _html(" · ".join((report.title, *report.subject)))
    if report.title:
        yield f"<p><strong>{head}</strong></p>"
    figures = [drawn for drawn in (figure.html() for figure in report.figures) if drawn]
    if figures and outline is not None and outline.sections:
        figures.insert(0, outline.heading(_FIGURES))
    if not report.topics:
        yield from figures
    for facts, part in _shown(report):
        if facts:
            rows = "".join(f"<tr><th>{_html(label)}</th><td>{_html(text)}</td></tr>" for label, text in facts)
            yield f"<table>{rows}</table>"
        else:
            yield _html_part(part, outline)
    if report.topics:  # the answer is above the figures, what explains it below
        yield from figures
    for topic in report.topics:
        shown = " open" if topic.name in report.asked else ""
        pieces = "".join(_pieces(Report(parts=topic.parts), outline))
        yield f"<details{shown}><summary>{_html(topic.title)}</summary>{pieces}</details>"


def _html_part(part: Part, outline: _Outline | None) -> str:
    if isinstance(part, Heading):
        return outline.heading(part.text) if outline is not None else f"<p><strong>{_html(part.text)}</strong></p>"
    if isinstance(part, Table):
        heads, rows, numbers = _text_cells(part)
        lengths = _bar_lengths(part)
        head = "".join(f"<th{_right(n)}>{_html(name)}</th>" for name, n in zip(heads, numbers, strict=True))
        accents = [column.accent for column in part.columns if column.label is not None]
        body = "".join(
            f"<tr>{''.join(map(_cell, row, numbers, bars, accents))}</tr>"
            for row, bars in zip(rows, lengths, strict=True)
        )
        title = f"<p>{_html(part.title)}</p>" if part.title else ""
        if part.title and outline is not None:
            title = outline.heading(part.title, table=True)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f'{title}<div class="wide" style="overflow-x: auto">{table}</div>'
    text = part if isinstance(part, str) else part.text or ""
    if "\n" in text:
        return f'<pre style="line-height: 1">{_html(text)}</pre>'
    return f"<p>{_html(text.strip())}</p>"


def _cell(text: str, number: bool, bar: float, accent: str) -> str:
    """Return a cell of a table; ``bar`` is the length of its bar, in per cent of the cell."""
    if not bar:
        marked = ' class="accent"' if accent and accent in text else ""
        return f"<td{marked}{_right(number)}>{_html(text)}</td>"
    bars = f"linear-gradient(to left, rgba(76, 139, 200, 0.4) {bar:.1f}%, transparent 0)"
    style = f"text-align: right; min-width: 7em; border-right: 0.6em solid transparent; background: {bars} padding-box"
    return f'<td style="{style}">{_html(text)}</td>'


def _right(number: bool) -> str:
    return ' style="text-align: right"' if number else ""


def _bar_lengths(table: Table) -> list[list[float]]:
    """Return the lengths of the bars of all shown cells, row by row; sums have none."""
    shown = [at for at, column in enumerate(table.columns) if column.label is not None]

    def lengths(at: int) -> list[float]:
        values = [_amount(row[at]) if table.columns[at].bars else 0.0 for row in table.rows]
        most = max(values, default=0.0) or 1.0
        return [100 * value / most for value in values] + [0.0] * len(table.foot)

    return [list(row) for row in zip(*map(lengths, shown), strict=True)]


def _amount(cell: Json) -> float:
    return max(0.0, float(cell)) if isinstance(cell, int | float) else 0.0


def markdown(report: Report) -> str:
    """Return a report as a separate document."""
    lines = [f"# {_marked(' · '.join((report.title, *report.subject)))}", ""] if report.title else []
    level = "###" if any(isinstance(part, Heading) for part in report.all_parts) else "##"
    for facts, part in _shown(report):
        lines += ["| | |", "| --- | --- |", *map(_row, facts), ""] if facts else [*_markdown_part(part, level), ""]
    for topic in report.topics:
        lines.append(markdown(Report(parts=[Heading(topic.title), *topic.parts])))
    return "\n".join(lines)


def _markdown_part(part: Part, level: str) -> Iterator[str]:
    if isinstance(part, Heading):
        yield f"## {_marked(part.text)}"
        return
    if not isinstance(part, Table):
        text = part if isinstance(part, str) else part.text or ""
        yield from (["```text", text, "```"] if "\n" in text else [_marked(text.strip())])
        return
    heads, rows, numbers = _text_cells(part)
    if part.title:
        yield from (f"{level} {_marked(part.title)}", "")
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
        if part if isinstance(part, str) else part.rows if isinstance(part, Table) else part.text:
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


# Reports as one JSON object: facts and tables under their keys, sorted, the same bytes for the same report.


def json_text(report: Report) -> str:
    """Return the object of a report as text, with its schema and the version of the simulator."""
    return json.dumps(report_object(report), sort_keys=True, indent=2, allow_nan=False) + "\n"


def report_object(report: Report) -> dict[str, Json]:
    """Return what JSON holds of a report."""
    found: dict[str, Json] = {"schema": report.schema, "tool": {"name": "pixelflow-sim", "version": __version__}}
    found |= report.data
    for part in (*report.parts, *report.results):
        if isinstance(part, Fact) and part.key:
            found = _with(found, part.key, part.value)
        elif isinstance(part, Table) and part.key:
            found = _with(found, part.key, table_object(part))
    return found


def table_object(table: Table) -> Json:
    """Return the rows of a table by the keys of its columns."""
    places = {column.key: at for at, column in enumerate(table.columns) if column.key}
    if not table.named:
        return [{key: row[at] for key, at in places.items()} for row in table.rows]
    name = places.pop(table.named)
    if len(places) == 1:
        (only,) = places.values()
        return {str(row[name]): row[only] for row in table.rows}
    return {str(row[name]): {key: row[at] for key, at in places.items()} for row in table.rows}


def _with(target: Mapping[str, Json], key: str, value: Json) -> dict[str, Json]:
    """Return an object with a value under a dotted key; the objects on the way are copied."""
    first, _, rest = key.partition(".")
    inside = target.get(first, {})
    if rest and isinstance(inside, Mapping):
        return {**target, first: _with(inside, rest, value)}
    return {**target, first: value}
