"""Reports as text: wrapped lines and aligned tables, plain or in colour.

Program text (operands, labels, source lines) only ever becomes a ``rich.text.Text``, never a markup string, which
would swallow ``[p]``. Numbers are never cropped: where a table does not fit, each row becomes a block of lines.
rich is imported for the first table that has colours or folded cells.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pixelflow.simd.errors import printable
from pixelflow.simd.report.model import Column, Fact, Heading, Json, Part, Table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


_GAP = 2
_RULE, _RULED = "━━", 80
"""Text before a section's title, and the length of the line to its right where the screen is wider."""
_LEAST_ROOM = 8
"""Minimum columns of a cell next to its heading, however narrow the screen is."""


def as_text(parts: Iterable[Part], width: int, *, color: bool = False) -> str:
    """Return parts of a report as lines of at most ``width`` columns where that is possible, each with its end."""
    return "".join(
        "\n".join(_lines(part, width, color=color)) + "\n"
        for part in parts
        if not (isinstance(part, Fact) and part.text is None)
    )


def cell_text(column: Column, cell: Json) -> str:
    """Return a cell as text; what is not there is empty."""
    if cell is None and not column.numbers:
        return ""
    return cell if isinstance(cell, str) else column.kind(cell)


def _lines(part: Part, width: int, *, color: bool) -> Iterable[str]:
    if isinstance(part, Table):
        return _table(part, width, color=color)
    if isinstance(part, Heading):
        return _heading(part.text, width, color=color)
    return _line(part, width, color=color)


def _heading(text: str, width: int, *, color: bool) -> list[str]:
    """Return a section's title with a line to its right, as far as a table of some columns is wide."""
    lines = textwrap.wrap(printable(text), max(_LEAST_ROOM, width - len(_RULE) - 1), break_on_hyphens=False)
    lines = [f"{_RULE} {line}" for line in lines]
    lines[-1] = f"{lines[-1]} {'━' * (min(width, _RULED) - len(lines[-1]) - 1)}".rstrip()
    return drawn(_styled("\n".join(lines), "bold"), width, color=True) if color else lines


def _line(part: str | Fact, width: int, *, color: bool = False) -> list[str]:
    if color and isinstance(part, Fact) and part.in_colour:
        return [part.in_colour]
    if isinstance(part, str):
        part = _clean(part)
        if "\n" in part:
            return [part]
        indent = part[: len(part) - len(part.lstrip(" "))]
        return _wrapped(part.lstrip(" "), width, indent, indent) or [""]
    lead = "" if part.label is None else f"{part.label:<{part.hang - 1}} "
    text = _clean(part.text or "")
    if not part.wrap:
        return [f"{lead}{text}"]
    if part.label is None:
        return _line(text, width)
    return _wrapped(text, max(width, 2 * part.hang), lead, " " * part.hang)


def _clean(text: str) -> str:
    """Return a text without what a terminal would take as an order; tabs become blanks."""
    return printable(text if text.isprintable() else text.expandtabs())


def _wrapped(line: str, width: int, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        line, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=False
    )


def _table(table: Table, width: int, *, color: bool) -> Iterator[str]:
    """Yield the lines of a table, or one block of lines for each row where the table would not fit."""
    columns, rows = _cells(table, width)
    if table.title:
        styled = drawn(_styled(table.title, "bold"), width, color=True) if color else None
        yield from styled or textwrap.wrap(printable(table.title), width, break_on_hyphens=False)
    if not _fits(columns, rows, width):
        yield from _blocks(columns, rows, width)
        return
    widths = _widths(columns, rows, width)
    cells = [column.heading for column in columns] + [cell for row in rows for cell in row]
    one_line_each = widths == _widest(columns, rows) and not any("\n" in cell for cell in cells)
    if not color and one_line_each and all(widths):
        yield from _aligned(columns, rows, widths)
        return
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    folded = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0))
    for column, columns_wide in zip(columns, widths, strict=True):
        folded.add_column(
            _styled(column.heading, "bold"),
            justify="right" if column.numbers else "left",
            no_wrap=column.numbers or column.fixed,
            width=columns_wide,
            overflow="fold",
        )
    for row in rows:
        styles = (column.style if column.accent in cell else "" for cell, column in zip(row, columns, strict=True))
        folded.add_row(*map(_styled, row, styles))
    yield from drawn(folded, width, color=color)


