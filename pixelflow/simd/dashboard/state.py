"""What a frame of a machine of boxes and wires shows, as plain values: nothing in here belongs to a running machine."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.dashboard.over_time import Utilisation

__all__ = ["BoxState", "ByteTraffic", "CacheHits", "PhaseCycles", "PipelineState", "QueueFill", "WireTraffic"]


@dataclass(frozen=True, slots=True)
class QueueFill:
    """How much lies in a queue."""

    name: str
    fill: int
    capacity: int

    @property
    def share(self) -> float:
        """From 0, empty, to 1, full."""
        return self.fill / self.capacity if self.capacity else 0.0


@dataclass(frozen=True, slots=True)
class BoxState:
    """A box: how busy it was, what lies in its queues, what it waits for."""

    name: str
    busy: float | None
    """What has gone through it, of what could have at its best rate, 0 to 1; None where nothing is counted."""
    queues: tuple[QueueFill, ...] = ()
    doing: str = ""
    """What it does now, in words; empty where it does nothing."""


@dataclass(frozen=True, slots=True)
class WireTraffic:
    """What a wire has carried."""

    name: str
    carried: int
    unit: str
    share: float
    """Of its bandwidth."""


@dataclass(frozen=True, slots=True)
class CacheHits:
    """Tries of a cache that found their line, and lines that had to be brought."""

    name: str
    hits: int
    fills: int

    @property
    def share(self) -> float | None:
        """Hits of hits and fills; None where nobody has asked."""
        return self.hits / (self.hits + self.fills) if self.hits or self.fills else None


@dataclass(frozen=True, slots=True)
class ByteTraffic:
    """Bytes that a client of memory has read and written."""

    client: str
    read: int
    written: int


@dataclass(frozen=True, slots=True)
class PhaseCycles:
    """Cycles that a phase of the run has taken."""

    name: str
    cycles: int
    running: bool


@dataclass(frozen=True, slots=True)
class PipelineState:
    """Everything that a frame shows."""

    machine: str
    subject: str
    """What runs."""
    config: str
    config_hash: str
    status: str
    """``running``, ``playing``, ``paused``, ``stopped here``, ``halt``."""
    cycle: int
    clock_mhz: int
    progress: tuple[str, ...]
    """How far the run has come, in words: `draw 2 of 3`."""
    phases: tuple[PhaseCycles, ...]
    boxes: tuple[BoxState, ...]
    busy_of: str
    """Of which cycles the shares of boxes are."""
    wires: tuple[WireTraffic, ...]
    """The busiest first."""
    caches: tuple[CacheHits, ...]
    memory: tuple[ByteTraffic, ...]
    channels: tuple[float, ...]
    """Share of the cycles in which each channel of memory moved data."""
    utilisation: Utilisation | None
    rate: float | None = None
    """Cycles a second of the simulation."""
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Time of the machine up to here."""
        return self.cycle / (self.clock_mhz * 1e6)
