"""The table of a sweep: CSV or JSON Lines, one row per point, that an interrupted sweep goes on with.

While points are measured a row is appended, and put on disk (fsync), as soon as its point is finished; at the end the
file is put in the order of the grid. What it says then does not depend on who measured which point when. One sweep at a
time writes a file: another is refused.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from io import FileIO
from pathlib import Path, PurePath
from typing import Protocol

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.output import STANDARD_STREAM, check_writable, output_file, write_stdout
from pixelflow.cli.sweep.file_lock import locked
from pixelflow.cli.sweep.points import Cell, Row
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.files import TABLE, read_bytes

__all__ = ["POINT", "SweepTable", "check_table_name", "shown"]

POINT = "point"
"""The column that numbers the points of the whole grid from 1, whatever part of it a file holds."""


class _Format(Protocol):
    """How rows become lines, and how lines are read back."""

    def head(self, columns: Sequence[str]) -> str:
        """Return the line before the first row; empty where there is none."""

    def start(self, columns: Sequence[str]) -> str:
        """Return what every file of these columns begins with."""

    def line(self, columns: Sequence[str], row: Row) -> str:
        """Return the line of a row, its end included."""

    def cells(self, columns: Sequence[str], line: str) -> dict[str, str]:
        """Return the cells of a line as `shown` gives them; raises ValueError with what is wrong with it."""


class _Csv:
    def head(self, columns: Sequence[str]) -> str:
        return _csv_line(columns)

    start = head

    def line(self, columns: Sequence[str], row: Row) -> str:
        return _csv_line([shown(row.get(name)) for name in columns])

    def cells(self, columns: Sequence[str], line: str) -> dict[str, str]:
        try:
            (fields,) = csv.reader([line], strict=True)
        except csv.Error as error:
            raise ValueError(str(error)) from None
        if len(fields) != len(columns):
            raise ValueError(f"{len(fields)} fields, not {len(columns)}")
        return dict(zip(columns, fields, strict=True))


class _JsonLines:
    def head(self, columns: Sequence[str]) -> str:
        return ""

    def start(self, columns: Sequence[str]) -> str:
        return f'{{"{columns[0]}": '

    def line(self, columns: Sequence[str], row: Row) -> str:
        return json.dumps({name: row.get(name) for name in columns}) + "\n"

    def cells(self, columns: Sequence[str], line: str) -> dict[str, str]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise ValueError("not JSON") from None
        if not isinstance(row, dict) or list(row) != list(columns):
            raise ValueError(f"not an object with the members {', '.join(columns)}")
        return {name: shown(value) for name, value in row.items()}


_FORMATS: dict[str, _Format] = {".csv": _Csv(), ".jsonl": _JsonLines()}


def check_table_name(path: str) -> None:
    """Raise UsageError unless the name says CSV or JSON Lines, InputError where it could not be written."""
    if path == STANDARD_STREAM:
        return
    if PurePath(path).suffix not in _FORMATS:
        raise UsageError("--out", f"{path!r} is neither .csv nor .jsonl")
    check_writable(path)


def shown(cell: Cell) -> str:
    """Return a cell as CSV has it: nothing for None."""
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)


def _typed(text: str) -> Cell:
    """Return what `shown` has made a text of."""
    if text in ("", "true", "false"):
        return None if not text else text == "true"
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?", text) else text


class SweepTable:
    """The rows of a sweep, on disk as they come in; ``-`` keeps them for standard output."""

    def __init__(self, path: str, columns: Sequence[str]) -> None:
        self._path, self._columns = path, (POINT, *columns)
        self._format = _FORMATS[".csv" if path == STANDARD_STREAM else PurePath(path).suffix]
        self._lines: dict[int, str] = {}
        self._failed: set[int] = set()
        self._in_order = True
        self._file: FileIO | None = None

    def __contains__(self, point: int) -> bool:
        return point in self._lines

    def failed(self, points: Sequence[int]) -> int:
        """Return how many of these points have an exit code that is not 0."""
        return len(self._failed.intersection(points))

    @contextlib.contextmanager
    def open(self, known: Sequence[Row]) -> Iterator[None]:
        """Take over the finished rows of an existing file and make it ready for more; in the end put all in order.

        ``known`` are the cells of each point of the grid that must agree. Raises InputError where the file holds
        something else, or another sweep writes it; it is then left as it is. A last line without its end is dropped:
        it was being written when something ended the sweep.
        """
        if self._path == STANDARD_STREAM:
            yield
            return
        with locked(self._path, "sweep"):
            self._take_over(known)
            self._rewrite()
            try:
                # The file grows in place, unlike other outputs: each row must outlive what may end the sweep.
                with self._appending() as self._file:
                    yield
            finally:
                self._file = None
                if not self._in_order:
                    self._rewrite()

    def add(self, point: int, row: Row) -> None:
        """Append the row of a point, numbered from 1; it is on disk when this returns.

        Raises InputError where it cannot be written (a full disk): the file then ends with the row before.
        """
        line = self._format.line(self._columns, {POINT: point, **row})
        if self._file is not None:
            self._append(self._file, line.encode("utf-8"))
        self._in_order = self._in_order and point > max(self._lines, default=0)
        self._lines[point] = line
        if row["exit_code"]:
            self._failed.add(point)

    def _appending(self) -> FileIO:
        """Open the file without a buffer, whose rest would be written when nothing more can be."""
        try:
            return FileIO(self._path, "ab")
        except OSError as error:
            raise self._unwritten(error) from None

    def _append(self, file: FileIO, line: bytes) -> None:
        before, done = file.seek(0, os.SEEK_END), 0
        try:
            while done < len(line):
                done += file.write(line[done:])
            os.fsync(file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                file.truncate(before)
            raise self._unwritten(error) from None

    def _unwritten(self, error: OSError) -> InputError:
        hint = "the finished points are in it; the same command goes on from there"
        return InputError(Fault(f"cannot be written: {error.strerror or error}", Place(self._path), hint))

    def print(self) -> None:
        """Write the table to standard output where it has no file."""
        if self._path == STANDARD_STREAM:
            write_stdout(self._text())

    def rows(self) -> tuple[list[str], list[list[Cell]]]:
        """Return the columns and the cells of every row, in the order of the points; numbers are numbers."""
        lines = [line for _, line in sorted(self._lines.items())]
        cells = [self._format.cells(self._columns, line.removesuffix("\n")) for line in lines]
        return list(self._columns), [[_typed(row[name]) for name in self._columns] for row in cells]

    def _rewrite(self) -> None:
        with output_file(self._path) as stream:
            stream.write(self._text())

    def _text(self) -> str:
        return self._format.head(self._columns) + "".join(line for _, line in sorted(self._lines.items()))

    def _take_over(self, known: Sequence[Row]) -> None:
        text = self._existing()
        start = self._format.start(self._columns)
        if not text.startswith(start) and not start.startswith(text):
            raise self._refusal(1, "this is no table of the same columns: " + ", ".join(self._columns))
        head = len(self._format.head(self._columns).splitlines())
        lines = text.splitlines(keepends=True)
        if lines and not lines[-1].endswith("\n"):
            lines.pop()
        for number, line in enumerate(lines[head:], head + 1):
            try:
                cells = self._format.cells(self._columns, line)
                point = self._agreeing(cells, known)
            except ValueError as error:
                raise self._refusal(number, str(error)) from None
            self._lines[point] = line
            if cells["exit_code"] != "0":
                self._failed.add(point)

    def _existing(self) -> str:
        if not Path(self._path).exists():
            return ""
        try:
            return read_bytes(self._path, TABLE).decode("utf-8")
        except UnicodeDecodeError:
            raise self._refusal(1, "this is not UTF-8 text") from None

    def _agreeing(self, cells: dict[str, str], known: Sequence[Row]) -> int:
        """Return the number of the point of a row; raises ValueError where the grid has another point there."""
        number = cells[POINT]
        if not (number.isascii() and number.isdigit() and len(number) < 18 and 1 <= int(number) <= len(known)):
            raise ValueError(f"the grid has no point {number[:20]!r}, only 1 to {len(known)}")
        for name, cell in known[int(number) - 1].items():
            if cells[name] != shown(cell):
                raise ValueError(f"point {number} has {name} = {cells[name][:64]}, here it is {shown(cell)[:64]}")
        return int(number)

    def _refusal(self, line: int, message: str) -> InputError:
        hint = "a sweep goes on only where file, grid, inputs and configuration agree; name another file, or remove it"
        return InputError(Fault(message, Place(self._path, line), hint))


def _csv_line(fields: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()
