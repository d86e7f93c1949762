"""Textures in memory: 8x8 blocks of texels, a line of 256 bytes each, and the addresses of texels.

Texels are in Morton order within a block, blocks in Morton order within a superblock of 8x8 blocks, superblocks row by
row; each level begins at a multiple of 4 KB. So the set of the texture cache is the low bits of the block's number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.layout import PAGE_BYTES, morton
from attila_bridge.scene.model import SceneTexture

__all__ = ["TextureImage", "texture_bytes"]

Integers = NDArray[np.int64]
Words = NDArray[np.uint32]
_TEXEL = 4
_SIDE_BITS = 3
_SUPER = 64
_SUPER_BYTES = _SUPER * _SUPER * _TEXEL


class TextureImage:
    """The texels of a texture as they lie in memory, from ``address`` on."""

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
        """How many levels there are."""
        return len(self.width)

    def level_address(self, level: int) -> int:
        """Return where a level begins."""
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
    """Return what a level takes in memory, up to the beginning of the next."""
    if width >= _SUPER or height >= _SUPER:
        return -(-width // _SUPER) * -(-height // _SUPER) * _SUPER_BYTES
    blocks = 1
    while 8 * blocks < max(width, height):
        blocks *= 2
    return -(-blocks * blocks * 64 * _TEXEL // PAGE_BYTES) * PAGE_BYTES


def texture_bytes(texture: SceneTexture) -> int:
    """Return what a texture takes in memory."""
    return sum(_level_bytes(level.shape[1], level.shape[0]) for level in texture.levels)
