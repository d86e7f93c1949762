"""The grid of a sweep, made by ``--set NAME=VALUES``; its points, and the table of their rows."""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import io
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import FileIO
from pathlib import Path, PurePath
from time import perf_counter
from typing import NamedTuple

from microcode import places as files
from pixelflow import __version__
from pixelflow.cli.screen import STANDARD_STREAM, check_writable, output_file, write_stdout
from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node, Run
from pixelflow.simd.configuration import Value, leaves, written_as
from pixelflow.simd.errors import (
    Fault,
    InputError,
    Place,
    SimulatorError,
    UsageError,
    format_error,
    suggestion,
)
from pixelflow.simd.files import TABLE, locked, read_bytes
from pixelflow.simd.report import Curves, Json, number, six_digits
from tessellation import Method, Patch, tessellate

LARGEST_RANGE = 1_000_000
"""A range with more values than this is a slip of the finger."""

_RANGE = re.compile(r"(-?\d+):(-?\d+)(?::(\d+))?")
_PARAMETER = "param."


class Axis(NamedTuple):
    """One name of the grid and the values it takes, in the order written; ``words`` makes a value an option."""

    name: str
    values: tuple[Value, ...]
    words: Callable[[Value], list[str]]
    is_parameter: bool = False
    """True where it changes the source of the program."""


@dataclass(frozen=True, slots=True)
class Grid:
    """All combinations of the values of the axes; the last axis varies fastest."""

    axes: tuple[Axis, ...]

    def __len__(self) -> int:
        total = 1
        for axis in self.axes:
            total *= len(axis.values)
        return total

    def __str__(self) -> str:
        return " x ".join(f"{len(axis.values)} {axis.name}" for axis in self.axes)

    def points(self) -> Iterator[dict[str, Value]]:
        """Yield the values of each point by name."""
        for values in itertools.product(*(axis.values for axis in self.axes)):
            yield dict(zip((axis.name for axis in self.axes), values, strict=True))

    def words(self, point: dict[str, Value]) -> list[str]:
        """Return the options that make a command line do a point."""
        return [word for axis in self.axes for word in axis.words(point[axis.name])]


def axis_of(text: str, options: Sequence[argparse.Action], *, parameters: bool) -> Axis:
    """Return the axis of one ``--set``: a configuration key, an option of the command, or ``param.NAME`` of the source.

    Raises UsageError for an unknown name, and for values that cannot be read; whether they are allowed is asked later.
    """
    name, equals, written = (part.strip() for part in text.partition("="))
    shown = f"--set {text}"
    if not equals or not name or not written:
        raise UsageError(shown, "expected NAME=VALUE,VALUE or NAME=FIRST:LAST", "example: --set sdram.trp_cycles=2:4")
    keys = [key for key, _, _, _ in leaves(THESIS)]
    by_name = {option_name(action): action for action in options}
    values = tuple(_values(shown, written))
    if name in keys:
        return Axis(name, values, lambda value: ["-D", f"{name}={written_as(value)}"])
    if name in by_name:
        action = by_name[name]
        values = tuple(_current(action, value) for value in values)
        return Axis(name, values, lambda value: _option_words(shown, action, value))
    if parameters and name.startswith(_PARAMETER):
        return Axis(name, values, lambda value: ["-P", f"{name.removeprefix(_PARAMETER)}={written_as(value)}"], True)
    hint = suggestion(name, [*keys, *by_name], "see: pixelflow config show, and this command's --help")
    raise UsageError(shown, f"{name} is neither a configuration key nor an option that can be swept", hint)


def option_name(action: argparse.Action) -> str:
    """Return the name of an option as ``--set`` takes it: ``--mantissa-bytes`` is ``mantissa-bytes``."""
    return action.option_strings[-1].lstrip("-")


def _option_words(shown: str, action: argparse.Action, value: Value) -> list[str]:
    option = action.option_strings[-1]
    if action.nargs != 0:
        return [option, written_as(value)]
    if not isinstance(value, bool):
        raise UsageError(shown, f"{option} is a switch", "its values are true and false")
    return [option] if value else []


def _current(action: argparse.Action, value: Value) -> Value:
    """Return a value as the option has it, where that has former names for some; a wrong one stays as it is."""
    named = action.type
    return str(named(value)) if action.choices and isinstance(value, str) and callable(named) else value


