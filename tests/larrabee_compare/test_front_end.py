"""From vertices to pixels on Larrabee: is the picture that of the front end's triangles, and are these the camera's?"""

from functools import cache

import numpy as np
import pytest

from larrabee_bridge.compare import FromVertices, mesh_on_larrabee, project_on_larrabee
from larrabee_bridge.pipeline.bins import bin_triangles
from larrabee_bridge.pipeline.frame import LarrabeeRun, render_on_larrabee
from larrabee_bridge.pipeline.front_end import DropReason
from larrabee_bridge.pipeline.picture import draw_on_larrabee, side_of, work_of
from larrabee_bridge.pipeline.rasterizer import sampled_bins
from pixelflow.simd.drawing import SUBPIXELS, Blend, Frame, State, Texture, draw_frame
from pixelflow.simd.errors import InputError
from tessellation import Patch, check, evaluate, load
from tessellation.picture import Standpoint, View, lit_triangles
from tessellation.scenes import Body, Scene, SceneSource, draws_of, load_scene, sized
from tests.larrabee_front.meshes import sphere

CHECKER = np.full((8, 8, 4), 255, np.uint8)
CHECKER[::2, ::2] = (90, 110, 150, 255)
SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], float)


def wall(points: np.ndarray = SQUARE, **rest) -> Body:
    return Body(
        "wall", points, np.broadcast_to([0.0, -1.0, 0.0], points.shape), np.array([[0, 1, 2], [0, 2, 3]]), **rest
    )


def ball(across: int = 10, down: int = 6, **rest) -> Body:
    points, corners = sphere(across, down)
    return Body("ball", points, points, corners, **rest)


def soup(offset: float) -> Body:
    """Triangles with corners of their own, ``offset`` away from the origin."""
    points = np.random.default_rng(1).normal(size=(60, 3))
    normals = points / np.linalg.norm(points, axis=1)[:, None]
    return Body("soup", points + offset, normals, np.arange(60).reshape(-1, 3))


def scene_of(bodies: list[Body], view: View, samples: int = 1, generated: tuple = ()) -> Scene:
    draws = (*draws_of(bodies, view), *generated)
    return Scene("test", Frame(view.width, view.height, (9, 8, 7), draws, samples), (), tuple(bodies), view)


@cache
def scene(name: str) -> Scene:
    match name:
        case "enneper":
            how = SceneSource(size=(96, 64), patch_samples=4, mesher=lambda patches, k: mesh_on_larrabee(patches, k)[0])
            return load_scene("enneper", how)
        case "two bodies":
            glass = State(blend=Blend.SORTED, alpha=120, depth_write=False)
            bodies = [wall(SQUARE * 3 - 1.5, state=State(texture=Texture(CHECKER))), ball(state=glass, flat=True)]
            return scene_of(bodies, View(width=70, height=50), 4)
        case "wall":
            return scene_of([wall()], View(azimuth=-90, elevation=0, width=40, height=30))
        case "wall, wide":
            return scene_of([wall(), wall(SQUARE * 0.3 - 1)], View(field_of_view=119, width=200, height=20), 4)
        case "soup":
            return scene_of([soup(0)], View(width=100, height=80))
        case "soup, far":
            return scene_of([soup(1000)], View(width=100, height=80), 4)
        case "two primsets":
            return scene_of([ball(32, 21)], View(width=90, height=70))
        case "small":
            return scene_of([ball(24, 16)], View(width=30, height=24), 4)
        case "generated":
            return scene_of([wall()], View(width=64, height=40), 1, (sized(64, 40, count=7, pixels=90),))


@cache
def projected(name: str) -> FromVertices:
    found = scene(name)
    return project_on_larrabee(found.frame, found.bodies, found.view)


@cache
def run(name: str) -> LarrabeeRun:
    bins = [None if front is None else front.bins for front in projected(name).fronts]
    primsets = [None if front is None else front.primset for front in projected(name).fronts]
    return render_on_larrabee(projected(name).frame, bins=bins, primsets=primsets)


