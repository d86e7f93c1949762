"""Do the EMCs project points as the camera does, within what binary32 allows, and what does it cost?"""

import json
from pathlib import Path

import numpy as np
import pytest

from microcode import Builder
from pixelflow.cli.main import main
from pixelflow.config import THESIS, TINY
from pixelflow.node import Node
from pixelflow.simd.drawing import REACH, Blend, Draw, Frame, State, draw, snap
from pixelflow.simd.errors import InputError
from tessellation import LIBRARIES, Method, Patch, load
from tessellation.picture import Standpoint, View, lit_triangles
from tessellation.plan.memory_map import memory_map
from tessellation.rendering import Projection, project_samples, render
from tessellation.rendering.projection import Places, emit_projection, projection_program
from tessellation.rendering.renderer import plain_triangles
from tests.documents.marks import table_after

VIEW = View(width=640, height=480)
MEMORY = memory_map(4, 4)
PLACES = Places.after(MEMORY)


def camera(rows: list[list[float]], middle: tuple[float, float], depth: tuple[float, float]) -> Projection:
    return Projection(np.float32(rows), np.float32(middle), np.float32(depth))


def node_with(points: np.ndarray, config=THESIS) -> Node:
    node = Node(config)
    for address, values in zip(PLACES.point, points.T, strict=True):
        node.write_float(address, values)
    return node


def screen_of(node: Node) -> np.ndarray:
    return np.stack([node.read_float(address) for address in PLACES.screen], axis=-1)


def fixed_of(node: Node) -> np.ndarray:
    return np.stack([node.read_word(at, 4).astype(np.uint32).view(np.int32) for at in PLACES.fixed], axis=-1)


def project(points: np.ndarray, projection: Projection, library: str = "tuned", config=THESIS):
    node = node_with(points, config)
    run = node.run(projection_program(PLACES, projection, LIBRARIES[library]))
    return screen_of(node), fixed_of(node), run


def looking(points: np.ndarray, view: View = VIEW) -> tuple[Standpoint, Projection]:
    standpoint = Standpoint.of(points.astype(np.float64), view)
    return standpoint, Projection.of(standpoint)


def cloud(seed: int = 1, count: int = THESIS.lanes, size: float = 3.0, away: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.uniform(-size, size, (count, 3)) + away).astype(np.float32)


def test_a_camera_by_hand() -> None:
    # X = 64 x, Y = -64 y, W = z + 4; the picture's middle is (32, 24.5); depth = 1 - 2 / W.
    projection = camera([[64, 0, 0, 0], [0, -64, 0, 0], [0, 0, 1, 4]], (32, 24.5), (-2, 1))
    points = np.zeros((TINY.lanes, 3), np.float32)
    points[:4] = [(1, 2, 0), (-3, 0.5, 12), (1 / 2048, 3 / 2048, 0), (-1 / 2048, 5 / 2048, 0)]
    screen, fixed, _ = project(points, projection, config=TINY)
    expected = [
        (48, -7.5, 0.5),
        (20, 22.5, 0.875),
        (32 + 1 / 128, 24.5 - 3 / 128, 0.5),
        (32 - 1 / 128, 24.5 - 5 / 128, 0.5),
    ]
    assert screen[:4].tolist() == [list(each) for each in expected]
    assert fixed[:4].tolist() == [[12288, -1920], [5120, 5760], [8194, 6266], [8190, 6262]]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_operation_is_that_of_binary32(library: str) -> None:
    points = cloud(away=0.5)
    _, projection = looking(points)
    screen, fixed, _ = project(points, projection, library)
    x, y, w = (
        ((row[0] * points[:, 0] + row[1] * points[:, 1]) + row[2] * points[:, 2]) + row[3] for row in projection.matrix
    )
    inverse = np.float32(1) / w
    expected = [
        x * inverse + projection.middle[0],
        y * inverse + projection.middle[1],
        inverse * projection.depth[0] + projection.depth[1],
    ]
    assert all(each.dtype == np.float32 for each in expected)
    assert np.array_equal(screen, np.stack(expected, axis=-1))
    assert len(np.unique(screen, axis=0)) == THESIS.lanes
    assert np.array_equal(fixed, np.rint(screen[:, :2].astype(np.float64) * 256))


