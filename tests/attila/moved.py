"""Small scenes that together reach every value of a configuration, and what a run of one comes to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import cast

import numpy as np

from attila_bridge.function import draw
from attila_bridge.run import units_of
from attila_bridge.scene import AttilaScene, read_scene
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.simulation import run
from tests.attila.recorded import TEXTURED, Corner, drawn, quad, scene_body, scene_of

__all__ = ["BATCHES", "SCENES", "outcome"]

BATCHES: Mapping[str, int | bool] = {"shader.window": False, "shader.fetch_delay": 12, "texture.request_queue": 128}
"""Groups of threads in order, with what keeps batches in step."""
_CLEAR: dict[str, object] = {"color": [0, 0, 0, 1], "depth": 1.0}
_LESS = {"depth": {"func": "less", "write": True}}
_BLEND = {"blend": {"src": "src_alpha", "dst": "one_minus_src_alpha"}}
_MOST = 300_000
_TWICE = """!!ARBfp1.0
TEMP a, b;
TEX a, fragment.texcoord[0], texture[0], 2D;
TEX b, a, texture[0], 2D;
MUL a, a, b;
MUL result.color, a, fragment.color;
END"""


def _texture(anisotropy: int) -> dict[str, dict[str, object]]:
    levels = {"size": [64, 64], "levels": 7, "min": "linear_mipmap_linear", "mag": "linear", "wrap": "repeat"}
    return {"t": {"format": "rgba8", "pattern": "noise", "seed": 1, "anisotropy": anisotropy, **levels}}


def _textured(size: int, pixels: float, fragment: str, anisotropy: int) -> AttilaScene:
    """Return a square of a texture, each copy so many pixels wide."""
    corners = quad(0, 0, size, size)
    places = [(x / pixels, y / pixels) for x, y, _ in corners]
    square = drawn(corners, coordinates=places, fragment=fragment)
    return scene_of(square, size=(size, size), textures=_texture(anisotropy))


def _indexed(corners: list[Corner], indices: list[int], state: Mapping[str, object]) -> AttilaScene:
    """Return triangles by index."""
    body = scene_body(drawn(corners, indices="i", count=len(indices), state=state), size=(32, 32), clear=_CLEAR)
    buffer = {"use": "index", "type": "uint32", "components": 1, "data": indices}
    body["buffers"] = {"i": buffer, **cast(dict[str, object], body["buffers"])}
    return read_scene(json.dumps(body))


def _mesh() -> AttilaScene:
    """Return 64 squares that share their corners."""
    rows = range(9)
    corners: list[Corner] = [(4.0 * x, 4.0 * y, 0.5) for y in rows for x in rows]
    indices: list[int] = []
    for square in (9 * y + x for y in rows[:-1] for x in rows[:-1]):
        indices += [square, square + 1, square + 10, square, square + 10, square + 9]
    return _indexed(corners, indices, {})


def _apart() -> AttilaScene:
    """Return 64 small triangles."""
    places = [(4.0 * (number % 8), 4.0 * (number // 8)) for number in range(64)]
    return scene_of(
        drawn([(x + dx, y + dy, 0.5) for x, y in places for dx, dy in ((0, 0), (3, 0), (0, 3))]), size=(32, 32)
    )


def _layers(*draws: tuple[int, Mapping[str, object]]) -> AttilaScene:
    """Return layers of colours by chance, each nearer and more slanted than the one before, in draws of so many."""
    colors = np.random.default_rng(0)
    made = []
    for count, state in draws:
        corners: list[Corner] = []
        for layer in range(count):
            depth = 0.9 - 0.8 * layer / count
            corners += [(x, y, depth + 0.05 * (x > 0)) for x, y, _ in quad(0, 0, 64, 64)]
        made.append(drawn(corners, colors.random((len(corners), 4)).tolist(), state=state))
    return scene_of(*made, size=(64, 64), clear=_CLEAR)


SCENES = {
    "texture": lambda: _textured(32, 8.0, TEXTURED, 1),
    "texture twice": lambda: _textured(32, 1.5, _TWICE, 4),
    "two units": lambda: scene_of(
        drawn(quad(0, 0, 8, 8), fragment=TEXTURED, textures={"0": "t", "1": "t"}), textures=_texture(1)
    ),
    "small triangles": _apart,
    "mesh": _mesh,
    "again and again": lambda: _indexed(quad(0, 0, 32, 32), [0, 1, 2, 3, 4, 5] * 12, {**_LESS, **_BLEND}),
    "depths": lambda: _layers((2, _LESS), (2, _LESS)),
    "blended": lambda: _layers((2, _BLEND), (1, _BLEND)),
    "opaque": lambda: _layers((2, {}), (1, {})),
    "wide": lambda: scene_of(drawn(quad(0, 0, 8, 8), state=_LESS), size=(192, 192), clear=_CLEAR),
    "corners": lambda: scene_of(
        drawn(
            [(x + dx, y + dy, 0.5) for x in (0.0, 248.0) for y in (0.0, 248.0) for dx, dy in ((0, 0), (8, 0), (0, 8))]
        ),
        size=(256, 256),
    ),
    "high": lambda: scene_of(drawn(quad(0, 0, 8, 8)), size=(320, 256)),
    "upright": lambda: scene_of(drawn(quad(0, 0, 16, 64)), size=(16, 64)),
    "sliver": lambda: scene_of(drawn([(0.0, 0.0, 0.5), (250.0, 255.0, 0.5), (255.0, 250.0, 0.5)]), size=(256, 256)),
}
"""What there is to draw, by name."""


@cache
def outcome(scene: str, config: AttilaConfig = PAPER) -> tuple[dict[str, int], dict[str, int]]:
    """Return the cycles of each phase and every statistic of a scene."""
    work = draw(SCENES[scene](), units_of(config))
    found = run(work, config, max_cycles=_MOST)
    return dict(found.phases), found.statistics
