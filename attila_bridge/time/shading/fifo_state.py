"""What the fragment FIFO is given, and what it holds."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.time.config.pixels import FifoConfig
from attila_bridge.time.groups import Group, Vertex
from attila_bridge.time.plan import DrawPlan

__all__ = ["FifoSpec", "FifoState", "RopQueues"]


@dataclass(frozen=True)
class FifoSpec:
    """What the FIFO is given."""

    config: FifoConfig
    draws: tuple[DrawPlan, ...]
    rops: int
    shaders: int
    ports: int
    """Ports of vertices."""
    group: int
    quads: int
    """Quads a cycle that hierarchical Z sends."""


class RopQueues:
    """Queues of one ROP."""

    __slots__ = ("done", "generated", "interpolated", "interpolating", "shaded", "tested")

    def __init__(self) -> None:
        self.generated: deque[int] = deque()
        self.tested: deque[int] = deque()
        self.interpolated: deque[int] = deque()
        self.interpolating = 0
        """Entries of the interpolated queue that are taken, full or reserved."""
        self.shaded: deque[int] = deque()
        """Quads from the shaders' inputs on, in order."""
        self.done: set[int] = set()
        """Quads of `shaded` that have come back."""


@dataclass
class FifoState:
    """What the FIFO holds."""

    counts: dict[str, int]
    rops: list[RopQueues]
    waiting: list[deque[Group]]
    """Groups that wait for each shader."""
    draw: int = -1
    drawing: bool = False
    ends: int = 0
    """ROPs whose end has not been sent."""
    next_interpolation: int = 0
    next_unit: int = 0
    next_shaded: int = 0
    next_shader: int = 0
    shading: int = 0
    """Quads in the shaders."""
    vertices: deque[tuple[int, Vertex]] = field(default_factory=deque)
    """Draws and vertices that wait to be shaded."""
    vertices_out: deque[tuple[int, Vertex]] = field(default_factory=deque)
    vertices_shading: int = 0
    last_vertex: bool = False
    first_vertex: bool = False
    last_group: int = 0
    cycle: int = -1
    awake: bool = False