def test_coordinates_are_rounded_as_the_host_rounds_them() -> None:
    # Halves of 1/256, and both ends of what 15.8 holds; W is 1, so that x and y are those of the point.
    identity = camera([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]], (0, 0), (0, 0))
    steps = np.arange(-THESIS.lanes // 2, THESIS.lanes // 2)
    points = np.zeros((THESIS.lanes, 3), np.float32)
    points[:, 0] = steps / 512
    points[:, 1] = np.linspace(-REACH, np.nextafter(np.float32(REACH), np.float32(0)), THESIS.lanes, dtype=np.float32)
    points[-1, 1] = REACH - 1 / 256
    screen, fixed, _ = project(points, identity)
    assert np.array_equal(screen[:, :2], points[:, :2])
    assert np.array_equal(fixed, np.rint(points[:, :2].astype(np.float64) * 256))
    assert fixed[0, 1] == -REACH * 256 and fixed[-1, 1] == REACH * 256 - 1
    halves = fixed[steps % 2 == 1, 0]
    assert (halves % 2 == 0).all()


@pytest.mark.parametrize(
    ("size", "away"), [(3.0, 0.0), (3.0, 40.0), (0.01, 1.0), (4000.0, -900.0), (3e18, 0.0), (1e-19, 0.0)]
)
@pytest.mark.parametrize("view", [VIEW, View(azimuth=10, elevation=80, field_of_view=70, width=4096, height=4096)])
def test_nothing_is_farther_off_than_binary32_allows(size: float, away: float, view: View) -> None:
    points = cloud(3, size=size, away=away)
    standpoint, projection = looking(points, view)
    screen, _, _ = project(points, projection, "tuned")
    off = np.abs(screen - standpoint.project(points.astype(np.float64)))
    bounds = projection.error_bounds(points)
    assert np.isfinite(bounds).all() and (off <= bounds).all()
    # The bounds are no empty promise: what happens comes near them.
    assert (off.max(axis=0) > 0.05 * bounds.min(axis=0)).all()


def test_a_bound_by_hand() -> None:
    # W = 2 without rounding of constants: terms 0, 0, 0, 2. X = 8 x at x = 1: X / W = 4, middle 0, scale 0.
    projection = camera([[8, 0, 0, 0], [0, 8, 0, 0], [0, 0, 0, 2]], (0, 0), (0, 0))
    x, y, depth = projection.error_bounds(np.float32([(1, 0, 0)]))[0] / 2.0**-24
    # To first order: constant 1 and 4 operations for X, the same for W, then 1 / W, the product, the sum: 13 x 4.
    assert x == pytest.approx(13 * 4, rel=1e-5)
    assert y == 0 and depth == 0
    behind = camera([[8, 0, 0, 0], [0, 8, 0, 0], [0, 0, 1, 2]], (0, 0), (0, 0))
    assert np.isinf(behind.error_bounds(np.float32([(1, 1, -2)]))).all()


def test_disabled_pes_keep_every_byte() -> None:
    points = cloud(5)
    _, projection = looking(points)
    node = node_with(points)
    rng = np.random.default_rng(6)
    first, last = PLACES.screen[0], PLACES.end
    before = rng.integers(0, 256, (last - first, node.lanes)).astype(np.uint8)
    node.write_memory(first, before)
    builder = Builder("some")
    library = LIBRARIES["tuned"]
    library.include(builder, PLACES.scratch)
    builder.emit("EMC_SetEnab")
    builder.emit("EMC_TreeLTZero_Li", 0, 2, 1, 0, -50)
    emit_projection(builder, PLACES, projection, library)
    node.run(builder.build())
    enabled = node.coordinates()[0] < 50
    assert enabled.sum() == 50 * 64
    after = node.read_memory(first, last - first)
    assert np.array_equal(after[:, ~enabled], before[:, ~enabled])
    full, _, _ = project(points, projection)
    assert np.array_equal(screen_of(node)[enabled], full[enabled])


@pytest.mark.parametrize(
    ("library", "multiply", "add", "divide"),
    [("tuned", 194, 282, 445), ("tuned-finite", 167, 263, 408), ("plain", 255, 390, 740), ("generic", 368, 581, 1208)],
)
def test_the_cycles_by_hand(library: str, multiply: int, add: int, divide: int) -> None:
    points = cloud(count=TINY.lanes)
    _, _, run = project(points, looking(points)[1], library, TINY)
    assert run.by_stage == {
        "matrix": 1 + 12 * 4 + 9 * multiply + 9 * add,  # enable all; constants byte by byte
        "division": 4 + divide + 2 * multiply,
        "viewport": 4 * 4 + multiply + 3 * add,
        "fixed point": 4 + 2 * (add + 6),
    }
    assert run.cycles == sum(run.by_stage.values())
    shown = _shown(f"`{library}`")
    assert shown is None or shown == [*run.by_stage.values(), run.cycles]


def _shown(heading: str) -> list[int] | None:
    """Return the column of the document's table with a heading, or None."""
    lines = table_after("docs/pages/emc-words.md", "read by: tests/rendering/test_projection.py")
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]
    if heading not in rows[0]:
        return None
    column = rows[0].index(heading)
    return [int(row[column].replace(",", "")) for row in rows[2:]]


