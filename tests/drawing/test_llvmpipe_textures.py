"""Does Mesa's llvmpipe paint the same textures and colours in perspective? How many pixels are more than 1/255 off?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pixelflow.simd.drawing import Draw, Frame, State, Texture, draw_frame, snap
from tests.drawing.llvmpipe import llvmpipe, painted

SIDE = 256


@pytest.fixture(scope="module")
def context() -> Iterator:
    yield from llvmpipe()


def checker(side: int = 64) -> np.ndarray:
    at = np.arange(side) // 8
    texels = np.full((side, side, 4), 255, np.uint8)
    texels[(at + at[:, None]) % 2 == 1] = (90, 110, 150, 255)
    return texels


def smooth(side: int = 64) -> np.ndarray:
    angle = 2 * np.pi * np.arange(side) / side
    values = 127.5 + 127.5 * np.sin(angle)[:, None, None] * np.cos(angle[:, None] + np.arange(3))
    return np.concatenate([np.rint(values), np.full((side, side, 1), 255)], axis=-1).astype(np.uint8)


def floor(far: float, repeats: float, side: int = 64) -> tuple[np.ndarray, ...]:
    """Return a floor's corners as x, y, w, and its coordinates: w goes from 1 below to ``far`` at the horizon."""
    quad = np.array([(8, 40, far), (248, 60, far), (250, 250, 1), (4, 236, 1)], float)
    coordinates = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * repeats * side
    order = [0, 1, 2, 0, 2, 3]
    return quad[order], coordinates[order]


def apart(context, texels: np.ndarray, corners: np.ndarray, coordinates: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Return by how many 255ths colours of pixels that are covered differ at most: float[pixel]."""
    # What the GPU is given is binary32; places are whole pixels, so that neither rounds them.
    coordinates = coordinates.astype(np.float32).astype(np.float64)
    theirs = painted(context, SIDE, corners, texels, colours, coordinates)
    shape = (-1, 3)
    triangles = snap(
        corners[:, :2].reshape(*shape, 2),
        np.full((len(corners) // 3, 3), 0.5),
        colours.reshape(*shape, 3),
        coordinates.reshape(*shape, 2),
        1 / corners[:, 2].reshape(shape),
    )
    picture = draw_frame(Frame(SIDE, SIDE, (0, 0, 0), (Draw("floor", triangles, State(texture=Texture(texels))),)))
    covered = picture.depths < picture.depths.max()
    assert covered.sum() > 20_000
    return np.abs(picture.colours - np.rint(theirs)).max(axis=-1)[covered]


@pytest.mark.parametrize("far", [1.0, 1.5, 4.0, 16.0])
@pytest.mark.parametrize(("image", "repeats"), [(checker, 1.0), (checker, 3.0), (smooth, 2.0)])
def test_a_texture_in_perspective(context, far: float, image, repeats: float) -> None:
    corners, coordinates = floor(far, repeats)
    off = apart(context, image(), corners, coordinates, np.full((6, 3), 255))
    assert np.count_nonzero(off > 1) == 0, (np.count_nonzero(off > 1), off.max())


@pytest.mark.parametrize("far", [1.5, 16.0])
def test_colours_in_perspective(context, far: float) -> None:
    corners, coordinates = floor(far, 1.0)
    colours = np.array([(255, 0, 10), (0, 255, 90), (128, 128, 255), (255, 0, 10), (128, 128, 255), (7, 77, 200)])
    white = np.full((8, 8, 4), 255, np.uint8)
    off = apart(context, white, corners, coordinates, colours)
    assert np.count_nonzero(off > 1) == 0, (np.count_nonzero(off > 1), off.max())
