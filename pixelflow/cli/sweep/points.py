"""The points of a sweep: a program or a tessellation with everything it needs, and the row that it measures.

A point is a value that travels to another process or another machine, so it holds programs and patches, not names of
files. What it measures depends on nothing but the point.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Protocol

from pixelflow import __version__
from pixelflow.cli.workers import WorkerPool
from pixelflow.cli.workers.tool import library_sha256
from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node, Run
from pixelflow.simd.errors import SimulatorError, format_error
from pixelflow.simd.report import six_digits
from tessellation import Method, Patch, tessellate

__all__ = ["COLUMNS", "Cell", "Point", "Refused", "Row", "RunPoint", "TessellatePoint", "measure", "measured"]

Cell = int | float | bool | str | None
"""One field of a row; None is what the point did not do, or could not know."""

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
"""What a row of each kind of sweep holds; cycles are named as in `pixelflow stats`, and summed over the passes."""


_HASHES = ("program_sha256", "patches_sha256", "config_sha256", "library_sha256")


class Point(Protocol):
    """One point of a grid."""

    @property
    def identity(self) -> Row:
        """The hashes of what goes in, and the version of the simulator.

        A row of equal identity and values need not be measured again.
        """

    def measure(self) -> Row:
        """Return what came out; raises SimulatorError where the point failed."""


@dataclass(frozen=True, slots=True)
class Refused:
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


@dataclass(frozen=True, slots=True)
class RunPoint:
    """A program on a node; without data (``function`` false) only time passes, and the cycles are the same."""

    program_text: str
    """The object file of the program: what a process has read once it need not read and analyse again."""
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


@dataclass(frozen=True, slots=True)
class TessellatePoint:
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


@lru_cache(maxsize=16)
def _program(text: str) -> Program:
    return Program.from_json(text)


def measure(point: Point) -> tuple[Row, float]:
    """Return the row of a point, its exit code and error among it, and the seconds that it took."""
    started = perf_counter()
    try:
        row = {"exit_code": 0, **point.measure()}
    except SimulatorError as error:
        row = {"exit_code": error.exit_code, "error": _one_line(error)}
    return {**point.identity, **row}, perf_counter() - started


def measured(points: Mapping[int, Point], workers: WorkerPool) -> Iterator[tuple[int, Row, float]]:
    """Yield number, row and seconds of every point, in the order in which they are finished; raises as workers do."""
    numbers = list(points)
    found = workers.finished(_measure_numbered, list(points.items()), lambda item: f"point {item[0]}")
    for place, (row, seconds) in found:
        yield numbers[place], row, seconds


def _measure_numbered(item: tuple[int, Point]) -> tuple[Row, float]:
    return measure(item[1])


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
