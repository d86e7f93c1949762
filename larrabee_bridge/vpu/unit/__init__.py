"""Vector unit (meaning): programs for it, and what they do to registers and memory; it knows no clock."""

from larrabee_bridge.vpu.unit.program import (
    LINE_BYTES,
    MEMORY_BYTES,
    TARGET,
    VectorProgram,
    assemble_vector,
    shipped,
)
from larrabee_bridge.vpu.unit.vector_unit import StraightCodeSubscriber, Subscriber, VectorUnit, thread_shape

__all__ = [
    "LINE_BYTES",
    "MEMORY_BYTES",
    "TARGET",
    "StraightCodeSubscriber",
    "Subscriber",
    "VectorProgram",
    "VectorUnit",
    "assemble_vector",
    "shipped",
    "thread_shape",
]
