"""How fast Larrabee is simulated: programs for its vector unit, a frame of a scene, and its rasterizer.

The kernel is `ray.mc`: every thread has sixteen rays and a memory of its own. A slowdown is beside one modelled core at
1 GHz, to which each thread's cycles alone on it are charged, one thread after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from pixelflow.simd.report import Column, Fact, Part, Table, fixed, number, spread
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


def _prepare(rounds: int, note: Note) -> Iterator[tuple[str, Sequence[Case]]]:
    yield from RASTERIZING.prepare(rounds, note)
    yield "rays", [case for threads in _SIDE_BY_SIDE for case in _kernel(threads)]
    yield _SCENE, [_frame()]


def _kernel(threads: int) -> list[Case]:
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
    about = {
        "threads": threads,
        "instructions": sum(int(counts.sum()) for counts in core.counts.values()),
        "cycles": int(core.cycles.sum()),
    }

    def results() -> None:
        unit.run()

    def cycles() -> None:
        unit.run(Core(program, threads))

    return [
        Case(f"rays.{threads}.{what}", _often(work), {**about, "what": f"{number(threads)} x ray.mc, {what}"})
        for what, work in (("results", results), ("cycles", cycles))
    ]


def _often(work: Callable[[], None]) -> Callable[[], tuple[float, float]]:
    """Return what does some work so often that it can be timed, and returns the seconds of once."""
    begin = perf_counter()
    work()
    repeats = max(1, round(_SHORTEST / max(perf_counter() - begin, 1e-6)))

    def once() -> tuple[float, float]:
        started, busy = perf_counter(), process_time()
        for _ in range(repeats):
            work()
        return (perf_counter() - started) / repeats, (process_time() - busy) / repeats

    return once


def _frame() -> Case:
    """Return a scene that is drawn with cycles: vertices are none of it."""
    frame = load_scene(_SCENE, SceneSource(size=_SIZE)).frame
    drawn = draw_on_larrabee(frame)  # programs are assembled once
    about = {
        "threads": 4,
        "instructions": sum(drawn.mix.values()),
        "cycles": sum(drawn.stages.values()),
        "triangles": sum(len(draw.triangles) for draw in frame.draws),
        "frame_cycles": drawn.cycles,
        "what": "{} {}x{}, cycles".format(_SCENE, *_SIZE),
    }

    def once() -> tuple[float, float]:
        started, busy = perf_counter(), process_time()
        draw_on_larrabee(frame)
        return perf_counter() - started, process_time() - busy

    return Case("frame", once, about)


def _parts(cases: Sequence[Case]) -> list[Part]:
    """Return what the rasterizer's benchmark says, then instructions a second and slowdowns."""
    first, *others = cases
    rows = []
    for case in others:
        taken = case.spread()
        modelled = case.about["cycles"] / (CORE_MHZ * 1e6)
        rate, slowdown = round(case.about["instructions"] / taken["median"]), round(taken["median"] / modelled)
        rows.append((case.about["what"], case.name, case.about["instructions"], taken, case.spread(1), rate, slowdown))
    columns = (
        Column("vector unit", fixed=True), Column(None, key="what"), Column(None, key="instructions"),
        Column("s [min..max]", spread(4), "seconds"), Column(None, key="seconds_of_the_process"),
        Column("instr./s", number, "instructions_per_second"), Column("slowdown", number, "slowdown"),
    )  # fmt: skip
    frame = others[-1]
    milliseconds = frame.about["frame_cycles"] / CORE_MHZ / 1e3
    per_second = frame.about["triangles"] / frame.median()
    return [
        *RASTERIZING.report([first]),
        Table(columns, rows, key="larrabee.unit", named="what"),
        Fact(
            f"Slowdown: beside a core at {number(round(CORE_MHZ))} MHz that carries out one thread after the other, "
            f"each alone. The frame takes {fixed(3)(milliseconds)} ms of a core whose threads share it; here "
            f"{number(round(per_second))} triangles/s are drawn.",
            key="larrabee.frame",
            value={
                "cycles": frame.about["frame_cycles"],
                "triangles": frame.about["triangles"],
                "seconds": frame.spread(),
                "slowdown": spread_of([1e3 * seconds / milliseconds for seconds in frame.seconds()]),
            },
        ),
    ]


LARRABEE = Benchmark(_prepare, _parts)
"""Binning and rasterizing, instructions a second of the vector unit, and a frame."""
