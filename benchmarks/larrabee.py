"""How fast Larrabee is simulated: programs for its vector unit, a frame of a scene, and its rasterizer.

The kernel is `ray.mc`: every thread has sixteen rays and a separate memory. A slowdown is against one modelled core at
1 GHz, to which each thread's cycles alone on it are charged, one thread after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

from benchmarks.benchmark import Benchmark, Case, Note, spread_of
from larrabee_bridge.pipeline.bins import bin_triangles
from larrabee_bridge.pipeline.picture import draw_on_larrabee
from larrabee_bridge.pipeline.rasterizer import rasterize
from larrabee_bridge.vpu.config import CORE_MHZ
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.program import shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.drawing import ScreenTriangles, snap
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import Column, Fact, Json, Part, Table, fixed, number, spread
from tessellation.scenes import SceneSource, load_scene

# How fast Larrabee's rasterizer is simulated: small triangles at random places, binned and rasterized with cycles.


TRIANGLES = 100_000
_AREA = 7.0
"""Pixels of a triangle: what the front of a mesh of 100,000 triangles has on a screen of this size."""
_SCREEN = (1600, 1200)
_TILE = 64
_SEED = 2008


_TIMES = ("binning", "rasterizing", "total", "total_of_the_process")
"""Times of a round, the last one of the processor."""


def _triangles() -> ScreenTriangles:
    """Return equilateral triangles of one size, turned and placed at random."""
    rng = np.random.default_rng(_SEED)
    angles = rng.uniform(0, 2 * np.pi, (TRIANGLES, 1)) + np.arange(3) * 2 * np.pi / 3
    radius = np.sqrt(4 * _AREA / (3 * np.sqrt(3)))
    centres = rng.uniform(0, 1, (TRIANGLES, 1, 2)) * _SCREEN
    corners = centres + radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return snap(corners, np.full((TRIANGLES, 3), 0.5), np.zeros((TRIANGLES, 3, 3), np.uint8))


class _Rasterizing:
    """The work of a benchmark, and what the model counted."""

    def __init__(self) -> None:
        self.triangles = 0
        self.counts: dict[str, float] = {}

    def prepare(self, rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
        triangles = _triangles()
        self.triangles = len(triangles)
        rasterize(triangles.part(np.array([0])), *_SCREEN, tile=_TILE)  # its programs are assembled once

        def once() -> tuple[float, ...]:
            started, busy = perf_counter(), process_time()
            bins = bin_triangles(triangles, *_SCREEN, _TILE)
            binned = perf_counter()
            found = rasterize(triangles, *_SCREEN, tile=_TILE, bins=bins)
            ended, used = perf_counter(), process_time() - busy
            self.counts = {
                "pairs": found.pairs,
                "blocks": len(found.blocks),
                "set_up_cycles_per_triangle": int(found.set_up.cycles.sum()) / len(triangles),
                "cycles_per_pair": float(found.descent.cycles.mean()),
                "vector_share": found.vector_share or 0.0,
            }
            return binned - started, ended - binned, ended - started, used

        yield "", [Case("larrabee", once)]

    def report(self, cases: Sequence[Case]) -> list[Part]:
        """Return the times, triangles a second, and what the model counted."""
        (case,) = cases
        triangles, found = self.triangles, self.counts
        width, height = _SCREEN
        rows = []
        for at, name in enumerate(_TIMES):
            taken = case.spread(at)
            rows.append((name.replace("_", " "), name, taken, round(triangles / taken["median"])))
        columns = (
            Column("what", fixed=True), Column(None, key="what"),
            Column("s [min..max]", spread(2), "seconds"), Column("triangles/s", number),
        )  # fmt: skip
        about: dict[str, Json] = {"pixels_per_triangle": _AREA, "screen": list(_SCREEN), "tile": _TILE, "seed": _SEED}
        return [
            Fact(
                f"{number(triangles)} triangles of {number(_AREA)} pixels on {width}x{height}, "
                f"tiles of {_TILE}: {number(found['pairs'])} pairs, {number(found['blocks'])} blocks",
                key="larrabee.triangles",
                value=triangles,
                wrap=False,
            ),
            *(Fact(None, key=f"larrabee.{key}", value=value) for key, value in (about | found).items()),
            Table(columns, rows, key="larrabee.seconds", named="what"),
            Fact(
                f"Modelled, each thread alone on a core: set-up {fixed(1)(found['set_up_cycles_per_triangle'])} cycles "
                f"a triangle, descent {fixed(1)(found['cycles_per_pair'])} cycles a pair, "
                f"{fixed(1, 100)(found['vector_share'])}% vector instructions.",
                wrap=False,
            ),
        ]


_RASTERIZING = _Rasterizing()


_SIDE_BY_SIDE = (1, 1024)
"""Threads of the kernel."""
_TRIANGLES = 200
"""That every ray is tried against."""
_SCENE = "still"
_SIZE = (480, 360)
_KERNEL_SEED = 1997
_SHORTEST = 0.02
"""Seconds that a measurement takes at least."""


class _Counted(NamedTuple):
    """Work of one round, of all threads together."""

    what: str
    instructions: int
    cycles: int
    """Of each thread, alone on a core."""


@dataclass(slots=True)
class _Speeds:
    """Cases with their work, by name."""

    counted: dict[str, _Counted] = field(default_factory=dict)
    triangles: int = 0
    """Of the frame."""
    frame_cycles: int = 0
    """Of a core whose threads share it."""

    def prepare(self, rounds: int, note: Note) -> Iterator[tuple[str, Sequence[Case]]]:
        """Return the rasterizer's case, those of the kernel, and that of the frame."""
        yield from _RASTERIZING.prepare(rounds, note)
        yield "rays", [case for threads in _SIDE_BY_SIDE for case in self._kernel(threads)]
        yield _SCENE, [self._frame()]

    def _kernel(self, threads: int) -> list[Case]:
        """Return the kernel on a number of threads side by side: for its results alone, and with cycles."""
        program = shipped("ray.mc", TRIANGLES=_TRIANGLES)
        memory = ByteMemory(1 << 12, threads)
        rng = np.random.default_rng(_KERNEL_SEED)
        rays, corners = program.range("rays").start, program.range("corners").start
        coordinates = rng.uniform(-1, 1, (threads, 6 * LANES)).astype(np.float32)
        unit = VectorUnit(program, threads, memory)
        memory.data[:, rays : rays + 4 * coordinates.shape[1]] = coordinates.view(np.uint8)
        triangle = np.array([-1, -1, 2, 2, 0, 0, 0, 2, 0], np.float32)
        memory.data[:, corners : corners + 4 * len(triangle)] = triangle.view(np.uint8)
        core = Core(program, threads)
        unit.run(core)
        instructions, cycles = sum(int(counts.sum()) for counts in core.counts.values()), int(core.cycles.sum())
        cases = []
        for what, work in (("results", unit.run), ("cycles", lambda: unit.run(Core(program, threads)))):
            cases.append(Case(f"rays.{threads}.{what}", _often(work)))
            self.counted[cases[-1].name] = _Counted(f"{number(threads)} x ray.mc, {what}", instructions, cycles)
        return cases

    def _frame(self) -> Case:
        """Return a scene that is drawn with cycles: its vertices are none of it."""
        frame = load_scene(_SCENE, SceneSource(size=_SIZE)).frame
        drawn = draw_on_larrabee(frame)  # programs are assembled once
        self.triangles, self.frame_cycles = sum(len(draw.triangles) for draw in frame.draws), drawn.cycles
        what = "{} {}x{}, cycles".format(_SCENE, *_SIZE)
        self.counted["frame"] = _Counted(what, sum(drawn.mix.values()), sum(drawn.stages.values()))
        return Case("frame", _timed(lambda: draw_on_larrabee(frame)))

    def report(self, cases: Sequence[Case]) -> list[Part]:
        """Return what the rasterizer's benchmark says, then instructions a second and slowdowns."""
        rasterizing, *others = cases
        rows = []
        for case in others:
            counted, taken = self.counted[case.name], case.spread()
            rate = round(counted.instructions / taken["median"])
            slowdown = round(taken["median"] * CORE_MHZ * 1e6 / counted.cycles)
            rows.append((counted.what, case.name, counted.instructions, taken, case.spread(1), rate, slowdown))
        columns = (
            Column("vector unit", fixed=True), Column(None, key="what"), Column(None, key="instructions"),
            Column("s [min..max]", spread(4), "seconds"), Column(None, key="seconds_of_the_process"),
            Column("instr./s", number, "instructions_per_second"), Column("slowdown", number, "slowdown"),
        )  # fmt: skip
        frame = others[-1]
        modelled = self.frame_cycles / CORE_MHZ / 1e6
        value: dict[str, Json] = {
            "cycles": self.frame_cycles,
            "triangles": self.triangles,
            "seconds": frame.spread(),
            "slowdown": spread_of([seconds / modelled for seconds in frame.seconds()]),
        }
        return [
            *_RASTERIZING.report([rasterizing]),
            Table(columns, rows, key="larrabee.unit", named="what"),
            Fact(
                f"Slowdown: against a core at {number(round(CORE_MHZ))} MHz that executes one thread after the "
                f"other, each alone. The frame takes {fixed(3, 1e3)(modelled)} ms of a core whose threads share it; "
                f"here {number(round(self.triangles / frame.median()))} triangles/s are drawn.",
                key="larrabee.frame",
                value=value,
            ),
        ]


def _timed(work: Callable[[], object], times: int = 1) -> Callable[[], tuple[float, float]]:
    """Return what does some work so often, and returns the seconds of once, of the clock and of the processor."""

    def once() -> tuple[float, float]:
        started, busy = perf_counter(), process_time()
        for _ in range(times):
            work()
        return (perf_counter() - started) / times, (process_time() - busy) / times

    return once


def _often(work: Callable[[], object]) -> Callable[[], tuple[float, float]]:
    """Return the same, so often that it is long enough for the clock."""
    return _timed(work, max(1, round(_SHORTEST / max(_timed(work)()[0], 1e-6))))


_SPEEDS = _Speeds()
LARRABEE = Benchmark(_SPEEDS.prepare, _SPEEDS.report)
"""Binning and rasterizing, instructions a second of the vector unit, and a frame."""
