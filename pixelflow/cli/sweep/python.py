"""Sweeps from Python: the command's grid and points, with the table as what comes back."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pixelflow.cli.shell.arguments import Parser
from pixelflow.cli.sweep.command import add_arguments
from pixelflow.cli.sweep.grid import Axis, written_as
from pixelflow.cli.sweep.points import COLUMNS, Row
from pixelflow.cli.sweep.subject import Subject
from pixelflow.cli.sweep.workers import measured
from pixelflow.config import Value
from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place, UsageError, nearest
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
        return f"Sweep({self.kind} {self.source}, {counted(len(self), 'point')} over {', '.join(self.axes)})"

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
        title = f"sweep: {self.kind} {self.source}, {counted(len(self), 'point')}"
        return Report(title, parts=[self._table(shown, first), *more])

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
        others = [name for name in self.axes if name != x]
        lines: dict[str, list[tuple[object, object]]] = {}
        for row in self.rows:
            label = ", ".join(f"{name} = {written_as(row[name])}" for name in others)
            if row.get(y) is not None:
                lines.setdefault(label, []).append((row[x], row[y]))
        figure = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.subplots()
        for label, points in lines.items():
            axes.plot(*zip(*points, strict=True), marker="o", label=label or None)
        axes.set(xlabel=x, ylabel=y)
        if others:
            axes.legend()
        return figure

    def _table(self, names: Sequence[str], rows: Sequence[Row]) -> Table:
        kinds = [number if all(isinstance(row.get(name), int | None) for row in rows) else str for name in names]
        columns = [Column(name, kind, name) for name, kind in zip(names, kinds, strict=True)]
        return Table(columns, [[row.get(name) for name in names] for row in rows], key="points")


def sweep(
    kind: str, source: str, axes: Mapping[str, Value | Sequence[Value]], *, options: Sequence[str] = (), jobs: int = 1
) -> Sweep:
    """Measure a grid of points, as `pixelflow sweep` does, and return its table.

    ``kind`` is ``run`` (``source`` is a program) or ``tessellate`` (a model). ``axes`` gives each name of the grid its
    values: ``{"samples": (4, 8, 16), "extra.multiply_step": (0, 1)}``. ``options`` are further words of the command
    line, ``jobs`` the processes. A point that fails is a row with its exit code; what is wrong in all points raises
    InputError.
    """
    if not isinstance(axes, Mapping) or not axes:
        raise InputError(Fault("a sweep needs axes", hint='example: {"samples": (4, 8, 16)}'))
    if kind not in COLUMNS:
        raise InputError(Fault(f"{kind!r} cannot be swept", hint=f"allowed: {', '.join(COLUMNS)}"))
    words = [str(kind), str(source), *options]
    for name, values in axes.items():
        several = [values] if isinstance(values, str) or not isinstance(values, Sequence) else values
        words += ["--set", f"{name}={','.join(map(written_as, several))}"]
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
    points = {at: subject.point(grid.words(each)) for at, each in enumerate(values)}
    with contextlib.closing(measured(points, jobs=jobs)) as finished:
        rows = {at: {**values[at], **row} for at, row, _ in finished}
    return Sweep(kind, str(source), grid.axes, [rows[at] for at in sorted(rows)])
