"""Looking into a run: movement in both directions, what stops it, what a step has changed. It shows nothing itself."""

from pixelflow.debugger.changes import Change, StatePicture
from pixelflow.debugger.divergence import Divergence, RunDifference, compare_arrays, compare_memory, first_divergence
from pixelflow.debugger.session import DebugSession, SessionOutcome
from pixelflow.debugger.stops import Anywhere, Bytes, Changed, Cycle, Hit, Semaphore, Stage, Stop
from pixelflow.debugger.values.expression import Condition, PeExpression
from pixelflow.simd.isa.places import Code, find_code

__all__ = [
    "Anywhere",
    "Bytes",
    "Change",
    "Changed",
    "Code",
    "Condition",
    "Cycle",
    "DebugSession",
    "Divergence",
    "Hit",
    "PeExpression",
    "RunDifference",
    "Semaphore",
    "SessionOutcome",
    "Stage",
    "StatePicture",
    "Stop",
    "compare_arrays",
    "compare_memory",
    "find_code",
    "first_divergence",
]
