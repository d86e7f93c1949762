"""Footprint of a quad in a texture: which levels are read, how many samples along which axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.bounds import clamped
from attila_bridge.scene.model import SceneTexture

__all__ = ["TextureFootprint", "footprint_of"]

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
_HALF = np.float32(0.5)
_ROOT_HALF = np.float32(0.5**0.5)
_ZERO = np.float32(0)


@dataclass(frozen=True, slots=True, eq=False)
class TextureFootprint:
    """What quads read."""

    linear: NDArray[np.bool_]
    """[quads] whether four texels are mixed for each sample."""
    level: Integers
    """[quads] the level, or the finer one of two."""
    share: Floats
    """[quads] share of the next coarser level; 0 where one level is read."""
    samples: Integers
    """[quads] samples along the axis."""
    axis: Floats
    """[quads, 2] the axis in texels of the first level."""


def footprint_of(texture: SceneTexture, coordinates: Floats, bias: Floats) -> TextureFootprint:
    """Return the footprints of quads; coordinates float32[quads, 4, 2], bias float32[quads]."""
    size = np.array(texture.size, np.float32)
    scaled = coordinates * size
    along_x, along_y = scaled[:, 1] - scaled[:, 0], scaled[:, 2] - scaled[:, 0]
    scale, samples, axis = _axes(along_x, along_y, texture.anisotropy)
    with np.errstate(all="ignore"):
        lod = np.log2(scale.astype(np.float64)).astype(np.float32) + bias
    above = _HALF if texture.mag.linear and texture.min.value.startswith("nearest_mipmap") else _ZERO
    magnified = lod <= above
    last = len(texture.levels) - 1
    linear = np.where(magnified, texture.mag.linear, texture.min.linear)
    level, share = np.zeros(len(lod), np.int64), np.zeros(len(lod), np.float32)
    held = clamped(lod, 0, last)
    match texture.min.levels:
        case "nearest":
            level = np.clip(np.ceil(held + _HALF) - 1, 0, last).astype(np.int64)
        case "linear":
            level = np.floor(held).astype(np.int64)
            share = held - level.astype(np.float32)
    level = np.where(magnified, 0, level)
    share = np.where(magnified, _ZERO, share).astype(np.float32)
    return TextureFootprint(linear, level, share, samples, axis)


def _length(vector: Floats) -> Floats:
    return np.sqrt(vector[:, 0] * vector[:, 0] + vector[:, 1] * vector[:, 1])


def _axes(along_x: Floats, along_y: Floats, most: int) -> tuple[Floats, Integers, Floats]:
    """Return the length by which the level is chosen, the number of samples, and the axis that they lie on."""
    lengths = _length(along_x), _length(along_y)
    if most == 1:
        return np.maximum(*lengths), np.ones(len(along_x), np.int64), np.zeros_like(along_x)
    plain = _elongation(along_x, along_y, most)
    diagonal = _elongation((along_x + along_y) * _ROOT_HALF, (along_x - along_y) * _ROOT_HALF, most)
    other = (diagonal[0] > plain[0])[:, None]
    ratio = np.where(other[:, 0], diagonal[0], plain[0])
    axis = np.where(other, diagonal[1], plain[1]).astype(np.float32)
    longest = np.where(other[:, 0], diagonal[2], plain[2])
    return (longest / ratio).astype(np.float32), np.ceil(ratio).astype(np.int64), axis


def _elongation(first: Floats, second: Floats, most: int) -> tuple[Floats, Floats, Floats]:
    """Return how much longer the longer one of two vectors is, at most ``most`` times; that vector, and its length."""
    a, b = _length(first), _length(second)
    longer = a >= b
    longest, shortest = np.where(longer, a, b), np.where(longer, b, a)
    with np.errstate(all="ignore"):
        ratio = np.where(shortest > 0, longest / shortest, np.float32(most))
    ratio = np.where(longest > 0, clamped(ratio, 1, most), np.float32(1))
    return ratio, np.where(longer[:, None], first, second), longest
