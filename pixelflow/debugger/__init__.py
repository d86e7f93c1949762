"""Looking into a run: movement in both directions, what stops it, what a step has changed. It shows nothing itself."""

from pixelflow.debugger.changes import Change, StatePicture
from pixelflow.debugger.divergence import Divergence, RunDifference, compare_arrays, compare_memory, first_divergence
from pixelflow.debugger.session import DebugSession, SessionOutcome
from pixelflow.debugger.stops import Anywhere, Bytes, Changed, Cycle, Hit, Semaphore, StageBegin, Stop
from pixelflow.debugger.values.expression import PeExpression, StopCondition
from pixelflow.simd.isa.places import Code, find_code

__all__ = [
    "Anywhere",
    "Bytes",
    "Change",
    "Changed",
    "Code",
    "Cycle",
    "DebugSession",
    "Divergence",
    "Hit",
    "PeExpression",
    "RunDifference",
    "Semaphore",
    "SessionOutcome",
    "StageBegin",
    "StatePicture",
    "Stop",
    "StopCondition",
    "compare_arrays",
    "compare_memory",
    "find_code",
    "first_divergence",
]
