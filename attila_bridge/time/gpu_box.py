"""Box of the GPU: common specification and state, clients of memory, queues shown on screens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from attila_bridge.statistics import Counts, counts_of
from attila_bridge.time.config import AttilaConfig
from attila_bridge.time.prepare import FramePlan
from pixelflow.simd.boxes import Box
from pixelflow.simd.dashboard import QueueFill
from pixelflow.simd.units import Cycle

NOTHING, READS, BOTH = 0, 1, 2
"""Requests that the controller accepts from a client: none, reads, reads and writes."""

_WRITING = ("CommandProcessor", "ZStencilTest", "ColorWrite")
"""Kinds of units that write, by their names in statistics."""


class Client(NamedTuple):
    """Unit with a bus to the controller that no other unit uses."""

    number: int
    name: str
    kind: str
    """Its kind in names of statistics: `ColorWrite`."""
    width: int
    """Bytes a cycle."""

    @property
    def writes(self) -> bool:
        """True if it sends writes."""
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
        """The controller's port for the requests that it accepts."""
        return f"{self.name}_state"


@dataclass(frozen=True, eq=False)
class GpuBoxSpec:
    """Specification of a box: the machine, the frame, its number among those of its kind, clients of memory."""

    config: AttilaConfig
    frame: FramePlan
    number: int = 0
    clients: tuple[Client, ...] = ()
    """Itself if it is a client; all clients for the controller."""


@dataclass
class GpuBoxState:
    """State of every box."""

    counts: Counts
    drawing: bool = field(default=False, kw_only=True)
    """True if it is within a draw."""
    cycle: int = field(default=-1, kw_only=True)
    """Cycle of its last tick."""
    awake: bool = field(default=False, kw_only=True)
    """True if it works in the next cycle."""
    wake: int = field(default=-1, kw_only=True)
    """Cycle in which it continues by itself; one that has gone: none."""
    skipped: Counts = field(default_factory=dict, kw_only=True)
    """Counts of each cycle without a tick."""


StateT = TypeVar("StateT", bound=GpuBoxState, covariant=True)

Queues: TypeAlias = "tuple[QueueFill, ...]"


class GpuBox(Box[GpuBoxSpec, StateT]):
    """Box that is ticked in each cycle while it is awake, and otherwise when something arrives.

    A box that only counts stalls may sleep until its next input. A subclass sets the attributes below.
    """

    section: str
    """Section of its values in the configuration."""
    holds: Callable[[Counts], GpuBoxState]
    """Makes its state, unless it overrides `begin`."""
    suffix: str
    """Last part of its statistics' names, without a number."""
    label: str
    """Its name on screens, without a number."""
    memory_bus = ""
    """Key of the width of its bus in the section of memory; empty: it is not a client."""
    waits = ""
    """Reason within a draw for not working."""
    shown: tuple[tuple[str, str, str], ...] = ()
    """Queues: name on screens, field of the state, key of their room in its section."""

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        self.spec = spec
        self.config: Any = getattr(spec.config, self.section)
        self.draws = spec.frame.draws
        self.client = spec.clients[0].number if spec.clients else -1
        super().__init__(name, spec, self.begin(counts_of(self.suffix, spec.config.memory.channels)))

    def begin(self, counts: Counts) -> StateT:
        """Return the state before the first cycle."""
        return cast("StateT", type(self).holds(counts))

    def next_event(self) -> int | None:
        """The next cycle while it is awake, or that in which it wakes."""
        s = self.state
        if s.awake:
            return s.cycle + 1
        return s.wake if s.wake > s.cycle else None

    def why_blocked(self) -> str | None:
        """Return its reason within a draw."""
        return self.waits if self.waits and self.state.drawing else None

    def _sleep(self, each: Counts, wake: int = -1) -> None:
        """Stay without a tick until an input or the cycle ``wake``; each cycle until then counts ``each``."""
        s = self.state
        s.skipped, s.awake, s.wake = each, False, wake

    def _wake(self, cycle: Cycle) -> None:
        """Count the cycles since the last tick, if it slept."""
        s = self.state
        passed = cycle - 1 - s.cycle
        if passed:
            for name, count in s.skipped.items():
                s.counts[name] += count * passed
        s.skipped.clear()

    @property
    def unit(self) -> str:
        """Its number in names: `FS0TU1`; empty if it is the only one of its kind."""
        return self.name.rpartition("::")[0]

    @property
    def counted(self) -> dict[str, Counts]:
        """Its counts by their numbered suffix."""
        return {self.suffixed(self.suffix): self.state.counts} if self.state.counts else {}

    def suffixed(self, suffix: str) -> str:
        """Return a suffix with the number of the unit."""
        return f"{suffix}-{self.unit}" if self.unit else suffix

    @property
    def queues(self) -> Queues:
        """Fill and room of each of its queues."""
        s, config = self.state, self.config
        return tuple(QueueFill(name, len(getattr(s, held)), getattr(config, room)) for name, held, room in self.shown)
