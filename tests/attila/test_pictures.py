"""Are small pictures what their rules give by hand, and does the work say what happened to every quad?"""

from __future__ import annotations

import numpy as np
import pytest

from attila_bridge.function import Units, draw
from attila_bridge.function.fragments import in_turn
from attila_bridge.function.work import AttilaWork
from pixelflow.simd.errors import InputError
from tests.attila.recorded import COLORED, TEXTURED, VERTEX, Corner, drawn, quad, red, scene_of

FULL = quad(0, 0, 16, 16)
DEPTH = {"depth": {"func": "less", "write": True}}


def colors(color: tuple[float, ...], count: int = 6) -> list[tuple[float, ...]]:
    return [color] * count


def nothing_but(work: AttilaWork) -> int:
    """Return the word of a picture of one colour."""
    (word,) = np.unique(work.color)
    return int(word)


def test_a_triangle_has_the_pixels_whose_centres_it_holds() -> None:
    """Legs of five pixels from (2, 1): the long side runs through centres, and such pixels are not its own."""
    work = draw(scene_of(drawn([(2, 1, 0.5), (7, 1, 0.5), (2, 6, 0.5)]), size=(8, 8)))
    assert red(work.color) == [
        "........",
        "........",
        "........",
        "..#.....",
        "..##....",
        "..###...",
        "..####..",
        "........",
    ]
    assert work.picture.shape == (8, 8, 3) and work.picture[6, 2].tolist() == [255, 255, 255]
    assert sum(int(mask).bit_count() for mask in work.draws[0].quads.tested) == 10


def test_colours_are_cut_off_and_interpolated() -> None:
    """Red runs from 0 to 1 over sixteen pixels: at centre x + 1/2 it is (2 x + 1)/32, times 255, cut off."""
    ramp = [(x / 16, 0.999, 2.0, 0.5) for x, *_ in FULL]
    work = draw(scene_of(drawn(FULL, ramp)))
    assert (work.color[0] & 255).tolist() == [int(255 * (2 * x + 1) / 32) for x in range(16)]
    assert (work.color[3, 5] >> np.uint32(8)).tolist() == 254 | 255 << 8 | 127 << 16


def test_perspective_divides_each_fragment() -> None:
    """The right side is twice as far: halfway on the screen red is a third."""
    scene = scene_of(drawn(FULL, [(x / 16, 0, 0, 1) for x, *_ in FULL]))
    positions = scene.buffers["position0"].values
    positions[positions[:, 0] > 0] *= 2
    found = draw(scene).color[8] & 255
    expected = [(s := (2 * x + 1) / 32) / 2 / (1 - s + s / 2) for x in range(16)]
    assert found.tolist() == [int(255 * each) for each in expected]


@pytest.mark.parametrize(
    ("func", "kept"),
    [
        ("never", []), ("less", [1]), ("equal", [2]), ("lequal", [1, 2]), ("greater", [3]), ("notequal", [1, 3]),
        ("gequal", [2, 3]), ("always", [1, 2, 3]),
    ],
)  # fmt: skip
def test_depth_is_compared_with_what_is_there(func: str, kept: list[int]) -> None:
    """Three columns nearer than the clear value, at it, and farther."""
    corners = [
        each for at, depth in enumerate((0.25, 0.5, 0.75)) for each in quad(2 + 4 * at, 0, 6 + 4 * at, 16, depth)
    ]
    state = {"depth": {"func": func, "write": True}}
    work = draw(scene_of(drawn(corners, state=state), clear={"color": [0, 0, 0, 1], "depth": 0.5}))
    shown = [column for column in (1, 2, 3) if work.color[8, 4 * column - 1] & 255]
    assert shown == kept
    words = (8388607, 4194303, 8388607, 12582911)
    assert [int(work.depth[8, 4 * at - 1]) for at in (1, 2, 3)] == [
        words[at] if at in kept else words[0] for at in (1, 2, 3)
    ]


