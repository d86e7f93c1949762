"""Sparse products against float64, lines of gathers counted from the matrices, and cycles by hand."""

from itertools import product

import numpy as np
import pytest

from larrabee_bridge.kernels.spmv import Matrix, banded, five_point, lines_of_uniform, multiply, uniform

MATRICES = {
    "stencil": five_point(16, 12),
    "band": banded(80, 50, 16),
    "uniform": uniform(64, 1024, 16),
    "ragged": uniform(37, 200, 5),
}


def vector_for(matrix: Matrix) -> np.ndarray:
    return np.random.default_rng(7).normal(size=matrix.columns).astype(np.float32)


def dense(matrix: Matrix) -> np.ndarray:
    found = np.zeros((matrix.rows, matrix.columns))
    for row in range(matrix.rows):
        for at in range(matrix.starts[row], matrix.starts[row + 1]):
            found[row, matrix.column[at]] += matrix.value[at]
    return found


@pytest.mark.parametrize("name", MATRICES)
def test_products_are_those_of_float64(name: str) -> None:
    matrix = MATRICES[name]
    x = vector_for(matrix)
    limit = 16 * 2.0**-24 * (np.abs(dense(matrix)) @ np.abs(x.astype(np.float64)))
    gathered, scalar = multiply(matrix, x), multiply(matrix, x, hardware=False)
    assert (np.abs(gathered.y - dense(matrix) @ x.astype(np.float64)) <= limit).all()
    assert (gathered.y.view(np.uint32) == scalar.y.view(np.uint32)).all()


@pytest.mark.parametrize("name", MATRICES)
def test_lines_of_gathers_are_those_of_the_columns(name: str) -> None:
    matrix = MATRICES[name]
    x = vector_for(matrix)
    assert multiply(matrix, x).timing.spread.tolist() == [len(set((row // 16).tolist())) for row in matrix.slices()[1]]
    assert not len(multiply(matrix, x, hardware=False).timing.spread)


def test_slices_hold_the_matrix() -> None:
    matrix = MATRICES["stencil"]
    steps, column, value = matrix.slices()
    found = np.zeros((-(-matrix.rows // 16) * 16, matrix.columns))
    at = 0
    for number, count in enumerate(steps):
        for j, lane in product(range(count), range(16)):
            found[16 * number + lane, column[at + j, lane]] += value[at + j, lane]
        at += count
    assert (found[: matrix.rows] == dense(matrix)).all()


def test_the_stencil_touches_seven_lines_in_five_gathers() -> None:
    """Sixteen rows that have all neighbours and begin a line: 1 above, 2 left, 1, 2 right, 1 below."""
    steps, column, _ = five_point(64, 8).slices()
    inner = column[np.cumsum(steps)[8] : np.cumsum(steps)[9]]  # row 2 of the grid, points 16 to 31
    assert [len(set((row // 16).tolist())) for row in inner] == [1, 2, 1, 2, 1]


def test_the_closed_form_of_equally_likely_lines() -> None:
    """All ways in which three lanes take one of four lines."""
    every = [len(set(lines)) for lines in product(range(4), repeat=3)]
    assert lines_of_uniform(4, 3) == pytest.approx(sum(every) / len(every))
    rng = np.random.default_rng(1)
    drawn = np.sort(rng.integers(0, 1024, (20_000, 16)) // 16, axis=1)
    mean = (np.diff(drawn, axis=1) > 0).sum(axis=1).mean() + 1
    assert mean == pytest.approx(lines_of_uniform(64), abs=0.03)


def one_slice(steps: int) -> Matrix:
    column = np.tile(np.arange(steps), 16)
    return Matrix(16, np.arange(17) * steps, column, np.ones(16 * steps, np.float32))


def test_a_further_step_by_hand() -> None:
    """With the gather: offsets are loaded at 0, gathered at 4 (one line), added at 8, the branch is at 9: 10.

    With scalars 48 loads and stores, two a cycle, take 24; the vector load is at 24, the sum at 28, the branch at 29.
    """
    x = np.ones(16, np.float32)
    for hardware, cycles in ((True, 10), (False, 30)):
        few, many = (multiply(one_slice(steps), x, hardware=hardware).timing for steps in (2, 5))
        assert (many.cycles - few.cycles) / 3 == cycles


@pytest.mark.parametrize("name", ["stencil", "band", "uniform"])
def test_the_gather_gains_most_where_lines_are_few(name: str) -> None:
    matrix = MATRICES[name]
    x = vector_for(matrix)
    gathered, scalar = multiply(matrix, x).timing, multiply(matrix, x, hardware=False).timing
    assert scalar.cycles > 1.5 * gathered.cycles
    # Four threads hide latencies: the gather costs its lines and at most five cycles of other instructions more.
    steps = len(gathered.spread)
    assert sum(gathered.spread) + 2 * steps <= gathered.cycles <= sum(gathered.spread) + 5 * steps


def test_sixteen_empty_rows_are_zero() -> None:
    """A slice without entries: between others, at the end, and as the whole matrix."""
    starts = np.concatenate([np.arange(17), np.full(16, 16), np.arange(17, 33), np.full(20, 32)])
    matrix = Matrix(8, starts, np.arange(32) % 8, np.arange(1, 33, dtype=np.float32))
    x = np.arange(1, 9, dtype=np.float32)
    expected = np.zeros(matrix.rows)
    for number in range(32):
        expected[number if number < 16 else number + 16] = (number + 1) * (number % 8 + 1)
    nothing = Matrix(8, np.zeros(18, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    for hardware in (True, False):
        assert multiply(matrix, x, hardware=hardware).y.tolist() == expected.tolist()
        assert multiply(nothing, x, hardware=hardware).y.tolist() == [0.0] * 17
