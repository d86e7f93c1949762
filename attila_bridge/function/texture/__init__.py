"""Meaning: texture reads of quads, from coordinates to colours and the addresses of texels."""

from attila_bridge.function.texture.memory import TextureImage, texture_bytes
from attila_bridge.function.texture.sampler import TextureReads, UnitSampler

__all__ = ["TextureImage", "TextureReads", "UnitSampler", "texture_bytes"]
