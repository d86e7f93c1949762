"""Tessellation of Bezier patches on the PixelFlow machine (P. Keller, UNC TR95-043).

>>> from tessellation import load, tessellate
>>> result = tessellate(load("teapot").patches, samples=4)    # doctest: +SKIP
>>> result.cycles_by_stage                                    # doctest: +SKIP
>>> result.mesh(weld=True)                                    # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_FILES = {
    "BUILT_IN": "bpt",
    "LIBRARIES": "libraries",
    "LIMIT": "reference",
    "Convention": "bpt",
    "Delivery": "server",
    "Mesh": "mesh",
    "MeshCheck": "mesh",
    "MeshReport": "mesh",
    "Method": "passes",
    "Patch": "patch",
    "PatchFile": "bpt",
    "PatchHandle": "manager",
    "PatchManager": "manager",
    "PatchSamples": "samples",
    "PatchServer": "server",
    "Reference": "reference",
    "Tessellation": "tessellator",
    "build_mesh": "mesh",
    "check": "mesh",
    "evaluate": "reference",
    "format_bpt": "bpt",
    "load": "bpt",
    "parse_bpt": "bpt",
    "read_bpt": "bpt",
    "tessellate": "tessellator",
}
"""The names and their files, which are imported when somebody asks: a command needs few of them."""


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
