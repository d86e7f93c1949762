"""How objects show themselves in a notebook and in a terminal: a sheet of plain text, drawn by rich or as HTML.

A class that derives from `Shown` says what is on its sheet and knows neither rich nor HTML. Whatever the texts hold
(brackets, tags, control characters) is shown as it is.
"""

from __future__ import annotations

from typing import Any

from pixelflow.simd.records import record

__all__ = ["Sheet", "Shown", "Table"]


@record
class Table:
    """Rows under a heading; columns whose cells are all numbers are set to the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """For each column, whether all its cells are numbers."""
        return tuple(all(isinstance(row[at], int) for row in self.rows) for at in range(len(self.head)))


@record
class Sheet:
    """What an object shows: a title, facts by name, tables, and a drawing of characters."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    drawing: tuple[str, ...] = ()


class Shown:
    """Something with a sheet: rich prints it, and notebooks display it."""

    __slots__ = ()

    def sheet(self) -> Sheet:
        """Return what the object shows."""
        raise NotImplementedError

    def __rich__(self) -> Any:
        """Return the sheet for `rich.print`."""
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        sheet = self.sheet()
        parts: list[Any] = [Text(_clean(sheet.title), style="bold")]
        label = max((len(name) for name, _ in sheet.facts), default=0)
        parts += [Text(_clean(f"{name:<{label}}  {value}")) for name, value in sheet.facts]
        for table in sheet.tables:
            drawn = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0))
            for name, numeric in zip(table.head, table.numeric, strict=True):
                side = "right" if numeric else "left"
                drawn.add_column(Text(_clean(name), style="bold"), justify=side, no_wrap=numeric, overflow="fold")
            for row in table.rows:
                drawn.add_row(*(Text(_cell(cell)) for cell in row))
            parts += [Text(), drawn]
        if sheet.drawing:
            parts += [Text(), Text("\n".join(sheet.drawing), no_wrap=True)]
        return Group(*parts)

    def _repr_html_(self) -> str:
        """Return the sheet for notebooks."""
        sheet = self.sheet()
        parts = [f"<p><strong>{_html(sheet.title)}</strong></p>"]
        if sheet.facts:
            rows = (f"<tr><th>{_html(name)}</th><td>{_html(value)}</td></tr>" for name, value in sheet.facts)
            parts.append(f"<table>{''.join(rows)}</table>")
        for table in sheet.tables:
            styles = [' style="text-align: right"' if numeric else "" for numeric in table.numeric]
            head = "".join(f"<th>{_html(name)}</th>" for name in table.head)
            rows = (
                "".join(f"<td{style}>{_html(_cell(cell))}</td>" for style, cell in zip(styles, row, strict=True))
                for row in table.rows
            )
            body = "".join(f"<tr>{row}</tr>" for row in rows)
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        if sheet.drawing:
            lines = "\n".join(map(_html, sheet.drawing))
            parts.append(f'<pre style="line-height: 1">{lines}</pre>')
        return "<div>" + "".join(parts) + "</div>"


def _cell(cell: str | int) -> str:
    return f"{cell:,}" if isinstance(cell, int) else _clean(cell)


def _clean(text: str) -> str:
    """Return text without control characters, which could move a terminal's cursor."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _html(text: str) -> str:
    from html import escape

    return escape(_clean(text))
