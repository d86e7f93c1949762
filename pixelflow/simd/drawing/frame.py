"""Contents of a picture: draws, each with its triangles and the state that they are drawn in.

A frame says what is to be drawn and nothing of the machine that draws it. What each state means, to the last bit, is
executed in 64-bit integers by `frame_reference.draw_frame`.

For a pixel, or each of its four samples, that a triangle covers: the fragment is dropped where its texel is more
transparent than the draw's ``cutout``; the stencil is tested, then the depth; the stencil steps; the depth is written;
the colour is blended. Products of bytes are divided by 255 and rounded to nearest: div(x) = (y + (y >> 8)) >> 8 with
y = x + 128, which is exact for 0 <= x <= 255 * 255.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from numbers import Integral

import numpy as np

from pixelflow.simd.drawing.triangles import REACH, ScreenTriangles
from pixelflow.simd.errors import Fault, InputError

_LARGEST_TEXTURE = 1024


class DepthTest(Enum):
    """Which fragments pass by their depth."""

    LESS = "nearer than what is there"
    ALWAYS = "all"


class StencilTest(Enum):
    """Which fragments pass by the stencil's byte."""

    ALWAYS = "all"
    EQUAL = "the stencil equals the reference"
    DIFFERENT = "the stencil differs from the reference"


class StencilStep(Enum):
    """New value of the stencil's byte."""

    KEEP = "stays"
    ZERO = "becomes 0"
    REPLACE = "becomes the reference"
    UP = "one more, modulo 256"
    DOWN = "one less, modulo 256"


class Blend(Enum):
    """New value of a pixel's colour d under a fragment of colour s and opacity a, each 0 to 255."""

    REPLACE = "s"
    OVER = "div(s a + d (255 - a))"
    ADD = "min(255, d + div(s a))"
    MULTIPLY = "div(s d)"
    SORTED = "as OVER, once the whole frame is there, the farthest fragment first; of equal depths the one drawn first"


@dataclass(frozen=True, slots=True)
class Stencil:
    """Test of the stencil, and its steps: where that test fails, where the depth test fails, where both pass."""

    test: StencilTest = StencilTest.ALWAYS
    reference: int = 0
    failed: StencilStep = StencilStep.KEEP
    hidden: StencilStep = StencilStep.KEEP
    passed: StencilStep = StencilStep.KEEP


@dataclass(frozen=True, slots=True, eq=False)
class Texture:
    """``texels`` is uint8[row, column, rgba], sides powers of two up to 1024; it repeats in both directions.

    At u, v in 1/65536 texel, half a texel is taken off, the upper 16 bits choose the texel and the next 8 weigh it
    against its neighbour to the right and below: (sum of the four with their weights + 2^15) >> 16. With ``mipmaps``
    there are smaller levels, and pixels look between two of them, as `pixelflow.simd.drawing.mipmaps` says.
    """

    texels: np.ndarray
    mipmaps: bool = False
    levels: tuple[np.ndarray, ...] = field(init=False)
    """The texels, and with mipmaps the smaller levels down to one texel: uint8[row, column, rgba] each."""

    def __post_init__(self) -> None:
        shape = self.texels.shape
        sides = shape[:2]
        if self.texels.dtype != np.uint8 or len(shape) != 3 or shape[2] != 4:
            raise InputError(Fault(f"a texture is uint8[row, column, 4], not {self.texels.dtype}{list(shape)}"))
        if not all(1 <= side <= _LARGEST_TEXTURE and side & (side - 1) == 0 for side in sides):
            hint = f"powers of two up to {_LARGEST_TEXTURE}"
            raise InputError(Fault(f"a texture of {sides[1]}x{sides[0]} texels", hint=hint))
        levels = [self.texels]
        while self.mipmaps and max(levels[-1].shape[:2]) > 1:
            levels.append(_halved(levels[-1]))
        object.__setattr__(self, "levels", tuple(levels))


def _halved(texels: np.ndarray) -> np.ndarray:
    """Return the means of two by two texels, or of two where there is one row or column."""
    total, count = texels.astype(np.int64), 1
    for axis in (0, 1):
        if texels.shape[axis] > 1:
            first, second = (slice(start, None, 2) for start in (0, 1))
            along = (slice(None),) * axis
            total, count = total[(*along, first)] + total[(*along, second)], 2 * count
    return ((total + count // 2) // count).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class State:
    """How the triangles of a draw meet the picture; ``alpha`` and ``cutout`` are 0 to 255."""

    depth_test: DepthTest = DepthTest.LESS
    depth_write: bool = True
    colour_write: bool = True
    blend: Blend = Blend.REPLACE
    alpha: int = 255
    stencil: Stencil | None = None
    texture: Texture | None = None
    """Multiplies the colour, div(c t), and its opacity the draw's, div(alpha t)."""
    cutout: int = 0
    """Fragments whose texel has less opacity are dropped; so depth cannot be tested for good before the texture."""

    @property
    def plain(self) -> bool:
        """True if this is what every machine here draws: nearest depth wins, colours replaced, nothing else."""
        return self == State()


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Triangles that are drawn in one state, in their order."""

    name: str
    triangles: ScreenTriangles
    state: State = field(default_factory=State)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A picture to be drawn: draws in their order on a background, at one sample a pixel or at four.

    ``width`` and ``height`` are 1 to REACH pixels, ``background`` is red, green and blue, whole numbers from 0 to 255.
    Raises InputError for what is not, and for states that contradict each other or the triangles.
    """

    width: int
    height: int
    background: tuple[int, int, int]
    draws: tuple[Draw, ...]
    samples: int = 1

    def __post_init__(self) -> None:
        faults = []
        if not (_whole(self.width, 1, REACH) and _whole(self.height, 1, REACH)):
            faults.append(Fault(f"a picture of {self.width}x{self.height} pixels", hint=f"1 to {REACH} each, whole"))
        if not isinstance(self.background, tuple | list) or [_whole(c, 0, 255) for c in self.background] != [True] * 3:
            hint = "red, green and blue, whole numbers from 0 to 255"
            faults.append(Fault(f"a background of {self.background}", hint=hint))
        if not _whole(self.samples, 1, 4) or self.samples not in (1, 4):
            faults.append(Fault(f"{self.samples} samples a pixel", hint="allowed: 1, 4"))
        sorted_before = False
        for draw in self.draws:
            faults += [Fault(f"draw {draw.name}: {message}") for message in _contradictions(draw)]
            if sorted_before and draw.state.blend is not Blend.SORTED:
                faults.append(Fault(f"draw {draw.name}: follows draws that are sorted, and is not"))
            sorted_before |= draw.state.blend is Blend.SORTED
        if faults:
            raise InputError(faults)

    @property
    def plain(self) -> bool:
        """True if every machine here draws it: plain states, one sample."""
        return self.samples == 1 and all(draw.state.plain for draw in self.draws)


def _whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high


def _contradictions(draw: Draw) -> list[str]:
    state = draw.state
    found = []
    if state.texture is not None and draw.triangles.coordinates is None:
        found.append("has a texture and no coordinates")
    if state.cutout and state.texture is None:
        found.append("has a cutout and no texture")
    if not (_whole(state.alpha, 0, 255) and _whole(state.cutout, 0, 255)):
        found.append("alpha and cutout are whole numbers from 0 to 255")
    if state.stencil is not None and not _whole(state.stencil.reference, 0, 255):
        found.append("the stencil's reference is a whole number from 0 to 255")
    if state.blend is Blend.SORTED and (state.depth_write or not state.colour_write):
        found.append("is sorted, so that it writes colour and no depth")
    return found
