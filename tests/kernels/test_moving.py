"""Bytes that are kept and put into rows, or compared with them, in native code and without it, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from pixelflow.node.kernels.folding import FoldedRow
from pixelflow.node.kernels.kept_rows import keep, keep_folded
from pixelflow.node.kernels.macro_engine import MacroEngine
from tests.kernels.stretches import machine

FIRST = 100

PATTERNS = {
    "all lanes": np.ones(64, bool),
    "one of 64": np.arange(64) == 17,
    "all but one": np.arange(64) != 40,
    "any": np.random.default_rng(1).random(64) < 0.4,
}


@pytest.fixture(params=["native", "numpy"])
def make(request: pytest.FixtureRequest):
    """Return what makes an engine in a random state, and its rows."""

    def made(lanes: int) -> tuple[MacroEngine, np.ndarray]:
        engine = machine(lanes)
        rows = np.random.default_rng(lanes).integers(0, 256, (engine.shape.rows, lanes), dtype=np.uint8)
        engine.set_rows(0, rows)
        return engine, rows

    made.native = request.param == "native"
    return made


def carried_out(make, engine: MacroEngine, action: object) -> None:
    assert action is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_is_native", make.native)
        engine.run([action])


@pytest.mark.parametrize("lanes", [64, 8192])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_rows_are_given_what_is_kept_in_the_lanes_that_are_served(make, pattern: str, lanes: int) -> None:
    engine, rows = make(lanes)
    served = np.tile(PATTERNS[pattern], lanes // 64)
    given = np.random.default_rng(2).integers(0, 256, (32, lanes), dtype=np.uint8)
    action = engine.motion(keep(FIRST, given, engine.tiling, served))
    rows[FIRST : FIRST + 32] = np.where(served, given, rows[FIRST : FIRST + 32])
    given[:] = 0  # what is kept is a copy
    for _ in range(2):
        carried_out(make, engine, action)
        assert (engine.get_rows(0, engine.shape.rows) == rows).all()


def test_nothing_is_kept_where_lanes_do_not_come_in_equal_groups_of_64() -> None:
    engine = machine(256)
    rows = engine.get_rows(FIRST, 4)
    served = np.arange(256) % 64 < 10
    assert keep(FIRST, rows, engine.tiling, served) and not keep(
        FIRST, rows, engine.tiling, served ^ (np.arange(256) == 200)
    )
    assert keep(FIRST, rows, engine.tiling, np.zeros(256, bool)) is None
    stays = np.arange(256) == 70
    assert keep_folded([FoldedRow(5, np.where(stays, 0, rows[0]), stays)], engine.tiling) is None
    assert [machine(lanes).tiling for lanes in (32, 96, 2080)] == [None] * 3


@pytest.mark.parametrize("lanes", [64, 8192])
def test_a_row_that_differs_in_one_bit_of_one_lane_is_seen(make, lanes: int) -> None:
    engine, rows = make(lanes)
    count, differs = 4, np.zeros(3, np.uint8)
    given = rows[FIRST : FIRST + count].copy()
    action = engine.comparing(FIRST, given, differs[1:2])
    given[:] = 0  # what is kept is a copy
    for row, lane in [(0, 0), (count - 1, lanes - 1), (2, 33)]:
        carried_out(make, engine, action)
        assert differs.tolist() == [0, 0, 0]
        other = rows.copy()
        other[FIRST + row, lane] ^= 1 << (row + lane) % 8
        engine.set_rows(0, other)
        carried_out(make, engine, action)
        assert differs.tolist() == [0, 1, 0], (row, lane)
        engine.set_rows(0, rows)
        carried_out(make, engine, action)
        assert differs[1] == 1, "it says so until it is set back"
        differs[1] = 0
    for around in (FIRST - 1, FIRST + count):
        engine.set_rows(around, ~rows[around : around + 1])
    carried_out(make, engine, action)
    assert not differs.any(), "rows around do not count"


def test_a_flag_is_compared_as_a_row_of_0_and_255(make) -> None:
    engine, _ = make(2048)
    marks = np.random.default_rng(3).random(2048) < 0.5
    engine.set_bit("MR", marks)
    differs = np.zeros(1, np.uint8)
    action = engine.comparing("MR", np.where(marks, np.uint8(0xFF), np.uint8(0))[None], differs)
    for expected in (0, 1):
        carried_out(make, engine, action)
        assert differs[0] == expected
        marks[1234] ^= True
        engine.set_bit("MR", marks)


def test_rows_that_a_stretch_leaves(make) -> None:
    """The same for every 64 lanes or not, in all lanes or some, one row after the other and apart."""
    lanes = 4096
    engine, rows = make(lanes)
    rng = np.random.default_rng(4)
    kinds = [(repeats, kept) for repeats in (True, False) for kept in (None, "one of 64", "any")]
    found = []
    for number, place in enumerate([20, 21, 22, 23, 25, 26, 40, 41, 43, 60, 61, 62]):
        repeats, kept = kinds[number // 2 % len(kinds)] if number < 9 else (False, None)
        values = rng.integers(0, 256, lanes, dtype=np.uint8)
        if repeats:
            values = np.tile(values[:64], lanes // 64)
        stays = None if kept is None else np.tile(PATTERNS[kept], lanes // 64)
        if stays is not None:
            values[stays] = 0
        found.append(FoldedRow(place, values, stays))
        rows[place] = values if stays is None else np.where(stays, rows[place], values)
    groups = keep_folded(found[::-1], engine.tiling)
    assert sum(each.repeats for each in groups) and len(groups) < len(found)
    for kept in groups:
        carried_out(make, engine, engine.motion(kept))
    assert (engine.get_rows(0, engine.shape.rows) == rows).all()
