"""Looking into a run: movement in both directions, what stops it, what a step has changed. It shows nothing itself."""

from pixelflow.debugger.changes import Change, Picture
from pixelflow.debugger.divergence import Difference, Divergence, compare_arrays, compare_memory, first_divergence
from pixelflow.debugger.places import Code, find_code
from pixelflow.debugger.session import Outcome, Session
from pixelflow.debugger.stops import Bytes, Changed, Cycle, Hit, Semaphore, Stop

__all__ = [
    "Bytes",
    "Change",
    "Changed",
    "Code",
    "Cycle",
    "Difference",
    "Divergence",
    "Hit",
    "Outcome",
    "Picture",
    "Semaphore",
    "Session",
    "Stop",
    "compare_arrays",
    "compare_memory",
    "find_code",
    "first_divergence",
]
