"""What a command shows: tables and text for people, one JSON object for programs.

Program text (operands, labels, source lines) only ever becomes a ``rich.text.Text``, never a markup string, which
would swallow ``[p]``. Numbers are never cropped: where a table does not fit, each row becomes a block of lines.
rich is imported for the first table that has colours or folded cells.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pixelflow import __version__
from pixelflow.cli.output import write_stdout
from pixelflow.simd.records import record

__all__ = ["Column", "Screen", "counted", "number"]

_GAP = 2
_FACT = 20
"""Columns of a fact's name."""


@record
class Column:
    """One column of a table: heading, and whether it holds numbers (right-aligned, never wrapped).

    ``fixed`` keeps a text column on one line too; any other needs ``least`` columns, or what its longest cell takes.
    ``style`` is a rich style name.
    """

    name: str
    numbers: bool = False
    fixed: bool = False
    style: str = ""
    least: int = 12


def number(value: int | float | None) -> str:
    """Return a count with thousands separators, a fraction with four digits, and a dash for what is not known."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 word``, ``2 words``."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


@record
class Screen:
    """Standard output as one command uses it; made from the common options."""

    width: int
    color: bool
    quiet: bool
    verbose: bool
    json: bool
    progress: bool = True
    sink: Callable[[str], object] = write_stdout
    """Takes everything that is shown."""

    @classmethod
    def of(cls, args: argparse.Namespace) -> Screen:
        """Return the screen that the common options of ``args`` describe."""
        width = args.width or shutil.get_terminal_size((80, 24)).columns
        color = args.color == "always" or (args.color == "auto" and _terminal_takes_color())
        return cls(max(20, width), color, args.quiet, args.verbose, args.json, args.progress)

    def text(self, text: str = "") -> None:
        """Print a line (or several) of plain text."""
        self.sink(text + "\n")

    def paragraph(self, text: str, indent: str = "") -> None:
        """Print running text, wrapped to the width; every line starts with ``indent``."""
        import textwrap

        wrapped = textwrap.wrap(
            text,
            self.width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
            break_long_words=False,
        )
        self.text("\n".join(wrapped))

    def fact(self, name: str, text: str) -> None:
        """Print a name and a text beside it, which is wrapped to the width."""
        import textwrap

        indent = " " * _FACT
        wrapped = textwrap.wrap(
            text,
            max(self.width, 2 * _FACT),
            initial_indent=f"{name:<{_FACT}}",
            subsequent_indent=indent,
            break_on_hyphens=False,
            break_long_words=False,
        )
        self.text("\n".join(wrapped))

    def note(self, text: object) -> None:
        """Print progress or a remark on stderr, unless ``--quiet``."""
        if not self.quiet and sys.stderr is not None:
            sys.stderr.write(f"{text}\n")

    def object(self, schema: str, **values: Any) -> None:
        """Print the one JSON object of a command; ``schema`` is its name and version, ``pixelflow.run/1``."""
        content = {"schema": schema, "tool": {"name": "pixelflow-sim", "version": __version__}, **values}
        self.sink(json.dumps(content, sort_keys=True, indent=2, allow_nan=False) + "\n")

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[str]], title: str = "") -> None:
        """Print a table, or one block of lines per row where the table would not fit."""
        rows = [[str(cell) for cell in row] for row in rows]
        if title:
            self.draw(_styled(title, "bold"))
        if not self.fits(columns, rows):
            self._records(columns, rows)
            return
        widths = _widths(columns, rows, self.width)
        cells = [column.name for column in columns] + [cell for row in rows for cell in row]
        one_line_each = widths == _widest(columns, rows) and not any("\n" in cell for cell in cells)
        if not self.color and one_line_each and all(widths):
            self.text("\n".join(_aligned(columns, rows, widths)))
            return
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _GAP - 1, 0, 0))
        for column, width in zip(columns, widths, strict=True):
            table.add_column(
                _styled(column.name, "bold"),
                justify="right" if column.numbers else "left",
                no_wrap=column.numbers or column.fixed,
                width=width,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(_styled(cell, column.style) for cell, column in zip(row, columns, strict=True)))
        self.draw(table)

    def fits(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> bool:
        """Return whether a table fits into the width without a number that is cropped."""
        return sum(_least(columns, rows)) + _GAP * (len(columns) - 1) <= self.width

    def _records(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        label = max(len(column.name) for column in columns)
        for row in rows:
            for column, cell in zip(columns, row, strict=True):
                self.text(f"{column.name:<{label}}  {cell}".rstrip())
            self.text()

    def draw(self, renderable: Any) -> None:
        """Draw into a string first: a broken pipe must reach our own handler, not rich's."""
        from rich.console import Console

        drawn = io.StringIO()
        console = Console(
            file=drawn,
            width=self.width,
            force_terminal=self.color,
            color_system="standard" if self.color else None,
            no_color=not self.color,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )
        console.print(renderable)
        self.sink("\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n")


def _styled(text: str, style: str) -> Any:
    from rich.text import Text

    return Text(_printable(text), style=style)


def _printable(text: str) -> str:
    """Return a text with escapes for control characters, which could move the cursor."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def _widest(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the width that each column would take if it were alone."""
    cells = [[column.name, *(row[index] for row in rows)] for index, column in enumerate(columns)]
    return [max(_columns(line) for cell in column for line in _printable(cell).split("\n")) for column in cells]


def _columns(line: str) -> int:
    """Return how many columns of a screen a line takes."""
    if line.isascii():
        return len(line)
    from rich.cells import cell_len

    return cell_len(line)


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    """Yield the lines that rich draws for a table whose cells are a line each: it loads longer than that."""

    def line(cells: Sequence[str]) -> str:
        placed = []
        for column, cell, width in zip(columns, map(_printable, cells), widths, strict=True):
            shown = cell.rstrip() if column.numbers else cell
            blank = " " * (width - _columns(shown))
            placed.append(blank + shown if column.numbers else shown + blank)
        return (" " * _GAP).join(placed).rstrip()

    yield line([column.name for column in columns])
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


def _terminal_takes_color() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()
