"""Tessellation of Bezier patches on the PixelFlow machine (P. Keller, UNC TR95-043).

>>> from tessellation import load, tessellate
>>> result = tessellate(load("teapot").patches, samples=4)    # doctest: +SKIP
>>> result.cycles_by_stage                                    # doctest: +SKIP
>>> result.mesh(weld=True)                                    # doctest: +SKIP
"""

from tessellation.bpt import BUILT_IN, Convention, PatchFile, format_bpt, load, parse_bpt, read_bpt
from tessellation.libraries import LIBRARIES
from tessellation.manager import PatchHandle, PatchManager
from tessellation.mesh import Mesh, MeshCheck, MeshReport, build_mesh, check
from tessellation.passes import Method
from tessellation.patch import Patch
from tessellation.reference import LIMIT, Reference, evaluate
from tessellation.samples import PatchSamples
from tessellation.server import Delivery, PatchServer
from tessellation.tessellator import Tessellation, tessellate

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
    "evaluate",
    "format_bpt",
    "load",
    "parse_bpt",
    "read_bpt",
    "tessellate",
]
