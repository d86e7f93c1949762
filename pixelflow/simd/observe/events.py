"""What watchers can hear of a run: typed events, each with the cycle of its run in which it begins.

An event is built only where somebody has subscribed to its kind, so a run that nobody watches builds none. Events of
one stream, of the TASICs of one module, or of one path come in the order of their cycles. Streams run ahead of each
other, so events of different tracks do not.
"""

from __future__ import annotations

from pixelflow.simd.observe.views import AccountView, ProgramView, RunView
from pixelflow.simd.records import record

__all__ = [
    "Accessed",
    "Blocked",
    "Carried",
    "EnablesChanged",
    "Event",
    "Executed",
    "PathUsed",
    "Progressed",
    "RoutineEntered",
    "RoutineLeft",
    "RunBegan",
    "RunEnded",
    "Signalled",
    "StageBegan",
    "Taken",
    "Waited",
]


@record
class Event:
    """Something that happened; ``cycle`` counts from the beginning of the run."""

    cycle: int


@record
class RunBegan(Event):
    """A run begins; the first event of every run. A run that goes on from a checkpoint begins at its cycle."""

    program: ProgramView
    entries: tuple[str, ...]
    """The streams that run."""
    function: bool
    """False where only time passes."""
    view: RunView
    """The run itself, to be looked at while it goes on."""
    resumed: bool = False
    """Whether it goes on from a checkpoint: what was told before is not told again."""


@record
class Executed(Event):
    """A stream has issued the instruction at a position of the program."""

    stream: str
    index: int
    cycles: int


@record
class Blocked(Event):
    """A WAIT has found its semaphore empty."""

    stream: str
    index: int
    semaphore: int


@record
class Waited(Event):
    """A stream did nothing of its own from ``cycle`` up to ``end``, at a WAIT or at a texture instruction."""

    stream: str
    index: int
    reason: str
    """``sem N``, or ``transfer``."""
    end: int


@record
class Signalled(Event):
    """A SIGNAL was executed."""

    stream: str
    index: int
    semaphore: int


@record
class Taken(Event):
    """A WAIT has got its signal: the n-th that is taken from a semaphore is the n-th that was sent to it."""

    stream: str
    index: int
    semaphore: int


@record
class StageBegan(Event):
    """A MARK was met."""

    stream: str
    name: str


@record
class RoutineEntered(Event):
    """A CALL was executed; ``depth`` is 1 for a call from the main program."""

    stream: str
    name: str
    depth: int


@record
class RoutineLeft(Event):
    """A routine has returned; ``depth`` as it was when the routine was entered."""

    stream: str
    name: str
    depth: int


@record
class Carried(Event):
    """An item was sent over a wire; it can be read from cycle ``arrives`` on."""

    wire: str
    arrives: int
    amount: int
    unit: str


@record
class Accessed(Event):
    """The TASICs of a module were busy from ``cycle`` up to ``end``."""

    module: int
    end: int
    what: str
    """The direction of the transfer, in words."""
    rounds: int
    accesses: int
    """Places for an access to each of the module's SDRAMs: in a last round, EMCs may leave theirs unused."""


@record
class PathUsed(Event):
    """A path out of the GNI was busy from ``cycle`` up to ``end``; paths are named as in `Run.gni_cycles`."""

    path: str
    end: int
    amount: int
    """Bytes."""


@record
class EnablesChanged(Event):
    """From this cycle on so many PEs of each module are enabled. Only a run with PE data can tell."""

    counts: tuple[int, ...]


@record
class Progressed(Event):
    """The run has come to a cycle; sent now and then, for displays that look at the run themselves."""


@record
class RunEnded(Event):
    """A run has ended, for whatever reason; the last event of every run."""

    reason: str
    """``halt``, or what stopped it: ``deadlock``, ``cycle limit``, ``fault``, ``refused``, ``interrupted``,
    ``internal error``."""
    cycles: dict[str, int]
    """The last cycle of each stream."""
    account: AccountView
    """The account of the run, or of what there was of it."""
