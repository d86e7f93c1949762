"""Do the engines agree on any meaning that the algebra can express, not only on those of declared instructions?

Random meanings read, combine and write rows, registers and flags in any order, so that views of a row are read before
and after the row is overwritten.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from pixelflow.simd.lanes import Shape, available, choose, make_engine

ENGINES = available()
SHAPE = Shape(lanes=64, group=32, rows=6, words=("R", "S"), carries=("C",), masks=("E", "L"))
FLAGS = (*SHAPE.carries, *SHAPE.masks)


def _random_meaning(seed: int) -> Callable:
    """Return a meaning of a few random operations; the same seed gives the same meaning on every engine."""

    def meaning(pe) -> None:
        rng = random.Random(seed)
        words = [pe.load(0), pe.read("R"), pe.word(0), pe.word(0x80), *pe.affine(3, 5, 7, 2)]
        bits = [
            pe.flag("C"),
            pe.flag("E"),
            pe.bit(False),
            pe.bit(True),
            pe.pattern([lane % 3 == 0 for lane in range(32)]),
        ]

        def word():
            return rng.choice(words)

        def bit():
            return rng.choice(bits)

        def where():
            return rng.choice([None, bit()])

        def pair(made) -> None:
            words.append(made[0])
            bits.append(made[1])

        actions = [
            lambda: words.append(pe.load(rng.randrange(SHAPE.rows))),
            lambda: words.append(pe.read(rng.choice(SHAPE.words))),
            lambda: bits.append(pe.flag(rng.choice(FLAGS))),
            lambda: pair(pe.add(word(), word(), bit())),
            lambda: pair(pe.add(word(), pe.complement(word()), rng.choice([bit(), pe.bit(True)]))),
            lambda: pair(pe.shift_left(word(), bit())),
            lambda: pair(pe.shift_right(word(), bit())),
            lambda: words.append(rng.choice([pe.both, pe.either, pe.differ])(word(), word())),
            lambda: bits.append(rng.choice([pe.both, pe.either, pe.differ])(bit(), bit())),
            lambda: words.append(pe.complement(word())),
            lambda: bits.append(pe.complement(bit())),
            lambda: words.append(pe.select(bit(), word(), word())),
            lambda: words.append(pe.route(word(), [lane ^ 1 for lane in range(32)])),
            lambda: pe.store(rng.randrange(SHAPE.rows), word(), where()),
            lambda: pe.write(rng.choice(SHAPE.words), word(), where()),
            lambda: pe.set_flag(rng.choice(FLAGS), bit(), where()),
        ]
        for _ in range(rng.randint(3, 16)):
            rng.choice(actions)()

    return meaning


def _engines(seed: int) -> list:
    rng = np.random.default_rng(seed)
    engines = [make_engine(name, SHAPE) for name in ENGINES]
    state = engines[0].snapshot()
    for values in state.values():
        values[...] = rng.integers(0, 256 if values.dtype == np.uint8 else 2, values.shape)
    x, y = rng.integers(0, 1 << 16, (2, SHAPE.lanes))
    for engine in engines:
        engine.restore(state)
        engine.set_coordinates(x, y)
    return engines


@pytest.mark.parametrize("block", [*range(8), *(pytest.param(each, marks=pytest.mark.slow) for each in range(8, 20))])
def test_random_meanings(block: int) -> None:
    engines = _engines(block)
    seeds = range(100 * block, 100 * block + 100)
    prepared = [[engine.prepare(_random_meaning(seed)) for seed in seeds] for engine in engines]
    for seed, *actions in zip(seeds, *prepared, strict=True):
        for engine, action in zip(engines, actions, strict=True):
            engine.run([action])
        assert len({engine.digest() for engine in engines}) == 1, f"seed {seed}"


@pytest.mark.parametrize("name", ENGINES)
def test_a_view_keeps_its_value_when_its_row_is_overwritten(name: str) -> None:
    """a = row 5; row 5 = not a; row 4 = a: row 4 holds what row 5 held before."""
    engine = make_engine(name, SHAPE)
    before = np.arange(SHAPE.lanes, dtype=np.uint8)
    engine.set_rows(5, before[None, :])

    def meaning(pe) -> None:
        old = pe.load(5)
        inverted = pe.complement(old)
        pe.store(5, inverted)
        pe.store(4, old)

    engine.run([engine.prepare(meaning)])
    assert np.array_equal(engine.get_rows(4, 2), [before, ~before])


def test_shapes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="33 lanes are not a whole number of groups of 32"):
        Shape(33, 32, 1, (), (), ())
    with pytest.raises(ValueError, match="two registers or flags have the same name"):
        Shape(32, 32, 1, ("R",), ("R",), ())


def test_native_code_is_there_where_llvmlite_is() -> None:
    """What takes each engine that is available takes one less where native code fails its trial: that is seen here."""
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    assert choose("compiled").note is None
