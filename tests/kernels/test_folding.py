"""What the beginning of a stretch leaves: small programs worked by hand, and random ones against carrying them out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pixelflow.node.kernels.folding import Folded, folded
from pixelflow.simd.lanes.form import COORDINATES, Interpreter, Part
from pixelflow.simd.lanes.native.lowering import parts_of as record

ROWS, LANES = 12, 8
FLAGS = ("c", "e", "l", "l0", "l1")
PLACES = {name: ROWS + index for index, name in enumerate((*FLAGS, *COORDINATES))}
C, E, L, L0, L1 = (PLACES[name] for name in FLAGS)
X = np.arange(LANES, dtype=np.uint8)
KNOWN = {PLACES[name]: X if name == "x low" else np.zeros(LANES, np.uint8) for name in COORDINATES}
PAD = 64
"""Parts that lead every program, so that it is worth folding; they write row 11."""


def parts_of(*meanings: Callable) -> list[Part]:
    return [part for meaning in meanings for part in record(meaning, PLACES)]


def padded(*meanings: Callable) -> list[Part]:
    return parts_of(*[lambda pe: pe.store(11, pe.word(1))] * PAD, *meanings)


def left(found: Folded) -> dict[int, list[int | None]]:
    """Return what is left besides row 11: the bytes of the lanes, None where a lane keeps its own."""
    for row in found.rows:
        assert row.values.shape == (LANES,)
        assert row.kept is None or not row.values[row.kept].any()
    return {
        row.place: [None if row.kept is not None and row.kept[lane] else int(row.values[lane]) for lane in range(LANES)]
        for row in found.rows
        if row.place != 11
    }


def fold(*meanings: Callable, masks: tuple[int, ...] = (), moves: bool = False) -> tuple[int, dict]:
    """Return how many parts behind the padding are folded, and what is left."""
    found = folded(padded(*meanings), KNOWN, masks, moves=moves)
    return found.count - PAD, left(found)


def far(pe) -> int:
    """Return the mask of the lanes from the fifth on: bit 2 of x."""
    x = pe.affine(1, 0, 0, 1)[0]
    for _ in range(5):
        x = pe.shift_left(x, pe.bit(False))[0]
    return pe.shift_left(x, pe.bit(False))[1]


def set_seven(pe) -> None:
    pe.store(0, pe.word(7), pe.flag("e"))


def test_a_constant_under_a_full_mask() -> None:
    assert fold(set_seven, masks=(E, L)) == (1, {0: [7] * 8})
    assert folded(padded(set_seven), KNOWN, (E, L)).masks == (E,)
    # Behind what ends the folding nothing is asked of a mask.
    assert folded(padded(lambda pe: pe.store(1, pe.load(2)), set_seven), KNOWN, (E, L)).masks == ()


def test_a_constant_under_a_known_mask() -> None:
    assert fold(lambda pe: pe.set_flag("e", far(pe)), set_seven) == (
        2,
        {E: [0, 0, 0, 0, 255, 255, 255, 255], 0: [None, None, None, None, 7, 7, 7, 7]},
    )


def test_a_constant_under_a_mask_that_is_not_known() -> None:
    assert fold(set_seven) == (0, {})


def test_what_both_sides_are_does_not_depend_on_the_mask() -> None:
    assert fold(lambda pe: pe.store(0, pe.word(7)), set_seven) == (2, {0: [7] * 8})
    seven = lambda pe: pe.store(0, pe.add(pe.word(200), pe.word(62), pe.bit(True))[0])  # noqa: E731
    assert fold(seven, set_seven) == (2, {0: [7] * 8})


def test_the_mask_is_what_it_was_where_it_was_narrowed_and_widened() -> None:
    narrow = [lambda pe: pe.set_flag("e", pe.both(pe.flag("l"), far(pe))), set_seven]
    found = folded(padded(*narrow, lambda pe: pe.set_flag("e", pe.flag("l"))), KNOWN, (L,))
    assert (found.count - PAD, left(found), found.masks) == (
        3,
        {E: [255] * 8, 0: [None, None, None, None, 7, 7, 7, 7]},
        (L,),
    )


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("loaded and stored", lambda pe: pe.store(0, pe.load(0))),
        ("and 255", lambda pe: pe.store(0, pe.both(pe.load(0), pe.bit(True)))),
        ("0 or", lambda pe: pe.store(0, pe.either(pe.bit(False), pe.load(0)))),
        ("and itself", lambda pe: pe.store(0, pe.both(pe.load(0), pe.load(0)))),
        ("under a mask that is not known", lambda pe: pe.store(0, pe.load(0), pe.flag("e"))),
        ("routed to where it is", lambda pe: pe.store(0, pe.route(pe.load(0), (0, 1, 2, 3)))),
    ],
)
def test_a_row_that_is_what_it_was_is_left_alone(name: str, meaning) -> None:
    assert fold(meaning) == (1, {})


def test_logic_that_one_side_decides() -> None:
    assert fold(lambda pe: pe.store(0, pe.both(pe.load(1), far(pe))), lambda pe: pe.store(0, pe.word(3), far(pe))) == (
        2,
        {0: [0, 0, 0, 0, 3, 3, 3, 3]},
    )
    assert fold(lambda pe: pe.store(0, pe.either(far(pe), pe.load(0)))) == (
        1,
        {0: [None, None, None, None, 255, 255, 255, 255]},
    )
    assert fold(lambda pe: pe.store(0, pe.differ(pe.load(0), pe.bit(False)))) == (0, {})


def test_routes_move_what_is_known() -> None:
    assert fold(lambda pe: pe.store(0, pe.route(pe.affine(1, 0, 0, 1)[0], (3, 2, 1, 0)))) == (
        1,
        {0: [3, 2, 1, 0, 7, 6, 5, 4]},
    )
    assert fold(lambda pe: pe.store(0, pe.route(pe.word(9), (3, 2, 1, 0)))) == (1, {0: [9] * 8})


def test_routes_of_what_a_row_held_before() -> None:
    def swap(pe) -> None:
        pe.store(0, pe.route(pe.load(0), (1, 0, 2, 3)))

    def overwrite(pe) -> None:
        pe.store(0, pe.word(5), pe.pattern([True, True, False, False]))

    assert fold(swap) == (0, {})
    assert fold(swap, overwrite) == (2, {0: [5, 5, None, None] * 2})
    # The lanes that are known go where the route takes them; of the others those that stay are what they were.
    assert fold(overwrite, lambda pe: pe.store(0, pe.route(pe.load(0), (1, 0, 0, 3)))) == (2, {0: [5, 5, 5, None] * 2})


def test_memory_is_not_known() -> None:
    read = [lambda pe: pe.store(0, pe.load(1)), lambda pe: pe.store(2, pe.word(7))]
    assert fold(*read) == (0, {})
    assert fold(*read, lambda pe: pe.store(0, pe.word(8))) == (3, {0: [8] * 8, 2: [7] * 8})
    # What was known before it goes into what is left, what comes behind it does not.
    assert fold(lambda pe: pe.store(3, pe.word(2)), *read, lambda pe: pe.store(3, pe.word(4))) == (1, {3: [2] * 8})


def push(pe) -> None:
    l0, level = pe.flag("l0"), pe.flag("l")
    pe.set_flag("l1", l0)
    pe.set_flag("l0", level)
    pe.set_flag("l", pe.flag("e"))


def pop(pe) -> None:
    l0, l1 = pe.flag("l0"), pe.flag("l1")
    pe.set_flag("l", l0)
    pe.set_flag("l0", l1)


def test_masks_that_were_pushed_and_popped() -> None:
    seven = [lambda pe: pe.set_flag("e", far(pe)), push, set_seven, pop, lambda pe: pe.set_flag("e", pe.flag("l"))]
    assert fold(*seven, masks=(L,)) == (1, {E: [0, 0, 0, 0, 255, 255, 255, 255]})
    assert fold(*seven, masks=(L,), moves=True) == (5, {E: [255] * 8, 0: [None, None, None, None, 7, 7, 7, 7]})
    assert folded(padded(*seven), KNOWN, (L,), moves=True).moves == ((L1, L0),)


def test_what_was_moved_and_overwritten_is_no_move() -> None:
    found = folded(
        padded(lambda pe: pe.store(0, pe.load(1)), lambda pe: pe.store(0, pe.word(7))), KNOWN, (), moves=True
    )
    assert (found.count - PAD, left(found), found.moves) == (2, {0: [7] * 8}, ())


def test_moves_that_depend_on_each_other_end_it() -> None:
    assert fold(push, push, moves=True) == (0, {})


def test_what_is_not_worth_it() -> None:
    seven = lambda pe: pe.store(0, pe.word(7))  # noqa: E731
    assert folded(parts_of(*[seven] * (PAD - 1)), KNOWN, ()) is None
    assert folded(parts_of(*[seven] * PAD), KNOWN, ()).count == PAD

    rows = {f"row {row}": 100 + row for row in range(6 * PAD)}
    many = [part for at in range(PAD) for part in record(_wide(at), PLACES | rows)]
    assert folded(many, KNOWN, ()) is None


def _wide(at: int) -> Callable:
    def fill(pe) -> None:
        for row in range(6):
            pe.write(f"row {6 * at + row}", pe.word(7))

    return fill


# --- random programs ----------------------------------------------------------------------------------------


class _Writer:
    """Writes random meanings: mostly of what is known, and of few rows, so that they meet again."""

    def __init__(self, seed: int) -> None:
        self.pick = np.random.default_rng(seed)
        self.memory = 0.05 * (seed % 3)
        """How many of the operands are rows of memory, besides those of a row's own."""

    def bit(self, pe, depth: int) -> int:
        kind = self.pick.integers(9 if depth else 4)
        match kind:
            case 0:
                return pe.pattern(self.pick.integers(0, 2, 4))
            case 1:
                return pe.bit(bool(self.pick.integers(2)))
            case 2:
                return far(pe)
            case 3:
                return pe.flag(str(self.pick.choice(FLAGS)))
            case 4:
                return pe.add(self.word(pe, depth - 1), self.word(pe, depth - 1), self.bit(pe, depth - 1))[1]
            case 5:
                return pe.shift_left(self.word(pe, depth - 1), self.bit(pe, 0))[1]
            case 6:
                return pe.shift_right(self.word(pe, depth - 1), self.bit(pe, 0))[1]
            case _:
                return self.logic(pe, self.bit, depth)

    def word(self, pe, depth: int) -> int:
        if self.pick.random() < self.memory:
            return pe.load(int(self.pick.integers(ROWS)))
        match self.pick.integers(9 if depth else 2):
            case 0:
                return pe.word(int(self.pick.integers(256)))
            case 1:
                words = int(self.pick.integers(1, 5))
                return pe.affine(*(int(each) for each in self.pick.integers(-(1 << 40), 1 << 40, 3)), words)[-1]
            case 2:
                return pe.add(self.word(pe, depth - 1), self.word(pe, depth - 1), self.bit(pe, depth - 1))[0]
            case 3:
                return pe.shift_left(self.word(pe, depth - 1), self.bit(pe, depth - 1))[0]
            case 4:
                return pe.shift_right(self.word(pe, depth - 1), self.bit(pe, depth - 1))[0]
            case 5:
                return pe.route(self.word(pe, depth - 1), [int(each) for each in self.pick.integers(0, 4, 4)])
            case 6:
                mask = self.bit(pe, depth - 1)
                return pe.select(mask, self.word(pe, depth - 1), self.word(pe, depth - 1))
            case _:
                return self.logic(pe, self.word, depth)

    def logic(self, pe, operand: Callable, depth: int) -> int:
        a = operand(pe, depth - 1)
        match self.pick.integers(4):
            case 0:
                return pe.both(a, operand(pe, depth - 1))
            case 1:
                return pe.either(a, operand(pe, depth - 1))
            case 2:
                return pe.differ(a, operand(pe, depth - 1))
            case _:
                return pe.complement(a)

    def meaning(self, pe) -> None:
        """Write one row or flag, often under a mask, sometimes from what it holds."""
        where = None if self.pick.random() < 0.5 else self.bit(pe, 1)
        if self.pick.random() < 0.3:
            pe.set_flag(str(self.pick.choice(FLAGS)), self.bit(pe, 2), where)
            return
        row = int(self.pick.integers(6))
        value = self.word(pe, 2)
        if self.pick.random() < 0.2:
            value = pe.select(self.bit(pe, 1), value, pe.load(row))
        if self.pick.random() < 0.1:
            value = pe.route(pe.load(row), (0, 1, 3, 2))
        pe.store(row, value, where)


