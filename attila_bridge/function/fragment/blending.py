"""Colour: float32 colours as bytes, blended with what the buffer holds, under a mask of components."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.bounds import clamped
from attila_bridge.scene.model import DrawState, Factor

__all__ = ["color_word", "mask_word", "write_colors"]

Words = NDArray[np.uint32]
Floats = NDArray[np.float32]
Bits = NDArray[np.bool_]
_ONE = np.float32(1)
_BYTE = np.float32(1.0 / 255.0)
_MOST = np.float32(255)
_SHIFTS = np.arange(0, 32, 8, dtype=np.uint32)


def _alpha(color: Floats) -> Floats:
    return np.broadcast_to(color[..., 3:], color.shape)


def _saturated(source: Floats, target: Floats) -> Floats:
    found = np.broadcast_to(np.minimum(source[..., 3:], _ONE - target[..., 3:]), source.shape).copy()
    found[..., 3] = _ONE
    return found


_FACTORS: dict[Factor, Callable[[Floats, Floats], Floats]] = {
    Factor.ZERO: lambda source, target: np.zeros_like(source),
    Factor.ONE: lambda source, target: np.ones_like(source),
    Factor.SRC_COLOR: lambda source, target: source,
    Factor.ONE_MINUS_SRC_COLOR: lambda source, target: _ONE - source,
    Factor.DST_COLOR: lambda source, target: target,
    Factor.ONE_MINUS_DST_COLOR: lambda source, target: _ONE - target,
    Factor.SRC_ALPHA: lambda source, target: _alpha(source),
    Factor.ONE_MINUS_SRC_ALPHA: lambda source, target: _ONE - _alpha(source),
    Factor.DST_ALPHA: lambda source, target: _alpha(target),
    Factor.ONE_MINUS_DST_ALPHA: lambda source, target: _ONE - _alpha(target),
    Factor.SRC_ALPHA_SATURATE: _saturated,
}


def packed(colors: Floats) -> Words:
    """Return colours as words, float32[..., 4]: clamped to 0..1, times 255, cut off; red in the lowest byte."""
    scaled = (clamped(colors) * _MOST).astype(np.uint32)
    red, green, blue, alpha = (scaled[..., at] for at in range(4))
    return red | green << np.uint32(8) | blue << np.uint32(16) | alpha << np.uint32(24)


def color_word(color: Sequence[float]) -> int:
    """Return the word of a clear colour."""
    return int(packed(np.array(color, np.float32)))


def mask_word(mask: Sequence[bool]) -> int:
    """Return the bits of a colour word that a mask of components lets through."""
    return sum(0xFF << 8 * at for at, each in enumerate(mask) if each)


def write_colors(state: DrawState, live: Bits, colors: Floats, words: Words) -> Words:
    """Return the words of the buffer after fragments that are ``live`` were written; colours float32[..., 4]."""
    if state.blend is not None:
        source = clamped(colors)
        target = (words[..., None] >> _SHIFTS & np.uint32(255)).astype(np.float32) * _BYTE
        first, second = (_FACTORS[each](source, target) for each in state.blend)
        colors = source * first + target * second
    mask = np.where(live, np.uint32(mask_word(state.color_mask)), np.uint32(0))
    return words & ~mask | packed(colors) & mask