def _values(shown: str, text: str) -> Iterator[Value]:
    """Yield the values of a list; a part ``2:6`` or ``2:10:4`` is a range, both ends included."""
    seen = set()
    for part in (word.strip() for word in text.split(",")):
        for value in _range(shown, part):
            if (type(value), value) in seen:
                raise UsageError(shown, f"the value {written_as(value)} comes twice")
            seen.add((type(value), value))
            yield value


def _range(shown: str, part: str) -> Sequence[Value]:
    if not part:
        raise UsageError(shown, "a value is empty")
    found = _RANGE.fullmatch(part)
    if found is None:
        return [_value(part)]
    if any(len(number or "") > 18 for number in found.groups()):
        raise UsageError(shown, "a number of the range is too long")
    first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
    if step == 0 or last < first:
        raise UsageError(shown, f"{part} is an empty range", "FIRST:LAST or FIRST:LAST:STEP, both ends included")
    numbers = range(first, last + 1, step)
    if len(numbers) > LARGEST_RANGE:
        raise UsageError(shown, f"{part} has {number(len(numbers))} values", f"at most {number(LARGEST_RANGE)}")
    return numbers


def _value(text: str) -> Value:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?(0|[1-9]\d{0,30})", text) else text


# The points of a sweep: a program or a tessellation with everything it needs, and the row that it measures.
#
# A point is a value that travels to another process or another machine, so it holds programs and patches, not names of
# files. What it measures depends on nothing but the point.


Cell = int | float | bool | str | None
"""One field of a row; None where the point has no such figure."""

Row = Mapping[str, Cell]
"""The cells of a row by column; a column that is missing is empty."""

_CYCLES = (
    "run.cycles",
    *(f"{stream}.{kind}_cycles" for stream in ("eigc", "tigc") for kind in ("busy", "wait", "idle")),
)

COLUMNS = {
    "run": ("program_sha256", "config_sha256", "version", *_CYCLES),
    "tessellate": (
        "patches_sha256", "config_sha256", "library_sha256", "version", "patches", "passes", *_CYCLES,
        "worst_point_error", "worst_normal_error",
    ),
}  # fmt: skip
"""The columns of each kind of sweep; cycles are named as in `pixelflow stats`, and summed over the passes."""


_HASHES = ("program_sha256", "patches_sha256", "config_sha256", "library_sha256")
BEHIND = ("version", *_HASHES)
"""Columns that people read last: the identity of what was measured."""


class Refused(NamedTuple):
    """A point that cannot be built: its values contradict each other, or the program does not assemble with them."""

    text: str
    exit_code: int
    identity: Row

    @classmethod
    def by(cls, error: SimulatorError, kind: str) -> Refused:
        """Return the point of a kind of sweep that an error stands for."""
        unknown = {name: None for name in COLUMNS[kind] if name in _HASHES}
        return cls(_one_line(error), error.exit_code, {**unknown, "version": __version__})

    def measure(self) -> Row:
        """Return the error."""
        return {"exit_code": self.exit_code, "error": self.text}


class RunPoint(NamedTuple):
    """A program on a node; without data (``function`` false) only time passes, and the cycles are the same."""

    program_text: str
    """The object file of the program, which each process reads and analyses once."""
    config: NodeConfig
    engine: str
    max_cycles: int | None
    function: bool

    @property
    def identity(self) -> Row:
        """The hashes of program and configuration, and the version of the simulator."""
        return {
            "program_sha256": _program(self.program_text).sha256,
            "config_sha256": self.config.sha256,
            "version": __version__,
        }

    def measure(self) -> Row:
        """Run the program; return the cycles of its streams."""
        program = _program(self.program_text)
        node = Node(self.config, self.engine if self.function else "rows")
        node.load(program)
        return _cycles([node.run(program, max_cycles=self.max_cycles, function=self.function)])


