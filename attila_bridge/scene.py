"""Meaning: scenes of the form `attila-scene/1`, with buffers, textures by formula, programs and draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError, Place, nearest, suggestion
from pixelflow.simd.files import VERTICES, parse_json, read_text

# Texels by formula, in 32-bit integer arithmetic.


Grid = NDArray[np.uint32]


def _noise(i: Grid, j: Grid, level: int, seed: int) -> list[Grid]:
    """Return the four bytes of a hash of position, level and seed."""
    base = (0x01000193 * level + 0x9E3779B1 * seed) & 0xFFFFFFFF
    x = i + np.uint32(65536) * j + np.uint32(base)
    x = (x ^ x >> np.uint32(16)) * np.uint32(0x7FEB352D)
    x = (x ^ x >> np.uint32(15)) * np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    return [x >> np.uint32(shift) for shift in (0, 8, 16, 24)]


def _ramps(i: Grid, j: Grid) -> list[Grid]:
    height, width = i.shape
    return [
        np.uint32(255) * i // np.uint32(max(width - 1, 1)),
        np.uint32(255) * j // np.uint32(max(height - 1, 1)),
        np.full_like(i, 255),
    ]


def _checker(i: Grid, j: Grid, level: int, seed: int) -> list[Grid]:
    """Return squares of four texels in red, ramps in green and blue."""
    return [np.uint32(255) * ((i >> np.uint32(2)) + (j >> np.uint32(2)) & np.uint32(1)), *_ramps(i, j)]


def _level(i: Grid, j: Grid, level: int, seed: int) -> list[Grid]:
    """Return the level's number in red, ramps in green and blue."""
    return [np.full_like(i, (40 + 37 * level) % 256), *_ramps(i, j)]


PATTERNS: dict[str, Callable[[Grid, Grid, int, int], list[Grid]]] = {
    "noise": _noise,
    "checker": _checker,
    "level": _level,
}
"""Functions of texel numbers (to the right, upwards), level and seed; results are in the low 8 bits."""


def texture_levels(pattern: str, width: int, height: int, levels: int, seed: int) -> tuple[NDArray[np.uint8], ...]:
    """Return the levels of a texture, each uint8[height, width, 4] with half the sides of the one before."""
    made = []
    for level in range(levels):
        w, h = max(1, width >> level), max(1, height >> level)
        j, i = np.meshgrid(np.arange(h, dtype=np.uint32), np.arange(w, dtype=np.uint32), indexing="ij")
        made.append(np.stack([each.astype(np.uint8) for each in PATTERNS[pattern](i, j, level, seed)], axis=-1))
    return tuple(made)


# Fields of a JSON object; faults name their place, the allowed values and the nearest one.


_SHOWN = 40
"""Characters of a value shown in messages."""

Choice = TypeVar("Choice", bound=Enum)


