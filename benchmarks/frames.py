"""Pictures a second of the page's maker: the teapot that turns, tessellated and drawn anew for each, at 320x240.

The same pictures are made with the regions in this process, whose native code has all threads, and in as many processes
as there are processors. Each round makes one picture in every way, from further around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter

from benchmarks.benchmark import Benchmark, Case, Note, ratios, rounds_text
from pixelflow.simd.report import Column, Fact, Part, Table, fixed, number, spread
from pixelflow.simd.workers import WorkerPool, usable_threads
from pixelflow.view.alive import PIXELFLOW, FrameMaker, FrameOrder
from tessellation import load
from tessellation.microprogram.method import SCHEDULES
from tessellation.picture import View

_MODEL, _SIZE = "teapot", (320, 240)
_SAMPLES = (2, 4, 8)
_TURN = 3.0
"""Degrees from one picture to the next."""
_UNCOUNTED = 3
"""Rounds before those that count: the node gets its patches, native code is fetched."""


def _prepare(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    jobs = max(2, usable_threads())
    with WorkerPool(jobs).kept() as pool:
        ways: tuple[tuple[int, WorkerPool], ...] = ((1, WorkerPool()), (jobs, pool))
        yield "", [_case(samples, processes, workers) for samples in _SAMPLES for processes, workers in ways]


def _case(samples: int, processes: int, workers: WorkerPool) -> Case:
    about: dict[str, int] = {"samples": samples, "processes": processes}
    return Case("", _once(FrameMaker(_MODEL, load(_MODEL).patches, workers), samples), about)


def _once(maker: FrameMaker, samples: int) -> Callable[[], tuple[float]]:
    width, height = _SIZE
    turned = iter(range(1 << 30))

    def once() -> tuple[float]:
        view = View(azimuth=_TURN * next(turned), elevation=25, width=width, height=height)
        begin = perf_counter()
        maker.draw(FrameOrder(samples, SCHEDULES[0], None, PIXELFLOW, view, False), _untold)
        return (perf_counter() - begin,)

    return once


def _untold(text: object, /, share: float | None = None) -> None:
    """Report nothing."""


def _parts(cases: Sequence[Case]) -> list[Part]:
    columns = (
        Column("samples a side", key="samples", fixed=True),
        Column("processes", number, "processes"),
        Column("x one process", lambda values: fixed(2)(values["median"]), "speed_up_by_processes"),
        Column("pictures a second", fixed(1), "pictures_per_second"),
        Column("ms a picture [min..max]", spread(1, 1e3), "seconds"),
    )
    alone = {case.about["samples"]: case for case in cases if case.about["processes"] == 1}
    rows = [
        (samples := case.about["samples"], case.about["processes"], ratios(case, alone[samples]), 1 / case.median(),
         case.spread())
        for case in cases
    ]  # fmt: skip
    size = "x".join(map(str, _SIZE))
    return [
        Fact(
            f"{_MODEL} at {size}, tessellated and drawn anew, {rounds_text(cases[0])}", key="frames.scene", value=_MODEL
        ),
        Table(columns, rows, key="frames.runs"),
    ]


FRAMES = Benchmark(_prepare, _parts, _UNCOUNTED)
"""Wall times of pictures of the machine alive, and the ratios by processes."""
