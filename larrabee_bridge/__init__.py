"""Larrabee: its vector unit, its cores, and its binning renderer as programs for them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from larrabee_bridge.vpu.config import CoreConfig
    from larrabee_bridge.vpu.issue import Core
    from larrabee_bridge.vpu.program import VectorProgram, assemble_vector
    from larrabee_bridge.vpu.vector_unit import VectorUnit

__all__ = ["Core", "CoreConfig", "VectorProgram", "VectorUnit", "assemble_vector"]

_FILES = {"Core": "vpu.issue", "CoreConfig": "vpu.config", "VectorUnit": "vpu.vector_unit"}
"""The file of the others is `vpu.program`. Imported when somebody asks: commands look here for less."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file = import_module(f"{__name__}.{_FILES.get(name, 'vpu.program')}")
    found = globals()[name] = getattr(file, name)
    return found
