"""Larrabee: its vector unit, its cores, and its binning renderer as programs for them."""

from larrabee_bridge.vpu.core import Core, CoreConfig
from larrabee_bridge.vpu.unit.program import VectorProgram, assemble_vector
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit

__all__ = ["Core", "CoreConfig", "VectorProgram", "VectorUnit", "assemble_vector"]
