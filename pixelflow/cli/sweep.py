"""Measure a grid of points: a program or a tessellation under many configurations; one row per point.

--set NAME=VALUES adds an axis. NAME is a configuration key (sdram.trp_cycles), one of the options listed below, or
param.NAME for a `param` of the source. VALUES is a list (4,8,16), a range with both ends (2:6, 4:16:4), or both.

The table is written while the sweep runs, and the same command continues an interrupted sweep. It has the same
content whatever --jobs is. A point that fails is a row with its exit code and error.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pixelflow.cli import sweep_table
from pixelflow.cli.arguments import Parser, add_common_options, add_config_options, add_jobs_option, count
from pixelflow.cli.programs import read_program, target_on
from pixelflow.cli.registry import COMMANDS
from pixelflow.cli.run import limit_of
from pixelflow.cli.screen import STANDARD_STREAM, Progress, Screen
from pixelflow.cli.tessellate import PATCHES_HELP, method_of, sample_counts
from pixelflow.config import NodeConfig, load_config, override_faults
from pixelflow.simd.configuration import Value, written_as
from pixelflow.simd.errors import (
    Fault,
    InputError,
    Place,
    SimulatorError,
    UsageError,
    must_be,
)
from pixelflow.simd.report import Column, Part, Report, Shown, Table, counted, number
from pixelflow.simd.workers import WorkerLost, WorkerPool
from tessellation import load

SWEPT = {
    "run": ("engine", "max-cycles"),
    "tessellate": (
        "samples", "library", "control-points", "schedule", "sends", "mantissa-bytes", "hybrid", "replication",
        "load", "results", "gps", "engine",
    ),
}  # fmt: skip
"""Options of each command that may be an axis."""

_MEMORY = ("array.main_bytes", "array.more_bytes")
"""Keys on which it depends whether a program assembles at all."""


class Subject:
    """A program or a model under many configurations; it is read once."""

    def __init__(self, args: argparse.Namespace) -> None:
        """Raises InputError where the input or the configuration is wrong in all points."""
        self._args = args
        self._parser = Parser(prog=f"pixelflow sweep {args.subject}")
        COMMANDS[args.subject].load().add_arguments(self._parser)
        self._programs: dict[tuple[tuple[str, ...], int, int], str] = {}
        self._config = load_config(args.config, args.overrides, args.preset)
        if args.subject == "tessellate":
            self._patches = load(args.source).patches

    def grid(self) -> sweep_table.Grid:
        """Return the grid of the axes; raises UsageError for one that cannot be read."""
        options = [action for action in self._parser.declared if action.option_strings]
        swept = [action for action in options if sweep_table.option_name(action) in SWEPT[self._args.subject]]
        axes: list[sweep_table.Axis] = []
        for text in self._args.axes:
            axis = sweep_table.axis_of(text, swept, parameters=self._args.subject == "run")
            if axis.name in (each.name for each in axes):
                raise UsageError(f"--set {text}", f"{axis.name} is an axis already", "give all its values in one --set")
            axes.append(axis)
        return sweep_table.Grid(tuple(axes))

    def check(self, grid: sweep_table.Grid) -> None:
        """Refuse values that are wrong whatever the others are, and a program that is wrong in all points.

        Raises UsageError or InputError, or ends the program as its parser does.
        """
        for axis in grid.axes:
            for value in axis.values:
                chosen = self._parser.parse_args([self._args.source, *axis.words(value)])
                for fault in (fault for text in chosen.overrides for fault in override_faults(text)):
                    raise UsageError(f"--set {axis.name}", fault.message, fault.hint)
        differs = any(axis.is_parameter or axis.name in _MEMORY for axis in grid.axes)
        if self._args.subject == "run" and not differs:
            self._program((), self._config)

    def point(self, words: list[str]) -> sweep_table.Point:
        """Return the point of a command line; contradicting options make a point that fails."""
        chosen = self._parser.parse_args([self._args.source, *words])
        try:
            config = load_config(self._args.config, [*self._args.overrides, *chosen.overrides], self._args.preset)
            if self._args.subject == "run":
                program = self._program(tuple(chosen.parameters), config)
                function = not self._args.timing_only
                return sweep_table.RunPoint(program, config, chosen.engine, limit_of(chosen), function)
            counts = tuple(sample_counts(chosen, len(self._patches)))
            method = method_of(chosen)
            return sweep_table.TessellatePoint(self._patches, counts, config, chosen.engine, chosen.library, method)
        except SimulatorError as error:
            return sweep_table.Refused.by(error, self._args.subject)

    def _program(self, parameters: tuple[str, ...], config: NodeConfig) -> str:
        """Return the object file of the program with these parameters."""
        target = target_on(config)
        key = (parameters, target.placed_bytes, target.memory_bytes)
        if key not in self._programs:
            program = read_program(self._args.source, [*self._args.parameters, *parameters], target)
            self._programs[key] = program.to_json()
        return self._programs[key]


# The command `pixelflow sweep`.


EXAMPLES = (
    "pixelflow sweep run texture_copy --set gni.gp_count=1,2",
    "pixelflow sweep tessellate enneper --set samples=2,4 --out enneper.csv",
)

MOST_POINTS = 10_000
"""Larger grids need ``--yes``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subject, the axes, the workers, and the output."""
    subjects = parser.add_subparsers(dest="subject", required=True, metavar="run|tessellate")
    run_parser = subjects.add_parser("run", help="a microcode program", description="Sweep runs of a program.")
    add = run_parser.add_argument
    add("source", metavar="PROG", help="source (.mc) or object file (.mco)")
    add("--timing-only", action="store_true", help="count cycles without touching PE data: the same cycles, sooner")
    add("-P", dest="parameters", action="append", default=[], metavar="NAME=VALUE",
        help="set a `param` of the source to a number in all points (repeatable)")  # fmt: skip
    patches = subjects.add_parser("tessellate", help="a tessellation", description="Sweep tessellations.")
    patches.add_argument("source", metavar="PATCHES", help=PATCHES_HELP)
    for name, subject in (("run", run_parser), ("tessellate", patches)):
        _add_sweep_options(subject, name)
        add_config_options(subject)
        add_common_options(subject)


def _add_sweep_options(parser: argparse.ArgumentParser, subject: str) -> None:
    add = parser.add_argument
    add("--set", dest="axes", action="append", default=[], metavar="NAME=VALUES", required=True,
        help=f"an axis of the grid (repeatable): a configuration key, or {', '.join(SWEPT[subject])}")  # fmt: skip
    add("--out", default=STANDARD_STREAM, metavar="FILE",
        help="table: .csv; an existing one is continued (default: on standard output)")  # fmt: skip
    add_jobs_option(parser, "points")
    add("--shard", metavar="I/N", type=_shard, default=(1, 1),
        help="measure every N-th point only, from the I-th on (1 <= I <= N)")  # fmt: skip
    add("--timing", action="store_true", help="add a column `seconds`: the wall time of the point")
    add("--yes", action="store_true", help=f"measure a grid of more than {number(MOST_POINTS)} points")


def run(args: argparse.Namespace, screen: Screen) -> Report | int:
    """Measure the points that the table lacks; exit code 1 where a point of this shard failed."""
    _check_options(args)
    subject = Subject(args)
    grid = subject.grid()
    screen.note(f"sweep: {counted(len(grid), 'point')}: {grid}")
    if len(grid) > MOST_POINTS and not args.yes:
        raise UsageError(
            "--set", f"the grid has {number(len(grid))} points, more than {number(MOST_POINTS)}", "--yes allows it"
        )
    subject.check(grid)
    first, step = args.shard
    mine = range(first, len(grid) + 1, step)
    try:
        with Progress(screen, len(mine)) as progress:
            progress.doing("measuring points")
            table = _measured(args, subject, grid, mine, WorkerPool(args.jobs), screen.note, progress.step)
    except (KeyboardInterrupt, WorkerLost):
        if args.out != STANDARD_STREAM:
            screen.note(f"the finished points are in {args.out}; the same command continues from there")
        raise
    found = Sweep(args.subject, args.source, grid.axes, table, len(grid))
    if screen.format != "text":
        return found.whole()
    table.print()
    if screen.html is not None:
        screen.write_page(found.whole())
    if found.failed:
        screen.note(f"note: {number(len(found.failed))} of {counted(len(mine), 'point')} failed; see the column error")
    return 1 if found.failed else 0


def _measured(
    args: argparse.Namespace,
    subject: Subject,
    grid: sweep_table.Grid,
    mine: Sequence[int],
    workers: WorkerPool,
    note: Callable[[str], None],
    step: Callable[[], None],
) -> sweep_table.SweepTable:
    """Return the table of a grid, in which points of ``mine`` that it lacked were measured."""
    values = list(grid.points())
    points = [subject.point(grid.words(each)) for each in values]
    columns = [*(axis.name for axis in grid.axes), *sweep_table.COLUMNS[args.subject], "exit_code", "error"]
    table = sweep_table.SweepTable(args.out, columns + ["seconds"] * args.timing)
    with table.open([{**each, **point.identity} for each, point in zip(values, points, strict=True)]):
        missing = {number: points[number - 1] for number in mine if number not in table}
        if len(missing) < len(mine):
            note(f"{args.out} has {number(len(mine) - len(missing))} of {counted(len(mine), 'point')} already")
            for _ in range(len(mine) - len(missing)):
                step()
        found = workers.finished(sweep_table.measure, list(missing.items()), lambda item: f"point {item[0]}")
        with contextlib.closing(found) as finished:
            for _, (at, row, seconds) in finished:
                table.add(at, {**values[at - 1], **row, "seconds": round(seconds, 3)})
                step()
    return table


def _check_options(args: argparse.Namespace) -> None:
    if args.subject == "run" and args.timing_only and any(text.startswith("engine=") for text in args.axes):
        raise UsageError("--set engine", "a run without PE data uses no engine", "leave out --timing-only")
    if args.source == STANDARD_STREAM:
        raise UsageError(STANDARD_STREAM, "a sweep reads its source more than once", "name a file")
    sweep_table.check_table_name(args.out)


def _shard(text: str) -> tuple[int, int]:
    index, slash, total = text.partition("/")
    if not slash or not 1 <= count(index) <= count(total):
        raise argparse.ArgumentTypeError(f"expected I/N with 1 <= I <= N, found {text[:40]!r}")
    return count(index), count(total)


# The result of a sweep, for the command, pages, notebooks and Python.


_FEW_ROWS = 100
"""Rows that a notebook shows; `table` has all."""
_DIGITS = 8
"""Digits of a hash where people read it; the file has all."""


class Sweep(Shown):
    """The rows of a grid: the values of each point and its measurements, in the order of the grid."""

    def __init__(
        self, kind: str, source: str, axes: Sequence[sweep_table.Axis], table: sweep_table.SweepTable, points: int
    ) -> None:
        self.kind, self.source, self.rows = kind, source, tuple(table.rows)
        self.axes = tuple(axis.name for axis in axes)
        measures = [name for name in table.columns if name not in (*self.axes, sweep_table.POINT, *sweep_table.BEHIND)]
        self.columns = (*self.axes, *measures, *(name for name in sweep_table.BEHIND if name in table.columns))
        """Axes, measurements, then version and hashes."""
        self._points = points

    def __repr__(self) -> str:
        failed = f", {number(len(self.failed))} failed" if self.failed else ""
        return f"Sweep({self.kind} {self.source}, {counted(len(self), 'point')} over {', '.join(self.axes)}{failed})"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def failed(self) -> tuple[sweep_table.Row, ...]:
        """The rows of points that failed."""
        return tuple(row for row in self.rows if row["exit_code"])

    def tables(self) -> Mapping[str, Table]:
        """Return the whole table."""
        return {"points": self._table(self.columns, self.rows, key="points")}

    def whole(self) -> Report:
        """Return all points, with the whole table as data; fails where a point did."""
        failed, points = len(self.failed), counted(self._points, "point")
        return replace(
            self._report(f"pixelflow sweep {self.kind}", (self.source, points), len(self)),
            schema="pixelflow.sweep/1",
            data={"points": self._points, "failed": failed, "rows": [dict(row) for row in self.rows]},
            failure=f"{number(failed)} of {points} failed; see the column error" if failed else None,
        )

    def report(self) -> Report:
        """Return the first points."""
        failed = f", {number(len(self.failed))} failed" if self.failed else ""
        return self._report(f"sweep: {self.kind} {self.source}, {counted(len(self), 'point')}{failed}", (), _FEW_ROWS)

    def _report(self, title: str, about: Sequence[str], most: int) -> Report:
        """Return the columns that differ between points; the text below has the others."""
        alike = [name for name in self.columns if len({row[name] for row in self.rows}) == 1]
        columns = [name for name in self.columns if name in (*self.axes, sweep_table.CYCLES) or name not in alike]
        same = [(name, _read(name, self.rows[0][name])) for name in alike if name not in columns]
        left = len(self) - most
        parts: list[Part] = [self._table(columns, self.rows[:most])]
        parts += [f"and {counted(left, 'point')} more"] if left > 0 else []
        texts = [f"{name} {number(cell) if type(cell) is int else cell}" for name, cell in same if cell]
        parts += ["", f"the same in all points: {', '.join(texts)}"] if texts else []
        return Report(title, tuple(about), results=parts, figures=sweep_table.curves_of(self.rows, self.axes))

    def _table(self, names: Sequence[str], rows: Sequence[sweep_table.Row], key: str = "") -> Table:
        kinds = [number if all(isinstance(row[name], int | None) for row in rows) else str for name in names]
        columns = [
            Column(name, kind, name, fixed=name in (*self.axes, *sweep_table.BEHIND))
            for name, kind in zip(names, kinds, strict=True)
        ]
        return Table(columns, [[_read(name, row[name]) for name in names] for row in rows], key=key)


def _read(name: str, cell: sweep_table.Cell) -> sweep_table.Cell:
    """Return a cell as people read it: of a hash its first digits."""
    return cell[:_DIGITS] if name in sweep_table.BEHIND and isinstance(cell, str) else cell


def sweep(
    kind: str,
    source: str | Path,
    axes: Mapping[str, Value | Iterable[Value]],
    *,
    options: Iterable[str] = (),
    jobs: int = 1,
) -> Sweep:
    """Measure a grid of points, as `pixelflow sweep` does, and return its table.

    ``kind`` is ``run`` (``source`` is the file of a program, or an example's name) or ``tessellate`` (that of a model).
    ``axes`` gives each name of the grid a value or several, in any iterable: ``{"samples": (4, 8, 16),
    "extra.multiply_step": range(2)}``. ``options`` are further words of the command line, ``jobs`` the processes. A
    point that fails is a row with its exit code, and counted in the result's repr; InputError where all points fail,
    with the first one's error.
    """
    if not isinstance(axes, Mapping) or not axes:
        raise InputError(Fault("a sweep needs axes", hint='example: {"samples": (4, 8, 16)}'))
    if kind not in sweep_table.COLUMNS:
        raise InputError(Fault(f"{kind!r} cannot be swept", hint=f"allowed: {', '.join(sweep_table.COLUMNS)}"))
    what = "a program" if kind == "run" else "a model"
    must_be(source, (str, Path), f"the name of {what}'s file", "each point reads it again, so it must be a file")
    if isinstance(options, str):
        raise InputError(Fault("options are a list of words", hint=f"options={options.split()!r}"))
    must_be(jobs, int, "a number of processes")
    words = [str(kind), str(source), *map(str, options)]
    for name, values in axes.items():
        words += ["--set", f"{name}={','.join(map(written_as, _several(name, values)))}"]
    parser = Parser(prog="sweep")
    add_arguments(parser)
    messages = io.StringIO()
    try:
        with contextlib.redirect_stderr(messages):
            args = parser.parse_args(words)
            _check_options(args)
            subject = Subject(args)
            grid = subject.grid()
            subject.check(grid)
    except UsageError as error:
        raise InputError(error.faults) from None
    except SystemExit:  # after a message of the command line's parser
        message = messages.getvalue().partition("\n")[0].rpartition("error: ")[2]
        raise InputError(Fault(message or "these words do not make a sweep", Place(" ".join(words)[:200]))) from None
    table = _measured(args, subject, grid, range(1, len(grid) + 1), WorkerPool(jobs), lambda _: None, lambda: None)
    found = Sweep(kind, str(source), grid.axes, table, len(grid))
    if len(found.failed) == len(found):
        message = f"all points failed, {number(len(found))} of them: {found.rows[0]['error']}"
        raise InputError(Fault(message, hint="the first point's error; the others may have failed otherwise"))
    return found


def _several(name: str, values: Value | Iterable[Value]) -> list[int | float | str]:
    """Return the values of an axis; raises InputError for what is not a number, word or truth value."""
    values = np.atleast_1d(values).tolist() if isinstance(values, np.ndarray) else values
    several: list[object] = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    plain = [each.item() if isinstance(each, np.generic) else each for each in several]
    wrong = [each for each in plain if not isinstance(each, bool | int | float | str)]
    if wrong or not plain:
        found = f"found {type(wrong[0]).__name__}" if wrong else "found none"
        raise InputError(Fault(f"the axis {name} takes numbers, words or True and False; {found}"))
    return [each for each in plain if isinstance(each, bool | int | float | str)]
