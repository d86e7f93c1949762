"""Meaning: texture reads of quads, from coordinates to colours and the addresses of texels."""

from attila_bridge.function.texture.memory import TextureMemory, texture_bytes
from attila_bridge.function.texture.sampler import TextureReads, UnitSampler

__all__ = ["TextureMemory", "TextureReads", "UnitSampler", "texture_bytes"]
