"""Sampler: texture reads of quads, sample by sample, with the addresses that each bilinear step touches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attila_bridge.code.isa.execution import Lookup
from attila_bridge.code.isa.registers import COMPONENTS, GROUP_LANES, INPUTS_OF_GROUP
from attila_bridge.function.bounds import clamped
from attila_bridge.function.texture.footprint import footprint_of
from attila_bridge.function.texture.memory import TextureImage
from attila_bridge.scene.model import Wrap
from pixelflow.simd.errors import Fault, InputError

__all__ = ["TextureReads", "UnitSampler"]

Floats = NDArray[np.float32]
Words = NDArray[np.uint32]
Integers = NDArray[np.int64]
_ONE, _HALF = np.float32(1), np.float32(0.5)
_BYTE = np.float32(255)
_SHIFTS = np.arange(0, 32, 8, dtype=np.uint32)
_CORNERS = ((0, 0), (1, 0), (0, 1), (1, 1))


@dataclass(slots=True, eq=False)
class TextureReads:
    """The reads of one instruction, in the order in which they were asked for."""

    instruction: int
    unit: int
    counts: list[Integers] = field(default_factory=list)
    """Bilinear steps of each quad."""
    samples: list[Integers] = field(default_factory=list)
    """Samples of each quad, along its axis of anisotropy; one where there is none."""
    texels: list[Words] = field(default_factory=list)
    """[steps, 4, 4] addresses."""


class UnitSampler:
    """The textures that a draw has bound, and what was read of them."""

    def __init__(self, textures: Mapping[int, TextureImage]) -> None:
        self._textures = textures
        self.instruction = 0
        self.reads: dict[int, TextureReads] = {}
        """By number of the instruction."""

    def sample(self, unit: int, coordinates: Words, lookup: Lookup) -> Words:
        """Return colours, uint32[quads, 16]; raises InputError where the unit has no texture."""
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
        reads = self.reads.setdefault(self.instruction, TextureReads(self.instruction, unit))
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
    """Return a coordinate in texels of a level, brought into the texture."""
    whole = size.astype(np.float32)
    if wrap is Wrap.REPEAT:
        # What is infinite or no number has no fraction.
        at = np.where(np.isfinite(at), at - np.floor(at), np.float32(0))
    else:
        edge = _ONE / (np.float32(2) * whole)
        at = clamped(at, edge, _ONE - edge)
    return (at * whole).astype(np.float32)


def _texel(at: Integers, size: Integers, wrap: Wrap) -> Integers:
    return at & size - 1 if wrap is Wrap.REPEAT else np.clip(at, 0, size - 1)
