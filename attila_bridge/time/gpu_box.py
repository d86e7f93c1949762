"""Box of the GPU: what all of them are given and hold, transactions with memory, and what screens show of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

from attila_bridge.statistics import Counts, counts_of
from attila_bridge.time.config import AttilaConfig
from attila_bridge.time.prepare import FramePlan
from pixelflow.simd.boxes import Box
from pixelflow.simd.dashboard import QueueFill
from pixelflow.simd.units import Cycle

NOTHING, READS, BOTH = 0, 1, 2
"""What the controller accepts from a client: nothing, reads, reads and writes."""

_WRITING = ("CommandProcessor", "ZStencilTest", "ColorWrite")
"""Kinds of units that write, by what statistics call them."""


@dataclass(frozen=True, slots=True)
class Client:
    """A unit that has a bus to the controller, which no other uses."""

    number: int
    name: str
    kind: str
    """What statistics call its kind: `ColorWrite`."""
    width: int
    """Bytes a cycle."""

    @property
    def writes(self) -> bool:
        """True if it may send writes."""
        return self.kind in _WRITING

    @property
    def request(self) -> str:
        """The controller's port for its requests."""
        return f"{self.name}_request"

    @property
    def data(self) -> str:
        """The controller's port for answers to it."""
        return f"{self.name}_data"

    @property
    def state(self) -> str:
        """The controller's port for what it accepts from it."""
        return f"{self.name}_state"


@dataclass(frozen=True, eq=False)
class GpuBoxSpec:
    """What a box is given: the machine, the frame, its number among those of its kind, and clients of memory."""

    config: AttilaConfig
    frame: FramePlan
    number: int = 0
    clients: tuple[Client, ...] = ()
    """Itself where it is one; of the controller all of them."""


@dataclass
class GpuBoxState:
    """What every box holds."""

    counts: Counts
    drawing: bool = field(default=False, kw_only=True)
    """True if it is within a draw."""
    cycle: int = field(default=-1, kw_only=True)
    """Of its last tick."""
    awake: bool = field(default=False, kw_only=True)
    """True if it has something to do in the next cycle."""


StateT = TypeVar("StateT", bound=GpuBoxState, covariant=True)

Queues: TypeAlias = "tuple[QueueFill, ...]"


class GpuBox(Box[GpuBoxSpec, StateT]):
    """A box that is ticked in each cycle while it is awake, and else when something arrives.

    A subclass says of which section its values are, what its state is, how statistics and screens call it, which bus to
    memory is its, if any, and what it waits for within a draw.
    """

    section: str
    """Of the configuration."""
    holds: Callable[[Counts], GpuBoxState]
    """Makes its state where counts are enough for that."""
    suffix: str
    """The end of its statistics' names, without a number."""
    label: str
    """Its name on screens, without a number."""
    memory_bus = ""
    """The value of the configuration of memory that is the width of its bus; empty: it is not a client."""
    waits = ""

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        self.spec = spec
        self.config: Any = getattr(spec.config, self.section)
        self.draws = spec.frame.draws
        self.client = spec.clients[0].number if spec.clients else -1
        super().__init__(name, spec, self.begin(counts_of(self.suffix, spec.config.memory.channels)))

    def begin(self, counts: Counts) -> StateT:
        """Return the state before the first cycle."""
        made = cast("StateT", type(self).holds(counts))
        return made

    def next_event(self) -> Cycle | None:
        """The next cycle while it is awake."""
        return Cycle(self.state.cycle + 1) if self.state.awake else None

    def why_blocked(self) -> str | None:
        """Within a draw it waits for what it needs next."""
        return self.waits if self.waits and self.state.drawing else None

    @property
    def unit(self) -> str:
        """Its number among those of its kind, as names have it: `FS0TU1`; empty where there is one."""
        return self.name.rpartition("::")[0]

    @property
    def counted(self) -> dict[str, Counts]:
        """Its counts by their suffix with its number."""
        return {self.suffixed(self.suffix): self.state.counts} if self.state.counts else {}

    def suffixed(self, suffix: str) -> str:
        """Return a suffix with the number of the unit."""
        return f"{suffix}-{self.unit}" if self.unit else suffix

    @property
    def queues(self) -> Queues:
        """What is in each of its queues, and how much there is room for."""
        return ()
