"""Rates of simulation: how many cycles of the machine a second of the host takes, by what bounds a scene."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from time import process_time

import numpy as np

from attila_bridge.claims.probes import DEPTH, OVER, corners, giants, layers, probe, reading, texture
from attila_bridge.claims.sections import texels_of
from attila_bridge.function import draw
from attila_bridge.function.work import AttilaWork
from attila_bridge.scene import AttilaScene
from attila_bridge.time.simulation import Simulation
from benchmarks.benchmark import Benchmark, Case, Note
from pixelflow.simd.report import Column, Part, Table, number, spread


def scenes() -> dict[str, AttilaScene]:
    """Return a scene of each class."""
    far = np.array(list(corners(400, 2.0))) + 10.0 * np.eye(4)[0]
    program, image = reading(2, 6), texture(128)
    coordinates = texels_of(1, 1.0)
    point = np.array(list(corners(1, 1.0)))
    return {
        "dense: a full screen, a colour each": probe(layers(1)),
        "dense: layers that are blended": probe(layers(4), size=128, state=OVER),
        "dense: layers with a depth test": probe(layers(4), size=128, state=DEPTH),
        "dense: a texel for each pixel": probe(
            giants(1), size=128, fragment=reading(1, 3), textures={0: image}, coordinates=coordinates
        ),
        "arithmetic: thirty instructions a pixel": probe(giants(1), size=64, fragment=reading(0, 30)),
        "memory-bound: every quad reads separate lines": probe(
            layers(1)[:3], size=64, fragment=program, textures={0: image}, coordinates=texels_of(1, 4.0)
        ),
        "vertex-bound: 400 triangles off the screen": probe(far),
        "quiet: one pixel, and what every frame costs": probe(point),
        "quiet: one pixel of a texture of 512 x 512": probe(
            point, fragment=reading(1, 3), textures={0: texture(512)}, coordinates=coordinates
        ),
    }


class _Rates:
    """The work of a benchmark."""

    def __init__(self) -> None:
        self.cycles: dict[str, int] = {}

    def prepare(self, rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
        cases = []
        for name, scene in scenes().items():
            work = draw(scene)
            self.cycles[name] = Simulation(work).finish().cycles
            cases.append(Case(name, partial(_timed, work)))
        yield "", cases

    def report(self, cases: Sequence[Case]) -> list[Part]:
        """Return the times, and cycles of whole frames a second."""
        rows = [
            (each.name, self.cycles[each.name], each.spread(), round(self.cycles[each.name] / each.median() / 1000))
            for each in cases
        ]
        columns = (
            Column("scene", key="scene", fixed=True), Column("cycles", number, "cycles"),
            Column("CPU s [min..max]", spread(3), "seconds"), Column("kcycles/s", number, "rate"),
        )  # fmt: skip
        return [Table(columns, rows, key="attila.rates", named="scene")]


def _timed(work: AttilaWork) -> tuple[float]:
    """Return the seconds of the processor for a frame's time alone; its picture was drawn before.

    It is one thread that never waits, so that others on the host do not count.
    """
    begin = process_time()
    Simulation(work).finish()
    return (process_time() - begin,)


_WORK = _Rates()
RATES = Benchmark(_WORK.prepare, _WORK.report)
"""Cycles a second of frames that different things bound."""
