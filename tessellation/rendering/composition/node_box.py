"""A node on the image composition network, as a box: grants go up the row, bytes come down it.

A node has wires from the node before it and to the node after it, and one the other way over which it grants transfers:
it does so when the node after it has granted that, when its own part of it lies in image composition memory, and when
its wires will be free as the first byte comes. Who takes a transfer grants it when there is room. So bytes never stop
on their way: a node hands on what comes, merged with its own, and keeps none of it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TypeVar

from pixelflow.simd.boxes import Box
from pixelflow.simd.errors import InternalError
from pixelflow.simd.units import Cycle
from tessellation.rendering.composition.transfers import RegionTransfer

__all__ = ["GRANT_LATENCY", "LinkSpec", "LinkState", "NodeBox"]

GRANT_LATENCY = 1
"""Cycles of a grant from a node to the one before it (invented)."""


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """Where a node stands, and what goes through it: ``coming`` over the wires to it, ``going`` over those from it."""

    place: int
    coming: tuple[RegionTransfer, ...]
    going: tuple[RegionTransfer, ...]
    latency: int
    """Cycles of a byte from its departure at a node to its departure at the next."""
    width: int
    """Bytes a cycle of an EMC."""


@dataclass(slots=True)
class LinkState:
    """How far a node has come with the transfers."""

    granted: int = 0
    """How many of those that come it has granted."""
    promised: int = 0
    """How many of those end here."""
    begun: int = 0
    """How many of those that go have begun."""
    gone: int = 0
    """How many of those have gone."""
    grants: set[int] = field(default_factory=set)
    """Which the node after it has granted."""
    free_at: int = 0
    """The first cycle in which the wires to the next node are free."""
    passed_on: bool = False
    """Whether what went last had come from the node before."""
    sent: int = 0
    """How many that begin here have begun."""
    sent_bytes: int = 0
    busy_cycles: int = 0
    event: int | None = 0

    @property
    def left(self) -> int:
        """How many that begin here have gone."""
        return self.sent - (self.gone < self.begun and not self.passed_on)


Spec = TypeVar("Spec", bound=LinkSpec, covariant=True)
State = TypeVar("State", bound=LinkState, covariant=True)


class NodeBox(Box[Spec, State]):
    """What is the same for nodes of all roles; a subclass says what it holds and what it does beside."""

    def __init__(self, name: str, spec: Spec, state: State) -> None:
        super().__init__(name, spec, state)
        self.inputs = (*(("begin_in", "data_in") if spec.coming else ()), *(("grant_in",) if spec.going else ()))
        self.outputs = (*(("begin_out", "data_out") if spec.going else ()), *(("grant_out",) if spec.coming else ()))

    # --- what a role says ----------------------------------------------------------------------------------------

    @abstractmethod
    def holds(self, transfer: RegionTransfer) -> bool:
        """Whether the node's own part of a transfer that goes on from it lies ready."""

    @abstractmethod
    def has_room(self) -> bool:
        """Whether the node may take one more transfer than it has granted."""

    @abstractmethod
    def took(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        """Take note that all bytes of a transfer to this node have come."""

    @abstractmethod
    def work(self, cycle: Cycle) -> None:
        """Go on with what the node does beside, as far as it comes in this cycle."""

    @abstractmethod
    def work_until(self) -> int | None:
        """Return the cycle in which that is done which the node does now; None where it waits."""

    # --- the box -------------------------------------------------------------------------------------------------

    def next_event(self) -> Cycle | None:
        return None if self.state.event is None else Cycle(self.state.event)

    def why_blocked(self) -> str | None:
        state, spec = self.state, self.spec
        if state.begun < len(spec.going):
            return f"has not sent {spec.going[state.begun]}"
        if state.granted < len(spec.coming):
            return f"has not granted {spec.coming[state.granted]}"
        return None

    def tick(self, cycle: Cycle) -> None:
        state, spec = self.state, self.spec
        if state.gone < state.begun and cycle >= state.free_at:
            state.gone = state.begun
        begins: list[RegionTransfer] = []
        if spec.going:
            state.grants.update(self.wires["grant_in"].take_all(cycle))
        if spec.coming:
            begins = self.wires["begin_in"].take_all(cycle)
            for transfer in self.wires["data_in"].take_all(cycle):
                if transfer.last == spec.place:
                    self.took(transfer, cycle)
        self.work(cycle)
        for transfer in begins:
            if transfer.last != spec.place:
                self._pass_on(transfer, cycle)
        self._send_own(cycle)
        again = self._grant(cycle)
        later = [self.work_until(), again, state.free_at if state.gone < state.begun else None]
        state.event = min((each for each in later if each is not None), default=None)

    def _pass_on(self, transfer: RegionTransfer, cycle: Cycle) -> None:
        expected = self.spec.going[self.state.begun]
        if transfer is not expected or not self.holds(transfer):
            raise InternalError(f"cycle {cycle}, {self.name}: {transfer} comes, and it was not ready for that")
        self._begin(transfer, cycle, passed_on=True)

    def _send_own(self, cycle: Cycle) -> None:
        """Begin the next transfer where it starts here, is granted and ready, and the wires are free."""
        state, going = self.state, self.spec.going
        if state.begun == len(going) or cycle < state.free_at:
            return
        transfer = going[state.begun]
        if transfer.first == self.spec.place and transfer.number in state.grants and self.holds(transfer):
            self._begin(transfer, cycle, passed_on=False)

    def _begin(self, transfer: RegionTransfer, cycle: Cycle, *, passed_on: bool) -> None:
        state, size = self.state, transfer.size
        self.wires["begin_out"].send(cycle, transfer)
        self.wires["data_out"].send_bulk(cycle, transfer, size)
        cycles = -(-size // self.spec.width)
        state.begun += 1
        state.gone = state.begun - 1
        state.passed_on = passed_on
        state.sent += not passed_on
        state.free_at = cycle + cycles
        state.busy_cycles += cycles
        state.sent_bytes += size
        state.grants.discard(transfer.number)

    def _grant(self, cycle: Cycle) -> int | None:
        """Grant what comes next, where that is possible; return the cycle in which to look again, or None."""
        state, coming = self.state, self.spec.coming
        if state.granted == len(coming):
            return None
        transfer = coming[state.granted]
        if transfer.last == self.spec.place:
            if not self.has_room():
                return None
            state.promised += 1
        else:
            following = self.spec.going[state.begun] if state.begun < len(self.spec.going) else None
            if following is not transfer or transfer.number not in state.grants or not self.holds(transfer):
                return None
            soonest = state.free_at - GRANT_LATENCY - self.spec.latency
            if not state.passed_on and cycle < soonest:
                return soonest
        self.wires["grant_out"].send(cycle, transfer.number)
        state.granted += 1
        return cycle + 1