def test_layers_of_one_draw_are_tested_in_order() -> None:
    near = [each for depth in (0.75, 0.25, 0.5) for each in quad(0, 0, 16, 16, depth)]
    shades = colors((0.1, 0, 0, 1)) + colors((0.2, 0, 0, 1)) + colors((0.3, 0, 0, 1))
    work = draw(scene_of(drawn(near, shades, state=DEPTH), clear={"color": [0, 0, 0, 1], "depth": 1.0}))
    assert nothing_but(work) & 255 == int(0.2 * 255)
    quads = work.draws[0].quads
    passed = [
        sum(int(m).bit_count() for m in quads.tested[np.repeat(quads.triangle // 2 == layer, 16)]) for layer in range(3)
    ]
    assert passed == [256, 256, 0]
    assert work.draws[0].state.early_z and work.draws[0].state.hz
    middle = np.flatnonzero((np.repeat(quads.triangle, 16) == 0) & (quads.covered == 15))[0]
    assert quads.depth_words[middle].tolist() == [12582911] * 4 and quads.nearest[middle] == 12582911


def test_depth_that_is_not_written_stays() -> None:
    state = {"depth": {"func": "less", "write": False}}
    work = draw(scene_of(drawn(FULL, state=state), clear={"color": [0, 0, 0, 1], "depth": 1.0, "stencil": 3}))
    assert set(work.depth.ravel().tolist()) == {3 << 24 | 0xFFFFFF} and nothing_but(work) == 0xFFFFFFFF


@pytest.mark.parametrize(
    ("operation", "once", "often"),
    [
        ("keep", 254, 254), ("zero", 0, 0), ("replace", 9, 9), ("incr", 255, 255), ("decr", 253, 251),
        ("invert", 1, 1), ("incr_wrap", 255, 1), ("decr_wrap", 253, 251),
    ],
)  # fmt: skip
def test_a_stencil_steps(operation: str, once: int, often: int) -> None:
    state = {"stencil": {"func": "always", "ref": 9, "fail": "keep", "zfail": "keep", "zpass": operation}}
    for layers, expected in ((1, once), (3, often)):
        work = draw(scene_of(drawn(FULL * layers, state=state), clear={"color": [0, 0, 0, 1], "stencil": 254}))
        assert set((work.depth >> np.uint32(24)).ravel().tolist()) == {expected}


def test_a_stencil_has_three_ends() -> None:
    """Left the stencil test fails, in the middle the depth test does, right both pass."""
    clear = {"color": [0, 0, 0, 1], "depth": 0.5, "stencil": 5}
    raise_left = drawn(
        quad(0, 0, 4, 16),
        state={"stencil": {"func": "always", "ref": 9, "fail": "keep", "zfail": "keep", "zpass": "replace"}},
    )
    three = drawn(
        quad(0, 0, 8, 16, 0.75) + quad(8, 0, 16, 16, 0.25),
        state={"stencil": {"func": "equal", "ref": 5, "fail": "zero", "zfail": "decr", "zpass": "incr"}} | DEPTH,
    )
    work = draw(scene_of(raise_left, three, clear=clear))
    assert [int(work.depth[0, x] >> np.uint32(24)) for x in (0, 5, 12)] == [0, 4, 6]
    assert [int(work.color[0, x] & 255) for x in (0, 5, 12)] == [255, 0, 255]
    assert work.draws[1].state.stencil_test and not work.draws[1].state.hz


BLENDS = [
    ("one", "zero", (76, 140, 206)),
    ("one", "one", (177, 241, 255)),
    ("zero", "src_color", (30, 55, 81)),
    ("dst_color", "zero", (30, 55, 81)),
    ("src_alpha", "one_minus_src_alpha", (88, 120, 153)),
    ("one_minus_dst_alpha", "one", (139, 171, 204)),
    ("dst_alpha", "one_minus_src_color", (108, 115, 122)),
    ("src_alpha_saturate", "dst_color", (78, 110, 143)),
]


@pytest.mark.parametrize(("source", "target", "result"), BLENDS)
def test_colours_are_blended(source: str, target: str, result: tuple[int, int, int]) -> None:
    """Colour 0.3, 0.55, 0.81 of opacity 0.5 over 101, 101, 101 of opacity 127, worked out by hand and cut off."""
    clear = {"color": [101.5 / 255, 101.5 / 255, 101.5 / 255, 0.5]}
    state = {"blend": {"src": source, "dst": target}}
    work = draw(scene_of(drawn(FULL, colors((0.3, 0.55, 0.81, 0.5)), state=state), clear=clear))
    word = nothing_but(work)
    assert tuple(word >> shift & 255 for shift in (0, 8, 16)) == result
    assert work.draws[0].state.blend


def test_layers_are_blended_in_order() -> None:
    state = {"blend": {"src": "src_alpha", "dst": "one_minus_src_alpha"}}
    shades = colors((1, 0, 0, 0.5)) + colors((0, 1, 0, 0.5))
    found = nothing_but(draw(scene_of(drawn(FULL * 2, shades, state=state))))
    assert (found & 255, found >> 8 & 255) == (63, 127)


def test_a_mask_lets_components_through() -> None:
    state = {"color_mask": [True, False, False, True]}
    work = draw(scene_of(drawn(FULL, colors((1, 1, 1, 0)), state=state), clear={"color": [0, 0.5, 0, 1]}))
    assert nothing_but(work) == 255 | 127 << 8
    hidden = draw(scene_of(drawn(FULL, state={"color_mask": [False] * 4})))
    assert nothing_but(hidden) == 0xFF000000


def test_a_killed_fragment_has_written_its_depth() -> None:
    """Red below 1/2 is killed: the colour stays, the depth does not."""
    text = COLORED.replace("MOV", "TEMP a;\nSUB a, fragment.color, 0.5;\nKIL a.x;\nMOV")
    ramp = [(x / 16, 0, 0, 1) for x, *_ in FULL]
    clear = {"color": [0, 0, 0, 1], "depth": 1.0}
    work = draw(scene_of(drawn(FULL, ramp, fragment=text, state=DEPTH), clear=clear))
    assert red(work.color) == ["........########"] * 16
    assert set(work.depth.ravel().tolist()) == {8388607}
    quads = work.draws[0].quads
    assert sum(int(m).bit_count() for m in quads.killed) == 128


def test_a_program_that_writes_depth_is_tested_after() -> None:
    text = COLORED.replace("END", "MOV result.depth.z, fragment.color.x;\nEND")
    ramp = [(x / 16, 0, 0, 1) for x, *_ in FULL]
    clear = {"color": [0, 0, 0, 1], "depth": 0.5}
    work = draw(scene_of(drawn(FULL, ramp, fragment=text, state=DEPTH), clear=clear))
    assert red(work.color) == ["########........"] * 16
    assert int(work.depth[0, 0]) == int(np.float32(1 / 32) * (2**24 - 1)) and int(work.depth[0, 15]) == 8388607
    assert not work.draws[0].state.early_z


NAN = "!!ARBfp1.0\nTEMP a;\nLG2 a, -fragment.color.x;\n"
"""The beginning of a program: no number is the logarithm of -1."""


@pytest.mark.parametrize("blend", [{}, {"blend": {"src": "one", "dst": "one"}}])
def test_a_colour_that_is_no_number_is_the_greatest(blend: dict[str, object]) -> None:
    """As recorded: the upper bound is asked first, and a NaN is not below it."""
    text = NAN + "MOV result.color.x, a;\nMOV result.color.yzw, { 0, 0, 0.25, 1 };\nEND"
    assert nothing_but(draw(scene_of(drawn(FULL, fragment=text, state=blend)))) == 0xFF3F00FF


def test_what_is_no_number_saturates_to_one() -> None:
    text = NAN + "MOV_SAT a, a;\nMUL result.color, a, { 0.5, 0.25, 1, 1 };\nEND"
    assert nothing_but(draw(scene_of(drawn(FULL, fragment=text)))) == 0xFFFF3F7F


def test_a_depth_that_is_no_number_is_the_greatest() -> None:
    text = NAN + "MOV result.color, fragment.color;\nMOV result.depth.z, a.x;\nEND"
    state = {"depth": {"func": "greater", "write": True}}
    work = draw(scene_of(drawn(FULL, fragment=text, state=state), clear={"color": [0, 0, 0, 1], "depth": 0.5}))
    assert nothing_but(work) == 0xFFFFFFFF and set(work.depth.ravel().tolist()) == {0xFFFFFF}


@pytest.mark.parametrize("recursive", [True, False])
@pytest.mark.parametrize("component", "xyzw")
def test_a_triangle_without_a_place_covers_nothing(component: str, recursive: bool) -> None:
    """Nothing is inside an edge that is no number; the box, which is traversed all the same, lies on the screen."""
    scene = scene_of(drawn(FULL), drawn(FULL), size=(64, 64))
    scene.programs["vertex"] = VERTEX.replace(
        "MOV result.color", f"LG2 result.position.{component}, -vertex.color.x;\nMOV result.color"
    )
    work = draw(scene, Units(recursive=recursive))
    assert not any(each.quads.covered.any() for each in work.draws) and nothing_but(work) == 0xFF000000
    for each in work.draws:
        tiles = [tile for batch in each.batches for tile in batch.scans[:, :2].ravel().tolist()]
        assert all(0 <= tile < 64 + 16 for tile in tiles)


def test_a_vertex_colour_that_is_no_number_is_one() -> None:
    scene = scene_of(drawn(FULL, colors((1, 0, 0, 1))))
    scene.programs["vertex"] = VERTEX.replace("END", "LG2 result.color.y, -vertex.color.x;\nEND")
    text = "!!ARBfp1.0\nMUL result.color, fragment.color, 0.5;\nEND"
    scene.programs["fragment0"] = text
    assert nothing_but(draw(scene)) == 0x7F007F7F


def test_the_position_of_a_fragment_is_its_pixel() -> None:
    text = "!!ARBfp1.0\nMUL result.color, fragment.position, { 0.0625, 0.0625, 1, 1 };\nEND"
    work = draw(scene_of(drawn(FULL, fragment=text)))
    assert int(work.color[5, 3]) == 255 * 3 // 16 | 255 * 5 // 16 << 8 | 127 << 16 | 255 << 24


def test_what_a_scissor_leaves_out_stays() -> None:
    work = draw(scene_of(drawn(FULL, state={"scissor": [3, 4, 5, 2]})))
    rows = ["................"] * 16
    rows[10] = rows[11] = "...#####........"
    assert red(work.color) == rows


def test_a_draw_says_what_it_uses() -> None:
    textures = {
        "t": {
            "size": [8, 8], "format": "rgba8", "pattern": "noise", "seed": 1, "levels": 4, "min": "linear",
            "mag": "linear", "wrap": "repeat", "anisotropy": 1,
        }
    }  # fmt: skip
    work = draw(scene_of(drawn(FULL, fragment=TEXTURED), drawn(FULL, fragment=TEXTURED), textures=textures))
    names = [(each.name, each.size, each.draw) for each in work.uploads]
    assert names[:4] == [("t", 256, 0), ("t", 64, 0), ("t", 16, 0), ("t", 4, 0)]
    assert names[4:7] == [("position0", 96, 0), ("color0", 96, 0), ("texcoord00", 48, 0)] and names[7][2] == 1
    assert not any(each.address % 4096 for each in work.uploads)
    first, second = work.draws
    assert first.vertex_program.address is not None and second.vertex_program.address is None
    assert second.fragment_program.address is not None  # another name, another program
    (instruction,) = first.fragment_program.instructions
    assert instruction.is_end and instruction.texture == 0 and instruction.latency == 2
    assert instruction.sources == () and instruction.destination == 0x101
    assert (first.vertex_program.inputs, first.vertex_program.outputs, first.vertex_program.temporaries) == (3, 3, 0)


def test_hierarchical_depth_stops_at_what_it_cannot_bound() -> None:
    clear = {"color": [0, 0, 0, 1], "depth": 1.0}
    far = {"depth": {"func": "greater", "write": True}}
    draws = [drawn(FULL, state=DEPTH), drawn(FULL, state=far), drawn(FULL, state=DEPTH), drawn(FULL)]
    assert [each.state.hz for each in draw(scene_of(*draws, clear=clear)).draws] == [True, False, False, False]


def test_faults_of_a_draw_have_their_place() -> None:
    with pytest.raises(InputError, match=r"texture\[0\] is read, the draw binds no texture to it"):
        draw(scene_of(drawn(FULL, fragment=TEXTURED)))
    scene = scene_of(drawn(FULL, vertex_program="fragment0"))
    with pytest.raises(InputError, match="program fragment0 is a fragment program, a vertex program is wanted"):
        draw(scene)
    scene = scene_of(drawn(FULL, attributes={"position": "position0"}))
    with pytest.raises(InputError, match=r"draws\[0\]: program vertex reads color, the draw lacks it"):
        draw(scene)


def test_turns_keep_the_order_of_equal_places() -> None:
    places = np.array([5, 3, 5, 5, 3, 9])
    turns = [turn.tolist() for turn in in_turn(places)]
    assert sorted(at for turn in turns for at in turn) == list(range(6))
    assert [sorted(places[turn].tolist()) for turn in turns] == [[3, 5, 9], [3, 5], [5]]
    assert [at for turn in turns for at in turn if places[at] == 5] == [0, 2, 3]


def test_a_picture_does_not_depend_on_where_a_stretch_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    corners: list[Corner] = [(x, y, z) for x, y, z in (random.random((60, 3)) * (64, 64, 1)).tolist()]
    shades = random.random((60, 4)).tolist()
    state = {"blend": {"src": "src_alpha", "dst": "one_minus_src_alpha"}} | DEPTH
    scene = scene_of(drawn(corners, shades, state=state), size=(64, 64), clear={"color": [0, 0, 0, 1], "depth": 1.0})
    whole = draw(scene)
    monkeypatch.setattr("attila_bridge.function.fragments.STRETCH", 3)
    parts = draw(scene)
    assert (whole.color == parts.color).all() and (whole.depth == parts.depth).all()
    for name in ("covered", "tested", "killed", "depth_words", "color_words", "nearest"):
        assert (getattr(whole.draws[0].quads, name) == getattr(parts.draws[0].quads, name)).all()