class TessellatePoint(NamedTuple):
    """A tessellation: patches, samples of each, and how it is done."""

    patches: tuple[Patch, ...]
    counts: tuple[int, ...]
    config: NodeConfig
    engine: str
    library: str | None
    method: Method

    @property
    def identity(self) -> Row:
        """The hashes of the control points, configuration and microcode library, and the version of the simulator."""
        seen = hashlib.sha256()
        for patch in self.patches:
            seen.update(repr(patch.points.shape).encode() + patch.points.tobytes())
        return {
            "patches_sha256": seen.hexdigest(),
            "config_sha256": self.config.sha256,
            "library_sha256": library_sha256(),
            "version": __version__,
        }

    def measure(self) -> Row:
        """Tessellate; return the cycles of all passes, and how far the worst results are from the reference."""
        found = tessellate(
            self.patches,
            self.counts,
            library=self.library,
            engine=self.engine,
            config=self.config,
            method=self.method,
        )
        return {
            "patches": len(self.patches),
            "passes": len(found.runs),
            **_cycles(found.runs),
            "worst_point_error": _rounded(found.worst_point_error),
            "worst_normal_error": _rounded(found.worst_normal_error),
        }


Point = Refused | RunPoint | TessellatePoint
"""A row of equal identity and values need not be measured again; a point that fails raises SimulatorError."""


@lru_cache(maxsize=1)
def library_sha256() -> str:
    """Return a hash of all sources of the microcode library here: names, lengths and contents."""
    seen = hashlib.sha256()
    for path in sorted(files.LIBRARY.rglob("*.mc"), key=lambda path: path.relative_to(files.LIBRARY).as_posix()):
        content = path.read_bytes()
        seen.update(f"{path.relative_to(files.LIBRARY).as_posix()} {len(content)}\n".encode() + content)
    return seen.hexdigest()


@lru_cache(maxsize=16)
def _program(text: str) -> Program:
    return Program.from_json(text)


def measure(numbered: tuple[int, Point]) -> tuple[int, Row, float]:
    """Return the number of a point, its row with exit code and error, and the seconds that it took."""
    (number, point), started = numbered, perf_counter()
    try:
        row = {"exit_code": 0, **point.measure()}
    except SimulatorError as error:
        row = {"exit_code": error.exit_code, "error": _one_line(error)}
    return number, {**point.identity, **row}, perf_counter() - started


def _cycles(runs: Iterable[Run]) -> Row:
    """Return the sums over runs: busy, waiting, and idle from the end of a stream to the end of its run."""
    row = dict.fromkeys(_CYCLES)
    for run in runs:
        amounts = {"run.cycles": run.total_cycles}
        for each in run.streams:
            amounts[f"{each.stream}.busy_cycles"] = each.busy
            amounts[f"{each.stream}.wait_cycles"] = sum(each.waits.values())
            amounts[f"{each.stream}.idle_cycles"] = run.total_cycles - each.cycles
        for name, cycles in amounts.items():
            row[name] = (row[name] or 0) + cycles
    return row


def _rounded(error: float) -> float:
    """Return six digits: the reference is computed in floating point, whose last ones may differ between hosts."""
    return float(six_digits(error))


def _one_line(error: SimulatorError) -> str:
    """Return the message of an error as one field of a table."""
    return "; ".join(line.strip() for line in format_error(error).splitlines() if line.strip())


# The table of a sweep: CSV, one row per point, that an interrupted sweep continues.
#
# While points are measured a row is appended, and put on disk (fsync), as soon as its point is finished; at the end the
# file is put in the order of the grid. Its content does not depend on which worker measured which point when. One sweep
# at a time writes a file: another is refused.


POINT = "point"
"""The column that numbers the points of the whole grid from 1, whatever part of it a file holds."""


def check_table_name(path: str) -> None:
    """Raise UsageError unless the name is that of a CSV file, InputError where it could not be written."""
    if path == STANDARD_STREAM:
        return
    if PurePath(path).suffix != ".csv":
        raise UsageError("--out", f"{path!r} is not .csv", "--json prints the rows as JSON")
    check_writable(path)


def shown(cell: Cell) -> str:
    """Return a cell as CSV has it: nothing for None."""
    return "" if cell is None else written_as(cell)


def _typed(text: str) -> Cell:
    """Return the cell that `shown` wrote."""
    if text in ("", "true", "false"):
        return None if not text else text == "true"
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d+(\.\d+(e[+-]?\d+)?|e-\d+)", text) else text


def _fields(line: str, count: int) -> list[str]:
    """Return the fields of a line; raises ValueError with the reason where it is not one of the table."""
    try:
        (fields,) = csv.reader([line], strict=True)
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if len(fields) != count:
        raise ValueError(f"{len(fields)} fields, not {count}")
    return fields


