"""A whole tessellation on the macro engine: the same bits, stages and cycles as on the others."""

from __future__ import annotations

import numpy as np
import pytest

from pixelflow.config import THESIS, TINY
from tessellation import Method, Patch, load, tessellate
from tessellation.host.session import Session
from tessellation.microprogram.method import library_named


def _same(schedule: str, library: str, engines: tuple[str, ...], count: int) -> None:
    rows, *others = (
        tessellate(
            load("teapot").patches[:count],
            4,
            config=TINY,
            engine=engine,
            library=library,
            method=Method(schedule=schedule),
        )
        for engine in engines
    )
    for other in others:
        for mine, theirs in zip(rows.patches, other.patches, strict=True):
            assert (mine.points.view(np.uint32) == theirs.points.view(np.uint32)).all()
            assert (mine.normals.view(np.uint32) == theirs.normals.view(np.uint32)).all()
        assert other.cycles_by_stage == rows.cycles_by_stage


@pytest.mark.parametrize("schedule, library", [("thesis", "plain"), ("shared-columns", "tuned-finite")])
def test_samples_and_cycles_are_those_of_the_compiled_engine(schedule: str, library: str) -> None:
    _same(schedule, library, ("compiled", "macro"), 4)


@pytest.mark.slow
@pytest.mark.parametrize("schedule, library", [("thesis", "plain"), ("shared-columns", "tuned-finite")])
def test_samples_and_cycles_are_those_of_all_engines(schedule: str, library: str) -> None:
    _same(schedule, library, ("rows", "compiled", "macro"), 16)


@pytest.mark.slow
@pytest.mark.parametrize("schedule, library", [("thesis", "plain"), ("shared-columns", "tuned-finite")])
def test_a_full_pass_of_512_patches(schedule: str, library: str) -> None:
    nets = np.random.default_rng(1995).random((512, 4, 4, 3), np.float32)
    states, cycles = [], []
    for engine in ("rows", "compiled", "macro"):
        session = Session(THESIS, engine, library_named(library), Method(schedule=schedule))
        marked = {session.add(Patch(net)): 4 for net in nets}
        for _ in range(2):
            result = session.run(session.plan(marked)[0])
        program = session.program(session.plan(marked)[0])
        runs = [session.node.run(program) for _ in range(2)]
        states.append((result.points.tobytes(), result.normals.tobytes()))
        cycles.append([run.total_cycles for run in runs])
        assert runs[1].repeated is (engine == "macro")
    assert states[1:] == states[:-1] and cycles[1:] == cycles[:-1]
