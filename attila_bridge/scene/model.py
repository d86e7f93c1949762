"""Model of a scene: what `load_scene` reads, checked, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ATTRIBUTES",
    "MOST_TEXTURES",
    "AttilaScene",
    "ClearValues",
    "Compare",
    "DepthState",
    "DrawState",
    "Factor",
    "Filter",
    "Primitive",
    "SceneBuffer",
    "SceneDraw",
    "SceneTexture",
    "StencilOperation",
    "StencilState",
    "Wrap",
]

ATTRIBUTES = {"position": 0, "color": 3, "texcoord0": 8}
"""Attributes of vertices and the input registers that they come in."""
MOST_TEXTURES = 16
"""Texture units that a program can name."""


class Primitive(Enum):
    """How vertices become triangles."""

    TRIANGLES = "triangles"
    TRIANGLE_STRIP = "triangle_strip"
    TRIANGLE_FAN = "triangle_fan"
    QUADS = "quads"
    QUAD_STRIP = "quad_strip"


class Compare(Enum):
    """Comparison of a new value with the one in the buffer."""

    NEVER = "never"
    LESS = "less"
    EQUAL = "equal"
    LEQUAL = "lequal"
    GREATER = "greater"
    NOTEQUAL = "notequal"
    GEQUAL = "gequal"
    ALWAYS = "always"


class StencilOperation(Enum):
    """What becomes of a stencil of 8 bits."""

    KEEP = "keep"
    ZERO = "zero"
    REPLACE = "replace"
    INCR = "incr"
    DECR = "decr"
    INVERT = "invert"
    INCR_WRAP = "incr_wrap"
    DECR_WRAP = "decr_wrap"


class Factor(Enum):
    """What a colour is multiplied with before the two are added."""

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
    """How texels become a sample; magnification knows the first two only."""

    NEAREST = "nearest"
    LINEAR = "linear"
    NEAREST_MIPMAP_NEAREST = "nearest_mipmap_nearest"
    LINEAR_MIPMAP_NEAREST = "linear_mipmap_nearest"
    NEAREST_MIPMAP_LINEAR = "nearest_mipmap_linear"
    LINEAR_MIPMAP_LINEAR = "linear_mipmap_linear"

    @property
    def linear(self) -> bool:
        """Whether four texels of a level are mixed."""
        return self.value.startswith("linear")

    @property
    def levels(self) -> str:
        """Which levels: "none" (the first), "nearest", "linear" (two of them mixed)."""
        return self.value.rpartition("_mipmap_")[2] if "_mipmap_" in self.value else "none"


class Wrap(Enum):
    """What becomes of coordinates outside of 0 to 1."""

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


@dataclass(frozen=True, slots=True)
class DepthState:
    """The depth test."""

    func: Compare
    write: bool


@dataclass(frozen=True, slots=True)
class StencilState:
    """The stencil test, the same for both faces, all bits compared and written."""

    func: Compare
    ref: int
    fail: StencilOperation
    zfail: StencilOperation
    zpass: StencilOperation


@dataclass(frozen=True, slots=True)
class DrawState:
    """State of a draw; what is None or False is off."""

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


@dataclass(frozen=True, slots=True)
class ClearValues:
    """What the frame is cleared to; None where a buffer is not cleared."""

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