class SceneFields:
    """An object of a scene file; ``path`` leads to it (`draws[3].state`)."""

    def __init__(self, value: object, file: str, path: str) -> None:
        self._file, self.path = file, path
        if not isinstance(value, dict):
            self.refuse(f"{path or 'the scene'} is {_kind(value)}", "an object is wanted here")
        self._values: Mapping[str, object] = value

    def refuse(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise the InputError of a fault in this file."""
        raise InputError(Fault(message, Place(self._file), hint))

    def at(self, key: str) -> str:
        """Return the path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def only(self, *allowed: str) -> None:
        """Refuse other keys."""
        for key in self._values:
            if key not in allowed:
                hint = suggestion(key, allowed, f"allowed: {', '.join(allowed)}")
                self.refuse(f"{self.at(key)}: unknown key", hint)

    def has(self, key: str) -> bool:
        """Return whether a key exists and is not null."""
        return self._values.get(key) is not None

    def value(self, key: str) -> object:
        """Return a required value."""
        if key not in self._values:
            keys = f"keys here: {', '.join(map(shown, self._values))}"[:200]
            self.refuse(f"{self.at(key)} is missing", keys if self._values else "there are no keys here")
        return self._values[key]

    def child(self, key: str) -> SceneFields:
        """Return the object of a key."""
        return SceneFields(self.value(key), self._file, self.at(key))

    def children(self, key: str) -> Iterator[tuple[str, SceneFields]]:
        """Yield names and members of an object of objects."""
        below = self.child(key)
        for name in below.names:
            yield name, below.child(name)

    @property
    def names(self) -> Sequence[str]:
        """Keys in order."""
        return tuple(self._values)

    def objects(self, key: str) -> list[SceneFields]:
        """Return the objects of a list."""
        return [
            SceneFields(each, self._file, f"{self.at(key)}[{at}]")
            for at, each in enumerate(self.items(key, None, "objects"))
        ]

    def items(self, key: str, length: int | None, what: str) -> list[object]:
        """Return a list, of ``length`` values if given."""
        items = self.value(key)
        if not isinstance(items, list) or (length is not None and len(items) != length):
            wanted = f"a list of {length} {what}" if length is not None else f"a list of {what}"
            self.refuse(f"{self.at(key)} is {_kind(items)}", f"{wanted} is wanted here")
        return items

    def text(self, key: str) -> str:
        """Return a string."""
        found = self.value(key)
        if not isinstance(found, str):
            self.refuse(f"{self.at(key)} is {_kind(found)}", "a string is wanted here")
        return found

    def flag(self, key: str) -> bool:
        """Return a truth value."""
        found = self.value(key)
        if not isinstance(found, bool):
            self.refuse(f"{self.at(key)} is {_kind(found)}", "true or false is wanted here")
        return found

    def whole(self, key: str, low: int, high: int) -> int:
        """Return an integer; refuse one outside low to high."""
        return self._whole(self.value(key), self.at(key), low, high)

    def wholes(self, key: str, count: int, low: int, high: int) -> tuple[int, ...]:
        """Return ``count`` integers."""
        found = self.items(key, count, "integers")
        return tuple(self._whole(each, f"{self.at(key)}[{at}]", low, high) for at, each in enumerate(found))

    def _whole(self, found: object, path: str, low: int, high: int) -> int:
        if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
            said = shown(found) if isinstance(found, int | float) else _kind(found)
            self.refuse(f"{path} is {said}", f"an integer {low} to {high} is wanted here")
        return found

    def number(self, key: str, low: float, high: float) -> float:
        """Return a number from low to high."""
        return self._number(self.value(key), self.at(key), low, high)

    def numbers(self, key: str, count: int, low: float, high: float) -> tuple[float, ...]:
        """Return ``count`` numbers."""
        found = self.items(key, count, "numbers")
        return tuple(self._number(each, f"{self.at(key)}[{at}]", low, high) for at, each in enumerate(found))

    def _number(self, found: object, path: str, low: float, high: float) -> float:
        if not isinstance(found, int | float) or isinstance(found, bool) or not low <= found <= high:
            said = shown(found) if isinstance(found, int | float) else _kind(found)
            self.refuse(f"{path} is {said}", f"a number {low:g} to {high:g} is wanted here")
        if not math.isfinite(found):
            self.refuse(f"{path} is {found}", "a finite number is wanted here")
        return float(found)

    def choice(self, key: str, kind: type[Choice]) -> Choice:
        """Return a member of an enumeration by its value."""
        found = self.one_of(key, [str(each.value) for each in kind])
        return kind(found)

    def one_of(self, key: str, allowed: Sequence[str]) -> str:
        """Return one of a few words."""
        found = self.text(key)
        if found not in allowed:
            near = nearest(found, allowed)
            self.refuse(
                f"{self.at(key)}: there is no {found!r} here",
                (f"did you mean {near}? " if near else "") + f"allowed: {', '.join(allowed)}",
            )
        return found


def shown(value: object) -> str:
    """Return a value for a message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text):,} characters)"


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return f"a list of {len(value)}"
    return "an object"


# Model of a scene.


ATTRIBUTES = {"position": 0, "color": 3, "texcoord0": 8}
"""Attributes of vertices and their input registers."""
MOST_TEXTURES = 16
"""Texture units of a program."""


class Primitive(Enum):
    """Rule that makes triangles of vertices."""

    TRIANGLES = "triangles"
    TRIANGLE_STRIP = "triangle_strip"
    TRIANGLE_FAN = "triangle_fan"
    QUADS = "quads"
    QUAD_STRIP = "quad_strip"


class Compare(Enum):
    """Comparison of a new value with that in the buffer."""

    NEVER = "never"
    LESS = "less"
    EQUAL = "equal"
    LEQUAL = "lequal"
    GREATER = "greater"
    NOTEQUAL = "notequal"
    GEQUAL = "gequal"
    ALWAYS = "always"


class StencilOperation(Enum):
    """Change of a stencil of 8 bits."""

    KEEP = "keep"
    ZERO = "zero"
    REPLACE = "replace"
    INCR = "incr"
    DECR = "decr"
    INVERT = "invert"
    INCR_WRAP = "incr_wrap"
    DECR_WRAP = "decr_wrap"


class Factor(Enum):
    """Factor of a colour in blending."""

    ZERO = "zero"
    ONE = "one"
    SRC_COLOR = "src_color"
    ONE_MINUS_SRC_COLOR = "one_minus_src_color"
    DST_COLOR = "dst_color"
    ONE_MINUS_DST_COLOR = "one_minus_dst_color"
    SRC_ALPHA = "src_alpha"
    ONE_MINUS_SRC_ALPHA = "one_minus_src_alpha"
    DST_ALPHA = "dst_alpha"
    ONE_MINUS_DST_ALPHA = "one_minus_dst_alpha"
    SRC_ALPHA_SATURATE = "src_alpha_saturate"


class Filter(Enum):
    """Filter of texels; magnification allows the first two only."""

    NEAREST = "nearest"
    LINEAR = "linear"
    NEAREST_MIPMAP_NEAREST = "nearest_mipmap_nearest"
    LINEAR_MIPMAP_NEAREST = "linear_mipmap_nearest"
    NEAREST_MIPMAP_LINEAR = "nearest_mipmap_linear"
    LINEAR_MIPMAP_LINEAR = "linear_mipmap_linear"

    @property
    def linear(self) -> bool:
        """True if four texels of a level are mixed."""
        return self.value.startswith("linear")

    @property
    def levels(self) -> str:
        """Levels read: "none" (the first), "nearest", or "linear" (two, mixed)."""
        return self.value.rpartition("_mipmap_")[2] if "_mipmap_" in self.value else "none"


class Wrap(Enum):
    """Treatment of coordinates outside of 0 to 1."""

    REPEAT = "repeat"
    CLAMP_TO_EDGE = "clamp_to_edge"


@dataclass(frozen=True, slots=True, eq=False)
class SceneBuffer:
    """An array in memory, tightly packed."""

    name: str
    use: str
    """vertex or index."""
    values: NDArray[np.float32 | np.uint32 | np.uint16]
    """[elements, components] for vertices, [elements] for indices."""

    @property
    def element_bytes(self) -> int:
        """Bytes from element to element."""
        return self.values.nbytes // max(1, len(self.values))


@dataclass(frozen=True, slots=True, eq=False)
class SceneTexture:
    """A two-dimensional texture of 4 bytes a texel."""

    name: str
    levels: tuple[NDArray[np.uint8], ...]
    """[height, width, 4] red, green, blue, alpha; row 0 has t = 0."""
    min: Filter
    mag: Filter
    wrap: Wrap
    anisotropy: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the first level."""
        return self.levels[0].shape[1], self.levels[0].shape[0]


class DepthState(NamedTuple):
    """The depth test."""

    func: Compare
    write: bool


class StencilState(NamedTuple):
    """The stencil test, the same for both faces, all bits compared and written."""

    func: Compare
    ref: int
    fail: StencilOperation
    zfail: StencilOperation
    zpass: StencilOperation


class DrawState(NamedTuple):
    """State of a draw; None and False are off."""

    depth: DepthState | None = None
    stencil: StencilState | None = None
    blend: tuple[Factor, Factor] | None = None
    cull: bool = False
    scissor: tuple[int, int, int, int] | None = None
    color_mask: tuple[bool, bool, bool, bool] = (True, True, True, True)


@dataclass(frozen=True, slots=True)
class SceneDraw:
    """One draw; buffers, textures and programs by name."""

    primitive: Primitive
    count: int
    attributes: dict[str, str]
    indices: str | None
    vertex_program: str
    fragment_program: str
    textures: dict[int, str]
    state: DrawState


class ClearValues(NamedTuple):
    """Clear values; None where a buffer is not cleared."""

    color: tuple[float, float, float, float] | None
    depth: float | None
    stencil: int | None


@dataclass(frozen=True, slots=True, eq=False)
class AttilaScene:
    """A scene of one frame."""

    name: str
    file: str
    size: tuple[int, int]
    clear: ClearValues
    buffers: dict[str, SceneBuffer]
    textures: dict[str, SceneTexture]
    programs: dict[str, str]
    """Texts of ARB programs."""
    draws: tuple[SceneDraw, ...]


# Scenes made by programs.


_VERTEX = "!!ARBvp1.0\nMOV result.position, vertex.position;\nMOV result.color, vertex.color;\n{more}END"
_COORDINATES = "MOV result.texcoord[{}], vertex.texcoord[0];\n"
COORDINATE_SETS = 10
"""Sets of coordinates of a fragment program."""

Floats = NDArray[np.float64]


class SceneParts:
    """A scene in the making: draws of triangles with their arrays, and distinct programs and textures."""

    def __init__(self) -> None:
        self._buffers: dict[str, SceneBuffer] = {}
        self._textures: dict[str, SceneTexture] = {}
        self._programs: dict[str, str] = {}
        self._draws: list[SceneDraw] = []

    def add(
        self,
        positions: Floats,
        colors: Floats,
        *,
        fragment: str,
        state: DrawState,
        coordinates: Floats | None = None,
        textures: Mapping[int, SceneTexture] = MappingProxyType({}),
        indices: Sequence[int] | None = None,
    ) -> None:
        """Add a draw; arrays are [vertex, 4].

        A program that reads further sets of coordinates gets the same ones for each.
        """
        attributes = {"position": self._buffer("positions", positions), "color": self._buffer("colours", colors)}
        sets: list[int] = []
        if coordinates is not None:
            attributes["texcoord0"] = self._buffer("coordinates", coordinates)
            sets = [each for each in range(COORDINATE_SETS) if not each or f"texcoord[{each}]" in fragment]
        count, named = len(positions), None
        if indices is not None:
            count, named = len(indices), f"indices {len(self._draws)}"
            self._buffers[named] = SceneBuffer(named, "index", np.array(indices, np.uint32))
        self._textures |= {each.name: each for each in textures.values()}
        self._draws.append(
            SceneDraw(
                Primitive.TRIANGLES,
                count,
                attributes,
                named,
                self._program(_VERTEX.format(more="".join(map(_COORDINATES.format, sets)))),
                self._program(fragment),
                {unit: each.name for unit, each in textures.items()},
                state,
            )
        )

    def _buffer(self, what: str, values: Floats) -> str:
        name = f"{what} {len(self._draws)}"
        self._buffers[name] = SceneBuffer(name, "vertex", values.astype(np.float32))
        return name

    def _program(self, text: str) -> str:
        for name, known in self._programs.items():
            if known == text:
                return name
        name = f"program {len(self._programs)}"
        self._programs[name] = text
        return name

    def scene(self, name: str, size: tuple[int, int], clear: ClearValues) -> AttilaScene:
        """Return the scene of the added draws."""
        return AttilaScene(name, "", size, clear, self._buffers, self._textures, self._programs, tuple(self._draws))


# Loader of scene files of the form `attila-scene/1`.


FORMAT = "attila-scene/1"
LARGEST_SIDE = 4096
"""Pixels; the hierarchical Z buffer holds 512x512 blocks of 8x8."""
_LARGEST_TEXTURE = 4096
_MOST_TEXELS = 128 << 20
"""Bytes of texels of a scene; the largest texture takes 86 MiB with its levels."""
_LARGEST_FLOAT = float(np.finfo(np.float32).max)
_TYPES = {"float32": np.float32, "uint32": np.uint32, "uint16": np.uint16}
_LARGEST_INDEX = {"uint32": 0xFFFFFFFF, "uint16": 0xFFFF}


def load_scene(path: str | Path) -> AttilaScene:
    """Return the scene of a file; raises InputError if it cannot be read or is not valid."""
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
        if not low <= each <= high:  # false for a NaN
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
        hint = suggestion(name, known, f"{what}s: {', '.join(known) or 'none'}")
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
