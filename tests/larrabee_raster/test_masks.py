"""What the programs put out, against 64-bit integers: every mask, every block."""

import numpy as np
import pytest

from larrabee_bridge.pipeline.bins import BinRule, Quads, bin_triangles, quads_of
from larrabee_bridge.pipeline.rasterizer import rasterize
from pixelflow.simd.drawing import SAMPLES, covered
from tests.larrabee_raster.scenes import FAMILIES, HEIGHT, WIDTH, equilateral, family, joined, triangles_of


def differences(found: Quads, expected: Quads) -> int:
    """Return how many quads are in one and not in the other, with all that they hold."""
    rows = [
        set(zip(*(values.tolist() for values in (q.tile, q.triangle, q.x, q.y)), map(bytes, q.masks), strict=True))
        for q in (found, expected)
    ]
    return len(rows[0] ^ rows[1])


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("tile", [32, 64, 128])
def test_masks_are_those_of_64_bit_integers(tile: int, samples: int) -> None:
    triangles = joined([family(name) for name in FAMILIES])
    found = rasterize(triangles, WIDTH, HEIGHT, tile=tile, samples=samples).quads()
    expected = quads_of(triangles, WIDTH, HEIGHT, tile, samples)
    assert differences(found, expected) == 0
    # and in the order that both promise
    assert np.array_equal(found.triangle, expected.triangle)
    assert np.array_equal(found.masks, expected.masks)
    # so the families are there: 40 triangles of the last one reach far beyond the screen, and some of them into it
    assert found.triangle.max() >= len(triangles) - 40


@pytest.mark.parametrize("samples", [1, 4])
def test_triangles_that_reach_to_the_ends_of_the_format(samples: int) -> None:
    """Edges of the greatest slopes that there are, through a tile of 128 pixels: its corners need all 32 bits."""
    end = 16384 - 1 / 256
    points = [[[-16384, -16384], [end, end], [-16384, end]], [[end, -16384], [-16384, end], [-16384, -16384]]]
    points += [[[-36, -70], [204, 160], [-16384, end]]]
    triangles = triangles_of(np.array(points, float))
    for tile in (32, 64, 128):
        found = rasterize(triangles, WIDTH, HEIGHT, tile=tile, samples=samples).quads()
        assert differences(found, quads_of(triangles, WIDTH, HEIGHT, tile, samples)) == 0


@pytest.mark.parametrize("tile", [32, 64, 128])
def test_the_union_of_quads_is_what_is_covered(tile: int) -> None:
    triangles = equilateral(16, 300, (WIDTH, HEIGHT))
    for samples, places in ((1, [(128, 128)]), (4, SAMPLES)):
        quads = rasterize(triangles, WIDTH, HEIGHT, tile=tile, samples=samples).quads()
        for sample, place in enumerate(places):
            seen = np.zeros((HEIGHT + 4, WIDTH + 4), np.int64)
            for bit in range(16):
                there = (quads.masks[:, sample] >> bit & 1).astype(bool)
                np.add.at(seen, (quads.y[there] + bit // 4, quads.x[there] + bit % 4), 1)
            assert not seen[HEIGHT:].any()
            assert not seen[:, WIDTH:].any()
            assert np.array_equal(seen[:HEIGHT, :WIDTH], covered(triangles, WIDTH, HEIGHT, place))


def test_a_mask_by_hand() -> None:
    """Pixels (i, j) with i + j < 3: those on the long side, where i + j = 3, belong to the triangle beyond it."""
    found = rasterize(triangles_of(np.array([[[64.0, 0], [68, 0], [64, 4]]])), 128, 64)
    assert len(found.blocks) == 1
    blocks = found.blocks
    place = [int(values[0]) for values in (blocks.tile, blocks.triangle, blocks.x, blocks.y, blocks.size)]
    assert place == [1, 0, 64, 0, 4]
    assert blocks.masks.tolist() == [[0b0001_0011_0111]]


def test_blocks_are_as_large_as_they_can_be() -> None:
    """x + y < 100 on a screen of two tiles: the first has what lies below the line in blocks of 16, 4 and pixels."""
    found = rasterize(triangles_of(np.array([[[0.0, 0], [100, 0], [0, 100]]])), 64, 64)
    size, count = np.unique(found.blocks.size, return_counts=True)
    # blocks of 16 with 16 (c + r) + 31 < 100; then of 4 in those that are cut, with 4 (c + r) + 7 < 100
    whole = {(c, r) for c in range(4) for r in range(4) if 16 * (c + r) + 31 < 100}
    fours = {(c, r) for c in range(16) for r in range(16) if 4 * (c + r) + 1 < 100} - {
        (c, r) for c in range(16) for r in range(16) if (c // 4, r // 4) in whole
    }
    assert dict(zip(size.tolist(), count.tolist(), strict=True)) == {16: len(whole), 4: len(fours)}
    everything = rasterize(triangles_of(np.array([[[-100.0, -100], [400, -100], [-100, 400]]])), 128, 64)
    assert everything.blocks.size.tolist() == [64, 64]
    assert (everything.blocks.masks == 0xFFFF).all()


@pytest.mark.parametrize("rule", list(BinRule))
def test_bins_that_hold_too_much_change_nothing(rule: BinRule) -> None:
    triangles = family("on the grid")
    bins = bin_triangles(triangles, WIDTH, HEIGHT, 64, rule)
    found = rasterize(triangles, WIDTH, HEIGHT, bins=bins)
    assert found.pairs == bins.entries
    assert differences(found.quads(), quads_of(triangles, WIDTH, HEIGHT)) == 0


@pytest.mark.parametrize("small", [2, 6, 30])
def test_both_ways_find_the_same(small: int) -> None:
    """Boxes of one block only, and boxes of up to 225 blocks, by the way of small triangles."""
    triangles = equilateral(12, 400, (WIDTH, HEIGHT))
    for samples in (1, 4):
        found = rasterize(triangles, WIDTH, HEIGHT, small=small, samples=samples).quads()
        assert differences(found, quads_of(triangles, WIDTH, HEIGHT, 64, samples)) == 0


def test_nothing_gives_nothing() -> None:
    none = family("huge").part(np.zeros(0, np.int64))
    found = rasterize(none, WIDTH, HEIGHT)
    assert (found.pairs, len(found.blocks), len(found.quads()), found.vector_share) == (0, 0, 0, None)