NAMES = ("enneper", "two bodies", "wall", "wall, wide", "soup", "soup, far", "generated")


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=[pytest.mark.slow] * (each in ("two bodies", "soup", "wall, wide"))) for each in NAMES],
)
def test_the_picture_is_that_of_the_triangles_in_64_bit_integers(name: str) -> None:
    found = projected(name)
    side = draw_on_larrabee(found.frame, fronts=found.fronts)
    assert side.picture.equals(draw_frame(found.frame))
    assert not (side.picture.colours == (9, 8, 7)).all()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_and_nothing_is_outside(name: str) -> None:
    """The camera sees all bodies, and depths keep clear of both ends whatever float32 makes of them."""
    for front, body in zip(projected(name).results, scene(name).bodies, strict=True):
        assert front.cut == front.dropped[DropReason.OUTSIDE] == 0
        assert len(front.triangles) + sum(front.dropped.values()) == len(body.corners)


@pytest.mark.parametrize("name", ["enneper", "two bodies", "wall", "soup", "two primsets"])
def test_vertices_are_where_the_camera_has_them(name: str) -> None:
    """Within a quarter of a step before rounding: so only next to a half may it go another way."""
    bodies, view = scene(name).bodies, scene(name).view
    standpoint = Standpoint.of(np.concatenate([body.points for body in bodies]), view)
    for front, body in zip(projected(name).results, bodies, strict=True):
        exact = (standpoint.project(body.points)[:, :2] * SUBPIXELS)[body.corners[front.source]]
        places = np.einsum("tck,tkr->tcr", front.weights, exact)
        assert np.abs(front.triangles.corners - places).max() < 0.75
        clear = np.abs(places - np.floor(places) - 0.5) > 0.25
        assert clear.any() and (front.triangles.corners == np.rint(places))[clear].all()


@pytest.mark.parametrize("name", ["soup", "soup, far"])
def test_the_offset_is_what_the_hosts_triangles_show(name: str) -> None:
    """Every corner is a vertex of its own, and both snap the same triangles, so that they can be laid side by side."""
    (host,), found = scene(name).frame.draws, projected(name)
    (front,) = found.fronts
    assert host.triangles.dropped == 0 and len(host.triangles) == 20
    off = np.abs(front.triangles.corners - host.triangles.corners[front.source])
    assert found.offset.vertices == 3 * len(front.source)
    assert (found.offset.steps, found.offset.moved) == (off.max(), off.any(axis=2).sum())
    # A thousand away a coordinate of float32 has 14 bits behind the point, and a pixel here is some 1/14 wide.
    assert found.offset.moved > 0 if name == "soup, far" else found.offset.moved <= 2


def test_colours_coordinates_and_states_are_the_hosts() -> None:
    before, after = scene("two bodies").frame, projected("two bodies").frame
    assert [draw.state for draw in after.draws] == [draw.state for draw in before.draws]
    for host, draw, front in zip(before.draws, after.draws, projected("two bodies").fronts, strict=True):
        # All have an area, so that the host's triangle k is the body's.
        assert host.triangles.dropped == front.dropped[DropReason.NO_AREA] == 0
        rows = front.source
        assert np.array_equal(draw.triangles.colours, host.triangles.colours[rows])
        if host.triangles.coordinates is not None:
            assert np.array_equal(draw.triangles.coordinates, host.triangles.coordinates[rows])


def test_the_front_end_is_in_the_work_and_in_the_account() -> None:
    fronts = projected("two bodies").fronts
    with_it, without = side_of(run("two bodies"), 1, 1000.0, fronts), side_of(run("two bodies"), 1, 1000.0)
    taken = sum(int(front.cycles.sum()) for front in fronts)
    stages = {f"front end: {name}" for name in ("index", "transform", "assemble", "bin")}
    assert {name for name in with_it.stages if name not in without.stages} == stages
    alone = sum(int(cost.cycles.sum()) for front in fronts for cost in front.costs.values())
    assert sum(with_it.stages[name] for name in stages) == alone > taken
    assert sum(with_it.mix.values()) - sum(without.mix.values()) == sum(sum(f.counts.values()) for f in fronts)
    # Both bodies have one PrimSet either way, so that there are as many locks.
    assert with_it.cycles - without.cycles == with_it.work - without.work == taken