def _state(pick: np.random.Generator, lanes: dict[int, np.ndarray], masks: tuple[int, ...]) -> np.ndarray:
    """Return random memory, uint8[1, place, lane], with what is known before a stretch."""
    memory = pick.integers(0, 256, (1, ROWS + len(PLACES), LANES), dtype=np.uint8)
    for name in FLAGS:
        memory[0, PLACES[name]] = np.where(memory[0, PLACES[name]] & 1, 255, 0)
    for place, values in lanes.items():
        memory[0, place] = values
    memory[0, list(masks)] = 255
    return memory


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("seed", [pytest.param(each, marks=[pytest.mark.slow] * (each > 11)) for each in range(30)])
def test_random_programs_leave_what_carrying_them_out_leaves(seed: int, moves: bool) -> None:
    writer = _Writer(seed)
    pick = writer.pick
    known = {place: pick.integers(0, 256, LANES, dtype=np.uint8) for place in KNOWN}
    parts = padded(*[writer.meaning] * 60)
    found = folded(parts, known, (E, L), moves=moves)
    for _ in range(4):
        before = _state(pick, known, found.masks)
        carried_out = before.copy()
        interpreter = Interpreter(carried_out[0], 4, [PLACES[name] for name in COORDINATES])
        for part in parts[: found.count]:
            for call in interpreter.bind(part):
                call()
        put = before.copy()
        for place, source in found.moves:
            put[0, place] = before[0, source]
        for row in found.rows:
            keeps = np.zeros(LANES, bool) if row.kept is None else row.kept
            assert not row.values[keeps].any()
            put[0, row.place] = np.where(keeps, put[0, row.place], row.values)
        np.testing.assert_array_equal(put, carried_out)


def test_random_programs_are_folded_far() -> None:
    """Otherwise the comparison above would compare little."""
    counts, kept = [], 0
    for seed in range(30):
        writer = _Writer(seed)
        found = folded(padded(*[writer.meaning] * 60), KNOWN, (E, L))
        counts.append(found.count - PAD)
        kept += sum(row.kept is not None for row in found.rows)
    assert sum(counts) > 30 * 10
    assert kept > 10
