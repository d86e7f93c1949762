"""Filtered samples against float64, whole and half texels by hand, lines and operations counted."""

import numpy as np
import pytest

from larrabee_bridge.kernels.filtering import aligned_coordinates, filter_bilinear, scattered_coordinates

WIDTH, HEIGHT = 64, 32
TEXTURE = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 4)).astype(np.uint8)


def exact(coordinates: np.ndarray) -> np.ndarray:
    """Bilinear filtering in float64, from the coordinates in float32."""
    x, y = coordinates.astype(np.float32).astype(np.float64).T - 0.5
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    right, down = (x - i)[:, None], (y - j)[:, None]

    def texel(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return TEXTURE[j % HEIGHT, i % WIDTH] / 255

    upper = texel(i, j) * (1 - right) + texel(i + 1, j) * right
    lower = texel(i, j + 1) * (1 - right) + texel(i + 1, j + 1) * right
    return upper * (1 - down) + lower * down


@pytest.mark.parametrize(
    "coordinates",
    [
        aligned_coordinates(8),
        aligned_coordinates(8, 0.3, 0.1),
        scattered_coordinates(8, WIDTH, HEIGHT),
        scattered_coordinates(8, WIDTH, HEIGHT) * 40 - 900,
    ],
    ids=["aligned", "magnified", "scattered", "far outside"],
)
def test_samples_are_those_of_float64(coordinates: np.ndarray) -> None:
    """Three interpolations and a scale, each rounded: six units in the last place of 1 are enough."""
    np.testing.assert_allclose(filter_bilinear(TEXTURE, coordinates).colours, exact(coordinates), atol=6 * 2.0**-24)


def test_centres_are_texels_and_corners_are_means() -> None:
    at = np.array([[3, 5], [0, 0], [63, 31], [10, 10]] * 4)
    centres = filter_bilinear(TEXTURE, at + 0.5).colours
    np.testing.assert_array_equal(np.rint(centres * 255), TEXTURE[at[:, 1], at[:, 0]])
    corners = filter_bilinear(TEXTURE, at).colours
    around = [TEXTURE[(at[:, 1] - down) % HEIGHT, (at[:, 0] - left) % WIDTH] for down in (0, 1) for left in (0, 1)]
    np.testing.assert_array_equal(np.rint(corners * 255 * 4), np.sum(around, axis=0, dtype=int))


def test_lines_and_operations_are_counted() -> None:
    """By hand: 26 for addresses and weights, 4 gathers, 32 to unpack, 24 to weigh, 4 to scale, 4 stores."""
    coordinates = scattered_coordinates(6, WIDTH, HEIGHT)
    timing = filter_bilinear(TEXTURE, coordinates, threads=1).timing
    assert timing.vector == 6 * (26 + 4 + 32 + 24 + 4 + 4)
    i, j = np.floor(coordinates - np.float32(0.5)).astype(int).reshape(6, 16, 2).transpose(2, 0, 1)
    lines = [
        len(set((((j[turn] + down) % HEIGHT * WIDTH + (i[turn] + right) % WIDTH) // 16).tolist()))
        for turn in range(6)
        for down in (0, 1)
        for right in (0, 1)
    ]
    assert list(timing.spread) == lines


def test_scattered_samples_cost_their_further_lines() -> None:
    """Nothing else differs, and four threads hide everything but issue."""
    near, far = (
        filter_bilinear(TEXTURE, coordinates).timing
        for coordinates in (aligned_coordinates(16), scattered_coordinates(16, WIDTH, HEIGHT))
    )
    assert far.cycles - near.cycles == sum(far.spread) - sum(near.spread) > 0
