"""How fast Larrabee's rasterizer is simulated: small triangles at random places, binned and rasterized with cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter, process_time

import numpy as np

from larrabee_bridge.pipeline.coverage.binning import bin_triangles
from larrabee_bridge.pipeline.raster.rasterizer import rasterize
from pixelflow.simd.benchmark import Benchmark, Case, Note
from pixelflow.simd.drawing import ScreenTriangles, snap
from pixelflow.simd.report import Column, Fact, Json, Part, Table, fixed, number, spread

__all__ = ["RASTERIZING"]

TRIANGLES = 100_000
_AREA = 7.0
"""Pixels of a triangle: what the front of a mesh of 100,000 triangles has on a screen of this size."""
_SCREEN = (1600, 1200)
_TILE = 64
_SEED = 2008


_TIMES = ("binning", "rasterizing", "total", "total_of_the_process")
"""What is timed in a round, the last one of the processor."""


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


_WORK = _Rasterizing()
RASTERIZING = Benchmark(_WORK.prepare, _WORK.report)
"""Times of binning and rasterizing 100,000 triangles, and what the model counted."""
