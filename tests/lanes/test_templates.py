"""Do many meanings that differ in numbers, prepared at once, do what they do one by one, on every engine?"""

from __future__ import annotations

import numpy as np
import pytest

from pixelflow.simd.lanes import Shape, available, make_engine

SHAPE = Shape(lanes=192, group=32, rows=8, words=("R",), carries=("C",), masks=("E",))


def _store(numbers):
    def meaning(pe) -> None:
        for row, value in enumerate(pe.affine(*numbers, 4)):
            pe.store(row, value, pe.flag("E"))

    return meaning


def _compare(numbers):
    def meaning(pe) -> None:
        _, sign = pe.shift_left(pe.affine(*numbers, 3)[-1], pe.bit(False))
        pe.set_flag("E", pe.both(pe.flag("E"), sign))

    return meaning


def _every(numbers):
    def meaning(pe) -> None:
        pe.set_flag("E", pe.bit(True))
        pe.write("R", pe.load(2))

    return meaning


def _elsewhere(numbers):
    """Take a number as a constant, and to decide what is done: neither is what templates are for."""

    def meaning(pe) -> None:
        total, _ = pe.add(pe.load(5), pe.word(numbers[0]), pe.bit(False))
        pe.store(6 if numbers[1] % 2 else 5, total)

    return meaning


MEANINGS = ((_store, 3), (_compare, 3), (_every, 0), (_elsewhere, 2))


def _state(name: str):
    engine, rng = make_engine(name, SHAPE), np.random.default_rng(3)
    state = engine.snapshot()
    for values in state.values():
        values[...] = rng.integers(0, 256 if values.dtype == np.uint8 else 2, values.shape)
    engine.restore(state)
    engine.set_coordinates(*rng.integers(0, 1 << 16, (2, SHAPE.lanes)))
    return engine


@pytest.mark.parametrize("name", available())
def test_all_at_once_is_one_after_the_other(name: str) -> None:
    rng = np.random.default_rng(8)
    which = rng.integers(0, len(MEANINGS), 300)
    numbers = rng.integers(-(1 << 40), 1 << 40, (300, 3))
    numbers[rng.random((300, 3)) < 0.4] = 0  # A and B of 0 make the same value in every lane
    numbers[0] = -(1 << 63), (1 << 63) - 1, -1
    first, second = _state(name), _state(name)
    first.run([first.prepare(MEANINGS[kind][0](row)) for kind, row in zip(which, numbers.tolist(), strict=True)])
    templates = [second.template(*each) for each in MEANINGS]
    action = second.prepare_all(templates, which)(numbers)
    second.run([action])
    assert second.digest() == first.digest()
    # Once more, as a part of a chain.
    first.run([first.prepare(MEANINGS[kind][0](row)) for kind, row in zip(which, numbers.tolist(), strict=True)])
    second.run([second.chain([action])])
    assert second.digest() == first.digest()


def test_a_chain_of_templates_is_fused_to_the_same() -> None:
    if "compiled" not in available():
        pytest.skip("no native code here")
    engine, other = _state("compiled"), _state("compiled")
    numbers = np.array([[3, -5, 7], [0, 0, 9], [1 << 33, 2, 3]])
    action = engine.prepare_all([engine.template(_store, 3)], np.zeros(3, int))(numbers)
    chain = engine.chain([action])
    engine.fuse(chain)
    engine.run([chain])
    other.run([other.prepare(_store(row)) for row in numbers.tolist()])
    assert engine.digest() == other.digest()


@pytest.mark.parametrize("name", available())
def test_a_store_after_a_compare_reaches_the_lanes_that_passed(name: str) -> None:
    """In several tiles: all lanes of one pass, some of another, none of the others, and then none at all."""
    engine = make_engine(name, Shape(lanes=8192, group=32, rows=8, words=("R",), carries=("C",), masks=("E",)))
    lane = np.arange(8192)
    engine.set_coordinates(lane, np.zeros_like(lane))
    which = np.array([2, 1, 0, 2, 1, 1, 0, 2, 1, 0])
    numbers = np.zeros((10, 3), np.int64)
    numbers[1], numbers[2] = (1, 0, -3000), (0, 0, 77)  # 77 where x < 3000
    numbers[4], numbers[5], numbers[6] = (1, 0, -8192), (0, 0, 1), (0, 0, 88)  # 1 < 0 nowhere
    numbers[8], numbers[9] = (-1, 0, 8000), (1, 0, 256)  # x + 256 where x > 8000
    engine.run([engine.prepare_all([engine.template(*each) for each in MEANINGS[:3]], which)(numbers)])
    wanted = np.where(lane < 3000, 77, np.where(lane > 8000, lane + 256, 0))
    found = engine.get_rows(0, 2).astype(int)
    assert np.array_equal(found[0] + 256 * found[1], wanted)
