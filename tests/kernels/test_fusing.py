"""Does straight code with calls in it give the same bits fused as one by one?

One by one, every kernel looks for doubt by itself; other tests compare it with its routine's microcode.
"""

from __future__ import annotations

import logging
import platform
from array import array
from pathlib import Path

import numpy as np
import pytest

from pixelflow.node.kernels import fusing
from pixelflow.node.kernels.float_kernel import Kernel, KernelOperation
from pixelflow.node.kernels.macro_engine import MacroEngine
from pixelflow.simd.lanes.native.compiled_engine import CompiledAction, Native
from pixelflow.simd.lanes.native.toolchain import Toolchain, toolchain
from pixelflow.simd.store import Store
from tests.kernels.stretches import EXTREME, FINITE, Maker, call, machine, mixed, part, start, tame

STATES = ({"full": True}, {"full": True, "wild": False}, {"full": "mostly"}, {"full": False})


def chained(engine: MacroEngine, makers: list[Maker]) -> CompiledAction:
    """Return fused code."""
    chain = engine.chain(make(engine) for make in makers)
    plain = chain.code
    engine.fuse(chain)
    assert chain.code != plain and chain.uses is None
    return chain


def unfused(makers: list[Maker], lanes: int, seed: int, times: int = 1, **state: object) -> str:
    engine = start(machine(lanes), seed, **state)
    engine.run([make(engine) for make in makers] * times)
    return engine.digest()


def fused(makers: list[Maker], lanes: int, seed: int, times: int = 1, threads: int = 1, **state: object) -> str:
    engine = start(machine(lanes, threads), seed, **state)
    engine.run([chained(engine, makers)] * times)
    return engine.digest()


def check(makers: list[Maker], seed: int, lanes: tuple[int, ...] = (64, 2048)) -> None:
    for count in lanes:
        for state in STATES:
            assert fused(makers, count, seed, **state) == unfused(makers, count, seed, **state), (seed, count, state)


@pytest.mark.parametrize("seed", range(3))
def test_random_stretches(seed: int) -> None:
    check(mixed(seed, 14), seed)


@pytest.mark.parametrize("lanes", [32, 96, 2080, 8192])
def test_lanes_that_fill_no_strip_or_no_tile_or_many(lanes: int) -> None:
    check(mixed(5, 14), 5, (lanes,))


@pytest.mark.parametrize(("calls", "parts"), [(1, 400), (3, 5), (40, 2)])
def test_stretches_that_are_longer_than_one_function(monkeypatch: pytest.MonkeyPatch, calls: int, parts: int) -> None:
    monkeypatch.setattr(fusing, "_CALLS", calls)
    monkeypatch.setattr(fusing, "_PARTS", parts)
    check(mixed(6, 24), 6, (128,))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_random_stretches_in_full(block: int) -> None:
    for seed in range(1000 + 20 * block, 1020 + 20 * block):
        check(mixed(seed, 10 + 5 * (seed % 11), (0.1, 0.4, 0.6, 0.9)[seed % 4]), seed, (64, 96, 4096))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_threads(threads: int) -> None:
    makers = mixed(8, 12)
    assert fused(makers, 8192, 8, 9, threads) == unfused(makers, 8192, 8, 9)


# --- what is carried out, and how ------------------------------------------------------------------------------------


def without_plain(chain: CompiledAction) -> CompiledAction:
    """Empty the programs that fused code falls back on: lanes that take that way keep what they hold."""
    programs = [each for each in chain.holds[1:] if isinstance(each, array)]
    assert programs
    for program in programs:
        program[0] = 0
    return chain


def test_numbers_far_from_the_ends_never_take_the_plain_way() -> None:
    makers = tame(9, 20)
    engine = start(machine(2048), 9, wild=False)
    engine.run([without_plain(chained(engine, makers))])
    assert engine.digest() == unfused(makers, 2048, 9, wild=False)


