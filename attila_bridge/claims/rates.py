"""Rates of simulation: how many cycles of the machine a second of the host takes, by what bounds a scene."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter

import numpy as np

from attila_bridge.claims.probes import corners, layers, probe, reading, texture
from attila_bridge.claims.sections import texels_of
from attila_bridge.function import draw
from attila_bridge.function.work import AttilaWork
from attila_bridge.scene.model import AttilaScene
from attila_bridge.time.machine import Simulation
from pixelflow.simd.benchmark import Benchmark, Case, Note
from pixelflow.simd.report import Column, Part, Table, number, spread

__all__ = ["RATES"]


def _scenes() -> dict[str, AttilaScene]:
    """Return a scene of each class."""
    far = np.array(list(corners(400, 2.0))) + 10.0 * np.eye(4)[0]
    program, image = reading(2, 6), texture(128)
    return {
        "dense: a full screen, a colour each": probe(layers(1)),
        "memory-bound: every quad reads lines of its own": probe(
            layers(1)[:3], size=64, fragment=program, textures={0: image}, coordinates=texels_of(1, 4.0)
        ),
        "vertex-bound: 400 triangles off the screen": probe(far),
    }


class _Rates:
    """The work of a benchmark."""

    def __init__(self) -> None:
        self.cycles: dict[str, int] = {}

    def prepare(self, rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
        cases = []
        for name, scene in _scenes().items():
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
            Column("scene", fixed=True), Column("cycles", number), Column("s [min..max]", spread(3), "seconds"),
            Column("kcycles/s", number, "rate"),
        )  # fmt: skip
        return [Table(columns, rows, key="attila.rates", named="scene")]


def _timed(work: AttilaWork) -> tuple[float]:
    """Return the seconds of a frame's time alone; its picture was drawn before."""
    begin = perf_counter()
    Simulation(work).finish()
    return (perf_counter() - begin,)


_WORK = _Rates()
RATES = Benchmark(_WORK.prepare, _WORK.report)
"""Cycles a second of frames that different things bound."""
