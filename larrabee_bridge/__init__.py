"""Larrabee: its vector unit, its cores, and its binning renderer as programs for them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from larrabee_bridge.vpu.core import Core, CoreConfig
    from larrabee_bridge.vpu.unit.program import VectorProgram, assemble_vector
    from larrabee_bridge.vpu.unit.vector_unit import VectorUnit

__all__ = ["Core", "CoreConfig", "VectorProgram", "VectorUnit", "assemble_vector"]

_FILES = {"Core": "vpu.core", "CoreConfig": "vpu.core", "VectorUnit": "vpu.unit.vector_unit"}
"""The file of the others is `vpu.unit.program`. Imported when somebody asks: commands look here for less."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file = import_module(f"{__name__}.{_FILES.get(name, 'vpu.unit.program')}")
    found = globals()[name] = getattr(file, name)
    return found
