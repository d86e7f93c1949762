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
"""The file of the others is `vpu.program`. Imported on first use, which keeps commands that need less fast."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file = import_module(f"{__name__}.{_FILES.get(name, 'vpu.program')}")
    value = globals()[name] = getattr(file, name)
    return value
