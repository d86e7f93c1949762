"""With four samples a pixel, does every triangle go to the bins that may cover one of them?"""

import numpy as np
import pytest

from larrabee_bridge.pipeline.front_end import DropReason
from larrabee_bridge.pipeline.rasterizer import sampled_bins
from pixelflow.simd.drawing import CENTRE, SAMPLES, snap
from tests.larrabee_front.meshes import colours, in_pixels, soup

WIDTH, HEIGHT = 200, 100


def at(places: np.ndarray) -> np.ndarray:
    """Return triangles of 1/32 pixel around places in pixels, in clip space."""
    corners = np.array([(-1, -1), (1, -1), (0, 1)]) / 64
    points = np.asarray(places, float)[:, None] + corners
    return in_pixels(np.concatenate([points, np.full((len(points), 3, 1), 0.5)], axis=-1), WIDTH, HEIGHT)


def test_a_triangle_around_a_sample_is_kept_where_samples_are_asked_for() -> None:
    """Two pixels, by hand: places of the centre and of the samples of each, and the pixel's upper left."""
    places = [(x / 256 + i, y / 256 + 7) for i in (3, 130) for x, y in (CENTRE, *SAMPLES, (8, 8))]
    one, four = (soup(at(places), WIDTH, HEIGHT, samples=samples) for samples in (1, 4))
    assert one.source.tolist() == [0, 6] and one.dropped[DropReason.NO_PIXEL] == 10
    # The four samples lie 32 to 224 steps from either side, and the centre between them.
    assert four.source.tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10] and four.dropped[DropReason.NO_PIXEL] == 2


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    ("low", "high", "kept"), [(224, 230, True), (225, 287, False), (225, 288, True), (31, 32, True), (0, 31, False)]
)
def test_boxes_end_with_the_outermost_samples(axis: int, low: int, high: int, kept: bool) -> None:
    """Samples lie 32 to 224 steps from a pixel's side: a box from ``low`` to ``high`` steps reaches one, or none."""
    points = np.array([[(low, 300), (high, 300), (low, 1100)]], float)[..., [axis, 1 - axis]] / 256 + 2
    clip = in_pixels(np.concatenate([points, np.full((1, 3, 1), 0.5)], axis=-1), 256, 256)
    result = soup(clip, 256, 256, samples=4)
    assert len(result.triangles) == kept and result.dropped[DropReason.NO_PIXEL] == (not kept)


@pytest.mark.parametrize("size", [0.4, 3, 60])
def test_no_tile_with_a_covered_sample_is_missing(size: float) -> None:
    """Against the exact bins of 64-bit edges, which share nothing with the programs."""
    rng = np.random.default_rng(int(10 * size))
    points = rng.uniform((-5, -5), (WIDTH + 5, HEIGHT + 5), (120, 1, 2)) + rng.uniform(-size, size, (120, 3, 2))
    clip = in_pixels(np.concatenate([points, np.full((120, 3, 1), 0.5)], axis=-1), WIDTH, HEIGHT).astype(np.float32)
    result = soup(clip, WIDTH, HEIGHT, tile=32, samples=4, primset=50)
    across = clip[..., 0] * np.float32(WIDTH / 2) + np.float32(WIDTH / 2)
    down = np.float32(HEIGHT / 2) - clip[..., 1] * np.float32(HEIGHT / 2)
    rgb = colours(360).reshape(120, 3, 3)
    whole = snap(np.stack([across, down], axis=-1), clip[..., 2], rgb)
    assert whole.dropped == 0
    exact = sampled_bins(whole, WIDTH, HEIGHT, 32)
    assert exact.entries
    for tile in range(exact.columns * exact.rows):
        assert set(exact.of(tile).tolist()) <= set(result.source[result.bins.of(tile)].tolist())
