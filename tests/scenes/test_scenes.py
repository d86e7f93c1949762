"""Does a scene file become the frame that it says, and is a bad one refused with every fault?"""

import re
from pathlib import Path

import numpy as np
import pytest

from pixelflow.simd.drawing import Blend, State, covered, draw_frame, snap
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import AUTO, choose
from tessellation.picture import View
from tessellation.picture.models import read_model, shipped_model
from tessellation.scenes import (
    MESHES,
    SCENES,
    Body,
    SceneSource,
    draws_of,
    layers,
    load_scene,
    parse_scene,
    read_scene,
    sized,
    volumes,
)

trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")

README = Path(__file__).parents[2] / "tessellation" / "scenes" / "README.md"
SQUARE = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], float)
CORNERS = np.array([[0, 1, 2], [0, 2, 3]])


def body(points: np.ndarray = SQUARE, corners: np.ndarray = CORNERS, **rest) -> Body:
    return Body("square", points, np.broadcast_to([0.0, -1.0, 0.0], points.shape), corners, **rest)


@pytest.mark.parametrize("name", sorted(SCENES))
def test_every_scene_that_ships_is_in_the_picture_with_the_triangles_that_are_told(name: str) -> None:
    notes: list[str] = []
    frame = load_scene(name, SceneSource(size=(64, 48), engine=choose(AUTO).engine, note=notes.append)).frame
    assert not notes
    told = re.search(rf"`{name}` \| ([\d,]+) \|", README.read_text("utf-8"))
    count = sum(len(draw.triangles) + draw.triangles.dropped for draw in frame.draws)
    assert count == int(told.group(1).replace(",", ""))
    corners = np.concatenate([draw.triangles.corners for draw in frame.draws])
    inside = (corners >= 0).all() and (corners[..., 0] <= 64 * 256).all() and (corners[..., 1] <= 48 * 256).all()
    view = read_scene(SCENES[name]).view
    assert inside == (view.zoom == 1 and view.eye is None)


def test_zoom_magnifies_around_the_middle() -> None:
    near, far = (
        draws_of([body()], View(azimuth=-90, elevation=0, width=80, height=60, zoom=zoom))[0].triangles.corners
        for zoom in (3.0, 1.0)
    )
    middle = np.array([40, 30]) * 256
    assert np.abs((near - middle) - 3 * (far - middle)).max() <= 3  # each corner is rounded by itself


@pytest.mark.parametrize("name", sorted(MESHES))
def test_every_mesh_that_ships_is_whole(name: str) -> None:
    mesh = trimesh.load(MESHES[name], process=False, force="mesh")
    counts = {"airplane": 2452, "ant": 912, "bunny": 3674, "floor": 2, "nut": 1046}
    assert len(mesh.faces) == counts[name]
    assert np.isfinite(mesh.vertices).all()


@pytest.mark.parametrize("name", sorted(MESHES))
def test_a_mesh_that_ships_is_the_same_without_trimesh(name: str) -> None:
    found, expected = shipped_model(MESHES[name]), read_model(str(MESHES[name]))
    for what in ("points", "normals", "corners"):
        assert np.array_equal(getattr(found, what), getattr(expected, what))
        assert getattr(found, what).dtype == getattr(expected, what).dtype


def test_a_placed_body_stands_on_its_foot_at_its_size() -> None:
    placed = body(SQUARE * 3 + 7).placed((10.0, 20.0, 5.0), 2.0, 90.0)
    low, high = placed.points.min(axis=0), placed.points.max(axis=0)
    assert high[2] - low[2] == pytest.approx(2.0) and low[2] == pytest.approx(5.0)
    assert (low + high)[:2] / 2 == pytest.approx([10.0, 20.0])
    assert placed.normals[0] == pytest.approx([1.0, 0.0, 0.0])  # -y turned by 90 degrees around z


def test_nearer_bodies_hide_farther_ones_whatever_their_order() -> None:
    near = body(SQUARE * 2 + [-0.5, -3, -0.5])
    view = View(azimuth=-90, elevation=0, width=40, height=30)
    for bodies in ([near, body()], [body(), near]):
        first, second = draws_of(bodies, view)
        ahead, behind = (first, second) if bodies[0] is near else (second, first)
        assert ahead.triangles.depths.max() < behind.triangles.depths.min()