def test_only_the_64_lanes_with_doubt_take_the_plain_way() -> None:
    """Lane 200 has infinities, lane 1030 numbers below the normal ones."""
    makers = tame(9, 20)
    engines = [start(machine(2048), 9, wild=False) for _ in range(2)]
    before = engines[0].get_rows(0, 384)
    for engine in engines:
        for row in range(16, 48, 4):
            values = engine.get_rows(row, 4)
            values[:, [200, 1030]] = np.array([[0x7F800000, 0x00000400]], "<u4").view(np.uint8).reshape(2, 4).T
            engine.set_rows(row, values)
            before[row : row + 4] = values
    engines[0].run([make(engines[0]) for make in makers])
    expected = engines[0].get_rows(0, 384)
    assert (expected[64:150] != before[64:150]).any(axis=0).all()
    for first in (192, 1024):
        expected[:, first : first + 64] = before[:, first : first + 64]
    engines[1].run([without_plain(chained(engines[1], makers))])
    assert (engines[1].get_rows(0, 384) == expected).all()


def test_masks_that_are_not_full_take_the_plain_way() -> None:
    """By tiles of 2,048 lanes: the first is full, the second is not."""
    makers = tame(10, 4)
    engines = [start(machine(4096), 10, full="mostly", wild=False) for _ in range(2)]
    before = engines[0].get_rows(0, 384)
    engines[0].run([make(engines[0]) for make in makers])
    expected = engines[0].get_rows(0, 384)
    engines[1].run([without_plain(chained(engines[1], makers))])
    after = engines[1].get_rows(0, 384)
    assert (after[:, :2048] == expected[:, :2048]).all() and (after[:, 2048:] == before[:, 2048:]).all()


CONSUMERS = {
    "nobody": [],
    "a quotient by it": [call(Kernel(KernelOperation.DIVIDE), 36, (20, 32))],
    "a quotient of it": [call(Kernel(KernelOperation.DIVIDE), 36, (32, 20))],
    "a quotient by it for which infinities are numbers": [call(Kernel(KernelOperation.DIVIDE, True), 36, (20, 32))],
    "an order": [call(Kernel(KernelOperation.LESS), 36, (32, 20))],
    "a product, which overwrites it": [call(Kernel(KernelOperation.MULTIPLY), 32, (32, 20))],
}


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize(
    ("operation", "finite"),
    [(each, True) for each in FINITE]
    + [(KernelOperation.DIVIDE, False)]
    + [pytest.param(each, False, marks=pytest.mark.slow) for each in FINITE if each is not KernelOperation.DIVIDE],
)
def test_every_extreme_number_with_every_other(operation: KernelOperation, finite: bool, consumer: str) -> None:
    """Each pair has 64 lanes of its own, in which nothing else is extreme; a third operand is 1.5."""
    kernel = Kernel(operation, finite)
    makers = [call(kernel, 32, (16, 24)[: kernel.operands]), *CONSUMERS[consumer]]
    count = len(EXTREME)
    lanes = 64 * count * count
    a, b, c = (np.full(lanes, 0x3FC00000, np.uint32) for _ in range(3))
    a[7::64], b[7::64] = EXTREME.repeat(count), np.tile(EXTREME, count)
    found = []
    for how in ("one by one", "fused"):
        engine = machine(lanes)
        for row, values in ((16, a), (24, b), (20, c)):
            engine.set_rows(row, values.view(np.uint8).reshape(lanes, 4).T)
        engine.set_bit("E", np.ones(lanes, bool))
        engine.run([make(engine) for make in makers] if how == "one by one" else [chained(engine, makers)])
        found.append(engine.get_rows(16, 24))
    wrong = np.flatnonzero((found[0] != found[1]).any(axis=0))
    assert not len(wrong), [f"{a[lane]:08x} {b[lane]:08x}" for lane in wrong[:5]]


