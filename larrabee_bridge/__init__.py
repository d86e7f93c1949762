"""Larrabee beside PixelFlow: its vector unit and its bins; the renderer is not here yet."""

from larrabee_bridge.core import Core, CoreConfig
from larrabee_bridge.unit.program import VectorProgram, assemble_vector
from larrabee_bridge.unit.vector_unit import VectorUnit

__all__ = ["Core", "CoreConfig", "VectorProgram", "VectorUnit", "assemble_vector"]
