"""Does fused code give the bits of its instructions one by one, whatever the vectors, the lanes and the threads?"""

from __future__ import annotations

import numpy as np
import pytest

from pixelflow.isa.declarations import CARRIES, MASKS, MEMORY_BYTES, PANEL_PES, WORDS
from pixelflow.simd.lanes import Shape, make_engine
from pixelflow.simd.lanes.engine import Engine
from tests.differential.random_programs import program


def shape(lanes: int) -> Shape:
    return Shape(lanes, PANEL_PES, MEMORY_BYTES, WORDS, CARRIES, MASKS)


def state(lanes: int, seed: int, *, full: bool) -> dict[str, np.ndarray]:
    """Return a random state; with ``full`` every lane is enabled, as a routine finds the array most of the time."""
    rng = np.random.default_rng(seed)
    found = make_engine("rows", shape(lanes)).snapshot()
    for values in found.values():
        values[...] = rng.integers(0, 256 if values.dtype == np.uint8 else 2, values.shape)
    found["L"] |= full
    found["E"] = found["L"] if full else found["E"] & found["L"]
    return found


def start(engine: Engine, seed: int, *, full: bool) -> Engine:
    engine.restore(state(engine.shape.lanes, seed, full=full))
    engine.set_coordinates(*np.random.default_rng(seed).integers(0, 1 << 15, (2, engine.shape.lanes)))
    return engine


def expected(lanes: int, seed: int, length: int, times: int, *, full: bool) -> str:
    rows = start(make_engine("rows", shape(lanes)), seed, full=full)
    actions = [rows.prepare(each.apply) for each in program(seed, length)]
    rows.run(actions * times)
    return rows.digest()


def fused(engine: Engine, seed: int, length: int) -> int:
    chain = engine.chain(engine.prepare(each.apply) for each in program(seed, length))
    engine.fuse(chain)
    return chain


def check(make, seed: int, length: int, *, lanes: int = 64, width: int | None = None) -> None:
    """Three times in a row: full masks take the line behind the guard first, and others the line before it."""
    for full in (True, False):
        engine = start(make(shape(lanes), width), seed, full=full)
        engine.run([fused(engine, seed, length)] * 3)
        assert engine.digest() == expected(lanes, seed, length, 3, full=full), f"seed {seed}, full {full}"


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(make, seed: int) -> None:
    check(make, seed, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_random_programs_in_full(make, seed: int) -> None:
    check(make, seed, 200)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_vectors_of_every_width(make, width: int) -> None:
    """LLVM splits vectors that the processor does not have, so every host can check all of them."""
    check(make, 11, 40, width=width)
    rows, engine = make_engine("rows", shape(64)), make(shape(64), width)
    for each in (rows, engine):
        start(each, 12, full=False).run([each.prepare(one.apply) for one in program(12, 100)])
    assert rows.digest() == engine.digest()


@pytest.mark.parametrize("lanes", [32, 96, 2048, 2080, 8192])
def test_lanes_that_do_not_fill_a_tile(make, lanes: int) -> None:
    engine = start(make(shape(lanes)), 21, full=False)
    engine.run([engine.prepare(each.apply) for each in program(21, 60)])
    assert engine.digest() == expected(lanes, 21, 60, 1, full=False)


@pytest.mark.parametrize("width", [16, 64])
@pytest.mark.parametrize("lanes", [2080, *(pytest.param(each, marks=pytest.mark.slow) for each in (64, 96, 320))])
def test_care_does_not_change_the_bits(make, lanes: int, width: int) -> None:
    """Code made with care works on four vectors in a round, and singly on what is left."""
    engine = start(make(shape(lanes), width), 22, full=False)
    actions = [engine.prepare(each.apply) for each in program(22, 60)]
    engine.run(actions)
    engine.take_care()
    engine.run(actions)
    assert engine.digest() == expected(lanes, 22, 60, 2, full=False)


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 7])
def test_any_number_of_threads(make, monkeypatch, threads: int) -> None:
    """40 instructions 60 times: long enough for all threads to work."""
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine._START_THREADS_AFTER", 0.0)
    engine = start(make(shape(8192), threads=threads), 31, full=True)
    chain = engine.chain(engine.prepare(each.apply) for each in program(31, 40))
    engine.run([chain] * 60)
    assert engine.digest() == expected(8192, 31, 40, 60, full=True)


def test_each_tile_is_guarded_by_itself(make) -> None:
    """The first tile is enabled whole, the second in part: their code takes different lines in one run."""
    engine = start(make(shape(4096)), 41, full=True)
    enabled = np.arange(4096) < 3000
    before = engine.get_rows(7, 1)[0]
    engine.set_bit("E", enabled)

    def meaning(lanes) -> None:
        lanes.store(7, lanes.word(0x55), lanes.flag("E"))

    chain = engine.chain([engine.prepare(meaning)] * 2)
    engine.fuse(chain)
    engine.run([chain])
    assert np.array_equal(engine.get_rows(7, 1)[0], np.where(enabled, 0x55, before))


def test_a_chain_is_fused_by_itself_when_it_has_been_used_often(make, monkeypatch) -> None:
    from pixelflow.simd.lanes.native import compiled_engine as place

    monkeypatch.setattr(place, "_COMPILE_AFTER", 10)
    engine = start(make(shape(64)), 51, full=False)
    chain = engine.chain(engine.prepare(each.apply) for each in program(51, 20))
    compiled: list[int] = []
    fuse = engine.fuse
    monkeypatch.setattr(engine, "fuse", lambda action: (compiled.append(action), fuse(action)))
    for _ in range(30):
        engine.run([chain])
    assert compiled == [chain]
    assert engine.digest() == expected(64, 51, 20, 30, full=False)


def test_of_chains_that_come_together_no_two_are_fused_at_once(make, monkeypatch) -> None:
    from pixelflow.simd.lanes.native import compiled_engine as place

    monkeypatch.setattr(place, "_COMPILE_AFTER", 10)
    monkeypatch.setattr(place, "_APART", 3)
    engine = start(make(shape(64)), 51, full=False)
    chains = [engine.chain(engine.prepare(each.apply) for each in program(51, 20)) for _ in range(3)]
    fused: list[int] = []
    fuse = engine.fuse
    monkeypatch.setattr(engine, "fuse", lambda action: (fused.append(len(counts)), fuse(action)))
    counts: list[int] = []
    for _ in range(30):
        engine.run(chains)
        counts.append(len(fused))
    assert fused == [9, 13, 17]
    assert engine.digest() == expected(64, 51, 20, 90, full=False)