class SweepTable:
    """The rows of a sweep, on disk as they come in; ``-`` keeps them for standard output."""

    def __init__(self, path: str, columns: Sequence[str]) -> None:
        self._path, self.columns = path, (POINT, *columns)
        self._head = _csv_line(self.columns)
        self._lines: dict[int, str] = {}
        self._in_order = True
        self._file: FileIO | None = None

    def __contains__(self, point: int) -> bool:
        return point in self._lines

    @contextlib.contextmanager
    def open(self, known: Sequence[Row]) -> Iterator[None]:
        """Take over the finished rows of an existing file and make it ready for more; in the end put all in order.

        ``known`` are the cells of each point of the grid that must agree. Raises InputError where the file holds
        something else, or another sweep writes it; it is then left as it is. A last line without its end is dropped:
        it was being written when the sweep was killed.
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
        line = _csv_line([shown({POINT: point, **row}.get(name)) for name in self.columns])
        if self._file is not None:
            self._append(self._file, line.encode("utf-8"))
        self._in_order = self._in_order and point > max(self._lines, default=0)
        self._lines[point] = line

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
        hint = "the finished points are in it; the same command continues from there"
        return InputError(Fault(f"cannot be written: {error.strerror or error}", Place(self._path), hint))

    def print(self) -> None:
        """Write the table to standard output where it has no file."""
        if self._path == STANDARD_STREAM:
            write_stdout(self._text())

    @property
    def rows(self) -> list[dict[str, Cell]]:
        """The cells of every row by column, in the order of the points; numbers are numbers."""
        lines = [line.removesuffix("\n") for _, line in sorted(self._lines.items())]
        fields = (_fields(line, len(self.columns)) for line in lines)
        return [dict(zip(self.columns, map(_typed, row), strict=True)) for row in fields]

    def _rewrite(self) -> None:
        with output_file(self._path) as stream:
            stream.write(self._text())

    def _text(self) -> str:
        return self._head + "".join(line for _, line in sorted(self._lines.items()))

    def _take_over(self, known: Sequence[Row]) -> None:
        text = self._existing()
        if not text.startswith(self._head) and not self._head.startswith(text):
            raise self._refusal(1, "this is not a table of the same columns: " + ", ".join(self.columns))
        lines = text.splitlines(keepends=True)
        if lines and not lines[-1].endswith("\n"):
            lines.pop()
        for number, line in enumerate(lines[1:], 2):
            try:
                cells = dict(zip(self.columns, _fields(line, len(self.columns)), strict=True))
                point = self._agreeing(cells, known)
            except ValueError as error:
                raise self._refusal(number, str(error)) from None
            self._lines[point] = line

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
        hint = (
            "a sweep continues only where file, grid, inputs and configuration agree; name another file, or remove it"
        )
        return InputError(Fault(message, Place(self._path, line), hint))


def _csv_line(fields: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()


# Lines of a sweep: one column against an axis, a line for each combination of the other axes.


_MOST_LINES = 10
CYCLES = "run.cycles"
"""The column that a sweep is most often made for."""


def _lines_of(rows: Sequence[Mapping[str, Json]], axes: Sequence[str], x: str) -> dict[str, list[tuple[Json, Json]]]:
    """Return the points (x, cycles) of each line by what its other axes are; rows without cycles are left out."""
    others = [name for name in axes if name != x]
    lines: dict[str, list[tuple[Json, Json]]] = {}
    for row in rows:
        if row.get(CYCLES) not in (None, ""):
            label = ", ".join(f"{name} = {written_as(row[name])}" for name in others)
            lines.setdefault(label, []).append((row[x], row[CYCLES]))
    return lines


def curves_of(rows: Sequence[Mapping[str, Json]], axes: Sequence[str]) -> tuple[Curves, ...]:
    """Return the cycles against the first axis of numbers; nothing without one, or of more lines than one reads."""
    for x in axes:
        lines = _lines_of(rows, axes, x)
        points = [value for line in lines.values() for point in line for value in point]
        if points and len(lines) <= _MOST_LINES and all(_is_number(value) for value in points):
            drawn = [(label, [(float(x), float(y)) for x, y in line]) for label, line in lines.items()]  # type: ignore[arg-type] # all are numbers
            return (Curves(f"{CYCLES} against {x}", x, "cycles", drawn),)
    return ()


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