def test_set_up_goes_to_the_primset_that_the_front_end_put_a_triangle_in() -> None:
    (front,), (raster,) = projected("two primsets").fronts, run("two primsets").rasters
    assert len(front.cycles) == 2 and (front.source >= 1000).sum() == (front.primset == 1).sum() > 100
    work = work_of(run("two primsets"), fronts=(front,))
    assert work.front.tolist() == [int(front.cycles[number]) + raster.cores[number].cycles for number in range(2)]


def test_the_rasterizer_reads_the_bins_of_the_front_end() -> None:
    """In tiles of 32, where boxes reach into tiles that their triangles do not."""
    found = scene("enneper")
    after = project_on_larrabee(found.frame, found.bodies, found.view, tile=32)
    (front,) = after.fronts
    (draw,) = after.frame.draws
    assert front.bins.entries > bin_triangles(draw.triangles, 96, 64, 32).entries
    side = draw_on_larrabee(after.frame, fronts=after.fronts, tile=32)
    assert side.picture.equals(draw_frame(after.frame))
    assert dict(side.facts)["bins"].startswith(f"{front.bins.entries} pairs")
    with pytest.raises(InputError, match="do not fit the screen"):
        draw_on_larrabee(after.frame, fronts=after.fronts, tile=64)


def test_no_triangle_that_covers_a_sample_is_left_out() -> None:
    """Most triangles here are smaller than a pixel, and many cover no centre but a sample."""
    found = scene("small")
    after, (host,) = project_on_larrabee(found.frame, found.bodies, found.view), found.frame.draws
    assert host.triangles.dropped == 0 and after.offset.moved == 0
    covering = np.unique(sampled_bins(host.triangles, 30, 24).triangles)
    assert set(covering.tolist()) <= set(after.fronts[0].source.tolist())
    assert len(covering) > len(np.unique(bin_triangles(host.triangles, 30, 24).triangles))


def test_generated_draws_stay_as_they_are() -> None:
    found = projected("generated")
    assert found.fronts[1] is None and found.frame.draws[1] is scene("generated").frame.draws[1]
    work = work_of(run("generated"), fronts=found.fronts)
    assert work.front.tolist() == [
        int(found.fronts[0].cycles[0]) + run("generated").rasters[0].cores[0].cycles,
        run("generated").rasters[1].cores[0].cycles,
    ]


def test_a_scene_without_bodies_is_left_alone() -> None:
    frame = Frame(64, 40, (0, 0, 0), (sized(64, 40, count=3, pixels=50),))
    found = project_on_larrabee(frame, (), View(width=64, height=40))
    assert found.frame is frame and found.fronts == (None,) and found.offset.vertices == 0


def test_vertices_beyond_float32_are_refused() -> None:
    far = wall(SQUARE * 1e39)
    frame = Frame(40, 30, (0, 0, 0), tuple(draws_of([far], View(width=40, height=30))))
    with pytest.raises(InputError, match="vertex 2 of 4 is not a point of finite float32"):
        project_on_larrabee(frame, [far], View(width=40, height=30))


def test_a_mesh_of_the_vector_unit_is_whole_and_in_the_order_of_its_patches() -> None:
    bilinear = [Patch(np.array([[[k, 0, 0], [k, 1, 0]], [[k + 1, 0, 1], [k + 1, 1, 0]]], float)) for k in (10, 20)]
    patches = [bilinear[0], *load("enneper").patches, bilinear[1]]
    mesh, runs = mesh_on_larrabee(patches, 4)
    assert [each.patches for each in runs] == [2, 4] and check(mesh).clean
    exact = np.concatenate([evaluate(patch.points[None], 4).points.reshape(-1, 3) for patch in patches])
    # A point is the sum of 16 weighted control points: some 20 roundings of 2^-24 of the largest coordinate.
    assert np.abs(mesh.points - exact[mesh.samples]).max() < 20 * 2**-24 * np.abs(exact).max()
    assert np.linalg.norm(mesh.normals, axis=1) == pytest.approx(1, abs=1e-6)
    lit_triangles(mesh.points, mesh.normals, mesh.triangles, View(width=40, height=30))
