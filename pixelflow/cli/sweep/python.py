"""Sweeps from Python: the command's grid and points, with the table as what comes back."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pixelflow.cli.shell.arguments import Parser
from pixelflow.cli.sweep.command import add_arguments
from pixelflow.cli.sweep.curves import curves_of, lines_of
from pixelflow.cli.sweep.grid import Axis, written_as
from pixelflow.cli.sweep.points import COLUMNS, Row, measured
from pixelflow.cli.sweep.subject import Subject
from pixelflow.cli.workers import WorkerPool
from pixelflow.config import Value
from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place, UsageError, must_be, nearest
from pixelflow.simd.report import Column, Report, Shown, Table, counted, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Sweep", "sweep"]

_FEW_ROWS = 100
"""Rows that a notebook shows; `table` has all."""


class Sweep(Shown):
    """The rows of a grid: what each point was and what it measured, in the order of the grid."""

    def __init__(self, kind: str, source: str, axes: Sequence[Axis], rows: Sequence[Row]) -> None:
        self.kind, self.source, self.rows = kind, source, tuple(rows)
        self.axes = tuple(axis.name for axis in axes)
        self.columns = (*self.axes, *COLUMNS[kind], "exit_code", "error")

    def __repr__(self) -> str:
        failed = f", {number(len(self.failed))} failed" if self.failed else ""
        return f"Sweep({self.kind} {self.source}, {counted(len(self), 'point')} over {', '.join(self.axes)}{failed})"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def failed(self) -> tuple[Row, ...]:
        """The rows of points that failed."""
        return tuple(row for row in self.rows if row["exit_code"])

    def tables(self) -> Mapping[str, Table]:
        """Return the whole table, as the command writes it."""
        return {"points": self._table(self.columns, self.rows)}

    def report(self) -> Report:
        """Return the first points, with what differs between them."""
        shown = [name for name in self.columns if name in self.axes or len({row.get(name) for row in self.rows}) > 1]
        first = self.rows[:_FEW_ROWS]
        left = len(self) - len(first)
        more = [f"and {counted(left, 'point')} more"] if left else []
        failed = f", {number(len(self.failed))} failed" if self.failed else ""
        title = f"sweep: {self.kind} {self.source}, {counted(len(self), 'point')}{failed}"
        return Report(title, parts=[self._table(shown, first), *more], figures=curves_of(self.rows, self.axes))

    def plot(self, x: str | None = None, y: str = "run.cycles") -> Figure:
        """Return a figure of one column against an axis, a line for each combination of the others.

        Raises InputError for a column that is not there, MissingPackageError without matplotlib.
        """
        x = self.axes[0] if x is None else x
        for name in (x, y):
            if name not in self.columns:
                close = nearest(name, self.columns)
                hint = f"did you mean {close}?" if close else f"columns: {', '.join(self.columns)}"
                raise InputError(Fault(f"there is no column {name!r}", hint=hint))
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingPackageError("a plot needs matplotlib, which is not installed", "plot") from None
        lines = lines_of(self.rows, self.axes, x, y)
        figure = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.subplots()
        for label, points in lines.items():
            axes.plot(*zip(*points, strict=True), marker="o", label=label or None)
        axes.set(xlabel=x, ylabel=y)
        if len(self.axes) > 1:
            axes.legend()
        return figure

    def _table(self, names: Sequence[str], rows: Sequence[Row]) -> Table:
        kinds = [number if all(isinstance(row.get(name), int | None) for row in rows) else str for name in names]
        columns = [Column(name, kind, name) for name, kind in zip(names, kinds, strict=True)]
        return Table(columns, [[row.get(name) for name in names] for row in rows], key="points")


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
    if kind not in COLUMNS:
        raise InputError(Fault(f"{kind!r} cannot be swept", hint=f"allowed: {', '.join(COLUMNS)}"))
    what = "a program" if kind == "run" else "a model"
    must_be(source, (str, Path), f"the name of {what}'s file", "points are made anew of it, so it must lie in a file")
    if isinstance(options, str):
        raise InputError(Fault("options are a list of words", hint=f"options={options.split()!r}"))
    words = [str(kind), str(source), *map(str, options)]
    for name, values in axes.items():
        words += ["--set", f"{name}={','.join(map(written_as, _several(name, values)))}"]
    parser = Parser(prog="sweep")
    add_arguments(parser)
    told = io.StringIO()
    try:
        with contextlib.redirect_stderr(told):
            subject = Subject(parser.parse_args(words))
            grid = subject.grid()
            subject.check(grid)
    except UsageError as error:
        raise InputError(error.faults) from None
    except SystemExit:  # what the parser of the command line has written
        message = told.getvalue().partition("\n")[0].rpartition("error: ")[2]
        raise InputError(Fault(message or "these are no words of a sweep", Place(" ".join(words)[:200]))) from None
    values = list(grid.points())
    must_be(jobs, int, "a number of processes")
    points = {at: subject.point(grid.words(each)) for at, each in enumerate(values)}
    with contextlib.closing(measured(points, WorkerPool(jobs))) as finished:
        rows = {at: {**values[at], **row} for at, row, _ in finished}
    found = Sweep(kind, str(source), grid.axes, [rows[at] for at in sorted(rows)])
    if len(found.failed) == len(found):
        message = f"all points failed, {number(len(found))} of them: {found.rows[0]['error']}"
        raise InputError(Fault(message, hint="the first point's error; the others may have failed otherwise"))
    return found


def _several(name: str, values: Value | Iterable[Value]) -> list[Value]:
    """Return the values of an axis; raises InputError for what is no number, word or truth value."""
    values = np.atleast_1d(values).tolist() if isinstance(values, np.ndarray) else values
    several: list[object] = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    plain = [each.item() if isinstance(each, np.generic) else each for each in several]
    wrong = [each for each in plain if not isinstance(each, bool | int | float | str)]
    if wrong or not plain:
        found = f"found {type(wrong[0]).__name__}" if wrong else "found none"
        raise InputError(Fault(f"the axis {name} takes numbers, words or True and False; {found}"))
    return [each for each in plain if isinstance(each, bool | int | float | str)]
