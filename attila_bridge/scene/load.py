"""Loader of scene files of the form `attila-scene/1`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attila_bridge.scene.fields import SceneFields, shown
from attila_bridge.scene.model import (
    ATTRIBUTES,
    MOST_TEXTURES,
    AttilaScene,
    ClearValues,
    Compare,
    DepthState,
    DrawState,
    Factor,
    Filter,
    Primitive,
    SceneBuffer,
    SceneDraw,
    SceneTexture,
    StencilOperation,
    StencilState,
    Wrap,
)
from attila_bridge.scene.texels import PATTERNS, texture_levels
from pixelflow.simd.errors import nearest
from pixelflow.simd.files import VERTICES, parse_json, read_text

__all__ = ["FORMAT", "LARGEST_SIDE", "load_scene", "read_scene"]

FORMAT = "attila-scene/1"
LARGEST_SIDE = 4096
"""Pixels: the hierarchical Z buffer holds 512x512 blocks of 8x8."""
_LARGEST_TEXTURE = 4096
_MOST_TEXELS = 128 << 20
"""Bytes of texels of a scene, all levels of all textures: the largest texture takes 86 MiB with its levels."""
_LARGEST_FLOAT = float(np.finfo(np.float32).max)
_TYPES = {"float32": np.float32, "uint32": np.uint32, "uint16": np.uint16}
_LARGEST_INDEX = {"uint32": 0xFFFFFFFF, "uint16": 0xFFFF}


def load_scene(path: str | Path) -> AttilaScene:
    """Return the scene of a file; raises InputError where it cannot be read or says what is not allowed."""
    return read_scene(read_text(path, VERTICES), str(path))


def read_scene(text: str, file: str = "<scene>") -> AttilaScene:
    """Return the scene of a JSON text; ``file`` is for messages. Raises InputError with the first fault."""
    top = SceneFields(parse_json(text, file), file, "")
    top.one_of("format", [FORMAT])
    top.only(
        *("format", "name", "group", "about", "machine", "overrides", "runs", "size", "clear", "buffers", "textures"),
        *("programs", "draws"),
    )
    width, height = top.wholes("size", 2, 1, LARGEST_SIDE)
    buffers = {name: _buffer(name, fields) for name, fields in top.children("buffers")}
    textures = _textures(top)
    programs = top.child("programs")
    texts = {name: programs.text(name) for name in programs.names}
    draws = tuple(_draw(each, buffers, textures, texts) for each in top.objects("draws"))
    if not draws:
        top.refuse("draws is empty", "a scene draws something")
    name = top.text("name") if top.has("name") else Path(file).stem
    return AttilaScene(name, file, (width, height), _clear(top.child("clear")), buffers, textures, texts, draws)


def _clear(fields: SceneFields) -> ClearValues:
    fields.only("color", "depth", "stencil")
    color = fields.numbers("color", 4, -_LARGEST_FLOAT, _LARGEST_FLOAT) if fields.has("color") else None
    return ClearValues(
        color=None if color is None else (color[0], color[1], color[2], color[3]),
        depth=fields.number("depth", 0.0, 1.0) if fields.has("depth") else None,
        stencil=fields.whole("stencil", 0, 255) if fields.has("stencil") else None,
    )


def _buffer(name: str, fields: SceneFields) -> SceneBuffer:
    fields.only("use", "type", "components", "data")
    use = fields.one_of("use", ["vertex", "index"])
    kind = fields.one_of("type", ["float32"] if use == "vertex" else ["uint32", "uint16"])
    components = fields.whole("components", 1, 4 if use == "vertex" else 1)
    data = fields.items("data", None, "numbers")
    values = _numbers(fields, data, kind)
    if len(data) % components:
        fields.refuse(f"{fields.at('data')} has {len(data)} values", f"a multiple of {components} is wanted here")
    if use == "index":
        return SceneBuffer(name, use, values)
    return SceneBuffer(name, use, values.reshape(-1, components))


def _numbers(fields: SceneFields, data: list[object], kind: str) -> NDArray[np.float32 | np.uint32 | np.uint16]:
    real = kind == "float32"
    allowed = (int, float) if real else (int,)
    low, high = (-_LARGEST_FLOAT, _LARGEST_FLOAT) if real else (0, _LARGEST_INDEX[kind])
    for at, each in enumerate(data):
        if isinstance(each, bool) or not isinstance(each, allowed):
            fields.refuse(f"{fields.at('data')}[{at}] is {shown(each)}", f"a value of type {kind} is wanted here")
        if not low <= each <= high:  # nor is a NaN
            fields.refuse(f"{fields.at('data')}[{at}] is {shown(each)}", f"it does not fit {kind}")
    return np.array(data, np.float64).astype(_TYPES[kind])


def _textures(top: SceneFields) -> dict[str, SceneTexture]:
    found: dict[str, SceneTexture] = {}
    left = _MOST_TEXELS
    for name, fields in top.children("textures"):
        found[name] = _texture(name, fields, left)
        left -= sum(level.nbytes for level in found[name].levels)
    return found


def _texture(name: str, fields: SceneFields, left: int) -> SceneTexture:
    fields.only("size", "format", "pattern", "seed", "levels", "min", "mag", "wrap", "anisotropy")
    fields.one_of("format", ["rgba8"])
    width, height = fields.wholes("size", 2, 1, _LARGEST_TEXTURE)
    for side in (width, height):
        if side & side - 1:
            fields.refuse(f"{fields.at('size')} has a side of {side}", "sides are powers of two")
    pattern = fields.one_of("pattern", list(PATTERNS))
    levels = fields.whole("levels", 1, max(width, height).bit_length())
    minify = fields.choice("min", Filter)
    magnify = fields.choice("mag", Filter)
    if magnify.levels != "none":
        fields.refuse(f"{fields.at('mag')} is {magnify.value}", "allowed: nearest, linear")
    if minify.levels != "none" and levels != max(width, height).bit_length():
        fields.refuse(
            f"{fields.at('levels')} is {levels}",
            f"{minify.value} wants all {max(width, height).bit_length()} levels of this size",
        )
    if sum(4 * max(1, width >> level) * max(1, height >> level) for level in range(levels)) > left:
        fields.refuse(
            f"{fields.at('size')} is {width}x{height}: too many texels",
            f"all textures of a scene take at most {_MOST_TEXELS >> 20} MiB together",
        )
    seed = fields.whole("seed", 0, 0xFFFFFFFF)
    wrap = fields.choice("wrap", Wrap)
    anisotropy = fields.whole("anisotropy", 1, 16)
    return SceneTexture(name, texture_levels(pattern, width, height, levels, seed), minify, magnify, wrap, anisotropy)


def _draw(
    fields: SceneFields, buffers: dict[str, SceneBuffer], textures: dict[str, SceneTexture], programs: dict[str, str]
) -> SceneDraw:
    fields.only(
        *("primitive", "count", "attributes", "indices", "vertex_program", "fragment_program", "textures", "state")
    )
    primitive = fields.choice("primitive", Primitive)
    count = fields.whole("count", 1, 1 << 24)
    indices = _named(fields, "indices", buffers, "buffer") if fields.has("indices") else None
    chosen = fields.child("attributes")
    chosen.only(*ATTRIBUTES)
    if not chosen.has("position"):
        chosen.refuse(f"{chosen.at('position')} is missing", "every draw has positions")
    attributes = {key: _named(chosen, key, buffers, "buffer") for key in ATTRIBUTES if chosen.has(key)}
    last = count - 1
    if indices is not None:
        found = buffers[indices]
        if found.use != "index":
            fields.refuse(f"{fields.at('indices')}: {indices} is a buffer of vertices")
        if len(found.values) < count:
            fields.refuse(f"{fields.at('count')} is {count}, but {indices} has {len(found.values)} indices")
        last = int(found.values[:count].max())
    for key, buffer in attributes.items():
        if buffers[buffer].use != "vertex":
            chosen.refuse(f"{chosen.at(key)}: {buffer} is a buffer of indices")
        if last >= len(buffers[buffer].values):
            chosen.refuse(
                f"{chosen.at(key)}: {buffer} has {len(buffers[buffer].values)} elements, vertex {last} is asked for"
            )
    return SceneDraw(
        primitive=primitive,
        count=count,
        attributes=attributes,
        indices=indices,
        vertex_program=_named(fields, "vertex_program", programs, "program"),
        fragment_program=_named(fields, "fragment_program", programs, "program"),
        textures=_units(fields.child("textures"), textures),
        state=_state(fields.child("state")),
    )


def _units(fields: SceneFields, textures: dict[str, SceneTexture]) -> dict[int, str]:
    units = [str(unit) for unit in range(MOST_TEXTURES)]
    fields.only(*units)
    return {int(unit): _named(fields, unit, textures, "texture") for unit in units if fields.has(unit)}


def _named(fields: SceneFields, key: str, known: Mapping[str, object], what: str) -> str:
    name = fields.text(key)
    if name not in known:
        near = nearest(name, known)
        hint = f"did you mean {near}?" if near else f"{what}s: {', '.join(known) or 'none'}"
        fields.refuse(f"{fields.at(key)}: there is no {what} {name!r}", hint)
    return name


def _state(fields: SceneFields) -> DrawState:
    fields.only("depth", "stencil", "blend", "cull", "scissor", "color_mask")
    depth = stencil = blend = scissor = None
    if fields.has("depth"):
        below = fields.child("depth")
        below.only("func", "write")
        depth = DepthState(below.choice("func", Compare), below.flag("write"))
    if fields.has("stencil"):
        below = fields.child("stencil")
        below.only("func", "ref", "fail", "zfail", "zpass")
        steps = [below.choice(key, StencilOperation) for key in ("fail", "zfail", "zpass")]
        stencil = StencilState(below.choice("func", Compare), below.whole("ref", 0, 255), *steps)
    if fields.has("blend"):
        below = fields.child("blend")
        below.only("src", "dst")
        blend = (below.choice("src", Factor), below.choice("dst", Factor))
    if fields.has("scissor"):
        x, y, width, height = fields.wholes("scissor", 4, 0, LARGEST_SIDE)
        scissor = (x, y, width, height)
    mask = (True, True, True, True)
    if fields.has("color_mask"):
        found = fields.items("color_mask", 4, "truth values")
        if not all(isinstance(each, bool) for each in found):
            fields.refuse(f"{fields.at('color_mask')} is {found}", "four of true and false are wanted here")
        mask = (bool(found[0]), bool(found[1]), bool(found[2]), bool(found[3]))
    cull = fields.has("cull") and fields.one_of("cull", ["back"]) == "back"
    return DrawState(depth, stencil, blend, cull, scissor, mask)
