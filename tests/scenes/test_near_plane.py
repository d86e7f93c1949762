"""Are triangles cut where they should be when the eye is in their midst, and does every machine draw what is left?"""

from dataclasses import replace

import numpy as np
import pytest

from gen6_bridge.compare import project_on_gen6
from larrabee_bridge.compare import project_on_larrabee
from pixelflow.simd.drawing import Draw, Frame, State, Texture, draw_frame
from pixelflow.simd.machine import machine_named
from tessellation.picture import Standpoint, View, cut_triangles
from tessellation.picture.lighting import facets, lit_triangles
from tessellation.scenes import Body, draws_of

WIDTH, HEIGHT = 64, 48
VIEW = View(field_of_view=70, width=WIDTH, height=HEIGHT, eye=(0.1, -0.2, 0.3), look_at=(0.5, 1.0, 0.1), near=0.1)
EMPTY = (9, 8, 7)


def soup(count: int = 60, **rest) -> Body:
    """Triangles around the eye, a fifth of them large, each of one colour."""
    rng = np.random.default_rng(3)
    corners = rng.normal(0, 0.25, (count, 3, 3)) * np.where(np.arange(count) % 5, 1, 12)[:, None, None]
    points = (rng.normal(0, 1.5, (count, 1, 3)) + corners).reshape(-1, 3)
    return Body("soup", points, np.zeros_like(points), np.arange(3 * count).reshape(-1, 3), flat=True, **rest)


def frame_of(body: Body, view: View = VIEW, samples: int = 1) -> Frame:
    return Frame(view.width, view.height, EMPTY, tuple(draws_of([body], view)), samples)


def cast(body: Body, view: View) -> tuple[np.ndarray, np.ndarray]:
    """Follow a ray through each pixel centre; return the nearest triangle, -1 for none, and where that is sure.

    It is sure where no triangle's edge, no near plane and no other triangle is close.
    """
    back = np.subtract(view.eye, view.look_at)
    back = back / np.linalg.norm(back)
    right = np.cross((0, 0, 1), back)
    right /= np.linalg.norm(right)
    column, row = np.meshgrid(np.arange(view.width) + 0.5, np.arange(view.height) + 0.5)
    scale = np.tan(np.radians(view.field_of_view) / 2) / (view.height / 2)
    x, y = (column - view.width / 2) * scale, (view.height / 2 - row) * scale
    rays = x[..., None] * right + y[..., None] * np.cross(back, right) - back  # 1 long along the view
    a, b, c = (body.points[body.corners[:, k]] for k in range(3))
    p = np.cross(rays[..., None, :], c - a)
    scale_of = (p * (b - a)).sum(-1)
    u = (p * (np.array(view.eye) - a)).sum(-1) / scale_of
    q = np.cross(np.array(view.eye) - a, b - a)
    v = (rays[..., None, :] * q).sum(-1) / scale_of
    distance = (q * (c - a)).sum(-1) / scale_of
    margin = np.minimum(np.minimum(u, v), 1 - u - v)
    seen = (margin > 0) & (distance > view.near)
    # A step of a coordinate is 1/256 pixel; an edge moves by less than a tenth of a pixel, in shares of the triangle,
    # and so does where the near plane cuts, in shares of 1 / distance.
    reach = np.abs(np.stack(np.gradient(np.stack([u, v, 1 - u - v]), axis=(1, 2)))).max(axis=(0, 1)) * 0.1
    cut = view.near / distance
    moved = np.abs(np.stack(np.gradient(cut, axis=(0, 1)))).max(axis=0) * 0.1
    close = (np.abs(margin) < reach + 1e-9) | (np.abs(cut - 1) < moved + 1e-6)
    order = np.sort(np.where(seen, distance, np.inf), axis=-1)
    apart = order[..., 1] - order[..., 0] > 1e-3 * order[..., 0]
    hidden = distance > order[..., :1] * 1.01
    sure = ~(close & ~hidden & (distance > 0)).any(axis=-1) & (apart | np.isinf(order[..., 0]))
    return np.where(seen.any(axis=-1), np.where(seen, distance, np.inf).argmin(axis=-1), -1), sure


def test_one_corner_before_the_near_plane_by_hand() -> None:
    # X, Y, distance; the near plane at 2 cuts the edges to the last corner in their middles.
    corners = np.array([[[64, 0, 4], [0, 32, 4], [0, 0, 0]]], float)
    found = cut_triangles(corners, 320, 240, 2.0)
    assert found.source.tolist() == [0, 0]
    assert found.corners.tolist() == [[[64, 0, 4], [0, 32, 4], [0, 16, 2]], [[64, 0, 4], [0, 16, 2], [32, 0, 2]]]
    assert found.weights[0].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0.5, 0.5]]
    assert found.of_corners(np.array([[[8], [16], [32]]])).tolist() == [[[8], [16], [24]], [[8], [24], [20]]]


