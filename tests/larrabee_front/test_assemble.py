"""Do exactly those triangles go to the bins that should, to exactly the tiles of their boxes?"""

import numpy as np
import pytest

from larrabee_bridge.pipeline.bins import TILES, BinRule, bin_triangles
from larrabee_bridge.pipeline.front_end import Cull, DropReason
from pixelflow.simd.drawing import covered, snap
from tests.larrabee_front.meshes import camera, colours, front_end, has_the_bins_of_boxes, in_pixels, soup, sphere

WIDTH, HEIGHT = 256, 128


def scattered(count: int, size: float, seed: int) -> np.ndarray:
    """Return triangles around the screen, some on pixel centres, in pixels and with depths: float[count, 3, xyz]."""
    rng = np.random.default_rng(seed)
    middle = rng.uniform((-30, -30), (WIDTH + 30, HEIGHT + 30), (count, 1, 2))
    points = middle + rng.uniform(-size, size, (count, 3, 2))
    points[::3] = np.round(points[::3]) + 0.5
    return np.concatenate([points, rng.uniform(0, 1, (count, 3, 1))], axis=-1)


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("size", [0.6, 12, 150])
def test_triangles_are_those_of_snap_and_bins_those_of_boxes(tile: int, size: float) -> None:
    """The same points through `snap` and `bin_triangles`, which share nothing with the programs."""
    points = scattered(90, size, tile)
    clip = in_pixels(points, WIDTH, HEIGHT).astype(np.float32)
    result = soup(clip, WIDTH, HEIGHT, tile=tile, primset=15)
    across = clip[..., 0] * np.float32(WIDTH / 2) + np.float32(WIDTH / 2)
    down = np.float32(HEIGHT / 2) - clip[..., 1] * np.float32(HEIGHT / 2)
    rgb = colours(270).reshape(90, 3, 3)
    whole = snap(np.stack([across, down], axis=-1), clip[..., 2], rgb)
    binned = np.unique(bin_triangles(whole, WIDTH, HEIGHT, tile, BinRule.BOX).triangles)
    for name in ("corners", "depths", "colours"):
        assert np.array_equal(getattr(whole.part(binned), name), getattr(result.triangles, name)), name
    assert has_the_bins_of_boxes(result, WIDTH, HEIGHT)
    # What lies beside the view is rejected before its area is known.
    assert result.triangles.dropped == result.dropped[DropReason.NO_AREA] <= whole.dropped
    assert len(result.triangles) + sum(result.dropped.values()) == 90
    assert result.cut == 0


@pytest.mark.parametrize(("width", "height", "tile"), [(1, 1, 32), (33, 31, 32), (300, 200, 64), (1920, 1080, 128)])
def test_bins_end_with_the_screen(width: int, height: int, tile: int) -> None:
    rng = np.random.default_rng(width)
    points = rng.uniform(-0.3, 1.3, (20, 3, 3)) * (width, height, 0.4) + (0, 0, 0.2)
    result = soup(in_pixels(points, width, height), width, height, tile=tile, primset=5)
    assert has_the_bins_of_boxes(result, width, height) and result.bins.entries


@pytest.mark.parametrize("cull", Cull)
def test_culling_drops_one_side(cull: Cull) -> None:
    """A mesh whose triangles run counterclockwise from outside, before a camera outside; normals say which are seen."""
    points, corners = sphere()
    view, matrix = camera(points, 320, 240)
    result = front_end(points, colours(len(points)), corners, matrix, 320, 240, cull=cull, primset=20)
    a, b, c = (points[corners[:, corner]] for corner in range(3))
    front = (np.cross(b - a, c - a) * (view.eye - a)).sum(axis=1) > 0
    gone = {Cull.NONE: np.zeros_like(front), Cull.FRONT: front, Cull.BACK: ~front}[cull]
    assert set(result.source.tolist()) == set(np.flatnonzero(~gone).tolist())
    assert result.dropped[DropReason.TURNED_AWAY] == gone.sum()
    assert (result.triangles.doubled_areas > 0).all()
    assert has_the_bins_of_boxes(result, 320, 240)


