"""Tessellation of Bezier patches on the PixelFlow machine (P. Keller, UNC TR95-043).

>>> from tessellation import load, tessellate
>>> result = tessellate(load("teapot").patches, samples=4)    # doctest: +SKIP
>>> result.cycles_by_stage                                    # doctest: +SKIP
>>> result.mesh(weld=True)                                    # doctest: +SKIP
"""

from typing import TYPE_CHECKING

from pixelflow.simd.faces import on_first_use

if TYPE_CHECKING:
    from tessellation.host.manager import PatchHandle, PatchManager
    from tessellation.host.patch_server import Delivery, PatchServer
    from tessellation.host.tessellator import Tessellation, load, tessellate
    from tessellation.microprogram.method import LIBRARIES, Method
    from tessellation.surface.bpt import BUILT_IN, Convention, PatchFile, format_bpt, parse_bpt, read_bpt
    from tessellation.surface.mesh import Mesh, MeshCheck, MeshReport, build_mesh, check, encode
    from tessellation.surface.patch import Patch
    from tessellation.surface.reference import LIMIT, PatchSamples, Reference, evaluate

__all__ = [
    "BUILT_IN",
    "LIBRARIES",
    "LIMIT",
    "Convention",
    "Delivery",
    "Mesh",
    "MeshCheck",
    "MeshReport",
    "Method",
    "Patch",
    "PatchFile",
    "PatchHandle",
    "PatchManager",
    "PatchSamples",
    "PatchServer",
    "Reference",
    "Tessellation",
    "build_mesh",
    "check",
    "encode",
    "evaluate",
    "format_bpt",
    "load",
    "parse_bpt",
    "read_bpt",
    "tessellate",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "host.tessellator": "Tessellation load tessellate",
        "host.manager": "PatchHandle PatchManager",
        "host.patch_server": "Delivery PatchServer",
        "microprogram.method": "LIBRARIES Method",
        "surface.bpt": "BUILT_IN Convention PatchFile format_bpt parse_bpt read_bpt",
        "surface.mesh": "Mesh MeshCheck MeshReport build_mesh check encode",
        "surface.patch": "Patch",
        "surface.reference": "LIMIT PatchSamples Reference evaluate",
    },
)
