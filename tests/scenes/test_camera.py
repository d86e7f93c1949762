"""Does the camera see every point, from as near as its margins let it, whatever the view and the picture?"""

import itertools

import numpy as np
import pytest

from pixelflow.simd.errors import InputError
from tessellation.picture import Camera, Standpoint, View, frame
from tessellation.picture.lighting import check_mesh
from tessellation.scenes import parse_scene

CORNERS = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
GRID = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0), [0.0]), axis=-1).reshape(-1, 1, 3)
SHAPES = {
    "cube": CORNERS,
    "long": CORNERS * (0.1, 1.0, 0.05),
    "field of cubes": (GRID + CORNERS / 60).reshape(-1, 3) / 20,
    "triangle": np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.7, 0.2]]),
    "line": np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
}
ANGLES = (1.0, 28.0, 60.0, 90.0, 120.0)
ELEVATIONS = (-89.0, -30.0, 0.0, 24.0, 89.0)
SIZES = ((1, 1), (640, 480), (1920, 200), (4096, 64), (64, 4096))


def shares(camera: Camera, view: View, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each point lies from the picture's middle, 1 at its edge, across and up; and its distance ahead."""
    right, up, back = (camera.axes @ (points - camera.eye).T).tolist()
    ahead = -np.array(back)
    edge = np.tan(np.radians(view.field_of_view) / 2)
    return np.array([right, up]) / ahead / np.array([[edge * view.width / view.height], [edge]]), ahead


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("field_of_view", ANGLES)
def test_every_point_is_seen_from_no_farther_than_needed(name: str, field_of_view: float) -> None:
    points = SHAPES[name]
    for elevation, azimuth, (width, height) in itertools.product(ELEVATIONS, (-62.0, 90.0), SIZES):
        view = View(azimuth, elevation, field_of_view, width, height)
        found, ahead = shares(frame(points, view), view, points)
        assert (ahead > 0).all() and (np.abs(found) <= 1).all()
        # Its outline fills its share of the picture, 0.86 across or 0.80 up, or the nearest point is before the eye.
        filled = np.ptp(found, axis=1) / 2 / (0.86, 0.80)
        assert filled.max() > 0.9 or ahead.min() == pytest.approx(0.05 * np.ptp(points, axis=0).max())


def test_an_outline_lies_in_the_middle_of_a_common_view() -> None:
    for name, (width, height) in itertools.product(("cube", "long", "triangle"), ((640, 480), (64, 48), (100, 400))):
        view = View(width=width, height=height)
        found, _ = shares(frame(SHAPES[name], view), view, SHAPES[name])
        assert found.min(axis=1) == pytest.approx(-found.max(axis=1), abs=1e-3)
        assert (np.ptp(found, axis=1) / 2 / (0.86, 0.80)).max() == pytest.approx(1, abs=1e-3)


def test_a_wide_view_by_hand() -> None:
    # At 90 degrees the picture's edge is as far from the axis as it is away: x / 0.86 and z / 0.80, here 0.5 / 0.80.
    square = np.array([[-0.5, 0, -0.5], [0.5, 0, -0.5], [0.5, 0, 0.5], [-0.5, 0, 0.5]])
    eye = frame(square, View(azimuth=-90, elevation=0, field_of_view=90, width=100, height=100)).eye
    assert eye == pytest.approx([0, -0.5 / 0.80, 0], abs=1e-3)
    # Two points one behind the other leave the eye where it may stand, at a twentieth of their distance.
    eye = frame(SHAPES["line"], View(azimuth=-90, elevation=0, field_of_view=90, width=100, height=100)).eye
    assert eye == pytest.approx([0, -0.05, 0])


def test_points_that_are_not_finite_are_refused() -> None:
    with pytest.raises(InputError, match="no place"):
        frame(np.array([[0, 0, 0], [1, 0, np.nan]]), View())


TRIANGLE = SHAPES["triangle"]
ALL = np.array([[0, 1, 2]])


@pytest.mark.parametrize(
    ("points", "corners", "message"),
    [
        (TRIANGLE, ALL, None),
        (np.array([[0.0] * 3, [1.0] * 3, [2.0] * 3]), ALL, None),
        (TRIANGLE, ALL[:0], "nothing to draw"),
        (TRIANGLE[:0], ALL[:0], "nothing to draw"),
        (np.array([[1.0, 2.0, 3.0]] * 3), ALL, "nothing to draw"),
        (np.array([[0.0] * 3, [np.nan] * 3, [2.0] * 3]), ALL, "vertex 2 of 3 is not a finite point"),
        (TRIANGLE, np.array([[0, 1, 2], [0, 1, 3]]), "triangle 2 names a vertex that does not exist; there are 3"),
        (TRIANGLE, np.array([[0, -1, 2]]), "triangle 1 names a vertex that does not exist"),
    ],
)
def test_what_can_be_drawn(points: np.ndarray, corners: np.ndarray, message: str | None) -> None:
    if message is None:
        check_mesh(points, corners, "x")
        return
    with pytest.raises(InputError, match=f"^error: x: there is {message}" if message[0] == "n" else message):
        check_mesh(points, corners, "x")


def test_a_camera_moves_on_straight_lines_between_what_it_is_told() -> None:
    text = """
frames = 11
[camera]
azimuth = 10.0
elevation = 20.0
[[camera.at]]
frame = 8
azimuth = 50.0
zoom = 4.0
[[camera.at]]
frame = 4
azimuth = 10.0
[[body]]
mesh = "nut"
"""
    scene = parse_scene(text)
    views = [scene.view_at(at) for at in range(scene.frames)]
    assert [view.azimuth for view in views] == [10, 10, 10, 10, 10, 20, 30, 40, 50, 50, 50]
    assert [view.zoom for view in views] == [1 + 3 * at / 8 for at in range(8)] + [4, 4, 4]
    assert {view.elevation for view in views} == {20.0} and {view.field_of_view for view in views} == {28.0}
    for at in (-1, 11):
        with pytest.raises(InputError, match="allowed: 0 to 10"):
            scene.view_at(at)


def test_a_camera_that_stands_moves_from_place_to_place() -> None:
    text = """
frames = 5
[camera]
eye = [0, 0, 1]
look_at = [0, 8, 1]
near = 0.25
[[camera.at]]
frame = 4
eye = [4, 2, 1]
zoom = 2
[[body]]
mesh = "nut"
"""
    scene = parse_scene(text)
    views = [scene.view_at(at) for at in range(scene.frames)]
    assert [view.eye for view in views] == [(at, at / 2, 1) for at in range(5)]
    assert {view.look_at for view in views} == {(0, 8, 1)} and {view.near for view in views} == {0.25}
    assert views[2].zoom == 1.5


def test_a_camera_that_stands_by_hand() -> None:
    # It looks along y from (2, -3, 1): right is x, up is z; at 90 degrees the picture's edge is as far as the depth.
    view = View(field_of_view=90, width=200, height=100, eye=(2, -3, 1), look_at=(2, 5, 1), near=0.5)
    points = np.array([[2.0, 1, 1], [4, 1, 1], [2, 1, 3], [2, -2, 0.5], [2, -8, 1]])
    standpoint = Standpoint.of(points, view)
    assert standpoint.extent == 9 and standpoint.distances(points) * 9 == pytest.approx([4, 4, 4, 1, -5])
    x, y, depth = standpoint.project(points[:4]).T
    assert x == pytest.approx([100, 125, 100, 100]) and y == pytest.approx([50, 50, 25, 75])
    # Depth 0 is at distance 0.5, since something lies nearer, 1 at 4, and linear in 1 / distance.
    assert depth == pytest.approx([1, 1, 1, (2 - 1) / (2 - 0.25)])
    # Where all lies farther than the near plane, the nearest has depth 0.
    assert Standpoint.of(points[:3], view).low == pytest.approx(-1 / (4 / 2))


def test_a_camera_that_looks_nowhere_is_refused() -> None:
    for eye, look_at in (((1, 2, 3), (1, 2, 3)), ((1, 2, 3), None)):
        with pytest.raises(InputError, match="a camera that looks nowhere"):
            Standpoint.of(CORNERS, View(eye=eye, look_at=look_at))
