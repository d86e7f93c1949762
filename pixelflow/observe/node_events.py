"""Events that only a node has: its semaphores, its TASICs, its paths out of the GNI, its enables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from pixelflow.simd import observe as core
from pixelflow.simd.observe import ProgramView

if TYPE_CHECKING:
    from _typeshed import SupportsItems

TRANSFER = "transfer"
"""The reason of `Waited` while a stream's own transfer is under way."""

Access = TypeVar("Access")
"""The accesses of a transfer, in the form of the machine."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A WAIT found its semaphore empty."""

    cycle: int
    stream: str
    index: int
    semaphore: int


@dataclass(frozen=True, slots=True)
class Signalled:
    """A SIGNAL was executed."""

    cycle: int
    stream: str
    index: int
    semaphore: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A WAIT received its signal: the n-th taken from a semaphore is the n-th sent to it."""

    cycle: int
    stream: str
    index: int
    semaphore: int


class Accessed(NamedTuple):
    """The TASICs of a module were busy from ``cycle`` up to ``end``."""

    cycle: int
    module: int
    end: int
    what: str
    """The direction of the transfer, in words."""
    rounds: int
    accesses: int
    """Accesses to each of the module's SDRAMs."""
    devices: int = 8
    """SDRAMs in each access."""
    size: int = 4
    """Bytes of one access to one SDRAM."""
    slots: int = 0
    """Slots for accesses, one of each EMC in each round, used or not."""


class PathUsed(NamedTuple):
    """A path out of the GNI was busy from ``cycle`` up to ``end``; paths are named as in `Run.gni_cycles`."""

    cycle: int
    path: str
    end: int
    amount: int
    """Bytes."""


class EnablesChanged(NamedTuple):
    """The number of enabled PEs of each module has changed in this cycle; only in runs with PE data."""

    cycle: int
    counts: tuple[int, ...]


class EnabledCounted(NamedTuple):
    """The sum of enabled PEs of each module over the busy cycles of the EMC stream; at the end of runs with PE data."""

    cycle: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TransferBegan(Generic[Access]):
    """A transfer to or from texture memory has begun, and its addresses are known."""

    cycle: int
    stream: str
    index: int
    access: Access
    """The accesses, EMC by EMC and round by round."""


class MemoryGiven(NamedTuple):
    """Bytes of all PEs were written from outside of the program; ``cycle`` has no meaning."""

    cycle: int
    start: int
    size: int


# Views of a node's runs: the parts of streams, runs and accounts that subscribers read.


class FrameView(Protocol):
    """A call that runs."""

    @property
    def parameters(self) -> Sequence[int]: ...


class SignalFlowView(Protocol):
    """The signals of one semaphore."""

    @property
    def sent(self) -> int: ...

    @property
    def taken(self) -> int: ...


class LedgerView(Protocol):
    """The ledger of a run."""

    @property
    def signals(self) -> Mapping[int, SignalFlowView]: ...

    def as_object(self) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        """Return ``signals`` by semaphore and kind, and ``bytes`` by way and kind."""


class RoutineUseView(Protocol):
    """Calls and cycles of a routine."""

    @property
    def calls(self) -> int: ...

    @property
    def own_cycles(self) -> int: ...


class StreamView(Protocol):
    """An instruction stream while it runs (`pixelflow.node.run.stream.Stream`)."""

    cycle: int
    index: int
    """Position of the next instruction."""
    waiting: int | None
    """The semaphore that it waits for."""
    frames: Sequence[FrameView]
    """The running calls, innermost last."""


class NodeRunView(core.RunView, Protocol):
    """A run while it continues on a node."""

    @property
    def streams(self) -> Mapping[str, StreamView]: ...

    @property
    def tasic_cycles(self) -> tuple[int, ...]:
        """Busy cycles of the TASICs of each module; empty where one stream runs alone."""

    @property
    def gni_cycles(self) -> Mapping[str, int]:
        """Busy cycles of the paths out of the GNI."""


class NodeAccountView(core.AccountView, Protocol):
    """The account of one stream of a run that has ended, and of the other (`pixelflow.node.Run`)."""

    program: ProgramView
    engine: str
    stream: str
    cycles: int
    waits: Mapping[str, int]
    tasic_cycles: tuple[int, ...]
    gni_cycles: Mapping[str, int]
    ledger: LedgerView | None
    """None for a run that was stopped."""

    @property
    def streams(self) -> Sequence[NodeAccountView]:
        """This account and that of the other stream."""

    @property
    def total_cycles(self) -> int:
        """Cycles until all streams had ended."""

    @property
    def busy(self) -> int:
        """Cycles of the instructions executed."""

    @property
    def instructions(self) -> int:
        """Instructions executed, control included."""

    @property
    def microinstructions(self) -> int:
        """Instructions executed that took at least one cycle."""

    @property
    def by_family(self) -> SupportsItems[Enum, int]:
        """Cycles by instruction family."""

    @property
    def by_routine(self) -> Mapping[str, RoutineUseView]:
        """Use of each routine that ran."""

    @property
    def by_stage(self) -> Mapping[str, int]:
        """Cycles from each MARK to the next."""