def test_the_guard_band_by_hand() -> None:
    # 320 pixels: the band ends 16384 - 160 - 2 = 16222 pixels from the middle. Half of the edges lies beyond.
    corners = np.array([[[0, 0, 1], [2 * 16222, 0, 1], [0, 8, 1]], [[0, 0, 1], [5, 0, 1], [0, 5, 1]]], float)
    found = cut_triangles(corners, 320, 240, 0.0)
    assert found.source.tolist() == [0, 0, 1]
    assert sorted({tuple(each) for each in found.corners[:2].reshape(-1, 3).tolist()}) == [
        (0, 0, 1), (0, 8, 1), (16222, 0, 1), (16222, 4, 1),
    ]  # fmt: skip


def test_what_need_not_be_cut_is_left_and_what_is_outside_goes() -> None:
    inside = np.array([[[0, 0, 1], [50, 0, 1], [0, 50, 2]]], float)
    assert cut_triangles(inside, 64, 48, 0.5) is None
    found = cut_triangles(np.concatenate([inside * (1, 1, -1), inside, inside * (1, 1, 0.1)]), 64, 48, 0.5)
    assert found.source.tolist() == [1] and (found.corners == inside).all()


def test_triangles_that_share_an_edge_share_its_cuts_and_none_comes_nearer() -> None:
    """Pairs of triangles, the second one with the edge the other way round: what lies on it is the same to the bit."""
    rng = np.random.default_rng(2)
    near, ends = 0.7, rng.normal(1, 2, (300, 2, 3))
    pairs = np.stack([np.concatenate([ends, rng.normal(1, 2, (300, 1, 3))], axis=1),
                      np.concatenate([ends[:, ::-1], rng.normal(1, 2, (300, 1, 3))], axis=1)], axis=1)  # fmt: skip
    found = cut_triangles(pairs.reshape(-1, 3, 3) * (9000, 9000, 1), 320, 240, near)
    on_edge = found.weights[..., 2] == 0
    cuts = [{tuple(each) for each in found.corners[found.source == number][on_edge[found.source == number]].tolist()}
            for number in range(600)]  # fmt: skip
    # A triangle that is gone as a whole has none, and its neighbour then has what is left of the edge.
    both = [(one, other) for one, other in zip(cuts[::2], cuts[1::2], strict=True) if one and other]
    assert all(one == other for one, other in both) and sum(len(one) for one, _ in both) > 200
    assert found.corners[..., 2].min() == near


def test_pixels_are_those_of_rays_from_the_eye() -> None:
    body = soup()
    number, sure = cast(body, VIEW)
    picture = draw_frame(frame_of(body))
    to_eye = np.array(VIEW.eye) - body.points[body.corners]
    distance = (np.array(VIEW.look_at) - VIEW.eye) @ -to_eye.reshape(-1, 3).T
    reached = (distance.reshape(-1, 3) < 0).any(axis=1) & (distance.reshape(-1, 3) > 0).any(axis=1)
    assert reached[number[number >= 0]].mean() > 0.3  # triangles on both sides of the eye fill much of the picture
    assert sure.mean() > 0.8 and (number >= 0).mean() > 0.9
    colours = coloured(body)[number]
    colours[number < 0] = EMPTY
    assert (picture.colours[sure] == colours[sure]).all()


def coloured(body: Body) -> np.ndarray:
    """The colour of each triangle under the two lights, by the formula of `tessellation/picture/lighting.py`."""
    normals = facets(body.points, body.corners)
    to_eye = np.array(VIEW.eye) - body.points[body.corners]
    to_eye = (to_eye / np.linalg.norm(to_eye, axis=-1, keepdims=True)).mean(axis=1)
    normals = np.where((normals * to_eye).sum(axis=1, keepdims=True) < 0, -normals, normals)
    key, fill = (np.array(each) / np.linalg.norm(each) for each in ((-0.50, -0.55, 1.05), (1.0, -0.25, 0.35)))
    light = 0.10 + 0.85 * np.clip(normals @ key, 0, 1) + 0.20 * np.clip(normals @ fill, 0, 1)
    return np.rint(255 * np.clip(np.array(body.colour) * light[:, None], 0, 1) ** (1 / 2.2)).astype(np.uint8)


def test_a_texture_goes_on_through_the_cut() -> None:
    """A floor below the eye is the same picture whether it is cut, or ends before the eye and is not."""
    texels = np.random.default_rng(1).integers(0, 256, (16, 16, 4), dtype=np.uint8)
    view = View(field_of_view=60, width=WIDTH, height=HEIGHT, eye=(0, 0, 1), look_at=(0, 3, 0), near=0.1)
    whole = np.array([[-12, 0.5, 0], [12, 0.5, 0], [12, 12, 0], [-12, 12, 0]], float)
    longer = np.where(whole == 0.5, -12, whole)
    standpoint = Standpoint.of(np.concatenate([whole, longer]), view)
    pictures = []
    for points in (whole, longer):
        triangles = lit_triangles(
            points, np.zeros_like(points), np.array([[0, 1, 2], [0, 2, 3]]), view, flat=True, standpoint=standpoint,
            coordinates=points[:, :2] * 2,
        )  # fmt: skip
        frame = Frame(WIDTH, HEIGHT, EMPTY, (Draw("floor", triangles, State(texture=Texture(texels))),))
        pictures.append(draw_frame(frame).colours.astype(int))
        assert (len(triangles) == 2) == (points is whole)
    off = np.abs(pictures[0] - pictures[1]).max(axis=2)
    assert off.max() <= 3 and pictures[0].std() > 20