def test_equilateral_triangles_have_the_area_that_was_asked() -> None:
    found = sized(800, 600, count=300, pixels=50.0, seed=3).triangles
    assert found.doubled_areas / 2 / 65536 == pytest.approx(50.0, rel=0.01)
    assert np.array_equal(sized(800, 600, count=300, pixels=50.0, seed=3).triangles.corners, found.corners)


def test_layers_cover_every_pixel_as_often_as_there_are_layers() -> None:
    assert (covered(layers(50, 40, depth=5, columns=3, rows=2).triangles, 50, 40) == 5).all()


def test_the_depths_of_layers_are_a_permutation_in_every_cell() -> None:
    found = layers(60, 40, depth=4, columns=3, rows=2, seed=8).triangles
    by_layer = found.depths[:, 0].reshape(4, 6, 2)
    assert (by_layer[..., 0] == by_layer[..., 1]).all()
    assert all(len(set(cell)) == 4 for cell in by_layer[..., 0].T.tolist())


def test_shadow_volumes_darken_what_lies_within_them_and_only_that() -> None:
    from pixelflow.simd.drawing import Draw, Frame

    width, height = 64, 48
    corners = np.array([[[0, 0], [width, 0], [width, height]], [[0, 0], [width, height], [0, height]]], float)
    wall = Draw("wall", snap(corners, np.full((2, 3), 0.5), np.full((2, 3, 3), 200, np.uint8)))
    parts = volumes(width, height, count=6, size=20, seed=4)
    picture = draw_frame(Frame(width, height, (0, 0, 0), (wall, *parts)))
    far, near = (part.triangles for part in parts[:2])
    middle = wall.triangles.depths[0, 0]
    inside = covered(far.part(far.depths[:, 0] > middle), width, height)
    inside -= covered(near.part(near.depths[:, 0] > middle), width, height)
    assert inside.any() and not inside.all()
    assert ((picture.colours[..., 0] == 100) == (inside != 0)).all()  # (0 * 128 + 200 * 127) / 255 = 99.6


def test_copies_stand_in_a_grid_and_turn() -> None:
    text = '[[body]]\nmesh = "nut"\nplace = [1, 2, 3]\ngrid = [2, 2]\nspacing = [10, 20]\nturn = 5\nturns = 90\n'
    places = parse_scene(text).bodies[0].places
    assert places == (((1, 2, 3), 5), ((11, 2, 3), 95), ((1, 22, 3), 185), ((11, 22, 3), 275))


