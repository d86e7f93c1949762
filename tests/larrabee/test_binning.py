"""Do triangles land in the bins where their pixels are, and come out again in the order of drawing?"""

import numpy as np
import pytest

from larrabee_bridge.pipeline.bins import TILES, BinRule, bin_triangles, in_order, sub_bins
from pixelflow.simd.drawing import FAR, SAMPLES, ScreenTriangles, covered, draw, snap, spans_of
from pixelflow.simd.errors import InputError

WIDTH, HEIGHT = 300, 200


def made(points: np.ndarray) -> ScreenTriangles:
    return snap(points, np.full(points.shape[:2], 0.5), np.zeros((len(points), 3, 3), np.uint8))


def scattered(count: int, size: float, seed: int = 1) -> ScreenTriangles:
    rng = np.random.default_rng(seed)
    middle = rng.uniform((-20, -20), (WIDTH + 20, HEIGHT + 20), (count, 1, 2))
    points = middle + rng.uniform(-size, size, (count, 3, 2))
    points[::3] = np.round(points[::3]) + 0.5
    return made(points)


@pytest.mark.parametrize("size", [0.6, 4, 30, 400])
def test_spans_are_the_pixels_of_the_reference(size: float) -> None:
    triangles = scattered(80, size)
    for place in (None, *SAMPLES):
        how = () if place is None else (place,)
        spans = spans_of(triangles, WIDTH, HEIGHT, *how)
        found = np.zeros((HEIGHT, WIDTH), int)
        for row, first, last in zip(spans.row, spans.first, spans.last, strict=True):
            found[row, first : last + 1] += 1
        assert np.array_equal(found, covered(triangles, WIDTH, HEIGHT, *how))


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("size", [4, 60, 400])
def test_each_rule_holds_what_it_says(size: float, tile: int) -> None:
    triangles = scattered(60, size)
    found = {rule: bin_triangles(triangles, WIDTH, HEIGHT, tile, rule) for rule in BinRule}
    for number in range(len(triangles)):
        pixels = draw(triangles.part(np.array([number])), WIDTH, HEIGHT).depths < FAR
        for place in range(found[BinRule.COVERED].columns * found[BinRule.COVERED].rows):
            row, column = divmod(place, found[BinRule.COVERED].columns)
            there = pixels[row * tile : (row + 1) * tile, column * tile : (column + 1) * tile].any()
            assert (number in found[BinRule.COVERED].of(place)) == there
            if there:
                assert number in found[BinRule.BOX].of(place)
    assert found[BinRule.COVERED].entries <= found[BinRule.BOX].entries


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize(("across", "down"), [(3, 3), (10, 4), (25, 25), (60, 12), (130, 100)])
def test_the_spread_of_boxes_follows_the_closed_form(tile: int, across: int, down: int) -> None:
    """(w + S)(h + S) / S^2 bins for a box of w x h between its outermost pixel centres (Molnar; Chen et al. 1998).

    Over every place that a box can have within a tile, the mean is that exactly.
    """
    x, y = np.meshgrid(np.arange(tile), np.arange(tile))
    corner = np.stack([x, y], axis=-1).reshape(-1, 2) + 0.5
    points = np.stack([corner, corner + np.array([across, 0]), corner + np.array([0, down])], axis=1)
    bins = bin_triangles(made(points), 8 * tile, 8 * tile, tile, BinRule.BOX)
    assert bins.entries == (across + tile) * (down + tile)


@pytest.mark.parametrize("primset", [1, 7, 200, 1000])
@pytest.mark.parametrize("cores", [1, 2, 8, 48])
def test_sequence_ids_restore_the_order(primset: int, cores: int) -> None:
    triangles = scattered(500, 40)
    bins = bin_triangles(triangles, WIDTH, HEIGHT)
    rng = np.random.default_rng(cores)
    took = rng.integers(0, cores, -(-len(triangles) // primset)).tolist()
    for place in range(bins.columns * bins.rows):
        parts = sub_bins(bins, place, len(triangles), primset, took)
        assert list(in_order(parts)) == bins.of(place).tolist()
        for part in parts:
            assert {took[sequence] for sequence, _ in part.entries} <= {part.core}


def test_spread_by_hand() -> None:
    # Three triangles: in one tile, in two, in four.
    points = np.array([[(1, 1), (9, 1), (1, 9)], [(60, 1), (70, 1), (60, 9)], [(60, 60), (75, 60), (60, 75)]], float)
    bins = bin_triangles(made(points), 128, 128, 64)
    assert bins.entries == 1 + 2 + 4 and bins.spread == 7 / 3 - 1


def test_tiles_end_with_the_screen() -> None:
    points = np.array([[(0, 0), (2 * WIDTH, 0), (0, 2 * HEIGHT)]], float)
    bins = bin_triangles(made(points), WIDTH, HEIGHT, 128)
    assert (bins.columns, bins.rows, bins.entries) == (3, 2, 6)


def test_other_tiles_are_refused() -> None:
    with pytest.raises(InputError, match="a tile of 256 pixels"):
        bin_triangles(scattered(1, 4), WIDTH, HEIGHT, 256)


def test_nothing_to_bin() -> None:
    bins = bin_triangles(scattered(1, 4).part(np.array([], int)), WIDTH, HEIGHT)
    assert bins.entries == 0 and bins.spread == 0.0