@pytest.mark.parametrize("machine", ["pixelflow", "larrabee", "gen6"])
def test_every_machine_draws_what_is_left(machine: str) -> None:
    frame = frame_of(soup())
    assert machine_named(machine).draw(frame).picture.equals(draw_frame(frame))


def test_attila_draws_nearly_the_same() -> None:
    """Its edges are of 64-bit floats: pixels on an edge may go to the neighbour, others are within 1 of 255."""
    frame = frame_of(soup())
    off = np.abs(machine_named("attila").draw(frame).picture.colours.astype(int) - draw_frame(frame).colours)
    assert (off.max(axis=2) > 1).mean() < 0.01


@pytest.mark.parametrize("machine", ["larrabee", "gen6"])
def test_machines_cut_what_they_project(machine: str) -> None:
    """From vertices on: the picture is that of the machine's own pieces, and nearly that of the host's."""
    body = soup()
    host = frame_of(body)
    if machine == "larrabee":
        fronts = project_on_larrabee(host, [body], VIEW)
        found, offset, told = fronts.frame, fronts.offset, {"fronts": fronts.fronts}
        assert next(fronts.results).cut >= 5
    else:
        units = project_on_gen6(host, [body], VIEW)
        found, offset, told = units.frame, units.offset, {"vertices": units.vertices}
    assert len(found.draws[0].triangles) > 10 and 0 < offset.vertices < len(body.points) and offset.steps <= 1
    picture = draw_frame(found)
    assert machine_named(machine).draw(found, **told).picture.equals(picture)
    off = np.abs(picture.colours.astype(int) - draw_frame(host).colours).max(axis=2)
    assert (off > 1).mean() < 0.01


@pytest.mark.parametrize("machine", ["host", "larrabee", "gen6"])
def test_the_near_plane_is_where_it_is_said_to_be_whatever_else_there_is(machine: str) -> None:
    """A wall a fiftieth before the near plane and one a fiftieth past it; what lies 1e5 beside the eye is not seen."""
    wall = np.array([(-0.5, 0, -0.3), (-0.1, 0, -0.3), (-0.1, 0, 0.3), (-0.5, 0, 0.3)])
    beside = np.array([(1e5, 50, 0), (1e5, -6, 0), (1e5, -5, 1)])
    ahead = np.array([0, 1, 0])
    turn = np.array([(0.8, -0.6, 0), (0.6, 0.8, 0), (0, 0, 1)])  # so that coordinates beside count in distances
    points = np.concatenate([wall + 0.98 * ahead, wall * (-1, 1, 1) + 1.02 * ahead, beside]) @ turn.T
    corners = np.array([(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7), (8, 9, 10)])
    body = Body("walls", points, np.zeros_like(points), corners, flat=True)
    view = View(field_of_view=60, width=WIDTH, height=HEIGHT, eye=(0, 0, 0), look_at=(-0.6, 0.8, 0), near=1.0)
    frame = frame_of(body, view)
    if machine == "larrabee":
        frame = project_on_larrabee(frame, [body], view).frame
    elif machine == "gen6":
        frame = project_on_gen6(frame, [body], view).frame
    found = (draw_frame(frame).colours != EMPTY).any(axis=-1)
    column, row = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    scale = HEIGHT / 2 / np.tan(np.radians(30)) / 1.02
    x, z = (column - WIDTH / 2) / scale, (HEIGHT / 2 - row) / scale
    assert np.array_equal(found, (x > 0.1) & (x < 0.5) & (np.abs(z) < 0.3)) and found.any()


def test_an_eye_that_looks_away_sees_nothing() -> None:
    body = soup()
    away = View(width=WIDTH, height=HEIGHT, eye=(0, 0, 99), look_at=(0, 1, 200))
    frame = frame_of(body, away)
    assert len(frame.draws[0].triangles) == 0
    assert (draw_frame(frame).colours == EMPTY).all()
    for machine in ("pixelflow", "larrabee", "gen6", "attila"):
        assert machine_named(machine).draw(frame).picture.equals(draw_frame(frame))
    assert (draw_frame(project_on_larrabee(frame, [body], away).frame).colours == EMPTY).all()
    assert (draw_frame(project_on_gen6(frame, [body], away).frame).colours == EMPTY).all()


def test_a_vertex_may_be_where_the_eye_is() -> None:
    body = soup()
    body.points[0] = VIEW.eye
    for flat in (False, True):
        triangles = draws_of([replace(body, flat=flat)], VIEW)[0].triangles
        assert triangles.colours.min() >= 0 and triangles.colours.max() <= 255
