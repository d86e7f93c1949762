"""How fast Larrabee is simulated: programs for its vector unit, a frame of a scene, and its rasterizer.

The kernel is `ray.mc`: every thread has sixteen rays and a memory of its own. A slowdown is beside one modelled core at
1 GHz, to which each thread's cycles alone on it are charged, one thread after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time

import numpy as np

from larrabee_bridge.pipeline.frame import draw_on_larrabee
from larrabee_bridge.rasterizing import RASTERIZING
from larrabee_bridge.vpu.core import CORE_MHZ, Core
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.unit import VectorUnit
from larrabee_bridge.vpu.unit.program import shipped
from pixelflow.simd.benchmark import Benchmark, Case, Note, spread_of
from pixelflow.simd.lanes.wide.bytememory import ByteMemory
from pixelflow.simd.report import Column, Fact, Json, Part, Table, fixed, number, spread
from tessellation.scenes import SceneSource, load_scene

__all__ = ["LARRABEE"]

_SIDE_BY_SIDE = (1, 1024)
"""Threads of the kernel."""
_TRIANGLES = 200
"""That every ray is tried against."""
_SCENE = "still"
_SIZE = (480, 360)
_SEED = 1997
_SHORTEST = 0.02
"""Seconds that a measurement takes at least."""


@dataclass(frozen=True, slots=True)
class _Counted:
    """What is carried out once, of all threads together."""

    what: str
    instructions: int
    cycles: int
    """Of each thread, alone on a core."""


@dataclass(slots=True)
class _Speeds:
    """Cases beside what each of them carries out, by their names."""

    counted: dict[str, _Counted] = field(default_factory=dict)
    triangles: int = 0
    """Of the frame."""
    frame_cycles: int = 0
    """Of a core whose threads share it."""

    def prepare(self, rounds: int, note: Note) -> Iterator[tuple[str, Sequence[Case]]]:
        """Return the rasterizer's case, those of the kernel, and that of the frame."""
        yield from RASTERIZING.prepare(rounds, note)
        yield "rays", [case for threads in _SIDE_BY_SIDE for case in self._kernel(threads)]
        yield _SCENE, [self._frame()]

    def _kernel(self, threads: int) -> list[Case]:
        """Return the kernel on so many threads side by side: for its results alone, and with cycles."""
        program = shipped("ray.mc", TRIANGLES=_TRIANGLES)
        memory = ByteMemory(1 << 12, threads)
        rng = np.random.default_rng(_SEED)
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
            *RASTERIZING.report([rasterizing]),
            Table(columns, rows, key="larrabee.unit", named="what"),
            Fact(
                f"Slowdown: beside a core at {number(round(CORE_MHZ))} MHz that carries out one thread after the "
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


_WORK = _Speeds()
LARRABEE = Benchmark(_WORK.prepare, _WORK.report)
"""Binning and rasterizing, instructions a second of the vector unit, and a frame."""