def _cells(table: Table, width: int) -> tuple[list[Column], list[list[str]]]:
    """Return the columns that people see and their cells as text, without as many optional ones as makes them fit."""
    shown = [at for at, column in enumerate(table.columns) if column.label is not None]

    def chosen(places: list[int]) -> tuple[list[Column], list[list[str]]]:
        rows = [[cell_text(table.columns[at], row[at]) for at in places] for row in (*table.rows, *table.foot)]
        return [table.columns[at] for at in places], rows

    whole = chosen(shown)
    places, fewer = list(shown), whole
    for at in reversed([at for at in shown if table.columns[at].optional]):
        if _fits(*fewer, width):
            break
        places.remove(at)
        fewer = chosen(places)
    return fewer if _fits(*fewer, width) else whole


def _fits(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Return whether a table fits into the width without a number that is cropped."""
    return sum(_least(columns, rows)) + _GAP * (len(columns) - 1) <= width


def _blocks(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    label = max(len(column.heading) for column in columns)
    room = max(_LEAST_ROOM, width - label - _GAP)
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            text = printable(cell)
            if column.fixed and len(text) > room:  # whole where it can be, since it may be copied
                yield column.heading
                yield from (" " * _GAP + piece for piece in textwrap.wrap(text, max(_LEAST_ROOM, width - _GAP)))
                continue
            pieces = [text] if column.numbers or len(text) <= room else textwrap.wrap(text, room)
            for at, piece in enumerate(pieces or [""]):
                yield f"{'' if at else column.heading:<{label}}{' ' * _GAP}{piece}".rstrip()
        yield ""


def drawn(renderable: RenderableType, width: int, *, color: bool) -> list[str]:
    """Return the lines that rich draws: into a string first, since a broken pipe must reach our own handler."""
    from rich.console import Console

    target = io.StringIO()
    console = Console(
        file=target,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    console.print(renderable)
    return [line.rstrip() for line in target.getvalue().splitlines()]


def _styled(cell: str, style: str) -> Text:
    from rich.text import Text

    return Text(printable(cell), style=style)


def _widest(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the width that each column would take if it were alone."""
    cells = [[column.heading, *(row[index] for row in rows)] for index, column in enumerate(columns)]
    return [max(_columns(line) for cell in column for line in printable(cell).split("\n")) for column in cells]


def _columns(line: str) -> int:
    """Return how many columns of a screen a line takes."""
    if line.isascii():
        return len(line)
    from rich.cells import cell_len

    return cell_len(line)


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    """Yield the lines that rich draws for a table whose cells are a line each: it loads longer than that."""

    def line(cells: Iterable[str]) -> str:
        placed = []
        for column, cell, width in zip(columns, map(printable, cells), widths, strict=True):
            shown = cell.rstrip() if column.numbers else cell
            blank = " " * (width - _columns(shown))
            placed.append(blank + shown if column.numbers else shown + blank)
        return (" " * _GAP).join(placed).rstrip()

    yield line(column.heading for column in columns)
    yield "─" * (sum(widths) + _GAP * (len(widths) - 1))
    yield from map(line, rows)


def _least(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths below which columns would lose something."""
    both = zip(columns, _widest(columns, rows), strict=True)
    return [widest if column.numbers or column.fixed else min(widest, column.least) for column, widest in both]


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of columns that fit: the narrowest get what they need first."""
    widths, wanted = _least(columns, rows), _widest(columns, rows)
    room = width - _GAP * (len(columns) - 1) - sum(widths)
    for index in sorted(range(len(columns)), key=lambda index: wanted[index]):
        more = min(room, wanted[index] - widths[index])
        widths[index] += more
        room -= more
    return widths
