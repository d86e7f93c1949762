"""Where 32 bits end: exact within a tile of 128 pixels, not within one of 256, which is refused."""

import numpy as np
import pytest

from larrabee_bridge.pipeline.rasterizer import rasterize
from larrabee_bridge.vpu.program import assemble_vector, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.drawing import edges_of
from pixelflow.simd.errors import InputError
from tests.larrabee_raster.scenes import family, triangles_of


def wrong_signs(tile: int) -> int:
    """Return at how many pixels of the tile's diagonals sums of 32 bits have another sign than those of 64.

    The edge has nearly the greatest slopes that corners of 15.8 bits allow, and cuts the tile's upper right corner off.
    """
    shift = tile - 9
    points = [[[shift - 16384.0, -16384], [16383, 16383 - shift], [-16384, 16383]]]
    edges = edges_of(triangles_of(np.array(points)))
    a, b, c = (int(values[0, 0]) for values in (edges.a, edges.b, edges.c))
    along = np.arange(tile)
    x, y = np.concatenate([along, along]), np.concatenate([along, tile - 1 - along])
    exact = a * x + b * y + c
    assert exact.min() < 0 <= exact.max()  # the edge crosses the tile
    threads = len(x) // 16
    unit = VectorUnit(assemble_vector("vaddsetspi v3, k1, v1, v2\n"), threads)
    # from the last pixel of the first row, as the descent goes on from the value at a corner
    start = a * (tile - 1) + c
    unit.set_vector(1, np.full((threads, 16), start))
    unit.set_vector(2, (exact - start).reshape(threads, 16))
    unit.run()
    signs = (unit.mask(1)[:, None] >> np.arange(16) & 1).astype(bool).reshape(-1)
    return int((signs != (exact < 0)).sum())


def test_32_bits_hold_a_tile_of_128_pixels_and_not_one_of_256() -> None:
    assert [wrong_signs(tile) for tile in (32, 64, 128)] == [0, 0, 0]
    assert wrong_signs(256) > 0


def test_the_bound_that_says_so() -> None:
    """|a|, |b| < 2^23: the values of an edge that crosses a tile differ by at most (|a| + |b|) (tile - 1).

    The slopes are those of corners at the ends of the format, as set-up has them.
    """
    end = 16384 - 1 / 256
    edges = edges_of(triangles_of(np.array([[[-16384, -16384], [end, end], [-16384, end]]])))
    most = int((np.abs(edges.a) + np.abs(edges.b)).max())
    assert most == 2 * ((1 << 23) - 1)
    assert most * 128 < 1 << 31  # one pixel more than a tile, for samples
    assert most * 255 > 1 << 31


def test_a_tile_of_256_pixels_is_refused() -> None:
    with pytest.raises(InputError, match=r"(?s)a tile of 256 pixels.*do not fit the 32 bits of a lane"):
        rasterize(family("huge"), 256, 256, tile=256)
    for name in ("setup.mc", "descent.mc"):
        with pytest.raises(InputError, match="edge values within a tile of 256 pixels do not fit 32 bits"):
            shipped(name, TILE=256)


def test_other_mistakes_are_named() -> None:
    triangles = family("integers")
    with pytest.raises(InputError, match="2 samples a pixel"):
        rasterize(triangles, 64, 64, samples=2)
    other = rasterize(triangles, 64, 64).bins
    with pytest.raises(InputError, match=r"(?s)bins of 1 x 1 tiles of 64 pixels do not fit.*has 2 x 1 tiles of 64"):
        rasterize(triangles, 128, 64, bins=other)
    with pytest.raises(InputError, match=r"(?s)bins of triangles 0 to \d+.*there are 3, numbered from 0"):
        rasterize(triangles.part(np.arange(3)), 64, 64, bins=other)
    with pytest.raises(InputError, match=r"(?s)no scan is called 'Loop'.*did you mean loop"):
        rasterize(triangles, 64, 64, scan="Loop")
    with pytest.raises(InputError, match="0 threads side by side"):
        rasterize(triangles, 64, 64, batch=0)
