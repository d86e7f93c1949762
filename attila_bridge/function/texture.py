"""Meaning: texture reads of quads: colours and addresses of texels for coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.layout import clamped, morton
from attila_bridge.function.work import PAGE_BYTES
from attila_bridge.isa.execution import Lookup
from attila_bridge.isa.operands import COMPONENTS, GROUP_LANES, INPUTS_OF_GROUP
from attila_bridge.scene import SceneTexture, Wrap
from pixelflow.simd.errors import Fault, InputError

# Footprint of a quad in a texture: the levels read, the number of samples and their axis.


Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
_HALF = np.float32(0.5)
_ROOT_HALF = np.float32(0.5**0.5)
_ZERO = np.float32(0)


@dataclass(frozen=True, slots=True, eq=False)
class TextureFootprint:
    """Levels and samples of quads."""

    linear: NDArray[np.bool_]
    """[quads] True if four texels are mixed for each sample."""
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
    """Return the length that determines the level, the number of samples, and their axis."""
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
    """Return the ratio of two vectors' lengths (at least 1, at most ``most``), the longer vector, and its length."""
    a, b = _length(first), _length(second)
    longer = a >= b
    longest, shortest = np.where(longer, a, b), np.where(longer, b, a)
    with np.errstate(all="ignore"):
        ratio = np.where(shortest > 0, longest / shortest, np.float32(most))
    ratio = np.where(longest > 0, clamped(ratio, 1, most), np.float32(1))
    return ratio, np.where(longer[:, None], first, second), longest


# Textures in memory: 8x8 blocks of texels, a line of 256 bytes each, and the addresses of texels.
#
# Texels are in Morton order within a block, blocks in Morton order within a superblock of 8x8 blocks, superblocks are
# row by row; each level begins at a multiple of 4 KB, so the low bits of a block's number are its set of the cache.


Words = NDArray[np.uint32]
_TEXEL = 4
_SIDE_BITS = 3
_SUPER = 64
_SUPER_BYTES = _SUPER * _SUPER * _TEXEL


