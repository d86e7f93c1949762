"""Vector unit (meaning): programs for it, and what they do to registers and memory; it knows no clock."""

from larrabee_bridge.vpu.unit.note import BasicBlocks, NoteSubscriber, RunNote, Step
from larrabee_bridge.vpu.unit.program import (
    LINE_BYTES,
    MEMORY_BYTES,
    TARGET,
    VectorProgram,
    assemble_vector,
    shipped,
)
from larrabee_bridge.vpu.unit.vector_unit import LONGEST, VectorUnit, thread_shape

__all__ = [
    "LINE_BYTES",
    "LONGEST",
    "MEMORY_BYTES",
    "TARGET",
    "BasicBlocks",
    "NoteSubscriber",
    "RunNote",
    "Step",
    "VectorProgram",
    "VectorUnit",
    "assemble_vector",
    "shipped",
    "thread_shape",
]
