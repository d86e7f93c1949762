"""A compiler that fails during a run: the same bits, and one line that says so."""

from __future__ import annotations

import logging

import llvmlite.binding as llvm
import numpy as np
import pytest

from pixelflow.simd.lanes import Shape
from pixelflow.simd.lanes.form import COORDINATES, Interpreter, record
from pixelflow.simd.lanes.native import toolchain as place
from pixelflow.simd.lanes.native.compiled_engine import Native
from pixelflow.simd.lanes.native.toolchain import Toolchain
from tests.compiled.test_fused import expected, shape, start
from tests.differential.random_programs import program


def refuse(self, texts, level=1, **options):
    raise RuntimeError("no such instruction\nsecond line")


@pytest.mark.parametrize("lanes", [96, 4096])
def test_a_run_goes_on_where_the_compiler_stops(make, monkeypatch, caplog, lanes: int) -> None:
    """30 of 90 instructions run as native code, the compiler fails, and numpy executes the rest."""
    engine = start(make(shape(lanes)), 81, full=False)
    engine.run([engine.prepare(each.apply) for each in program(81, 30)])
    actions = [engine.prepare(each.apply) for each in program(81, 90)]
    monkeypatch.setattr(Toolchain, "compile", refuse)
    with caplog.at_level(logging.WARNING, "pixelflow"):
        engine.run(actions[30:60])
        engine.run(actions[60:])
    assert engine.digest() == expected(lanes, 81, 90, 1, full=False)
    (told,) = caplog.messages
    assert "RuntimeError" in told and "second line" in told and "\n" not in told


def test_a_chain_that_cannot_be_fused_is_interpreted(make, monkeypatch, caplog) -> None:
    engine = start(make(shape(64)), 82, full=False)
    chain = engine.chain(engine.prepare(each.apply) for each in program(82, 40))
    engine.run([chain])
    monkeypatch.setattr(Toolchain, "compile", refuse)
    with caplog.at_level(logging.WARNING, "pixelflow"):
        engine.fuse(chain)
        engine.fuse(chain)
    engine.run([chain])
    assert engine.digest() == expected(64, 82, 40, 2, full=False)
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("seed", range(91, 99))
def test_numpy_gives_the_bits_of_native_code(make, monkeypatch, seed: int) -> None:
    monkeypatch.setattr(Toolchain, "compile", refuse)
    monkeypatch.setattr(Native, "__init__", lambda self: None)
    monkeypatch.setattr(Native, "compile", refuse)
    monkeypatch.setattr(Native, "number", lambda self, block: 0)
    native = Native()
    native.addresses = [0]
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine.native", lambda width=None: native)
    engine = start(make(shape(96)), seed, full=False)
    engine.run([engine.prepare(each.apply) for each in program(seed, 60)])
    assert engine.digest() == expected(96, seed, 60, 1, full=False)


def test_code_of_nothing_else_is_an_error(make, monkeypatch) -> None:
    engine = make(Shape(64, 32, 2, ("R",), ("C",), ("E",)))
    action = engine.prepare(lambda lanes: lanes.store(0, lanes.word(5)))
    action.parts = []
    monkeypatch.setattr(Toolchain, "compile", refuse)
    with pytest.raises(RuntimeError, match="nothing but native code"):
        engine.run([action])


def test_a_sum_keeps_its_carry() -> None:
    """200 + 100 + 1 = 301 = 256 + 45; 45 to row 0, the carry to the flag m; only where the flag m says so."""
    places = {name: 2 + at for at, name in enumerate(("c", "m", *COORDINATES))}
    state = np.zeros((8, 2, 64), np.uint8)
    state[:4] = np.array([[200, 200], [100, 50], [255, 255], [255, 0]])[:, None, np.arange(64) % 2]

    def meaning(lanes) -> None:
        total, carry = lanes.add(lanes.load(0), lanes.load(1), lanes.flag("c"))
        lanes.store(0, total, lanes.flag("m"))
        lanes.set_flag("m", carry)

    interpreter = Interpreter(state, 64, [places[name] for name in COORDINATES])
    for call in interpreter.bind(record(meaning, places)):
        call()
    assert state[:4, 1, 62:].tolist() == [[45, 200], [100, 50], [255, 255], [255, 0]]


def test_care_is_taken_of_what_is_used_a_lot(make, monkeypatch) -> None:
    """Compiled in haste first, with care after a lot of use, and with care at once where it is on disk so."""
    levels: list[int] = []
    compile_ = Toolchain.compile

    def noting(self, texts, level=1, **options):
        levels.append(level)
        return compile_(self, texts, level, **options)

    native = make.native()
    monkeypatch.setattr(Toolchain, "compile", noting)
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine._OPTIMIZE_AFTER", 10_000)
    engine = start(make(shape(64)), 83, full=False)
    actions = [engine.prepare(each.apply) for each in program(83, 20)]
    for _ in range(30):
        engine.run(actions)
    assert levels == [0, 1] and not native._hasty
    assert engine.digest() == expected(64, 83, 20, 30, full=False)
    make.forget()
    again = start(make(shape(64)), 83, full=False)
    again.run([again.prepare(each.apply) for each in program(83, 20)])
    assert levels == [0, 1] and not make.native()._hasty
    assert again.digest() == expected(64, 83, 20, 1, full=False)


def test_a_processor_that_llvm_does_not_know(monkeypatch, make) -> None:
    def unknown():
        raise RuntimeError("failed to get host cpu features")

    monkeypatch.setattr(llvm, "get_host_cpu_features", unknown)
    place.toolchain.cache_clear()
    try:
        engine = start(make(shape(64)), 84, full=False)
        engine.run([engine.prepare(each.apply) for each in program(84, 40)])
        assert make.native().tools.vectors.width == 16
    finally:
        place.toolchain.cache_clear()
    assert engine.digest() == expected(64, 84, 40, 1, full=False)
