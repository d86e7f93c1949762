"""Looking into a run: movement in both directions, what stops it, what a step has changed. It shows nothing itself."""

from pixelflow.debugger.changes import Change, StatePicture
from pixelflow.debugger.divergence import Divergence, RunDifference, compare_arrays, compare_memory, first_divergence
from pixelflow.debugger.session import DebugSession, SessionOutcome
from pixelflow.debugger.stops import Bytes, Changed, Cycle, Hit, Semaphore, Stop
from pixelflow.simd.isa.places import Code, find_code

__all__ = [
    "Bytes",
    "Change",
    "Changed",
    "Code",
    "Cycle",
    "DebugSession",
    "Divergence",
    "Hit",
    "RunDifference",
    "Semaphore",
    "SessionOutcome",
    "StatePicture",
    "Stop",
    "compare_arrays",
    "compare_memory",
    "find_code",
    "first_divergence",
]
