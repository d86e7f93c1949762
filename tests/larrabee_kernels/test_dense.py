"""Dense kernels against numpy and scipy, operations counted by hand, and what is refused."""

import numpy as np
import pytest

from larrabee_bridge.kernels.filters import filter_linear, filter_median
from larrabee_bridge.kernels.fourier import transform
from larrabee_bridge.kernels.product import matrix_product
from larrabee_bridge.vpu.isa import VectorFamily
from pixelflow.simd.errors import InputError

RNG = np.random.default_rng(1)


def test_products_are_those_of_float64() -> None:
    """Sums of 96 products below 1, each rounded once: 96 units of half 2^-24 of at most 96."""
    a, b = RNG.uniform(-1, 1, (2, 96, 96)).astype(np.float32)
    found, run = matrix_product(a, b)
    np.testing.assert_allclose(found, a.astype(float) @ b.astype(float), atol=96 * 2.0**-25 * 8)
    assert run.counts[VectorFamily.FUSED] == 96**3 / 16
    more, wide = matrix_product(a, b, blocks=3)
    assert (more == found).all() and len(run.pieces) == 6 and len(wide.pieces) == 2


def test_whole_numbers_are_exact() -> None:
    a, b = RNG.integers(-9, 9, (2, 48, 48))
    assert (matrix_product(a, b)[0] == a @ b).all()


@pytest.mark.parametrize("shape", [(32, 16), (64, 48)])
def test_filters_are_those_of_scipy(shape: tuple[int, int]) -> None:
    ndimage = pytest.importorskip("scipy.ndimage", reason="needs scipy")
    picture = RNG.uniform(0, 255, shape).astype(np.float32)
    weights = RNG.uniform(-1, 1, (5, 5)).astype(np.float32)
    found, _ = filter_linear(picture, weights)
    exact = ndimage.correlate(picture.astype(float), weights.astype(float), mode="nearest")
    np.testing.assert_allclose(found, exact, atol=25 * 255 * 2.0**-24)
    assert (filter_median(picture)[0] == ndimage.median_filter(picture, 3, mode="nearest")).all()


def test_instructions_of_filters_are_counted() -> None:
    """Of sixteen by four pixels: 100 multiply-adds, 40 loads, 4 stores, 4 zeros; 14 or 15 exchanges of a median."""
    picture = RNG.uniform(0, 1, (32, 16)).astype(np.float32)
    _, run = filter_linear(picture, np.ones((5, 5)))
    assert run.counts[VectorFamily.FUSED] == 100 * 8 and run.vector == (100 + 40 + 4 + 4) * 8
    _, run = filter_median(picture)
    assert run.counts[VectorFamily.FLOAT] == (11 * 2 + 8) * 32


@pytest.mark.parametrize("side", [64, 256])
def test_transforms_are_those_of_scipy(side: int) -> None:
    fft = pytest.importorskip("scipy.fft", reason="needs scipy")
    parts = RNG.uniform(-1, 1, (2, 2, side, side))
    values = (parts[0] + 1j * parts[1]).astype(np.complex64)
    found, (columns, rows) = transform(values)
    exact = fft.fft2(values.astype(complex), axes=(1, 2))
    scale = np.sqrt((np.abs(exact) ** 2).mean())
    assert np.abs(found - exact).max() < 16 * 2.0**-24 * scale * np.log2(side)
    # Rows are gathered: the same arithmetic, more lines.
    assert columns.counts[VectorFamily.FUSED] == rows.counts[VectorFamily.FUSED]
    steps = {64: 3, 256: 4}[side]
    assert columns.counts[VectorFamily.FUSED] == 2 * side // 16 * steps * side // 4 * 6
    assert rows.lines > columns.lines


def test_a_single_point_becomes_ones() -> None:
    values = np.zeros((1, 64, 64))
    values[0, 0, 0] = 1
    assert (transform(values)[0] == 1).all()


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="matrices of shapes"):
        matrix_product(np.zeros((40, 40)), np.zeros((40, 40)))
    with pytest.raises(InputError, match="4 blocks a thread of 6"):
        matrix_product(np.zeros((96, 96)), np.zeros((96, 96)), blocks=4)
    with pytest.raises(InputError, match="a picture of shape"):
        filter_median(np.zeros((30, 16)))
    with pytest.raises(InputError, match="weights of shape"):
        filter_linear(np.zeros((32, 16)), np.ones((3, 3)))
    with pytest.raises(InputError, match="values of shape"):
        transform(np.zeros((64, 64)))