@pytest.mark.parametrize("rows", range(3, 13))
@pytest.mark.parametrize("reordered", [False, True])
def test_results_of_the_tessellation_are_left_alone(rows: int, *, reordered: bool) -> None:
    for columns in range(3, 13):
        memory = memory_map(rows, columns, reordered=reordered)
        places = Places.after(memory)
        points_and_normals = [memory[f"{axis}_{what}"] for axis in "xyz" for what in ("point", "normal")]
        used = [*places.screen, *places.fixed, places.constant, places.product]
        assert sorted(used) == list(range(used[0], used[0] + 28, 4)) and places.scratch == used[-1] + 4
        assert all(use.end <= used[0] for use in points_and_normals)
        assert places.end <= THESIS.array.composition_start


def sphere_like(rows: int, columns: int, seed: int) -> Patch:
    """Return a bulging net of that size."""
    rng = np.random.default_rng(seed)
    u, v = np.meshgrid(np.linspace(-1, 1, rows), np.linspace(-1, 1, columns), indexing="ij")
    points = np.stack([u, v, 1 - u * u - v * v], axis=-1) + rng.uniform(-0.1, 0.1, (rows, columns, 3))
    return Patch(points + 2.0 * seed)


METHODS = [
    pytest.param(Method(), id="thesis"),
    pytest.param(Method(schedule="shared-columns", cache="explicit"), id="shared columns, and kept in texture memory"),
    pytest.param(Method(results="gp-coarse"), id="results during the next pass"),
    pytest.param(Method(control_points="lee"), id="lee", marks=pytest.mark.slow),
    pytest.param(Method(mantissa_bytes=5), id="long", marks=pytest.mark.slow),
    pytest.param(Method(cache="base"), id="kept in texture memory", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("method", METHODS)
def test_every_way_of_tessellating_ends_with_points_on_the_screen(method: Method) -> None:
    patches = [sphere_like(3, 3, 0), sphere_like(3, 4, 1), sphere_like(3, 3, 2)]
    tessellation, projected = project_samples(patches, [4, 3, 6], VIEW, method=method, config=TINY)
    points = np.concatenate([patch.points.reshape(-1, 3) for patch in tessellation.patches])
    assert np.array_equal(projected.points, points)
    assert len(projected.runs) == len(tessellation.runs) == 2
    assert projected.cycles == sum(projected.cycles_by_stage.values()) == 2 * projected.runs[0].cycles
    off = np.abs(projected.screen - projected.standpoint.project(points.astype(np.float64)))
    assert (off <= projected.projection.error_bounds(points)).all()
    assert projected.difference.share == pytest.approx((off / projected.projection.error_bounds(points)).max())
    assert ((projected.screen[:, 2] >= 0) & (projected.screen[:, 2] <= 1)).all()


def test_a_projection_changes_nothing_in_the_tessellation() -> None:
    from tessellation import tessellate

    patches = [sphere_like(3, 3, 0), sphere_like(3, 4, 1)]
    alone = tessellate(patches, 4, config=TINY)
    together, _ = project_samples(patches, 4, VIEW, config=TINY)
    assert [run.cycles for run in alone.runs] == [run.cycles for run in together.runs]
    for one, other in zip(alone.patches, together.patches, strict=True):
        assert np.array_equal(one.points, other.points) and np.array_equal(one.normals, other.normals)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["plain", "tuned", "generic"])
@pytest.mark.parametrize("counts", [(3, 3), (6, 9), (12, 12)])
def test_every_degree(counts: tuple[int, int], library: str) -> None:
    _, projected = project_samples([sphere_like(*counts, 1)], 8, VIEW, library=library)
    assert projected.difference.share <= 1


def test_the_picture_of_projected_samples_is_that_of_the_reference() -> None:
    view = View(width=150, height=100)
    tessellation, projected = project_samples(load("teapot").patches, 4, view)
    mesh = tessellation.mesh(weld=True)
    assert np.array_equal(projected.points[mesh.samples], mesh.points)
    triangles = lit_triangles(
        mesh.points, mesh.normals, mesh.triangles, view,
        standpoint=projected.standpoint, screen=projected.vertices[mesh.samples],
    )  # fmt: skip
    assert np.array_equal(projected.vertices[:, :2] * 256, projected.fixed)
    assert render(triangles, 150, 100).picture.equals(draw(triangles, 150, 100))
    # The host's own projection has the same triangles but for corners that fall on another 1/256 pixel.
    host = lit_triangles(mesh.points, mesh.normals, mesh.triangles, view)
    assert np.abs(host.corners - triangles.corners).max() <= 1
    assert (host.corners != triangles.corners).mean() < 0.01


def test_what_is_too_far_out_is_refused() -> None:
    tessellation, projected = project_samples([sphere_like(3, 3, 0)], 2, VIEW, config=TINY)
    far = projected._replace(screen=projected.screen + np.float32([2 * REACH, 0, 0]))
    corners = tessellation.mesh().triangles
    vertices = far.vertices
    with pytest.raises(InputError, match="out of range"):
        snap(vertices[corners, :2], vertices[corners, 2], np.zeros((len(corners), 3, 3), np.uint8))


@pytest.mark.parametrize(
    ("scale", "message"), [(0, "nothing to draw"), (1e30, "cannot be projected"), (1e-30, "cannot be projected")]
)
def test_patches_that_cannot_be_projected_are_refused(scale: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        project_samples([Patch(sphere_like(3, 3, 0).points * scale)], 2, VIEW)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("PIL")
    out = str(tmp_path / "o.png")
    words = ["render", "enneper", "--samples", "4", "--size", "96x64", "-o", out]
    assert main([*words, "--projection", "emc", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equals_reference"]
    assert found["projection"]["cycles"] == sum(found["projection"]["stages"].values()) == 6806
    assert 0 < found["projection"]["largest_difference"]["share_of_bound"] <= 1
    assert main([*words, "--projection", "emc", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "6,806 cycles " in shown and "camera" not in shown
    assert main(["render", "mesh.obj", "-o", out, "--projection", "emc"]) == 2


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("blend", [Blend.REPLACE, Blend.ADD])
def test_what_the_program_of_pes_does_not_draw_is_refused(samples: int, blend: Blend) -> None:
    triangle = snap(
        np.array([[[0.0, 0.0], [8.0, 0.0], [8.0, 8.0]]]), np.full((1, 3), 0.5), np.zeros((1, 3, 3), np.uint8)
    )
    picture = Frame(8, 8, (0, 0, 0), (Draw("glass", triangle, State(blend=blend)),), samples)
    wanted = [["glass: blending"], []][blend is Blend.REPLACE] + [["4 samples a pixel"], []][samples == 1]
    if not wanted:
        assert len(plain_triangles(picture)) == 1
        return
    with pytest.raises(InputError, match=f"not drawn on PixelFlow here: {'.*'.join(wanted)}"):
        plain_triangles(picture)
