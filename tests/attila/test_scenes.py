"""Are scenes read as they stand, and refused with the place, what is allowed and what was perhaps meant?"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from attila_bridge.scene import load_scene, read_scene, texture_levels
from pixelflow.simd.errors import InputError
from pixelflow.simd.files import VERTICES
from tests.attila.recorded import TEXTURED, drawn, quad, scene_body

Body = dict[str, object]
TEXTURE = {
    "size": [8, 4], "format": "rgba8", "pattern": "noise", "seed": 7, "levels": 4,
    "min": "linear_mipmap_linear", "mag": "linear", "wrap": "repeat", "anisotropy": 2,
}  # fmt: skip
BODY = scene_body(drawn(quad(0, 0, 8, 8), fragment=TEXTURED), textures={"t": dict(TEXTURE)})


def noise(i: int, j: int, level: int, seed: int) -> tuple[int, ...]:
    """The formula of texels, number by number."""
    x = i + 65536 * j + 0x01000193 * level + 0x9E3779B1 * seed & 0xFFFFFFFF
    x = (x ^ x >> 16) * 0x7FEB352D & 0xFFFFFFFF
    x = (x ^ x >> 15) * 0x846CA68B & 0xFFFFFFFF
    x ^= x >> 16
    return tuple(x >> shift & 255 for shift in (0, 8, 16, 24))


def test_noise_follows_its_formula() -> None:
    levels = texture_levels("noise", 8, 4, 4, 7)
    assert [level.shape for level in levels] == [(4, 8, 4), (2, 4, 4), (1, 2, 4), (1, 1, 4)]
    for number, level in enumerate(levels):
        for j in range(level.shape[0]):
            for i in range(level.shape[1]):
                assert tuple(level[j, i].tolist()) == noise(i, j, number, 7)


def test_other_patterns_follow_theirs() -> None:
    checker, level = texture_levels("checker", 16, 8, 1, 1)[0], texture_levels("level", 16, 8, 2, 1)[1]
    assert checker[0, 0].tolist() == [0, 0, 0, 255] and checker[7, 15].tolist() == [0, 255, 255, 255]
    assert checker[0, 4].tolist() == [255, 255 * 4 // 15, 0, 255] and checker[4, 4].tolist()[0] == 0
    assert level[3, 2].tolist() == [77, 255 * 2 // 7, 255, 255]


def test_a_scene_is_what_its_file_says(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(json.dumps(BODY))
    scene = load_scene(path)
    assert scene.size == (16, 16) and scene.clear.color == (0, 0, 0, 1) and scene.clear.depth is None
    assert scene.buffers["position0"].values.shape == (6, 4) and scene.buffers["texcoord00"].element_bytes == 8
    assert scene.draws[0].textures == {0: "t"} and scene.textures["t"].size == (8, 4)


def at(*path: str | int, value: object) -> Callable[[Body], None]:
    """Return what sets a value in a scene."""

    def change(body: Body) -> None:
        here: object = body
        for step in path[:-1]:
            here = cast(list[object], here)[step] if isinstance(step, int) else cast(Body, here)[step]
        if isinstance(path[-1], int):
            cast(list[object], here)[path[-1]] = value
        else:
            cast(Body, here)[path[-1]] = value

    return change


FAULTS = [
    (at("format", value="attila-scene/2"), "format: there is no 'attila-scene/2' here", "attila-scene/1"),
    (at("sise", value=1), "sise: unknown key", "did you mean size?"),
    (at("size", value=[16]), "size is a list of 1", "a list of 2 integers"),
    (at("size", 0, value=5000), "size[0] is 5000", "an integer 1 to 4096"),
    (at("clear", "depth", value=1.5), "clear.depth is 1.5", "a number 0 to 1"),
    (at("buffers", "color0", "components", value=5), "buffers.color0.components is 5", "an integer 1 to 4"),
    (at("buffers", "color0", "data", 3, value="x"), "buffers.color0.data[3] is 'x'", "float32"),
    (at("buffers", "color0", "data", 3, value=1e39), "buffers.color0.data[3] is 1e+39", "it does not fit float32"),
    (at("buffers", "color0", "data", 3, value=10**400), f"data[3] is 1{'0' * 39}... (401", "it does not fit float32"),
    (at("buffers", "color0", "data", 3, value=float("nan")), "color0.data[3] is nan", "it does not fit float32"),
    (at("buffers", "color0", "data", 3, value=-float("inf")), "color0.data[3] is -inf", "it does not fit float32"),
    (at("clear", "depth", value=10**400), f"clear.depth is 1{'0' * 39}... (401", "a number 0 to 1"),
    (at("clear", "depth", value=float("nan")), "clear.depth is nan", "a number 0 to 1"),
    (at("textures", "t", "seed", value=10**400), f"textures.t.seed is 1{'0' * 39}... (401", "an integer 0 to"),
    (at("textures", "t", "size", 0, value=4097), "textures.t.size[0] is 4097", "an integer 1 to 4096"),
    (at("textures", "t", "size", 0, value=12), "textures.t.size has a side of 12", "powers of two"),
    (at("textures", "t", "levels", value=2), "textures.t.levels is 2", "wants all 4 levels"),
    (at("textures", "t", "mag", value="linear_mipmap_linear"), "textures.t.mag", "allowed: nearest, linear"),
    (at("textures", "t", "wrap", value="repaet"), "there is no 'repaet' here", "did you mean repeat?"),
    (at("textures", "t", "pattern", value="clouds"), "there is no 'clouds' here", "noise, checker, level"),
    (at("draws", value=[]), "draws is empty", "a scene draws something"),
    (at("draws", 0, "primitive", value="triangle"), "draws[0].primitive", "did you mean triangles?"),
    (at("draws", 0, "count", value=9), "position0 has 6 elements, vertex 8 is asked for", ""),
    (at("draws", 0, "indices", value="color0"), "color0 is a buffer of vertices", ""),
    (at("draws", 0, "attributes", "colour", value="color0"), "draws[0].attributes.colour: unknown key", "color?"),
    (at("draws", 0, "attributes", "color", value="color1"), "there is no buffer 'color1'", "did you mean color0?"),
    (at("draws", 0, "vertex_program", value="vertx"), "there is no program 'vertx'", "did you mean vertex?"),
    (at("draws", 0, "textures", "16", value="t"), "draws[0].textures.16: unknown key", ""),
    (at("draws", 0, "state", "depth", value={"func": "lesser", "write": True}), "'lesser'", "did you mean less?"),
    (at("draws", 0, "state", "depth", value={"func": "less"}), "draws[0].state.depth.write is missing", ""),
    (at("draws", 0, "state", "color_mask", value=[1, 1, 1, 1]), "draws[0].state.color_mask", "true and false"),
    (at("draws", 0, "state", "blend", value={"src": "one", "dst": "two"}), "'two'", "allowed: zero, one"),
]


@pytest.mark.parametrize(
    ("change", "message", "hint"), FAULTS, ids=lambda each: str(each) if each.__class__ is str else ""
)
def test_a_fault_is_named_with_its_place(change: Callable[[Body], None], message: str, hint: str) -> None:
    body = copy.deepcopy(BODY)
    change(body)
    with pytest.raises(InputError) as caught:
        read_scene(json.dumps(body), "own.json")
    text = str(caught.value)
    assert text.startswith("own.json: error: ") and message in text and hint in text


def test_what_is_no_json_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"own\.json:2:2: error: is not JSON"):
        read_scene("{\n}}", "own.json")
    with pytest.raises(InputError, match=r"nowhere\.json: error: no such file"):
        load_scene("nowhere.json")


def test_all_texels_of_a_scene_have_one_bound() -> None:
    """Two of 4096x4096 texels take 64 MiB each, together all that is allowed; one texel more is refused."""
    large = {**TEXTURE, "size": [4096, 4096], "levels": 1, "min": "linear", "pattern": "level"}
    small = {**large, "size": [1, 1]}
    body = copy.deepcopy(BODY)
    body["textures"] = {"t": large, "u": large, "v": small}
    with pytest.raises(InputError, match=r"textures\.v\.size is 1x1: too many texels\n.*at most 128 MiB together"):
        read_scene(json.dumps(body), "own.json")


def test_an_index_that_no_integer_of_its_type_holds_is_refused() -> None:
    body = copy.deepcopy(BODY)
    cast(Body, body["buffers"])["index"] = {"use": "index", "type": "uint16", "components": 1, "data": [0, 10**400]}
    with pytest.raises(InputError, match=r"buffers\.index\.data\[1\] is 10+\.\.\. \(401 .*\n.*does not fit uint16"):
        read_scene(json.dumps(body), "own.json")


def test_a_scene_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_bytes(b" " * (VERTICES.limit + 1))
    with pytest.raises(InputError, match=r"own\.json: error: too large to be a scene with its vertices: over 32 MiB"):
        load_scene(path)
