"""Does what a scene file says of a body's look, its texture and the camera reach the frame?"""

import struct
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest

from pixelflow.simd.drawing import NEAREST, TEXEL, Blend, DepthTest, Frame, State, Texture, draw_frame
from pixelflow.simd.errors import InputError
from tessellation.picture import View
from tessellation.scenes import BACKGROUND, SIZE, Body, SceneSource, draws_of, load_scene, parse_scene

pytest.importorskip("trimesh", reason="trimesh is not installed")

WALL = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nf 1 2 3\nf 1 3 4\n"
TENT = "v 0 0 0\nv 1 0.5 0\nv 1 0.5 1\nv 0 0 1\nv -1 0.5 0\nv -1 0.5 1\nf 1 2 3\nf 1 3 4\nf 5 1 4\nf 5 4 6\n"
FRONT = "[camera]\nazimuth = -90\nelevation = 0\n"
BODY = '[[body]]\nmesh = "models/wall.obj"\n'


@pytest.fixture
def load(tmp_path: Path):
    """Load the text of a scene file that has models/wall.obj and models/tent.obj beside it."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "wall.obj").write_text(WALL)
    (tmp_path / "models" / "tent.obj").write_text(TENT)

    def loaded(text: str, size: tuple[int, int] | None = None) -> Frame:
        (tmp_path / "scene.toml").write_text(text)
        return load_scene(str(tmp_path / "scene.toml"), SceneSource(size=size)).frame

    return loaded


@pytest.fixture
def textured(load, tmp_path: Path):
    """Return the texels of a texture that is read from these bytes, or from what Pillow saves."""

    def texels(content) -> np.ndarray:
        if isinstance(content, bytes):
            (tmp_path / "t.png").write_bytes(content)
        else:
            content.save(tmp_path / "t.png")
        return load(BODY + 'texture = "t.png"\n').draws[0].state.texture.texels

    return texels


def refused(make) -> str:
    with pytest.raises(InputError) as caught:
        make()
    return str(caught.value)


def test_all_files_that_are_missing_or_damaged_are_told_at_once(load, tmp_path: Path, monkeypatch) -> None:
    from tessellation.scenes import scene_load as loading

    monkeypatch.setattr(loading, "kept_model", lambda *_, **__: pytest.fail("it was tessellated before"))
    (tmp_path / "models" / "broken.bpt").write_text("one\n")
    text = '[[body]]\npatches = "enneper"\n[[body]]\nmesh = "none.obj"\ntexture = "no.png"\n'
    text += '[[body]]\npatches = "models/broken.bpt"\n' + 2 * '[[body]]\nmesh = "none.ply"\n' + BODY
    told = refused(lambda: load(text))
    files = ("none.obj: error: no such file", "no.png: error: no such file", "broken.bpt:1")
    assert all(file in told for file in files) and told.count("none.ply") == 1
    assert [told.index(file) for file in files] == sorted(told.index(file) for file in files)


def test_paths_start_from_the_folder_of_the_scene_file(load, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(load(BODY).draws[0].triangles) == 2
    missing = str(tmp_path / "models" / "none.obj")
    assert f"{missing}: error: " in refused(lambda: load('[[body]]\nmesh = "models/none.obj"\n'))


def test_a_frame_is_what_the_file_says_or_else_the_defaults(load) -> None:
    plain = load(BODY)
    assert (plain.width, plain.height, plain.background, plain.samples) == (*SIZE, BACKGROUND, 1)
    assert (SIZE, BACKGROUND) == ((640, 480), (222, 224, 230))
    told = load("size = [30, 20]\nbackground = [1, 2, 3]\nsamples = 4\n" + BODY)
    assert (told.width, told.height, told.background, told.samples) == (30, 20, (1, 2, 3), 4)
    assert (load("size = [30, 20]\n" + BODY, (50, 40)).width, told.draws[0].name) == (50, "wall")


def test_what_follows_perspective_is_a_key_of_the_file(load) -> None:
    keys = "[camera]\nazimuth = -60\nelevation = 20\nfield_of_view = 50\n"
    told = {word: load(f'interpolation = "{word}"\n{keys}{BODY}') for word in ("perspective", "affine")}
    near = told["perspective"].draws[0].triangles.nearness
    assert near is not None and near.max() == NEAREST - 1 and near.min() < NEAREST * 3 // 4
    assert told["affine"].draws[0].triangles.nearness is None
    assert np.array_equal(load(keys + BODY).draws[0].triangles.nearness, near)
    # A wall that is looked at straight is equally far everywhere.
    assert load(FRONT + BODY).draws[0].triangles.level.all()
    said = refused(lambda: load(f'interpolation = "linear"\n{BODY}'))
    assert "perspective, affine" in said
    said = refused(lambda: load('interpolation = "affine"\n[[generated]]\nfamily = "layers"\ndepth = 2\n'))
    assert "[[body]]" in said


def test_mipmaps_are_a_key_of_a_texture(load) -> None:
    texture = load(BODY + 'texture = "checker"\nmipmaps = true\n').draws[0].state.texture
    assert texture.levels[-1].tolist() == [[[173, 183, 203, 255]]]  # means of 255 and 90, 110, 150, halves upwards
    for told in ("", "mipmaps = false\n"):
        assert len(load(f'{BODY}texture = "checker"\n{told}').draws[0].state.texture.levels) == 1
    assert "mipmaps" in refused(lambda: load(BODY + "mipmaps = true\n"))


def test_the_camera_stands_where_the_file_says(load) -> None:
    keys = "[camera]\nazimuth = -30\nelevation = 50\nfield_of_view = 70\n"
    view = View(-30, 50, 70, 90, 80)
    assert parse_scene("size = [90, 80]\n" + keys + BODY).view == view
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], float)
    corners = np.array([[0, 1, 2], [0, 2, 3]])
    (expected,) = draws_of([Body("wall", points, np.zeros((4, 3)), corners)], view)
    found = load("size = [90, 80]\n" + keys + BODY + "place = [0.5, 0, 0]\n").draws[0].triangles
    assert np.array_equal(found.corners, expected.triangles.corners)


def test_the_colour_of_a_wall_by_hand(load) -> None:
    # Light 0.10 + 0.85 k + 0.20 f on the normal (0, -1, 0): k = 0.55 / |(0.50, 0.55, 1.05)|, f likewise.
    light = 0.10 + 0.85 * 0.55 / 1.655**0.5 + 0.20 * 0.25 / 1.185**0.5
    expected = [round(255 * (share * light) ** (1 / 2.2)) for share in (1.0, 0.5, 0.0)]
    for flat in ("true", "false"):
        found = load(f"{FRONT}{BODY}colour = [1.0, 0.5, 0.0]\nflat = {flat}\n").draws[0].triangles.colours
        assert (found == expected).all()


def test_a_flat_body_has_one_colour_a_triangle(load) -> None:
    smooth = load(FRONT + '[[body]]\nmesh = "models/tent.obj"\n').draws[0].triangles
    flat = load(FRONT + '[[body]]\nmesh = "models/tent.obj"\nflat = true\n').draws[0].triangles
    assert not smooth.flat.any() and flat.flat.all()
    assert len(np.unique(flat.colours[:, 0], axis=0)) == 2  # one for each side


@pytest.mark.parametrize("blend", list(Blend))
def test_only_what_replaces_writes_depth_unless_it_is_told(load, blend: Blend) -> None:
    text = f'{BODY}blend = "{blend.name.lower()}"\n'
    assert load(text).draws[0].state == State(blend=blend, depth_write=blend is Blend.REPLACE)
    if blend is not Blend.SORTED:
        for told in (True, False):
            assert load(f"{text}depth_write = {str(told).lower()}\n").draws[0].state.depth_write is told


def test_every_state_reaches_its_draw(load) -> None:
    text = f'{BODY}blend = "over"\nalpha = 7\ntexture = "checker"\ncutout = 9\ndepth_test = "always"\n'
    state = load(text + "colour_write = false\n").draws[0].state
    assert (state.blend, state.alpha, state.cutout) == (Blend.OVER, 7, 9)
    assert (state.depth_test, state.colour_write) == (DepthTest.ALWAYS, False)


def test_the_checker_has_fields_of_eight_texels(load) -> None:
    texels = load(BODY + 'texture = "checker"\n').draws[0].state.texture.texels
    assert texels.shape == (64, 64, 4)
    light, dark = [255, 255, 255, 255], [90, 110, 150, 255]
    for row, column, expected in ((0, 0, light), (7, 7, light), (0, 8, dark), (8, 0, dark), (8, 8, light)):
        assert texels[row, column].tolist() == expected
    assert (texels[..., 0] == 90).sum() == 64 * 64 // 2


def wall(texels: np.ndarray, repeats: float, wide: float = 1.0) -> Body:
    points = np.array([[0, 0, 0], [wide, 0, 0], [wide, 0, 1], [0, 0, 1]])
    state = State(texture=Texture(texels))
    corners = np.array([[0, 1, 2], [0, 2, 3]])
    return Body("wall", points, np.tile([0.0, -1, 0], (4, 1)), corners, state=state, repeats=repeats)


def test_a_texture_lies_as_often_over_the_longer_side_as_it_repeats() -> None:
    view = View(azimuth=-90, elevation=0, width=64, height=48)
    for wide, expected_u in ((1.0, 3 * 8), (0.5, 3 * 8 / 2)):  # 8 texels wide, 4 high
        (draw,) = draws_of([wall(np.zeros((4, 8, 4), np.uint8), 3.0, wide)], view)
        corners, uv = draw.triangles.corners.reshape(-1, 2), draw.triangles.coordinates.reshape(-1, 2) / TEXEL
        left, bottom = corners[:, 0] == corners[:, 0].min(), corners[:, 1] == corners[:, 1].max()
        assert np.array_equal(uv, np.stack([np.where(left, 0, expected_u), np.where(bottom, 0, -3 * 4)], axis=-1))
    assert load_scene("glass", SceneSource(size=(32, 24))).frame.draws[0].triangles.coordinates.max() == 2 * 64 * TEXEL


def test_the_first_row_of_a_picture_is_at_the_top() -> None:
    texels = np.full((2, 2, 4), 255, np.uint8)
    texels[1, :, :3] = 0
    (draw,) = draws_of([wall(texels, 1.0)], View(azimuth=-90, elevation=0, width=40, height=40))
    column = draw_frame(Frame(40, 40, (0, 0, 0), (draw,))).colours[:, 20, 0].astype(int)
    quarter, three = column[12], column[28]  # the wall is from row 4 to 36: a quarter down it, three quarters down it
    assert quarter > 100 and three < 20


def test_too_many_repeats_are_refused_with_the_body(load, tmp_path: Path) -> None:
    Image = pytest.importorskip("PIL.Image")
    Image.new("RGB", (256, 4)).save(tmp_path / "t.png")
    assert load(BODY + 'texture = "t.png"\nrepeats = 60\n').draws[0].triangles.coordinates.max() == 60 * 256 * TEXEL
    told = refused(lambda: load(BODY + 'texture = "t.png"\nrepeats = 100\n'))
    assert "100 repeats" in told and "256x4" in told


def test_pictures_become_texels(textured) -> None:
    Image = pytest.importorskip("PIL.Image")
    values = np.arange(2 * 4 * 4, dtype=np.uint8).reshape(2, 4, 4) * 7
    assert np.array_equal(textured(Image.fromarray(values, "RGBA")), values)
    assert textured(Image.new("RGB", (1, 1), (1, 2, 3))).tolist() == [[[1, 2, 3, 255]]]
    assert textured(Image.fromarray(values[..., 0], "L"))[..., :3].tolist() == [
        [[value] * 3 for value in row] for row in values[..., 0].tolist()
    ]
    deep = np.array([[0, 255], [256, 65535]], np.uint16)
    assert textured(Image.fromarray(deep))[..., 0].tolist() == [[0, 0], [1, 255]]  # the upper 8 of 16 bits
    assert (textured(Image.fromarray(deep))[..., 3] == 255).all()


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def header(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))


DATA = chunk(b"IDAT", zlib.compress(bytes(40))) + chunk(b"IEND", b"")  # 4 rows of 1 + 3 x 3 bytes
DAMAGED = {
    "no picture": (b"junk", "not a picture that can be read: no format that is known"),
    "empty": (b"", "not a picture that can be read"),
    "a header alone": (header(4, 4), "not a picture that can be read"),
    "a broken chunk": (header(4, 4) + chunk(b"IDAT", b"x")[:-2] + b"??" + chunk(b"IEND", b""), "not a picture"),
    "a chunk without a name": (
        header(4, 4) + chunk(b"IDAT", zlib.compress(bytes(52))[:5]) + chunk(bytes(4), b"x"),
        "not a picture",
    ),
    "100 million pixels": (header(10_000, 10_000) + DATA, "a texture of 10000x10000 texels"),
    "2500 million pixels": (header(50_000, 50_000) + DATA, "not a picture that can be read"),
    "too many texels": (header(2048, 4) + DATA, "a texture of 2048x4 texels"),
    "odd sides": (header(3, 4) + DATA, "a texture of 3x4 texels"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_picture_is_refused_with_its_file(textured, name: str) -> None:
    pytest.importorskip("PIL")
    content, message = DAMAGED[name]
    with warnings.catch_warnings(action="error"):
        told = refused(lambda: textured(content))
    assert "t.png: error: " in told and message in told


def test_a_path_that_cannot_be_is_refused(load) -> None:
    pytest.importorskip("PIL")
    assert refused(lambda: load(BODY + 'texture = "a\\u0000.png"\n'))
    assert refused(lambda: load('[[body]]\nmesh = "a\\u0000.obj"\n'))
    assert refused(lambda: load_scene("a\0.toml"))


def test_without_pillow_the_message_says_what_to_install(load, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    told = refused(lambda: load(BODY + 'texture = "t.png"\n'))
    assert "t.png: error: " in told and "[image]" in told


def test_what_does_not_fit_is_refused_with_the_file_and_the_body(load, monkeypatch) -> None:
    told = refused(lambda: load("size = [8, 8]\n[[generated]]\nfamily = 'sized'\ncount = 1\npixels = 900\n"))
    assert "scene.toml: error: " in told and "900" in told and "8x8" in told
    monkeypatch.setattr("tessellation.scenes.scene_load.MOST_TRIANGLES", 4_000)
    # 2 copies of 1,046 triangles each, twice: the second is too many.
    half = '[[body]]\nname = "{}"\nmesh = "nut"\ngrid = [2, 1]\n'
    assert "second: 4184 triangles" in refused(lambda: load(half.format("first") + half.format("second")))


def test_files_whose_y_is_up_stand_upright(tmp_path: Path) -> None:
    """A tetrahedron of four different extents, written with z up, and the same turned so that y is."""
    pytest.importorskip("trimesh", reason="reads meshes")
    points = np.array([(0, 0, 0), (2, 0, 0.5), (0.25, 1, 0), (0.5, 0.25, 3)])
    faces = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    for name, (x, y, z) in (("z", points.T), ("y", (points[:, 0], points[:, 2], -points[:, 1]))):
        lines = "".join(f"v {a} {b} {c}\n" for a, b, c in zip(x, y, z, strict=True))
        (tmp_path / f"{name}.obj").write_text(lines + faces)
    size = {"size": (80, 60)}
    upright = load_scene(str(tmp_path / "z.obj"), SceneSource(**size)).frame
    turned = load_scene(str(tmp_path / "y.obj"), SceneSource(up="y", **size)).frame
    lying = load_scene(str(tmp_path / "y.obj"), SceneSource(**size)).frame
    assert draw_frame(turned).equals(draw_frame(upright)) and not draw_frame(lying).equals(draw_frame(upright))
    scene = tmp_path / "scene.toml"
    scene.write_text('size = [80, 60]\n[[body]]\nmesh = "y.obj"\nup = "y"\n')
    placed = load_scene(str(scene)).frame
    scene.write_text('size = [80, 60]\n[[body]]\nmesh = "z.obj"\n')
    assert draw_frame(placed).equals(draw_frame(load_scene(str(scene)).frame))
    with pytest.raises(InputError, match="a scene file determines which axis is up"):
        load_scene(str(scene), SceneSource(up="y"))
    with pytest.raises(InputError, match="up is x"):
        parse_scene('[[body]]\nmesh = "bunny"\nup = "x"\n')
