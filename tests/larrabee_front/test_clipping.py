"""Is what is left of a triangle that reaches behind the eye, or far beside the view, what can be seen of it?"""

import numpy as np
import pytest

from larrabee_bridge.pipeline.front_end import Cull, DropReason
from pixelflow.simd.drawing import DEPTH_GUARD, FAR, covered, draw, perspective
from tests.larrabee_front.meshes import colours, front_end, grid, has_the_bins_of_boxes, in_pixels, same_triangles, soup

WIDTH, HEIGHT = 160, 120
FOCAL, NEAR, DISTANT = 100.0, 0.05, 32.0
EYE = perspective(np.zeros(3), np.eye(3), FOCAL, WIDTH, HEIGHT, NEAR, DISTANT)


def in_view(points: np.ndarray, corners: np.ndarray, **how):
    return front_end(points, colours(len(points)), corners, EYE, WIDTH, HEIGHT, **how)


def seen(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which pixels show a triangle, and which lie too near its border to say: homogeneous edges, no clipping.

    Olano and Greer 1997: with corners (x, y, w) as rows of a matrix, its inverse takes a pixel to weights that are all
    positive where the triangle is seen from before the eye. Depth is the weighted z over the weighted w.
    """
    clip = np.concatenate([points, np.ones((3, 1))], axis=1) @ EYE.T
    screen = np.stack(
        [(clip[:, 0] + clip[:, 3]) * WIDTH / 2, (clip[:, 3] - clip[:, 1]) * HEIGHT / 2, clip[:, 3]], axis=1
    )
    inverse = np.linalg.inv(screen)
    x, y = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    pixels = np.stack([x, y, np.ones_like(x)], axis=-1)
    # Planes in pixels: three weights, z, and what is left of w.
    depth, one = inverse @ clip[:, 2], inverse @ clip[:, 3]
    planes = np.concatenate([inverse, depth[:, None], (one - depth)[:, None]], axis=1)
    values = pixels @ planes
    distance = values / np.linalg.norm(planes[:2], axis=0)
    return (values > 0).all(axis=-1), (np.abs(distance) < 0.02).any(axis=-1)


@pytest.mark.parametrize("seed", range(2))
def test_each_pixel_shows_what_a_ray_hits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(24, 3, 3)) * (3, 3, 4)
    points[::4] *= 1000
    result = in_view(points.reshape(-1, 3), np.arange(72).reshape(24, 3), primset=5)
    assert result.cut > 5 and has_the_bins_of_boxes(result, WIDTH, HEIGHT)
    checked = 0
    for number in range(24):
        inside, doubtful = seen(points[number])
        found = covered(result.triangles.part(result.source == number), WIDTH, HEIGHT)
        assert np.array_equal(found[~doubtful], inside[~doubtful]), number
        checked += int((found[~doubtful] > 0).sum())
    assert checked > 4000


def test_a_floor_under_the_eye_has_no_cracks() -> None:
    """Triangles that share an edge behind the eye cut it in one point: every pixel below the horizon once."""
    rng = np.random.default_rng(8)
    x, z = np.meshgrid(np.linspace(-90, 90, 12), np.linspace(-60, 60, 9))
    x, z = (values + rng.uniform(-3, 3, values.shape) for values in (x, z))
    points = np.stack([x, np.full_like(x, -1.0), z], axis=-1).reshape(-1, 3)
    result = in_view(points, grid(12, 9), primset=16)
    assert result.cut > 10
    found = covered(result.triangles, WIDTH, HEIGHT)
    # The floor at distance 32 is 100 / 32 pixels below the middle: pixel centres from there on.
    below = np.arange(HEIGHT) + 0.5 > HEIGHT / 2 + FOCAL / DISTANT
    assert np.array_equal(found, np.broadcast_to(below[:, None], found.shape).astype(int))
    # Distances go from near to far upwards.
    depths = draw(result.triangles, WIDTH, HEIGHT).depths[below]
    assert (np.diff(depths.min(axis=1)) < 0).all() and depths.max() < FAR


def ball() -> tuple[np.ndarray, np.ndarray]:
    """Return a closed ball: ten vertices around at four heights, and the poles."""
    around, from_pole = np.meshgrid(np.arange(10) * np.pi / 5, np.linspace(0, np.pi, 6)[1:-1])
    rings = np.stack([np.cos(around) * np.sin(from_pole), np.sin(around) * np.sin(from_pole), np.cos(from_pole)], -1)
    here, there = np.arange(10), (np.arange(10) + 1) % 10
    caps = [np.stack([np.full(10, 40), here, there], 1), np.stack([np.full(10, 41), 30 + there, 30 + here], 1)]
    sides = [np.stack([10 * k + here, 10 * k + 10 + here, 10 * k + there], 1) for k in range(3)]
    sides += [np.stack([10 * k + there, 10 * k + 10 + here, 10 * k + 10 + there], 1) for k in range(3)]
    return np.concatenate([rings.reshape(-1, 3), [(0, 0, 1.0), (0, 0, -1.0)]]), np.concatenate(caps + sides)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e8])
def test_inside_a_ball_every_pixel_shows_it_once(scale: float) -> None:
    """A very wide view: the ball is cut by the near plane and by the guard band, and stays closed."""
    rng = np.random.default_rng(int(scale))
    turned, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    points, corners = ball()
    points = (points + 0.05 * rng.normal(size=points.shape)) @ turned * scale
    matrix = perspective(np.zeros(3), np.eye(3), 5.0, WIDTH, HEIGHT, scale / 100, 10 * scale)
    result = front_end(points, colours(42), corners, matrix, WIDTH, HEIGHT, primset=20)
    assert result.cut > 10 and (covered(result.triangles, WIDTH, HEIGHT) == 1).all()


@pytest.mark.parametrize("primset", [1, 7])
def test_pieces_keep_their_place_in_the_order(primset: int) -> None:
    rng = np.random.default_rng(4)
    points = rng.normal(size=(20, 3, 3)) * (2, 2, 3)
    result = in_view(points.reshape(-1, 3), np.arange(60).reshape(20, 3), primset=primset)
    assert (np.diff(result.source) >= 0).all() and (np.diff(result.source) == 0).any()
    assert has_the_bins_of_boxes(result, WIDTH, HEIGHT)
    whole = in_view(points.reshape(-1, 3), np.arange(60).reshape(20, 3))
    assert same_triangles(result, whole)


def test_weights_say_where_corners_come_from() -> None:
    """Weighted sums of a triangle's corners in clip space, divided by w, are the corners on the screen."""
    rng = np.random.default_rng(6)
    points = rng.normal(size=(20, 3, 3)) * (2, 2, 3)
    result = in_view(points.reshape(-1, 3), np.arange(60).reshape(20, 3))
    assert len(result.source) > 8 and result.cut > 3
    clip = np.concatenate([points, np.ones((20, 3, 1))], axis=-1) @ EYE.T
    x, y, _, w = np.moveaxis(np.einsum("tck,tkr->tcr", result.weights, clip[result.source]), -1, 0)
    near = w > 10 * NEAR
    pixels = np.stack([(x / w + 1) * WIDTH / 2, (1 - y / w) * HEIGHT / 2], axis=-1)
    assert np.abs(result.triangles.corners / 256 - pixels)[near].max() < 0.05
    assert np.allclose(result.weights.sum(axis=-1), 1) and result.weights.min() > -1e-6
    rgb = colours(60).reshape(20, 3, 3).astype(float)
    exact = np.einsum("tck,tkr->tcr", result.weights, rgb[result.source])
    assert np.abs(result.triangles.colours - exact).max() <= 0.5


@pytest.mark.parametrize("reach", [16000.0, 1e5, 1e9])
def test_a_triangle_far_beyond_the_screen_covers_it_once(reach: float) -> None:
    points = np.array([[(-reach, -reach, 0.5), (3 * reach, -reach, 0.5), (-reach, 3 * reach, 0.5)]])
    result = soup(in_pixels(points, WIDTH, HEIGHT), WIDTH, HEIGHT)
    assert result.cut == 1 and (covered(result.triangles, WIDTH, HEIGHT) == 1).all()
    assert np.abs(result.triangles.corners).max() <= 16384 * 256


@pytest.mark.parametrize("cull", Cull)
def test_culling_knows_the_pieces(cull: Cull) -> None:
    """Counterclockwise as seen from above, and the eye is above: the front."""
    points = np.array([(-5.0, -1, 5), (5, -1, 5), (0, -1, -20)])
    result = in_view(points, np.array([(0, 1, 2)]), cull=cull)
    assert result.cut == 1
    assert (len(result.triangles) > 0) == (cull is not Cull.FRONT)
    turned = in_view(points, np.array([(0, 2, 1)]), cull=cull)
    assert (len(turned.triangles) > 0) == (cull is not Cull.BACK)


def test_what_is_cut_away_as_a_whole_is_outside() -> None:
    """It has corners on the outer side of different planes, and no point in the view."""
    limit = 2 * 16383 / WIDTH
    points = np.array([[(-3.0, limit * 2, 0.5), (-limit * 2, 3, 0.5), (-limit * 2, limit * 2, 0.5)]])
    result = soup(points, WIDTH, HEIGHT)
    assert len(result.triangles) == 0
    diagonal = np.array([[(0.5, 0, -0.1), (0.5, 0.1, -0.1), (9, 0.1, 0.5)]])
    away = soup(diagonal, WIDTH, HEIGHT)
    assert len(away.triangles) == 0 and sum(away.dropped.values()) >= 1 and away.cut == 1
    assert away.dropped[DropReason.OUTSIDE] == sum(away.dropped.values())


@pytest.mark.parametrize("plane", ["near", "far", "both"])
def test_no_rounding_leaves_a_corner_outside(plane: str) -> None:
    """Edges that cross near and far at many places: no piece has to be cut again, and depths end where they must."""
    rng = np.random.default_rng(11)
    near, far = rng.uniform(0.01, 0.045, 60), rng.uniform(33, 60, 60)
    between = rng.uniform(0.06, 31, (2, 60))
    distances = {"near": [near, *between], "far": [far, *between], "both": [near, far, between[0]]}[plane]
    sides = rng.uniform(-0.7, 0.7, (60, 3, 2))
    distances = np.stack(distances, axis=1)
    points = np.concatenate([sides * distances[..., None], -distances[..., None]], axis=-1)
    result = in_view(points.reshape(-1, 3), np.arange(180).reshape(60, 3), primset=24)
    assert result.cut == 60
    ends = {"near": {DEPTH_GUARD}, "far": {FAR - DEPTH_GUARD}, "both": {DEPTH_GUARD, FAR - DEPTH_GUARD}}[plane]
    assert ends <= set(result.triangles.depths.reshape(-1).tolist())


def test_a_corner_in_the_eye_has_no_place() -> None:
    """All four numbers of its clip coordinates are 0; what is seen edge-on from there has no area."""
    matrix = np.array([(1.0, 0, 0, 0), (0, 1, 0, 0), (0, 0, -0.5, 0), (0, 0, -1, 0)])
    points = np.array([(0.0, 0, 0), (-1, -1, -2), (1, -1, -2), (0, 1, -2)])
    corners = np.array([(0, 1, 2), (1, 2, 3)])
    result = front_end(points, colours(4), corners, matrix, WIDTH, HEIGHT)
    assert result.cut == 1 and sum(result.dropped.values()) >= 1
    alone = front_end(points, colours(4), corners[1:], matrix, WIDTH, HEIGHT)
    drawn = covered(result.triangles.part(result.source == 1), WIDTH, HEIGHT)
    assert np.array_equal(drawn, covered(alone.triangles, WIDTH, HEIGHT)) and drawn.any()
