"""The boxes of the three roles: a rasterizer draws and copies, a shader takes and shades, the frame buffer keeps.

How long each of these takes is what nodes have executed; the boxes say when each begins.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from pixelflow.simd.units import Cycle
from tessellation.rendering.composition.node_box import LinkSpec, LinkState, NodeBox
from tessellation.rendering.composition.transfers import RegionTransfer

__all__ = [
    "Doing",
    "FrameBufferNode",
    "FrameBufferNodeState",
    "RasterizerNode",
    "RasterizerNodeSpec",
    "RasterizerNodeState",
    "RecordWork",
    "SampleWork",
    "ShaderNode",
    "ShaderNodeSpec",
    "ShaderNodeState",
    "ShadingWork",
    "WorkingNode",
    "WorkingState",
]


@dataclass(frozen=True, slots=True)
class RecordWork:
    """What a rasterizer executes for one sample of a region: cycles of drawing, and of the copy that is to leave."""

    drawing: int
    copying: int


@dataclass(frozen=True, slots=True)
class SampleWork:
    """What a shader executes for one sample of a region: cycles until the record is out of the way, and after that."""

    receiving: int
    shading: int


@dataclass(frozen=True, slots=True)
class ShadingWork:
    """What a shader executes for a region: for each sample, and cycles for the finished pixels."""

    samples: tuple[SampleWork, ...]
    finishing: int

    @property
    def cycles(self) -> int:
        """Cycles of all of it."""
        return sum(each.receiving + each.shading for each in self.samples) + self.finishing


class Doing(Enum):
    """What a node does."""

    DRAWING = "draws"
    FULL = "waits for room in image composition memory"
    COPYING = "copies"
    SENDING = "waits until what it copied has gone"
    STARVED = "waits for records"
    RECEIVING = "takes a record"
    SHADING = "shades"
    HELD = "waits until its pixels have gone"
    FINISHING = "finishes pixels"
    DONE = "has nothing more to do"

    @property
    def waits(self) -> bool:
        """Whether the node does nothing meanwhile."""
        return self not in _BUSY


_BUSY = (Doing.DRAWING, Doing.COPYING, Doing.RECEIVING, Doing.SHADING, Doing.FINISHING)


@dataclass(slots=True)
class WorkingState(LinkState):
    """What a node does, since when, and until when where it does not wait; and what it has done."""

    doing: Doing = Doing.DONE
    until: int = 0
    since: int = 0
    spans: list[tuple[Doing, int, int]] = field(default_factory=list)
    """What it did or waited for, from which cycle up to which."""


Spec = TypeVar("Spec", bound=LinkSpec, covariant=True)
State = TypeVar("State", bound=WorkingState, covariant=True)


class WorkingNode(NodeBox[Spec, State]):
    """A node that does one thing after the other, and waits between."""

    def work_until(self) -> int | None:
        return self.state.until if self.state.doing in _BUSY else None

    def work(self, cycle: Cycle) -> None:
        state = self.state
        while state.doing not in _BUSY or cycle >= state.until:
            following = self.following(cycle)
            if following is None:
                return
            if cycle > state.since:
                state.spans.append((state.doing, state.since, cycle))
            state.doing, cycles = following
            state.since, state.until = cycle, cycle + cycles

    @abstractmethod
    def following(self, cycle: Cycle) -> tuple[Doing, int] | None:
        """Return what the node does next and how long that takes; None where it goes on waiting."""


@dataclass(frozen=True, slots=True)
class RasterizerNodeSpec(LinkSpec):
    """What a rasterizer draws, how many records it holds, and whether it draws while one is sent."""

    works: tuple[RecordWork, ...]
    held: int
    overlap: bool


@dataclass(slots=True)
class RasterizerNodeState(WorkingState):
    """How many records have been copied."""

    copied: int = 0


class RasterizerNode(WorkingNode[RasterizerNodeSpec, RasterizerNodeState]):
    """Draws record after record, and copies each to image composition memory when there is room."""

    def __init__(self, name: str, spec: RasterizerNodeSpec) -> None:
        super().__init__(name, spec, RasterizerNodeState(doing=Doing.SENDING if spec.works else Doing.DONE))

    def holds(self, transfer: RegionTransfer) -> bool:
        return self.state.copied > self.state.begun

    def has_room(self) -> bool:
        return False

    def took(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        """Nothing ends here."""

    def following(self, cycle: Cycle) -> tuple[Doing, int] | None:
        state, spec = self.state, self.spec
        match state.doing:
            case Doing.SENDING if spec.overlap or state.gone == state.copied:
                return Doing.DRAWING, spec.works[state.copied].drawing
            case Doing.DRAWING:
                return Doing.FULL, 0
            case Doing.FULL if state.copied - state.gone < spec.held:
                return Doing.COPYING, spec.works[state.copied].copying
            case Doing.COPYING:
                state.copied += 1
                return (Doing.SENDING if state.copied < len(spec.works) else Doing.DONE), 0
        return None


@dataclass(frozen=True, slots=True)
class ShaderNodeSpec(LinkSpec):
    """What a shader shades, and how many records it holds; ``shared`` where finished pixels lie in their place."""

    works: tuple[ShadingWork, ...]
    held: int
    shared: bool


@dataclass(slots=True)
class ShaderNodeState(WorkingState):
    """How far it has come; ``taken``, ``received`` and ``shaded`` are records, ``finished`` regions."""

    taken: int = 0
    received: int = 0
    shaded: int = 0
    finished: int = 0


class ShaderNode(WorkingNode[ShaderNodeSpec, ShaderNodeState]):
    """Shades record after record as they come, and sends the pixels of a region when its last one is shaded.

    A record keeps its place in image composition memory until it is received, in main memory. Finished pixels have a
    place of their own there, for one region, or where records leave no room for that the place of a record.
    """

    def __init__(self, name: str, spec: ShaderNodeSpec) -> None:
        super().__init__(name, spec, ShaderNodeState(doing=Doing.STARVED if spec.works else Doing.DONE))
        self._samples = len(spec.works[0].samples) if spec.works else 1

    def holds(self, transfer: RegionTransfer) -> bool:
        return transfer.first != self.spec.place or self.state.sent < self.state.finished

    def has_room(self) -> bool:
        state, spec = self.state, self.spec
        if spec.shared and state.promised // self._samples > state.left:
            return False
        return state.promised - state.received < spec.held

    def took(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        self.state.taken += 1

    def following(self, cycle: Cycle) -> tuple[Doing, int] | None:
        state, works = self.state, self.spec.works
        match state.doing:
            case Doing.STARVED if state.taken > state.shaded:
                return Doing.RECEIVING, self._work().receiving
            case Doing.RECEIVING:
                state.received += 1
                return Doing.SHADING, self._work().shading
            case Doing.SHADING:
                state.shaded += 1
                return (Doing.STARVED if state.shaded % self._samples else Doing.HELD), 0
            case Doing.HELD if state.left == state.finished:
                return Doing.FINISHING, works[state.finished].finishing
            case Doing.FINISHING:
                state.finished += 1
                return (Doing.STARVED if state.finished < len(works) else Doing.DONE), 0
        return None

    def _work(self) -> SampleWork:
        region, sample = divmod(self.state.shaded, self._samples)
        return self.spec.works[region].samples[sample]


@dataclass(slots=True)
class FrameBufferNodeState(LinkState):
    """When each transfer had come."""

    came: list[int] = field(default_factory=list)


class FrameBufferNode(NodeBox[LinkSpec, FrameBufferNodeState]):
    """Takes every region as it comes."""

    def __init__(self, name: str, spec: LinkSpec) -> None:
        super().__init__(name, spec, FrameBufferNodeState())

    def holds(self, transfer: RegionTransfer) -> bool:
        return False

    def has_room(self) -> bool:
        return True

    def took(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        self.state.came.append(cycle)

    def work_until(self) -> int | None:
        return None

    def work(self, cycle: Cycle) -> None:
        """Nothing: what becomes of the pixels there is not modelled."""