def test_a_row_of_ones_that_a_call_overwrites(monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds 255 in every lane before one function need not before the next one."""
    monkeypatch.setattr(fusing, "_CALLS", 1)
    makers = [
        part(lambda lanes: lanes.store(64, lanes.word(255))),
        call(Kernel(KernelOperation.ADD), 64, (16, 20)),
        call(Kernel(KernelOperation.ADD), 68, (64, 24)),
        part(lambda lanes: lanes.store(30, lanes.load(64), lanes.flag("E"))),
    ]
    check(makers, 12)


# --- beginnings that are known, and chains of chains -----------------------------------------------------------------


def known_beginning(count: int = 70) -> list[Maker]:
    """Return linear expressions into eight rows, as many times as `folding` asks for."""

    def one(at: int) -> Maker:
        def meaning(lanes) -> None:
            for index, value in enumerate(lanes.affine(3, 5, at, 2)):
                lanes.store(64 + at % 8 + index, value, lanes.flag("E"))

        return part(meaning)

    return [one(at) for at in range(count)]


@pytest.mark.parametrize("full", [True, "mostly", False])
def test_a_known_beginning_before_calls(full: bool | str) -> None:
    makers = [*known_beginning(), *mixed(13, 8)]
    for lanes in (64, 96, 4096):
        assert fused(makers, lanes, 13, 2, full=full) == unfused(makers, lanes, 13, 2, full=full)


@pytest.mark.parametrize("calls", [0, 8])
def test_other_coordinates_give_another_beginning(calls: int) -> None:
    makers = [*known_beginning(), *mixed(13, calls)]
    engines = [start(machine(2048), 13), start(machine(2048), 13)]
    chain = chained(engines[1], makers)
    inner = engines[1].chain([chain])
    for seed in (1, 2, 2, 3):
        for engine in engines:
            engine.set_coordinates(*np.random.default_rng(seed).integers(0, 1 << 15, (2, 2048)))
        if seed == 3:
            engines[1].fuse(chain)
        engines[0].run([make(engines[0]) for make in makers] * 2)
        engines[1].run([chain, inner])
        assert engines[0].digest() == engines[1].digest(), seed


def test_a_chain_of_fused_chains_outlives_them() -> None:
    """Its code names theirs, which must stay where it is: also when they are fused anew, and when they are gone."""
    makers = [*known_beginning(), *mixed(14, 6)]
    engines = [start(machine(), 14), start(machine(), 14)]
    inner = chained(engines[1], makers)
    outer = engines[1].chain([inner, chained(engines[1], makers[:70])])
    engines[1].fuse(inner)
    del inner
    engines[1].set_coordinates(*np.random.default_rng(99).integers(0, 1 << 15, (2, 64)))
    engines[0].set_coordinates(*np.random.default_rng(99).integers(0, 1 << 15, (2, 64)))
    fresh = [bytes(8 * length) for length in range(1, 400)]
    engines[1].run([outer])
    engines[0].run([make(engines[0]) for make in (*makers, *makers[:70])])
    assert engines[0].digest() == engines[1].digest() and fresh


def test_a_beginning_that_asks_for_no_mask_or_knows_no_coordinates() -> None:
    engine = machine()
    makers = [part(lambda lanes, at=at: lanes.store(at % 50, lanes.word(at))) for at in range(80)]
    for _ in range(2):
        engine.run([chained(engine, makers)])
        expected = np.arange(80)[np.arange(50) + 50 * (np.arange(50) < 30)]
        assert (engine.get_rows(0, 50) == expected[:, None]).all()
        engine = start(engine, 1)


# --- where nothing can be compiled -----------------------------------------------------------------------------------


def refuse(self, texts, level=1):
    raise RuntimeError("no such instruction")


@pytest.mark.parametrize("beginning", [0, 70])
def test_what_cannot_be_fused_is_carried_out_one_by_one(monkeypatch, caplog, tmp_path: Path, beginning: int) -> None:
    alone = Native(toolchain(), Store(tmp_path))
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine.native", lambda width=None: alone)
    makers = [*known_beginning(beginning), *mixed(15, 9)]
    engine = start(machine(), 15)
    chain = engine.chain(make(engine) for make in makers)
    engine.run([chain])
    monkeypatch.setattr(Toolchain, "compile", refuse)
    with caplog.at_level(logging.WARNING, "pixelflow"):
        engine.fuse(chain)
    engine.run([chain])
    assert engine.digest() == unfused(makers, 64, 15, 2)
    assert len(caplog.messages) == 1


# --- lesser processors -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="these processors are of the x86 family")
@pytest.mark.parametrize(("cpu", "width"), [("x86-64", 16), ("x86-64-v3", 32)])
def test_lesser_processors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cpu: str, width: int) -> None:
    """SSE2 alone and AVX2, against this host's own vectors: kernels one by one, and fused behind a known beginning."""
    makers = [*known_beginning(), *mixed(16, 4), *tame(16, 1)]
    expected = [unfused(makers, 2048, 16, **state) for state in STATES]
    lesser = Native(Toolchain(cpu, "", width), Store(tmp_path))
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine.native", lambda width=None: lesser)
    assert [unfused(makers, 2048, 16, **state) for state in STATES] == expected
    assert [fused(makers, 2048, 16, **state) for state in STATES] == expected
