"""Larrabee: its vector unit, its cores, and its binning renderer as programs for them."""

from larrabee_bridge.core import Core, CoreConfig
from larrabee_bridge.unit.program import VectorProgram, assemble_vector
from larrabee_bridge.unit.vector_unit import VectorUnit

__all__ = ["Core", "CoreConfig", "VectorProgram", "VectorUnit", "assemble_vector"]
