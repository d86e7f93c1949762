"""Pictures a second of the page's maker: the teapot that turns, tessellated and drawn anew for each, at 320x240.

They are made one after the other by this process, whose native code has all threads, and each by one of as many
processes as there are processors, which is how a page has them made while it is turned. Each round makes some in either
way, from further around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter

from benchmarks.benchmark import Benchmark, Case, Note, ratios, rounds_text
from pixelflow.simd.report import Column, Fact, Part, Table, fixed, number, spread
from pixelflow.simd.workers import kept_processes, usable_threads
from pixelflow.view.alive import PIXELFLOW, FrameMaker, FrameOrder
from tessellation import load
from tessellation.microprogram.method import SCHEDULES
from tessellation.picture import View

_MODEL, _SIZE = "teapot", (320, 240)
_SAMPLES = (2, 4, 8)
_TURN = 3.0
"""Degrees from one picture to the next."""
_PICTURES = 4
"""Of a process in a round."""
_UNCOUNTED = 3
"""Rounds before those that count: nodes get their patches, native code is fetched."""


def _prepare(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    jobs, maker = max(2, usable_threads()), FrameMaker(_MODEL, load(_MODEL).patches)
    with kept_processes(jobs) as processes:
        ways = ((1, maker.draw), (jobs, partial(maker.draw_apart, processes=processes)))
        yield "", [_case(samples, many, draw) for samples in _SAMPLES for many, draw in ways]


def _case(samples: int, processes: int, draw: Callable[[FrameOrder], object]) -> Case:
    width, height = _SIZE
    turned = iter(range(1 << 30))
    pictures = _PICTURES * processes

    def once() -> tuple[float]:
        views = [View(azimuth=_TURN * next(turned), elevation=25, width=width, height=height) for _ in range(pictures)]
        orders = [FrameOrder(samples, SCHEDULES[0], None, PIXELFLOW, view, False) for view in views]
        begin = perf_counter()
        with ThreadPoolExecutor(processes) as threads:
            list(threads.map(draw, orders))
        return ((perf_counter() - begin) / pictures,)

    return Case("", once, {"samples": samples, "processes": processes})


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
