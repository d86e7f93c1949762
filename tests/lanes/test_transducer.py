"""Transducers: sums by tables, natively and in Python, against a walk that works out every step."""

import numpy as np
import pytest

from pixelflow.simd.lanes.native.plain import works_natively
from pixelflow.simd.lanes.native.transducer import Transducer, Transition

NATIVE = [False, *([True] if works_natively() else [])]


@pytest.mark.parametrize("native", NATIVE)
def test_ones_that_follow_a_one(native: bool) -> None:
    """By hand: the state is the last word, the sums count words, and ones that follow ones."""
    table = Transducer(2, lambda state, word: Transition(word, (1, state & word)), native=native)
    states, sums = np.zeros(3, np.int64), Transducer.sums(2, 3)
    words = np.array([1, 1, 0, 1, 1, 1, 0, 1], np.uint32)
    table.run(words, np.array([0, 5, 5, 8]), np.array([2, 1, 0]), states, sums)
    assert sums[:, :2].tolist() == [[3, 0], [0, 0], [5, 2]]
    assert states.tolist() == [1, 0, 1]
    assert table.known == 3
    table.run(words, np.array([0, 1]), np.array([2]), states, sums)
    assert sums[2, :2].tolist() == [6, 3]


@pytest.mark.parametrize("native", NATIVE)
def test_words_that_count_pass_over_others(native: bool) -> None:
    table = Transducer(1, lambda state, word: Transition(0, (10 + word,), counts=True), native=native)
    states, sums = np.zeros(1, np.int64), Transducer.sums(1, 1)
    table.run(np.array([2, 9, 9, 0, 1, 9], np.uint32), np.array([0, 6]), np.array([0]), states, sums)
    assert sums[0, 0] == 12 + 10 + 11


@pytest.mark.parametrize("native", NATIVE)
@pytest.mark.parametrize("seed", range(4))
def test_random_automata_are_walked_step_by_step(native: bool, seed: int) -> None:
    """More steps than the table begins with, keys of 32 bits, rows of more than one chunk; each step asked for once.

    Another one that is given what this one has learned asks for none.
    """
    rng = np.random.default_rng(seed)
    count, width = 40, 11
    letters = rng.integers(0, 1 << 32, 200, dtype=np.uint32)
    asked: list[tuple[int, int]] = []

    def step(state: int, word: int) -> Transition:
        mixed = (state * 1_000_003 + word * 7_919) % 999_983
        return Transition(mixed % 300, [mixed % (5 + column) for column in range(width)])

    def find(state: int, word: int) -> Transition:
        asked.append((state, word))
        return step(state, word)

    table = Transducer(width, find, native=native)
    lengths = rng.integers(0, 300, count)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    words = letters[rng.integers(0, 200, int(starts[-1]))]
    who = rng.permutation(count)
    states, sums = np.zeros(count, np.int64), Transducer.sums(width, count)
    table.run(words, starts, who, states, sums)
    for stream, one in enumerate(who.tolist()):
        state, expected = 0, np.zeros(width, np.int64)
        for word in words[starts[stream] : starts[stream + 1]].tolist():
            found = step(state, word)
            state, expected = found.state, expected + found.sums
        assert states[one] == state
        assert sums[one, :width].tolist() == expected.tolist()
    assert len(asked) == len(set(asked)) == table.known > 1024
    again, totals = np.zeros(count, np.int64), Transducer.sums(width, count)
    Transducer(width, find, table.learned, native=native).run(words, starts, who, again, totals)
    assert (again == states).all() and (totals == sums).all() and len(asked) == table.known


@pytest.mark.parametrize("native", NATIVE)
def test_a_state_beyond_the_table_is_refused(native: bool) -> None:
    table = Transducer(1, lambda state, word: Transition(1 << 31, (1,)), native=native)
    with pytest.raises(ValueError, match="state 2147483648"):
        table.run(np.zeros(1, np.uint32), np.array([0, 1]), np.array([0]), np.zeros(1, np.int64), Transducer.sums(1, 1))


REFUSED = {
    "a stream of nobody": ({"who": [2]}, IndexError, "streams of 2 to 2, there are states and sums of 2"),
    "a stream before the first": ({"who": [-1]}, IndexError, "streams of -1 to -1"),
    "fewer states": ({"who": [1], "states": np.zeros(1, np.int64)}, IndexError, "states and sums of 1"),
    "too few starts": ({"starts": [0]}, ValueError, r"starts: \[1\] for streams \[1\]"),
    "starts that go back": ({"starts": [2, 1]}, ValueError, "a stream ends before it begins"),
    "a start before the first word": ({"starts": [-1, 1]}, IndexError, "starts: -1 to 1, there are 3 words"),
    "an end past the last word": ({"starts": [0, 4]}, IndexError, "starts: 0 to 4, there are 3 words"),
    "states of another kind": (
        {"states": np.zeros(2, np.int32)},
        ValueError,
        r"states: int32\[2\], not int64\[count\]",
    ),
    "states with gaps": ({"states": np.zeros(4, np.int64)[::2]}, ValueError, "states: an array in one piece"),
    "narrow sums": ({"sums": np.zeros((2, 1), np.int64)}, ValueError, r"sums: int64\[2, 1\], not int64\[count, 4\]"),
    "sums with gaps": ({"sums": np.zeros((2, 8), np.int64)[:, ::2]}, ValueError, "sums: an array in one piece"),
}


@pytest.mark.parametrize("native", NATIVE)
@pytest.mark.parametrize(("wrong", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_arrays_that_do_not_fit_are_refused(native: bool, wrong: dict, error: type[Exception], text: str) -> None:
    table = Transducer(1, lambda state, word: Transition(0, (1,)), native=native)
    right = {"starts": [0, 3], "who": [0], "states": np.zeros(2, np.int64), "sums": Transducer.sums(1, 2)}
    arrays = {name: np.asarray(value) for name, value in {**right, **wrong}.items()}
    with pytest.raises(error, match=text):
        table.run(np.zeros(3, np.uint32), **arrays)
    assert table.known == 0 and not arrays["sums"].any()


def test_native_code_takes_over_what_was_found_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it works: the second run is beyond what is walked in Python, and asks no question again."""
    monkeypatch.setattr("pixelflow.simd.lanes.native.plain.NATIVE_AFTER", 5_000)
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2_000, 4_000, dtype=np.uint32)
    table = Transducer(1, lambda state, word: Transition((state + word) % 7, (state,)))
    states, sums = np.zeros(2, np.int64), Transducer.sums(1, 2)
    known = []
    for one in range(2):
        table.run(words, np.array([0, len(words)]), np.array([one]), states, sums)
        known.append(table.known)
    assert states[0] == states[1] and sums[0, 0] == sums[1, 0] > 0
    assert known[0] == known[1] > 1024
