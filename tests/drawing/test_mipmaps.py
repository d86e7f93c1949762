"""Are levels the means that are said, and does a pixel look as far down as its block of two by two says?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pixelflow.simd.drawing import TEXEL, Draw, Frame, ScreenTriangles, State, Texture, draw_frame, snap
from pixelflow.simd.drawing.mipmaps import NO_COORDINATE, STEPS, details, filtered, trilinear
from tests.drawing.llvmpipe import llvmpipe, painted

SIDE = 64


def grey(values: np.ndarray) -> np.ndarray:
    return np.repeat(np.asarray(values, np.uint8)[..., None], 4, axis=-1)


def test_levels_by_hand() -> None:
    levels = Texture(grey([[0, 1, 10, 20], [2, 4, 30, 41]]), mipmaps=True).levels
    assert [each[..., 0].tolist() for each in levels] == [
        [[0, 1, 10, 20], [2, 4, 30, 41]],
        [[2, 25]],  # (7 + 2) >> 2, (101 + 2) >> 2
        [[14]],  # (27 + 1) >> 1
    ]
    assert [each.shape[:2] for each in Texture(grey(np.zeros((1, 8))), True).levels] == [(1, 8), (1, 4), (1, 2), (1, 1)]
    assert len(Texture(grey(np.zeros((4, 4)))).levels) == 1


def block(across: tuple[float, float], down: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return u and v of a block whose coordinates change by a number of texels."""
    u, v = (
        np.array([0, across[axis], down[axis], across[axis] + down[axis]]) * TEXEL + 12345 * TEXEL for axis in range(2)
    )
    return u.astype(np.int64) % (1 << 32), v.astype(np.int64) % (1 << 32)


@pytest.mark.parametrize(
    ("across", "down", "expected"),
    [
        ((1, 0), (0, 1), 0),
        ((2, 0), (0, 1), 256),
        ((0, -2), (0, 0), 256),
        ((1, 0), (0, 4), 512),
        ((3, 0), (0, 0), 400),  # 9 = 8 (1 + 32 / 256): half of 3 * 256 + 32
        ((0.5, 0), (0, 0.5), -256),
        ((3, 4), (0, 0), (4 * 256 + 144) // 2),  # 25 = 16 (1 + 144 / 256)
        ((0, 0), (0, 0), -16 * 256),
    ],
)
def test_details_by_hand(across: tuple[float, float], down: tuple[float, float], expected: int) -> None:
    assert details(*block(across, down)) == expected


def test_pixels_without_coordinates_let_others_stand_in() -> None:
    u, v = block((4, 0), (0, 2))
    none = -16 * STEPS
    for absent, expected in (((1,), 512), ((0,), 512), ((2, 3), 512), ((0, 1), 512), ((1, 3), 256), ((1, 2), none)):
        told = u.copy()
        told[list(absent)] = NO_COORDINATE
        assert details(told, v) == expected, absent


def test_between_two_levels_they_are_weighed() -> None:
    texture = Texture(np.random.default_rng(1).integers(0, 256, (16, 16, 4)).astype(np.uint8), mipmaps=True)
    u, v = (np.array([3.75 * TEXEL, 9.5 * TEXEL]).astype(np.int64) for _ in range(2))
    for detail, (first, second, weight) in ((300, (1, 2, 44)), (0, (0, 1, 0)), (-77, (0, 1, 0)), (5000, (4, 4, 0))):
        low, high = (filtered(texture, u >> level, v >> level, level) for level in (first, second))
        expected = (low * (STEPS - weight) + high * weight + STEPS // 2) // STEPS
        assert trilinear(texture, u, v, np.full(2, detail)).tolist() == expected.tolist()


def wall(scale: float, offset: float = 0.0) -> ScreenTriangles:
    """A square of SIDE pixels on which a pixel is ``scale`` texels wide."""
    corners = np.array([[(0, 0), (SIDE, 0), (0, SIDE)], [(SIDE, 0), (SIDE, SIDE), (0, SIDE)]], float)
    white = np.full((2, 3, 3), 255)
    return snap(corners, np.full((2, 3), 0.5), white, corners * scale + offset, np.full((2, 3), 0.5))


def drawn(texture: Texture, triangles: ScreenTriangles) -> np.ndarray:
    frame = Frame(SIDE, SIDE, (0, 0, 0), (Draw("wall", triangles, State(texture=texture)),))
    return draw_frame(frame).colours.astype(int)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_texture_that_is_made_smaller_by_powers_of_two_shows_its_levels(level: int) -> None:
    texels = np.random.default_rng(2).integers(0, 256, (64, 64, 4)).astype(np.uint8)
    texture = Texture(texels, mipmaps=True)
    side = 64 >> level
    # Pixel centres are middles of texels of that level.
    assert np.array_equal(drawn(texture, wall(1 << level))[:side, :side], texture.levels[level][..., :3])


def test_a_fine_checker_far_away_is_its_mean() -> None:
    at = np.arange(64)
    checker = Texture(grey(255 * ((at + at[:, None]) % 2)), mipmaps=True)
    found = drawn(checker, wall(4.3))
    assert np.all(found == 128)
    assert len(np.unique(drawn(Texture(checker.texels), wall(4.3)))) > 50


@pytest.fixture(scope="module")
def context() -> Iterator:
    yield from llvmpipe()


@pytest.mark.parametrize("level", [0, 1, 2])
def test_llvmpipe_shows_the_same_levels(context, level: int) -> None:
    """Its own box filter and detail, where that is a whole level: how many pixels are more than 1/255 off?"""
    angle = 2 * np.pi * np.arange(64) / 64
    smooth = 127.5 + 127.5 * np.sin(angle)[:, None, None] * np.cos(angle[:, None] + np.arange(3))
    texels = np.concatenate([np.rint(smooth), np.full((64, 64, 1), 255)], axis=-1).astype(np.uint8)
    triangles = wall(1 << level, 0.3)
    corners = np.concatenate([triangles.corners / 256, np.ones((2, 3, 1))], axis=-1).reshape(6, 3)
    coordinates = triangles.coordinates.reshape(6, 2) / TEXEL
    theirs = painted(context, SIDE, corners, texels, np.full((6, 3), 255), coordinates, levels=6)
    off = np.abs(drawn(Texture(texels, mipmaps=True), triangles) - np.rint(theirs)).max(axis=-1)
    assert np.count_nonzero(off > 1) == 0, (np.count_nonzero(off > 1), off.max())
