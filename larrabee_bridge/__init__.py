"""Larrabee: its vector unit, its cores, and its binning renderer as programs for them."""

from typing import TYPE_CHECKING

from pixelflow.simd.faces import on_first_use

if TYPE_CHECKING:
    from larrabee_bridge.vpu.config import CoreConfig
    from larrabee_bridge.vpu.issue import Core
    from larrabee_bridge.vpu.program import VectorProgram, assemble_vector
    from larrabee_bridge.vpu.vector_unit import VectorUnit

__all__ = ["Core", "CoreConfig", "VectorProgram", "VectorUnit", "assemble_vector"]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "vpu.config": "CoreConfig",
        "vpu.issue": "Core",
        "vpu.program": "VectorProgram assemble_vector",
        "vpu.vector_unit": "VectorUnit",
    },
)