def test_what_is_culled_and_what_is_not_makes_the_whole() -> None:
    points = in_pixels(scattered(60, 40, 1), WIDTH, HEIGHT)
    both, front, back = (soup(points, WIDTH, HEIGHT, cull=cull, primset=20) for cull in Cull)
    assert sorted([*front.source, *back.source]) == both.source.tolist()
    drawn = [covered(each.triangles, WIDTH, HEIGHT) for each in (front, back, both)]
    assert np.array_equal(drawn[0] + drawn[1], drawn[2])


def test_areas_are_exact_from_the_least_to_the_largest() -> None:
    """Doubled areas of one step squared in either winding, of none, and beyond 32 bits, by hand."""
    step, far = 1 / 256, 16000.0
    rows = [
        *(((0, 0), (1, 0), (0, 1)), ((0, 0), (0, 1), (1, 0)), ((5, 5), (5, 5), (9, 9)), ((0, 0), (7, 7), (30, 30))),
        *(((0, 0), (2, 1), (4, 2)), ((-1000, -999), (1000, 1000), (0, 0))),
    ]
    small = np.array(rows, float) * step + (40.5, 40.5)
    # Along a diagonal 32000 pixels long, one step aside or none: products of 46 bits that differ by 32000 * 256 or 0.
    ends = (-far, -far), (far, far)
    large = [(*ends, (step, 0)), (*ends, (0, step)), (*ends, (1, 1))]
    large += [((-far, -far), (far, -far), (0, far)), ((-far, -far), (0, far), (far, -far))]
    points = np.concatenate([small, np.array(large)])
    points = np.concatenate([points, np.full((len(points), 3, 1), 0.5)], axis=-1)
    result = soup(in_pixels(points, WIDTH, WIDTH), WIDTH, WIDTH)
    expected = {0: 1, 1: 1, 5: 1000, 6: 8192000, 7: 8192000, 9: (32000 * 256) ** 2, 10: (32000 * 256) ** 2}
    assert dict(zip(result.source.tolist(), result.triangles.doubled_areas.tolist(), strict=True)) == expected
    assert result.dropped[DropReason.NO_AREA] == 4
    turned = result.weights[:, 1, 2] == 1
    assert result.source[turned].tolist() == [1, 5, 6, 10]
    assert has_the_bins_of_boxes(result, WIDTH, WIDTH)


def test_triangles_between_pixel_centres_are_dropped() -> None:
    """A pixel centre on the box's border counts as within, as in the box rule."""
    step = 1 / 256
    boxes = [(10.5 + step, 11.5 - step), (10.5, 11), (10.5 + step, 11.5)]
    boxes += [(-5, 0.5 - step), (-5, 0.5), (255.5 + step, 400)]
    points = np.array([[(low, 20, 0), (high, 20, 0), (low, 30, 0)] for low, high in boxes], float)
    result = soup(in_pixels(points, WIDTH, HEIGHT), WIDTH, HEIGHT)
    assert result.source.tolist() == [1, 2, 4]
    assert result.dropped[DropReason.NO_PIXEL] == 3


@pytest.mark.parametrize(
    ("axis", "shift", "outside"),
    [(0, 2.5, True), (0, -2.5, True), (1, 2.5, True), (1, -2.5, True), (2, 1.5, True), (2, -1.5, True), (0, 0, False)],
)
def test_triangles_beside_the_view_are_rejected(axis: int, shift: float, outside: bool) -> None:
    points = np.array([[(-1, -1, 0.1), (1, -1, 0.5), (-1, 1, 0.9)]])
    points[..., axis] += shift
    result = soup(points, WIDTH, HEIGHT)
    assert result.dropped[DropReason.OUTSIDE] == int(outside)
    assert len(result.triangles) == int(not outside)


def test_only_unseen_triangles_give_an_empty_result() -> None:
    result = soup(np.full((3, 3, 3), 2.0), WIDTH, HEIGHT)
    assert len(result.triangles) == result.bins.entries == 0
    assert result.bins.starts.tolist() == [0] * 9
    assert result.cycles.tolist() == [result.cores[0].cycles]