def test_a_sorted_body_writes_no_depth(tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text('samples = 4\n[[body]]\nmesh = "floor"\n[[body]]\nmesh = "nut"\nblend = "sorted"\nalpha = 9\n')
    frame = load_scene(str(path)).frame
    assert frame.samples == 4
    assert frame.draws[0].state == State()
    assert frame.draws[1].state == State(depth_write=False, blend=Blend.SORTED, alpha=9)


GLASS = "[[body]]\nmesh='nut'\nblend='sorted'\n"
LAYERS = "[[generated]]\nfamily='layers'\n"
AT = "[[camera.at]]\n"
NUT = "[[body]]\nmesh='nut'"
STANDS = "eye = [0, 0, 0]\nlook_at = [0, 1, 0]\n"
ONE = f"{AT}frame = 2\nzoom = 2\n"
BAD = [
    ("size = [0, 10]\n[[body]]\nmesh='nut'", "size is [0, 10]", "2 of a whole number"),
    ("sizes = [1, 1]\n[[body]]\nmesh='nut'", "sizes is not a key", "did you mean size?"),
    (f"{NUT}\nposition=[1,1,1]", "body 1: position is not a key", "did you mean place?"),
    (f"{NUT}\nscale=2", "body 1: scale is not a key", "did you mean size?"),
    (f"{NUT}\ncolor='red'", "body 1: color is not a key", "did you mean colour?"),
    (f"[camera]\nposition=[1,1,1]\n{NUT}", "camera.position is not a key", "allowed: azimuth"),
    (f"background = [0, 256, 0]\n{NUT}", "background is [0, 256, 0]", "or a name: black"),
    ("samples = 2\n[[body]]\nmesh='nut'", "samples is 2", "1 or 4"),
    ("samples = true\n[[body]]\nmesh='nut'", "samples is True", "1 or 4"),
    ("[camera]\nazimut = 3\n[[body]]\nmesh='nut'", "camera.azimut", "did you mean azimuth?"),
    ("camera = 4\n[[body]]\nmesh='nut'", "camera is not a table", "[camera"),
    ("", "nothing to draw", "[[body]]"),
    ("[[body]]\nplace=[0,0,0]", "body 1 has 0 sources", "mesh or patches"),
    ("[[body]]\nmesh='nut'\npatches='teapot'", "body 1 has 2 sources", "mesh or patches"),
    ("[[body]]\nmesh='nut'\nplace=[nan,0,0]", "body 1: place", "3 of a number"),
    ("[[body]]\nmesh='nut'\nblend='ove'", "body 1: blend is ove", "one of replace, over"),
    ("[[body]]\nmesh='nut'\nsamples=4", "samples with a mesh", "already"),
    ("[[body]]\nmesh='nut'\ngrid=[1000,1000]", "1000000 copies", "up to"),
    ("[[generated]]\nfamily='size'\n", "family is size", "did you mean sized?"),
    ("[[generated]]\nfamily=[1]\n", "generated 1: family is [1]", "allowed: sized, layers, volumes"),
    ("[[generated]]\nfamily='sized'\ncount=3", "generated 1: sized needs pixels", ""),
    ("[[generated]]\nfamily='sized'", "generated 1: sized needs count and pixels", ""),
    ("[[generated]]\nfamily='layers'\ndepth=0", "depth is 0", "from 1 to 256"),
    ("[[body]]\npatches='teapot'\ntolerance=0", "body 1: tolerance is 0", "from 0.00390625 to 1000"),
    ("[[body]]\npatches='teapot'\ntolerance=1\nsamples=4", "body 1: samples and a tolerance", "leave one of them out"),
    ("[[body]]\npatches='teapot'\ncounts='any'", "body 1: counts without tolerance", "give it tolerance"),
    ("[[body]]\npatches='teapot'\ntolerance=1\ncounts='all'", "body 1: counts is all", "one of any, powers"),
    ("[[body]]\npatches='teapot'\none_sided=true", "body 1: one_sided without tolerance", "leave one_sided out"),
    ("[[body]]\npatches='teapot'\ntolerance=1\ntexture='checker'", "body 1: a texture on patches", "give it samples"),
    ("[[body]]\nmesh='nut'\ntolerance=1", "body 1: tolerance with a mesh", "already"),
    ("frames = 3\n[[body]]\nmesh='nut'", "frames of a camera that does not move", "[[camera.at]]"),
    ("frames = 1\n[[body]]\nmesh='nut'", "frames is 1", "from 2 to 10000"),
    (f"{AT}frame = 1\nzoom = 2\n[[body]]\nmesh='nut'", "[[camera.at]] without frames", "frames = 60"),
    (f"frames = 3\n{AT}zoom = 2\n[[body]]\nmesh='nut'", "camera.at 1 has no frame", "say when"),
    (f"frames = 3\n{AT}frame = 2\n[[body]]\nmesh='nut'", "camera.at 1 says nothing", "allowed: azimuth"),
    (f"frames = 3\n{AT}frame = 3\nzoom = 2\n[[body]]\nmesh='nut'", "camera.at 1: frame is 3", "from 0 to 2"),
    (f"frames = 3\n{AT}frame = 2\nzom = 2\n[[body]]\nmesh='nut'", "camera.at 1: zom", "did you mean zoom?"),
    (f"frames = 3\n{AT * 2}frame = 2\n[[body]]\nmesh='nut'", "camera.at 1 has no frame", "say when"),
    (f"frames = 3\n{ONE}{ONE}[[body]]\nmesh='nut'", "camera.at 2: frame 2 a second time", "join the two"),
    ("frames = 3\n[camera]\nat = 4\n[[body]]\nmesh='nut'", "camera.at is not a table", "[[camera.at]]"),
    (f"[camera]\neye = [1, 2]\n{NUT}", "camera.eye is [1, 2]", "3 of a number"),
    (f"[camera]\neye = [1, 2, 2e6]\n{NUT}", "camera.eye is", "from -1e+06 to 1e+06"),
    (f"[camera]\neye = [1, 2, 3]\n{NUT}", "camera: eye without look_at", "middle of the picture"),
    (f"[camera]\nlook_at = [1, 2, 3]\n{NUT}", "camera: look_at without eye", "the camera's place"),
    (f"[camera]\nelevation = 3\n{STANDS}{NUT}", "camera: elevation with eye", "leave one of the two out"),
    (f"[camera]\nnear = 3\n{NUT}", "camera: near without eye", "steps back"),
    (f"[camera]\nnear = 0\n{STANDS}{NUT}", "camera.near is 0", "from 1e-06"),
    (f"[camera]\neye = [1, 2, 3]\nlook_at = [1, 2, 3]\n{NUT}", "camera: eye is look_at", "another place"),
    (f"[camera]\nat = [1, 2, 3]\n{NUT}", "camera.at is not a table", "where the camera looks is look_at"),
    (f"frames = 3\n{AT}frame = 2\neye = [1, 2, 3]\n{NUT}", "camera.at 1: eye of a camera that steps back", "look_at"),
    (f"frames = 3\n[camera]\n{STANDS}{AT}frame = 2\nazimuth = 1\n{NUT}", "azimuth of a camera that has", "move that"),
    (f"frames = 3\n[camera]\n{STANDS}{AT}frame = 2\nnear = 1\n{NUT}", "camera.at 1: near is not a key", "allowed"),
    (f"frames = 5\n[camera]\n{STANDS}{AT}frame = 4\neye = [0, 2, 0]\n{NUT}", "at frame 2 the eye has come to", "way"),
    ("size = [", "not TOML", ""),
    ("[[body]]\nmesh='nutt'", "body 1: mesh is nutt", "did you mean nut?"),
    ("[[body]]\nmesh='teapot'", "body 1: mesh is teapot", 'write patches = "teapot"'),
    ("[[body]]\npatches='bunny'", "body 1: patches is bunny", 'write mesh = "bunny"'),
    ("[[body]]\npatches='x'", "body 1: patches is x", "known: teapot"),
    ("[[body]]\nmesh='nut'\nalpha=9", "body 1: alpha with blend replace", "over, add and sorted"),
    ("[[body]]\nmesh='nut'\nalpha=9\nblend='multiply'", "body 1: alpha with blend multiply", "over, add and sorted"),
    ("[[body]]\nmesh='nut'\nrepeats=2", "body 1: repeats without texture", "leave repeats out"),
    ("[[body]]\nmesh='nut'\ncutout=2", "body 1: cutout without texture", "leave cutout out"),
    ("[[body]]\nmesh='nut'\nspacing=[2,2]", "body 1: spacing without grid", "leave spacing out"),
    ("[[body]]\nmesh='nut'\nturns=2", "body 1: turns without grid", "leave turns out"),
    ("[[body]]\nmesh='nut'\nblend='sorted'\ndepth_write=true", "body 1: is sorted, and so", "leave depth_write"),
    ("[[body]]\nmesh='nut'\nblend='sorted'\ncolour_write=false", "body 1: is sorted, and so", "leave depth_write"),
    (f"{GLASS}[[body]]\nmesh='floor'", "body 2 follows a sorted body", "nut is sorted"),
    (f"{GLASS}[[generated]]\nfamily='layers'\ndepth=1", "[[generated]] with a sorted body: nut", "not sorted"),
    (f"{LAYERS}depth=256\ncolumns=256\nrows=256", "33554432 generated triangles", "up to 4000000"),
    (f"{LAYERS}depth=256\ncolumns=256\nrows=16\n" * 2, "4194304 generated triangles", "up to 4000000"),
]


@pytest.mark.parametrize("text, message, hint", BAD, ids=[message for _, message, _ in BAD])
def test_a_bad_scene_file_is_refused_with_the_place_and_what_is_allowed(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_scene(text, "bad.toml")
    told = str(caught.value)
    assert message in told and hint in told and "bad.toml" in told


def test_every_fault_of_a_scene_file_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        parse_scene("samples = 3\n[[body]]\nmesh='nut'\nflat = 1\n[[generated]]\nfamily='x'\n", "bad.toml")
    assert len(caught.value.faults) == 3


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean bunny"):
        load_scene("buny")
    with pytest.raises(InputError, match="no such file"):
        load_scene("nowhere.toml")
    with pytest.raises(InputError, match="a scene file determines"):
        load_scene("herd", SceneSource(flat=True))


NOWHERE = np.array([[0, 1, 4]])
WRONG = [
    (body(np.where(SQUARE == 1, np.nan, SQUARE)), "not a finite point"),
    (body(np.where(SQUARE == 1, np.inf, SQUARE)), "not a finite point"),
    (body(corners=NOWHERE), "triangle 1 names a vertex that does not exist; there are 4"),
    (body(corners=-CORNERS - 1), "names a vertex that does not exist"),
    (body(corners=np.zeros((0, 3), int)), "there is nothing to draw"),
    (body(np.zeros((4, 3))), "nothing to draw"),
]


@pytest.mark.parametrize("wrong, message", WRONG, ids=[f"{k} {message}" for k, (_, message) in enumerate(WRONG)])
def test_a_bad_body_is_refused_with_its_name(wrong: Body, message: str) -> None:
    with pytest.raises(InputError, match=message):
        draws_of([wrong], View(width=32, height=32))


def test_triangles_without_an_area_are_dropped_and_counted() -> None:
    (draw,) = draws_of([body(corners=np.array([[0, 1, 2], [0, 0, 1], [2, 2, 2]]))], View(width=32, height=32))
    assert len(draw.triangles) == 1 and draw.triangles.dropped == 2


@pytest.mark.parametrize("bytes_of", [(0, 255, 255), (1, 2, 255), (128, 64, 200)])
def test_a_background_has_the_forms_of_a_colour(bytes_of: tuple[int, int, int]) -> None:
    def background(value: object) -> tuple[int, int, int]:
        return parse_scene(f"background = {value}\n{NUT}").background

    linear = [(each / 255) ** 2.2 for each in bytes_of]
    assert background(list(bytes_of)) == background(linear) == bytes_of
    assert background("'navy'") == (25, 35, 110) and background([1, 1, 1]) == background("'white'") == (255, 255, 255)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("mesh='nut'", "mesh='bunny'", True),
        ("mesh='nut'\nplace=[1, 0, 0]", "mesh='bunny'\nplace=[1, 0, 0]", True),
        ("mesh='nut'\ngrid=[2, 1]", "mesh='bunny'\nplace=[1, 0, 0]", True),
        ("mesh='nut'", "mesh='bunny'\nplace=[0, 0, 2]", False),
        ("mesh='floor'", "mesh='bunny'", False),
    ],
)
def test_bodies_that_lie_in_one_another_are_noted_once(first: str, second: str, told: bool, tmp_path: Path) -> None:
    path, notes = tmp_path / "own.toml", list[str]()
    path.write_text(f"[[body]]\n{first}\n[[body]]\n{second}\n")
    load_scene(str(path), SceneSource(note=notes.append))
    assert len(notes) == told and all("nut" in note and "bunny" in note for note in notes)


def test_colours_have_three_forms_and_faults_have_lines() -> None:
    def colour(text: str) -> list[float]:
        (body,) = parse_scene(f'[[body]]\nmesh = "nut"\ncolour = {text}\n').bodies
        return list(body.colour)

    assert colour("[0, 1, 1]") == [0, 1, 1] and colour("[0.5, 0.25, 1]") == [0.5, 0.25, 1]
    assert colour("[0, 255, 255]") == [0, 1, 1] and colour('"black"') == [0, 0, 0]
    text = '[[body]]\nmesh = "nut"\n[[body]]\nmesh = "nut"\ncolour = [0, 0, 256]\n[[camera.at]]\nframe = "x"\n'
    with pytest.raises(InputError) as refused:
        parse_scene(f"frames = 2\n{text}", "s.toml")
    lines = {fault.message.split(" is ")[0]: fault.place.line for fault in refused.value.faults if fault.place}
    assert lines == {"camera.at 1: frame": 8, "body 2: colour": 6}
