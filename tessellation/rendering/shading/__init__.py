"""Deferred shading on the array: records of the nearest samples, textures, one shading of each (thesis 2.2.2)."""

from tessellation.rendering.shading.layers import sorted_layers
from tessellation.rendering.shading.materials import Material, ShadedFrame, deferred, require_deferred
from tessellation.rendering.shading.raster import record_program
from tessellation.rendering.shading.record import SampleRecord, read_record, receive_program
from tessellation.rendering.shading.shade import read_pixels, shade_region, shading_program
from tessellation.rendering.shading.textures import TextureLayout, load_textures

__all__ = [
    "Material",
    "SampleRecord",
    "ShadedFrame",
    "TextureLayout",
    "deferred",
    "load_textures",
    "read_pixels",
    "read_record",
    "receive_program",
    "record_program",
    "require_deferred",
    "shade_region",
    "shading_program",
    "sorted_layers",
]
