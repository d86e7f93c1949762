"""Are shadow volumes closed, and dark where a ray towards the light meets what casts a shadow?"""

import numpy as np
import pytest

from pixelflow.simd.drawing import Frame, draw_frame
from tessellation.picture import KEY, View, facets, unit
from tessellation.scenes import Body, draws_of, shade, shadow_bodies
from tessellation.scenes.world import shadow_volume
from tests.larrabee_front.meshes import sphere

LIGHT = unit(KEY)
FLOOR = Body(
    "floor", np.array([[-4, -4, 0], [4, -4, 0], [4, 4, 0], [-4, 4, 0]], float), np.tile([0.0, 0, 1], (4, 1)),
    np.array([[0, 1, 2], [0, 2, 3]]), flat=True,
)  # fmt: skip


def ball() -> Body:
    points, corners = sphere(8, 5)
    inwards = (facets(points, corners) * points[corners].mean(axis=1)).sum() < 0
    return Body("ball", 0.5 * points + [0.2, 0.1, 1.2], points, corners[:, ::-1] if inwards else corners)


def leaf() -> Body:
    """A square that faces the light, and is open."""
    points = np.array([[-1.5, -1.5, 0.9], [-0.5, -1.5, 0.9], [-0.5, -0.5, 0.9], [-1.5, -0.5, 0.9]])
    return Body("leaf", points, np.tile([0.0, 0, 1], (4, 1)), np.array([[0, 1, 2], [0, 2, 3]]))


def test_a_triangle_sweeps_over_a_prism() -> None:
    points, corners = shadow_volume(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float), np.array([[0, 1, 2]]), 2.0)
    assert len(points) == 6 and len(corners) == 8
    a, b, c = (points[corners[:, k]] for k in range(3))
    # Half of the unit square, times the height: a sixth of the sum of the tetrahedra, as it is turned outwards.
    assert (np.cross(a, b) * c).sum() / 6 == pytest.approx(0.5 * 2 * LIGHT[2])


@pytest.mark.parametrize("caster", [ball(), leaf()], ids=["closed", "open"])
def test_a_volume_is_closed(caster: Body) -> None:
    _, corners = shadow_volume(caster.points, caster.corners, 3.0)
    edges = np.concatenate([corners[:, [k, (k + 1) % 3]] for k in range(3)])
    count = np.zeros((edges.max() + 1,) * 2, int)
    np.add.at(count, tuple(edges.T), 1)
    assert (count == count.T).all() and count.max() == 1


def test_what_faces_away_from_the_light_sweeps_over_nothing() -> None:
    below = leaf()
    points, corners = shadow_volume(below.points, below.corners[:, ::-1], 3.0)
    assert len(corners) == 0 and len(points) == 8


EYES = {"outside": (1.0, -3.0, 1.6), "in the shadow": tuple(np.array([0.2, 0.1, 1.2]) - 0.9 * LIGHT)}


@pytest.mark.parametrize("eye", EYES.values(), ids=EYES)
def test_the_floor_is_dark_where_the_light_does_not_reach_it(eye: tuple[float, float, float]) -> None:
    view = View(field_of_view=80, width=64, height=48, eye=eye, look_at=(-0.2, 0.4, -0.3), near=0.05)
    casters = [ball(), leaf()]
    draws = (*draws_of([FLOOR, *shadow_bodies(casters, eye, 5.0)], view), shade(64, 48))
    frame = Frame(64, 48, (250, 0, 0), draws)
    picture = draw_frame(frame)
    lit, dark = (np.unique(picture.colours[mask].reshape(-1, 3), axis=0) for mask in _floor(view, casters))
    assert len(lit) == len(dark) == 1
    assert dark[0].tolist() == (lit[0].astype(int) * 127 / 255 + 0.5).astype(int).tolist()


def _floor(view: View, casters: list[Body]) -> tuple[np.ndarray, np.ndarray]:
    """Return the pixels of the floor that surely are lit, and those that are not, by rays: bool[row, column] each."""
    back = unit(np.subtract(view.eye, view.look_at))
    right = unit(np.cross((0, 0, 1), back))
    column, row = np.meshgrid(np.arange(64) + 0.5, np.arange(48) + 0.5)
    scale = np.tan(np.radians(view.field_of_view) / 2) / 24
    rays = (column - 32)[..., None] * scale * right + (24 - row)[..., None] * scale * np.cross(back, right) - back
    with np.errstate(divide="ignore"):
        there = np.array(view.eye) - view.eye[2] / rays[..., 2:] * rays
    floor = (rays[..., 2] < -0.05) & (np.abs(there[..., :2]) < 3.9).all(axis=-1)
    margins = []
    for caster in casters:
        a, b, c = (caster.points[caster.corners[:, k]] for k in range(3))
        p = np.cross(LIGHT, c - a)
        whole = (p * (b - a)).sum(-1)
        s = there[..., None, :] - a
        u, v = (p * s).sum(-1) / whole, (np.cross(s, b - a) @ LIGHT) / whole
        margins.append(np.minimum(np.minimum(u, v), 1 - u - v).max(axis=-1))
    margin = np.max(margins, axis=0)
    assert (floor & (margin > 0.1)).sum() > 30
    return floor & (margin < -0.1), floor & (margin > 0.1)
