"""Measure a grid of points: a program or a tessellation under many configurations; one row per point.

--set NAME=VALUES adds an axis. NAME is a configuration key (sdram.trp_cycles), one of the options listed below, or
param.NAME for a `param` of the source. VALUES is a list (4,8,16), a range with both ends (2:6, 4:16:4), or both.

The table is written while the sweep runs, and the same command goes on where it was stopped. It has the same content
whatever --jobs and --scheduler are. A point that fails is a row with its exit code and error.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping, Sequence

from pixelflow.cli.run.tessellate import PATCHES_HELP
from pixelflow.cli.shell.arguments import UsageError, add_common_options, add_config_options, count
from pixelflow.cli.shell.output import STANDARD_STREAM
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.sweep.curves import curves_of
from pixelflow.cli.sweep.points import COLUMNS, Point, measured
from pixelflow.cli.sweep.subject import SWEPT, Subject
from pixelflow.cli.sweep.table import SweepTable, check_table_name
from pixelflow.cli.workers import WorkerLost, WorkerPool, add_worker_options, workers_of
from pixelflow.config import Value
from pixelflow.simd.report import Column, Report, Table, counted, number

EXAMPLES = (
    "pixelflow sweep run texture_copy --set gni.gp_count=1,2",
    "pixelflow sweep tessellate enneper --set samples=2,4 --out enneper.csv",
)

MOST_POINTS = 10_000
"""Larger grids need ``--yes``."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what to sweep, the axes, who does the work, and the output."""
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
        help="table: .csv or .jsonl; an existing one is gone on with (default: CSV on standard output)")  # fmt: skip
    add_worker_options(parser, "points")
    add("--shard", metavar="I/N", type=_shard, default=(1, 1),
        help="measure every N-th point only, from the I-th on (1 <= I <= N)")  # fmt: skip
    add("--timing", action="store_true", help="add a column `seconds`: the wall time of the point")
    add("--yes", action="store_true", help=f"measure a grid of more than {number(MOST_POINTS)} points")


def run(args: argparse.Namespace, screen: Screen) -> Report | int:
    """Measure the points that the table lacks; exit code 1 where a point of this shard failed."""
    _check_options(args)
    workers = workers_of(args)
    subject = Subject(args)
    grid = subject.grid()
    screen.note(f"sweep: {counted(len(grid), 'point')}: {grid}")
    if len(grid) > MOST_POINTS and not args.yes:
        raise UsageError(
            "--set", f"the grid has {number(len(grid))} points, more than {number(MOST_POINTS)}", "--yes allows it"
        )
    subject.check(grid)
    values = list(grid.points())
    points = [subject.point(grid.words(each)) for each in values]
    columns = [*(axis.name for axis in grid.axes), *COLUMNS[args.subject], "exit_code", "error"]
    table = SweepTable(args.out, columns + ["seconds"] * args.timing)
    first, step = args.shard
    mine = range(first, len(points) + 1, step)
    with table.open([{**each, **point.identity} for each, point in zip(values, points, strict=True)]):
        missing = {number: points[number - 1] for number in mine if number not in table}
        if len(missing) < len(mine):
            screen.note(f"{args.out} has {number(len(mine) - len(missing))} of {counted(len(mine), 'point')} already")
        try:
            _measure(screen, workers, table, missing, values)
        except (KeyboardInterrupt, WorkerLost):
            if args.out != STANDARD_STREAM:
                screen.note(f"the finished points are in {args.out}; the same command goes on from there")
            raise
    failed, names = table.failed(mine), [axis.name for axis in grid.axes]
    if screen.format != "text":
        return _report(args, names, table, len(points), failed)
    table.print()
    if screen.html is not None:
        screen.write_page(_report(args, names, table, len(points), failed))
    if failed:
        screen.note(f"note: {number(failed)} of {counted(len(mine), 'point')} failed; see the column error")
    return 1 if failed else 0


def _report(args: argparse.Namespace, axes: Sequence[str], table: SweepTable, points: int, failed: int) -> Report:
    """Return the rows of the table as a report; fails where a point did."""
    columns, rows = table.rows()
    named = [dict(zip(columns, row, strict=True)) for row in rows]
    return Report(
        f"pixelflow sweep {args.subject}",
        (args.source, counted(points, "point")),
        [Table([Column(name, fixed=name in axes) for name in columns], rows)],
        schema="pixelflow.sweep/1",
        data={"points": points, "failed": failed, "rows": named},
        figures=curves_of(named, axes),
        failure=f"{number(failed)} of {counted(points, 'point')} failed; see the column error" if failed else None,
    )


def _check_options(args: argparse.Namespace) -> None:
    if args.subject == "run" and args.timing_only and any(text.startswith("engine=") for text in args.axes):
        raise UsageError("--set engine", "a run without PE data has none", "leave out --timing-only")
    if args.source == STANDARD_STREAM:
        raise UsageError(STANDARD_STREAM, "a sweep reads its source more than once", "name a file")
    check_table_name(args.out)


def _measure(
    screen: Screen,
    workers: WorkerPool,
    table: SweepTable,
    points: Mapping[int, Point],
    values: list[dict[str, Value]],
) -> None:
    """Measure points into the table."""
    rows = contextlib.closing(measured(points, workers))
    with Progress(screen, len(points)) as progress, rows as finished:
        progress.doing("measuring points")
        for number, row, seconds in finished:
            table.add(number, {**values[number - 1], **row, "seconds": round(seconds, 3)})
            progress.step()


def _shard(text: str) -> tuple[int, int]:
    index, slash, total = text.partition("/")
    if not slash or not 1 <= count(index) <= count(total):
        raise argparse.ArgumentTypeError(f"expected I/N with 1 <= I <= N, found {text[:40]!r}")
    return count(index), count(total)