class TextureImage:
    """Texels of a texture in memory, starting at ``address``."""

    def __init__(self, texture: SceneTexture, address: int) -> None:
        self.texture, self.address = texture, address
        self.width = np.array([level.shape[1] for level in texture.levels])
        self.height = np.array([level.shape[0] for level in texture.levels])
        """[levels] in texels."""
        self._across = -(-self.width // _SUPER)
        self._start = np.zeros(len(self.width) + 1, np.int64)
        np.cumsum([_level_bytes(*level.shape[1::-1]) for level in texture.levels], out=self._start[1:])
        self._words = np.zeros(int(self._start[-1]) // _TEXEL, np.uint32)
        for number, level in enumerate(texture.levels):
            i, j = np.meshgrid(np.arange(level.shape[1]), np.arange(level.shape[0]))
            places = self._offset(np.full(i.shape, number), i, j) // _TEXEL
            self._words[places] = np.ascontiguousarray(level).view(np.uint32)[..., 0]

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self.width)

    def level_address(self, level: int) -> int:
        """Return the address of a level."""
        return self.address + int(self._start[level])

    def _offset(self, level: Integers, i: Integers, j: Integers) -> Integers:
        inside = morton(i, j, _SIDE_BITS) + (morton(i >> _SIDE_BITS, j >> _SIDE_BITS, _SIDE_BITS) << 2 * _SIDE_BITS)
        above = (j // _SUPER) * self._across[level] + i // _SUPER
        return self._start[level] + above * _SUPER_BYTES + inside * _TEXEL

    def fetch(self, level: Integers, i: Integers, j: Integers) -> tuple[Words, Words]:
        """Return the addresses of texels and the texels, red in the lowest byte."""
        offset = self._offset(level, i, j)
        return (offset + self.address).astype(np.uint32), self._words[offset // _TEXEL]


def _level_bytes(width: int, height: int) -> int:
    """Return the bytes from the beginning of a level to the next."""
    if width >= _SUPER or height >= _SUPER:
        return -(-width // _SUPER) * -(-height // _SUPER) * _SUPER_BYTES
    blocks = 1
    while 8 * blocks < max(width, height):
        blocks *= 2
    return -(-blocks * blocks * 64 * _TEXEL // PAGE_BYTES) * PAGE_BYTES


def texture_bytes(texture: SceneTexture) -> int:
    """Return the bytes of a texture in memory."""
    return sum(_level_bytes(level.shape[1], level.shape[0]) for level in texture.levels)


# Sampler: texture reads of quads, sample by sample, with the addresses of each bilinear step.


_ONE = np.float32(1)
_BYTE = np.float32(255)
_SHIFTS = np.arange(0, 32, 8, dtype=np.uint32)
_CORNERS = ((0, 0), (1, 0), (0, 1), (1, 1))


@dataclass(slots=True, eq=False)
class TextureReads:
    """Reads of one instruction, in order."""

    counts: list[Integers] = field(default_factory=list)
    """Bilinear steps of each quad."""
    samples: list[Integers] = field(default_factory=list)
    """Samples of each quad along its axis of anisotropy; 1 without anisotropy."""
    texels: list[Words] = field(default_factory=list)
    """[steps, 4, 4] addresses."""


class UnitSampler:
    """Textures bound by a draw, and their reads."""

    def __init__(self, textures: Mapping[int, TextureImage]) -> None:
        self._textures = textures
        self.instruction = 0
        self.reads: dict[int, TextureReads] = {}
        """By the number of the instruction."""

    def sample(self, unit: int, coordinates: Words, lookup: Lookup) -> Words:
        """Return colours, uint32[quads, 16]; raises InputError if the unit has no texture."""
        memory = self._textures.get(unit)
        if memory is None:
            bound = ", ".join(map(str, sorted(self._textures))) or "none"
            raise InputError(
                Fault(f"texture[{unit}] is read, the draw binds no texture to it", None, f"bound: {bound}")
            )
        values = np.ascontiguousarray(coordinates).view(np.float32).reshape(-1, INPUTS_OF_GROUP, COMPONENTS)
        place = values[..., :2]
        bias = np.zeros(len(values), np.float32)
        with np.errstate(all="ignore"):
            if lookup is Lookup.PROJECTED:
                place = place / values[..., 3:]
            if lookup is Lookup.BIASED:
                bias = values[:, 0, 3]
            colors, samples, counts, texels = self._filtered(memory, place, bias)
        reads = self.reads.setdefault(self.instruction, TextureReads())
        reads.counts.append(counts)
        reads.samples.append(samples)
        reads.texels.append(texels)
        return np.ascontiguousarray(colors.reshape(-1, GROUP_LANES)).view(np.uint32)

    def _filtered(self, memory: TextureImage, place: Floats, bias: Floats) -> tuple[Floats, Integers, Integers, Words]:
        found = footprint_of(memory.texture, place, bias)
        two = found.share > 0
        steps = found.samples * (1 + two)
        offsets = np.concatenate([[0], np.cumsum(steps)])
        texels = np.zeros((int(offsets[-1]), INPUTS_OF_GROUP, len(_CORNERS)), np.uint32)
        total = np.zeros((len(place), INPUTS_OF_GROUP, COMPONENTS), np.float32)
        size = np.array(memory.texture.size, np.float32)
        for number in range(int(found.samples.max(initial=0))):
            chosen = np.flatnonzero(found.samples > number)
            samples = found.samples[chosen]
            shift = (np.float32(number + 1) - (samples + 1).astype(np.float32) * _HALF)[:, None]
            shift = shift * found.axis[chosen] / ((samples + 1).astype(np.float32)[:, None] * size)
            at = place[chosen] + np.where(samples > 1, shift.T, np.float32(0)).T[:, None].astype(np.float32)
            first = offsets[chosen] + number * (1 + two[chosen])
            color, texels[first] = _bilinear(memory, at, found.level[chosen], found.linear[chosen])
            mixed = np.flatnonzero(two[chosen])
            if len(mixed):
                which = chosen[mixed]
                coarse, texels[first[mixed] + 1] = _bilinear(
                    memory, at[mixed], found.level[which] + 1, found.linear[which]
                )
                share = found.share[which][:, None, None]
                color[mixed] = color[mixed] * (_ONE - share) + coarse * share
            total[chosen] += color
        several = found.samples > 1
        total[several] /= found.samples[several].astype(np.float32)[:, None, None]
        return total, found.samples, steps, texels


def _bilinear(memory: TextureImage, at: Floats, level: Integers, linear: NDArray[np.bool_]) -> tuple[Floats, Words]:
    """Return colours float32[quads, 4, 4] and addresses uint32[quads, 4, 4] of one sample in one level."""
    width, height = memory.width[level][:, None], memory.height[level][:, None]
    u = _wrapped(at[..., 0], width, memory.texture.wrap)
    v = _wrapped(at[..., 1], height, memory.texture.wrap)
    half = np.where(linear, _HALF, np.float32(0))[:, None].astype(np.float32)
    u, v = u - half, v - half
    i, j = np.floor(u), np.floor(v)
    a, b = u - i, v - j
    nearest = ~linear[:, None]
    a, b = np.where(nearest, np.float32(0), a)[..., None], np.where(nearest, np.float32(0), b)[..., None]
    shares = (((_ONE - a), (_ONE - b)), (a, (_ONE - b)), ((_ONE - a), b), (a, b))
    addresses = np.zeros((*at.shape[:2], len(_CORNERS)), np.uint32)
    levels = np.broadcast_to(level[:, None], i.shape)
    color = np.zeros((*at.shape[:2], COMPONENTS), np.float32)
    for number, ((right, up), (first, second)) in enumerate(zip(_CORNERS, shares, strict=True)):
        step = linear[:, None].astype(np.int64)
        column = _texel(i.astype(np.int64) + right * step, width, memory.texture.wrap)
        row = _texel(j.astype(np.int64) + up * step, height, memory.texture.wrap)
        addresses[..., number], words = memory.fetch(levels, column, row)
        texel = (words[..., None] >> _SHIFTS & np.uint32(255)).astype(np.float32) / _BYTE
        part = texel * first * second
        color = part if number == 0 else color + part
    return color, addresses


def _wrapped(at: Floats, size: Integers, wrap: Wrap) -> Floats:
    """Return a coordinate in texels of a level, wrapped into the texture."""
    whole = size.astype(np.float32)
    if wrap is Wrap.REPEAT:
        # The fraction of an infinity or a NaN counts as 0.
        at = np.where(np.isfinite(at), at - np.floor(at), np.float32(0))
    else:
        edge = _ONE / (np.float32(2) * whole)
        at = clamped(at, edge, _ONE - edge)
    return (at * whole).astype(np.float32)


def _texel(at: Integers, size: Integers, wrap: Wrap) -> Integers:
    return at & size - 1 if wrap is Wrap.REPEAT else np.clip(at, 0, size - 1)
