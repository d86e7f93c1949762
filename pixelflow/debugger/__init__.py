"""Looking into a run: movement in both directions, what stops it, what a step has changed. It shows nothing itself."""

from pixelflow.debugger.debug_session import (
    Anywhere,
    Bytes,
    Changed,
    Cycle,
    DebugSession,
    Hit,
    Semaphore,
    StageBegin,
    Stop,
)
from pixelflow.debugger.divergence import Divergence, RunDifference, compare_arrays, compare_memory, first_divergence
from pixelflow.debugger.expressions import PeExpression, StopCondition
from pixelflow.debugger.node_dialogue import Debugger
from pixelflow.debugger.views import StatePicture
from pixelflow.simd.isa.program import Code, find_code

__all__ = [
    "Anywhere",
    "Bytes",
    "Changed",
    "Code",
    "Cycle",
    "DebugSession",
    "Debugger",
    "Divergence",
    "Hit",
    "PeExpression",
    "RunDifference",
    "Semaphore",
    "StageBegin",
    "StatePicture",
    "Stop",
    "StopCondition",
    "compare_arrays",
    "compare_memory",
    "find_code",
    "first_divergence",
]
