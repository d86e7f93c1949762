"""Queues of groups within a shader: the window, where any ready group goes next, and batches, which go in order."""

from __future__ import annotations

from collections import deque

from attila_bridge.time.groups import VERTICES, Group
from attila_bridge.time.plan import InstructionPlan

__all__ = ["BatchQueues", "GroupSlot", "ReadyWindow"]

Fetched = tuple[int, int, bool]
_DECODED = 2
"""Cycles from a fetch until it is known what became of it."""


class GroupSlot:
    """A group in a shader: where it is in its program and what it waits for."""

    __slots__ = (
        "again",
        "blocked",
        "done",
        "ended",
        "group",
        "instructions",
        "last",
        "next_fetch",
        "number",
        "outside",
        "position",
        "ready",
        "registers",
        "transmission",
        "waits_again",
        "waits_texture",
        "written",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.group: Group = (VERTICES, 0, -1, ())
        self.instructions: tuple[InstructionPlan, ...] = ()
        self.last = -1
        """Its last instruction."""
        self.registers = 0
        self.transmission = 0
        self.position = 0
        self.ready = False
        """Whether the fetch stage may take it."""
        self.outside = True
        """Whether it is in no queue of the fetch stage."""
        self.again = False
        """Whether its next instruction was refused before."""
        self.next_fetch = 0
        self.blocked = self.ended = self.waits_again = self.waits_texture = False
        self.done = 0
        """Cycle in which its last instruction so far is done."""
        self.written: dict[int, int] = {}
        """Cycle in which a register has been written."""

    def fetched(self, cycle: int, delay: int) -> Fetched:
        """Fetch the next instruction; return the slot's number, the instruction, and whether it was refused before."""
        found = self.number, self.position, self.again
        if self.position < self.last:
            self.position += 1
        self.again = False
        self.next_fetch = cycle + delay
        return found

    def begin(self, group: Group, instructions: tuple[InstructionPlan, ...], registers: int, transmission: int) -> None:
        """Take a group; its program begins."""
        self.group = group
        self.instructions = instructions
        self.last = len(instructions) - 1
        self.registers = registers
        self.transmission = transmission
        self.position = self.done = 0
        self.again = self.blocked = self.ended = self.waits_again = self.waits_texture = False
        self.written.clear()


class ReadyWindow:
    """One queue of ready groups: a group goes to its end in the cycle after it was fetched."""

    def __init__(self) -> None:
        self.ready: deque[int] = deque()
        self.away: deque[int] = deque()
        """Groups that were fetched and have to come back."""

    @property
    def busy(self) -> bool:
        """Whether groups that were fetched have to come back."""
        return bool(self.away)

    def load(self, cycle: int, slot: GroupSlot, last: bool) -> None:
        """Take a group that becomes ready for the first time."""
        self.unblocked(slot)

    def unblocked(self, slot: GroupSlot) -> None:
        """Take a group that is ready again."""
        if slot.outside:
            slot.outside = False
            self.ready.append(slot.number)

    def returned(self, cycle: int, slots: list[GroupSlot]) -> None:
        """Let fetched groups queue up again."""
        away = self.away
        while away and slots[away[0]].next_fetch <= cycle:
            slot = slots[away.popleft()]
            if slot.ready:
                self.ready.append(slot.number)
            else:
                slot.outside = True

    def fetch(self, cycle: int, slots: list[GroupSlot], rate: int, delay: int) -> list[Fetched]:
        """Take the next ready groups, at most ``rate``; groups that are not ready leave the queue."""
        taken: list[Fetched] = []
        ready = self.ready
        while ready and len(taken) < rate:
            slot = slots[ready.popleft()]
            if slot.ready:
                taken.append(slot.fetched(cycle, delay))
                self.away.append(slot.number)
            else:
                slot.outside = True
        return taken

    def finished(self, slot: GroupSlot, slots: list[GroupSlot]) -> None:
        """Nothing depends on which groups have finished."""

    def full(self) -> None:
        """Nothing depends on whether the shader is full."""


class _Partition:
    """Two batches of one kind of groups: one is loaded while the other one is fetched, or both are the same."""

    __slots__ = ("batches", "closed", "done", "ending", "fetch", "last_load", "load", "next")

    def __init__(self) -> None:
        self.batches: list[list[int]] = [[], []]
        self.closed = [False, False]
        self.fetch = self.load = 0
        self.next = 0
        self.ending = False
        self.done: set[int] = set()
        """Slots of the batch whose groups have ended; others may be in them by now."""
        self.last_load = 0

    def close(self, batch: int) -> None:
        """Let a batch take no more groups."""
        self.closed[batch] = True
        if self.load == self.fetch:
            self.load ^= 1

    def reopen(self) -> None:
        """Go on with the other batch; the present one is empty again."""
        if self.closed[self.fetch]:
            self.closed[self.fetch] = False
            self.batches[self.fetch].clear()
            self.fetch ^= 1
            if self.closed[self.fetch]:
                self.load ^= 1
        self.next = 0
        self.done.clear()
        self.ending = False


class BatchQueues:
    """Batches in order: each group of a batch gives the same instruction before any of them gives the next."""

    def __init__(self, groups: int, wait: int) -> None:
        self.groups = groups
        self.wait = wait
        self.away: deque[int] = deque()
        """Nothing: groups keep their places."""
        self.strays: deque[tuple[int, Group, int]] = deque()
        """Slots, groups that their batch has gone on without, and the first cycle in which each may be fetched.

        An instruction that is fetched again puts a group out of step; the public simulator stops with an error there.
        """
        self.partitions = (_Partition(), _Partition())
        self.current = VERTICES

    @property
    def busy(self) -> bool:
        """Whether a batch is open or goes on."""
        return any(partition.batches[partition.fetch] for partition in self.partitions)

    def load(self, cycle: int, slot: GroupSlot, last: bool) -> None:
        """Add a group that becomes ready for the first time to the batch that is loaded."""
        partition = self.partitions[slot.group[0]]
        batch = partition.batches[partition.load]
        batch.append(slot.number)
        partition.last_load = cycle
        if last or len(batch) == self.groups:
            partition.close(partition.load)

    def unblocked(self, slot: GroupSlot) -> None:
        """A group that is ready again keeps its place."""

    def returned(self, cycle: int, slots: list[GroupSlot]) -> None:
        """Groups keep their places."""

    def full(self) -> None:
        """Close the batch that is loaded and fetched, as no more groups can come."""
        partition = self.partitions[self.current]
        if partition.load == partition.fetch and partition.batches[partition.load]:
            partition.close(partition.load)

    def finished(self, slot: GroupSlot, slots: list[GroupSlot]) -> None:
        """Note that a group has ended; its batch ends with the first one and is over with the last one."""
        partition = self.partitions[slot.group[0]]
        batch = partition.batches[partition.fetch]
        if slot.number not in batch:
            return
        partition.done.add(slot.number)
        if not partition.ending:
            partition.ending = True
            if not partition.closed[partition.fetch]:
                partition.close(partition.fetch)
        if len(partition.done) == len(batch):
            partition.reopen()

    def _turn(self) -> None:
        """Let the first kind of groups that has a batch go on."""
        for kind, partition in enumerate(self.partitions):
            if partition.batches[partition.fetch]:
                self.current = kind
                return

    def fetch(self, cycle: int, slots: list[GroupSlot], rate: int, delay: int) -> list[Fetched]:
        """Take the next groups of the batch, at most ``rate``, up to the first that is not ready."""
        taken: list[Fetched] = []
        while len(taken) < rate:
            partition = self.partitions[self.current]
            batch = partition.batches[partition.fetch]
            if not batch:
                self._turn()
                break
            if partition.next >= len(batch):
                if partition.ending:
                    self._reopen(cycle, slots, partition)
                elif partition.closed[partition.fetch]:
                    partition.next = 0
                else:
                    if cycle >= partition.last_load + self.wait and partition.load == partition.fetch:
                        partition.close(partition.fetch)
                    self._turn()
                    break
                continue
            slot = slots[batch[partition.next]]
            if slot.number in partition.done and self._left(cycle, slots, partition, delay):
                self._reopen(cycle, slots, partition)
                continue
            if not slot.ready or slot.next_fetch > cycle or slot.number in partition.done:
                self._turn()
                break
            taken.append(slot.fetched(cycle, delay))
            partition.next += 1
            if partition.next == len(batch):
                if partition.ending:
                    self._reopen(cycle, slots, partition)
                elif partition.closed[partition.fetch]:
                    partition.next = 0
                    self._turn()
        return taken or self._fetch_strays(cycle, slots, rate, delay)

    def _left(self, cycle: int, slots: list[GroupSlot], partition: _Partition, delay: int) -> bool:
        """Whether a group of a batch that is ending could go on, and was not fetched just now."""
        groups = (slots[number] for number in partition.batches[partition.fetch] if number not in partition.done)
        return any(slot.ready and not slot.ended and cycle >= slot.next_fetch - delay + _DECODED for slot in groups)

    def _reopen(self, cycle: int, slots: list[GroupSlot], partition: _Partition) -> None:
        """Go on with the other batch; groups of this one that have not come to their end are fetched by themselves."""
        left = [slots[number] for number in partition.batches[partition.fetch] if number not in partition.done]
        self.strays.extend((slot.number, slot.group, cycle + _DECODED) for slot in left if not slot.ended)
        partition.reopen()

    def _fetch_strays(self, cycle: int, slots: list[GroupSlot], rate: int, delay: int) -> list[Fetched]:
        """Take strays where no batch gives anything; forget those that have come to their end."""
        taken: list[Fetched] = []
        for _ in range(len(self.strays)):
            number, group, first = self.strays.popleft()
            slot = slots[number]
            if slot.group is not group or slot.ended:
                continue
            if cycle >= first and slot.ready and len(taken) < rate:
                taken.append(slot.fetched(cycle, delay))
                first = cycle + max(delay, _DECODED)
            self.strays.append((number, group, first))
        return taken
