"""Shader: groups of threads share an issue slot; an instruction whose operands are missing is fetched again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.function.work import InstructionWork
from attila_bridge.statistics import Counts, counts_of
from attila_bridge.time.config import ShadingConfig
from attila_bridge.time.gpu_box import GpuBox, GpuBoxSpec, GpuBoxState, Queues
from attila_bridge.time.prepare import FRAGMENTS, VERTICES, Group
from pixelflow.simd.dashboard import QueueFill
from pixelflow.simd.units import Cycle

# Queues of groups within a shader: the window, where any ready group is next, and batches, which are in order.


Fetched = tuple[int, int, bool]
_DECODED = 2
"""Cycles from a fetch to the outcome of its decoding."""


class GroupSlot:
    """A group in a shader: its position in the program and the reasons for which it waits."""

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
        "written",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.group: Group = (VERTICES, 0, -1, ())
        self.instructions: tuple[InstructionWork, ...] = ()
        self.last = -1
        """Its last instruction."""
        self.registers = 0
        self.transmission = 0
        self.position = 0
        self.ready = False
        """True if the fetch stage may take it."""
        self.outside = True
        """True unless it is in a queue of the fetch stage."""
        self.again = False
        """True if its next instruction was refused before."""
        self.next_fetch = 0
        self.blocked = self.ended = self.waits_again = False
        self.done = 0
        """Cycle in which its latest result is written."""
        self.written: dict[int, int] = {}
        """Cycle in which a register has been written."""

    def fetched(self, cycle: int, delay: int) -> Fetched:
        """Fetch the next instruction; return the slot's number, the instruction, and whether it was refused before."""
        fetched = self.number, self.position, self.again
        if self.position < self.last:
            self.position += 1
        self.again = False
        self.next_fetch = cycle + delay
        return fetched

    def begin(self, group: Group, instructions: tuple[InstructionWork, ...], registers: int, transmission: int) -> None:
        """Take a group at the beginning of its program."""
        self.group = group
        self.instructions = instructions
        self.last = len(instructions) - 1
        self.registers = registers
        self.transmission = transmission
        self.position = self.done = 0
        self.again = self.blocked = self.ended = self.waits_again = False
        self.written.clear()


class ReadyWindow:
    """One queue of ready groups, to whose end a group returns in the cycle after its fetch."""

    def __init__(self) -> None:
        self.ready: deque[int] = deque()
        self.away: deque[int] = deque()
        """Fetched groups that have to return."""

    @property
    def busy(self) -> bool:
        """True if fetched groups have to return."""
        return bool(self.away)

    def load(self, cycle: int, slot: GroupSlot) -> None:
        """Take a group that becomes ready for the first time."""
        self.unblocked(slot)

    def unblocked(self, slot: GroupSlot) -> None:
        """Take a group that is ready again."""
        if slot.outside:
            slot.outside = False
            self.ready.append(slot.number)

    def returned(self, cycle: int, slots: list[GroupSlot]) -> None:
        """Queue fetched groups again."""
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
        """Do nothing: the window does not depend on finished groups."""

    def full(self) -> None:
        """Do nothing: the window does not depend on a full shader."""


class _Partition:
    """Two batches of one kind of groups; the batch that is loaded may be the one that is fetched."""

    __slots__ = ("batches", "closed", "done", "ending", "fetch", "last_load", "load", "next")

    def __init__(self) -> None:
        self.batches: list[list[int]] = [[], []]
        self.closed = [False, False]
        self.fetch = self.load = 0
        self.next = 0
        self.ending = False
        self.done: set[int] = set()
        """Slots of the batch whose groups have ended; new groups may occupy them."""
        self.last_load = 0

    def close(self, batch: int) -> None:
        """Close a batch to further groups."""
        self.closed[batch] = True
        if self.load == self.fetch:
            self.load ^= 1

    def reopen(self) -> None:
        """Continue with the other batch, emptying the present one."""
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
    """Batches in order: every group of a batch issues an instruction before any issues the next."""

    def __init__(self, groups: int, wait: int) -> None:
        self.groups = groups
        self.wait = wait
        self.away: deque[int] = deque()
        """Always empty: groups keep their places."""
        self.strays: deque[tuple[int, Group, int]] = deque()
        """Slots, groups left behind by their batch, and the first cycle in which each may be fetched.

        A refused instruction puts a group out of step, at which the public simulator stops with an error.
        """
        self.partitions = (_Partition(), _Partition())
        self.current = VERTICES

    @property
    def busy(self) -> bool:
        """True if a batch is open or continues."""
        return any(partition.batches[partition.fetch] for partition in self.partitions)

    def load(self, cycle: int, slot: GroupSlot) -> None:
        """Add a group that becomes ready for the first time to the open batch."""
        partition = self.partitions[slot.group[0]]
        batch = partition.batches[partition.load]
        batch.append(slot.number)
        partition.last_load = cycle
        if len(batch) == self.groups or any(last for _, _, last in slot.group[3]):
            partition.close(partition.load)

    def unblocked(self, slot: GroupSlot) -> None:
        """Do nothing: the group keeps its place."""

    def returned(self, cycle: int, slots: list[GroupSlot]) -> None:
        """Do nothing: groups keep their places."""

    def full(self) -> None:
        """Close the batch that is both loaded and fetched, since the shader takes no more groups."""
        partition = self.partitions[self.current]
        if partition.load == partition.fetch and partition.batches[partition.load]:
            partition.close(partition.load)

    def finished(self, slot: GroupSlot, slots: list[GroupSlot]) -> None:
        """Note that a group has ended; the first one closes its batch, the last one ends it."""
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
        """Continue with the first kind of groups that has a batch."""
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
        """Return whether a group of an ending batch could continue and has no fetch under way."""
        groups = (slots[number] for number in partition.batches[partition.fetch] if number not in partition.done)
        return any(slot.ready and not slot.ended and cycle >= slot.next_fetch - delay + _DECODED for slot in groups)

    def _reopen(self, cycle: int, slots: list[GroupSlot], partition: _Partition) -> None:
        """Continue with the other batch; unfinished groups of this one become strays."""
        left = [slots[number] for number in partition.batches[partition.fetch] if number not in partition.done]
        self.strays.extend((slot.number, slot.group, cycle + _DECODED) for slot in left if not slot.ended)
        partition.reopen()

    def _fetch_strays(self, cycle: int, slots: list[GroupSlot], rate: int, delay: int) -> list[Fetched]:
        """Fetch strays in a cycle without a fetch from a batch; forget those that have ended."""
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


_BLOCK, _UNBLOCK, _REPEAT, _FINISH = range(4)
"""Commands from decoding to fetching, a cycle later."""


@dataclass
class ShaderState(GpuBoxState):
    """State of a shader."""

    executed: dict[str, int]
    """Counts of decoding and execution."""
    slots: list[GroupSlot]
    free: deque[int]
    """Slots without a group, in order of use."""
    queues: ReadyWindow | BatchQueues
    tickets: list[int]
    """Free requests of each texture unit, times the threads of a group."""
    free_registers: int
    filled: deque[int] = field(default_factory=deque)
    """Slots waiting in buffers."""
    fetched: list[tuple[int, int, bool]] = field(default_factory=list)
    """Fetches of the last cycle: slot, instruction, True if refused before."""
    commands: list[tuple[int, int, int]] = field(default_factory=list)
    ends: dict[int, list[int]] = field(default_factory=dict)
    """Ending slots by the cycle in which the fetch stage learns of it."""
    finished: deque[int] = field(default_factory=deque)
    taken: list[list[int]] = field(default_factory=list)
    """Groups of each draw that were taken: of vertices, of fragments."""
    transmitting: int = 0
    leaving: int = -1
    writes: dict[int, int] = field(default_factory=dict)
    """Number of results written in each cycle."""
    accesses: deque[tuple[int, int, int]] = field(default_factory=deque)
    """Waiting texture reads: slot, number of the read in the program, the cycle of its execution."""
    next_unit: int = 0
    unit_requests: int = 0
    ready_groups: int = 0
    resources: list[int] = field(default_factory=lambda: [1, 1])
    """Registers of a thread of the present vertex and fragment program."""
    wanted: int = 0
    """Registers that have to be free for the next two groups."""


class UnifiedShader(GpuBox[ShaderState]):
    """Fetches one instruction for a ready group each cycle, and decodes it in the next."""

    section, suffix, label = "shader", "ShDX", "shader"
    config: ShadingConfig
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        super().__init__(name, spec)
        config, texture = self.config, spec.config.texture
        self._texture, units = texture, range(texture.units)
        self.inputs = ("command", "groups", *(f"{port}{unit}" for unit in units for port in ("result", "ticket")))
        self.outputs = ("output", "busy", *(f"request{unit}" for unit in units))
        self._threads = config.group
        self._rate = config.thread_rate // config.group
        self._delay = config.fetch_delay
        self._buffers = config.buffers // config.group

    def begin(self, counts: Counts) -> ShaderState:
        """Return the state in which every slot is free."""
        config = self.config
        groups = (config.threads + config.buffers) // config.group
        return ShaderState(
            counts_of("ShF"),
            counts,
            [GroupSlot(number) for number in range(groups)],
            deque(range(groups)),
            ReadyWindow() if config.window else BatchQueues(groups, config.batch_wait),
            [0] * self.spec.config.texture.units,
            config.registers,
            taken=[[0, 0] for _ in self.draws],
            wanted=2 * config.group,
            skipped={"FreeThreads": groups * config.group},
        )

    def wired(self) -> None:
        """Keep the wires used in every cycle."""
        wires, units = self.wires, range(self._texture.units)
        self._commands, self._groups, self._outputs = wires["command"], wires["groups"], wires["output"]
        self._tickets = [wires[f"ticket{unit}"] for unit in units]
        self._results = [wires[f"result{unit}"] for unit in units]
        self._requests = [wires[f"request{unit}"] for unit in units]
        self._busy = self.level("busy")

    def why_blocked(self) -> str | None:
        """Groups in a shader have to leave it."""
        return "waits for texture units" if len(self.state.free) < len(self.state.slots) else None

    def tick(self, cycle: Cycle) -> int | None:
        """Fetch and decode; each sees what the other did in the cycle before."""
        s, queues = self.state, self.state.queues
        if s.skipped:
            self._wake(cycle)
        s.cycle = cycle
        fetched, commands = s.fetched, s.commands
        if fetched:
            s.fetched = []
        if commands:
            s.commands = []
        if self._commands.waiting:
            for kind, resources in self._commands.take_all(cycle):
                s.resources[kind] = resources
            s.wanted = 2 * self._threads * max(s.resources)
        groups = self._groups.waiting
        while groups and groups[0][0] <= cycle:
            self._take(cycle, groups.popleft()[3])
        if commands:
            self._obey(commands)
        if cycle in s.ends:
            for slot in s.ends.pop(cycle):
                self._finish(slot)
        if queues.away:
            queues.returned(cycle, s.slots)
        if s.ready_groups:
            s.fetched = queues.fetch(cycle, s.slots, self._rate, self._delay)
            s.counts["FetchedInstr"] += self._threads * len(s.fetched)
        if s.leaving >= 0:
            s.transmitting -= 1
            if not s.transmitting:
                number, s.leaving = s.leaving, -1
                self._release(cycle, number)
        elif s.finished:
            self._output(cycle)
        busy = len(s.free) < 2 or s.free_registers < s.wanted
        if busy:
            queues.full()
        if busy is not self._busy.driven:
            self._busy.drive(cycle, busy)
        for unit, wire in enumerate(self._tickets):
            if wire.waiting:
                s.tickets[unit] += self._threads * len(wire.take_all(cycle))
        if fetched:
            self._decode(cycle, fetched)
        if s.accesses or s.unit_requests:
            self._request(cycle)
        for wire in self._results:
            if wire.waiting:
                self._texture_results(cycle, wire.take_all(cycle))
        s.awake = bool(
            s.ready_groups or s.fetched or s.commands or s.finished or s.leaving >= 0 or s.accesses or queues.busy
        )
        # The occupation stays until the next tick.
        counts, threads = s.counts, self._threads
        free, used = threads * len(s.free), self.config.registers - s.free_registers
        counts["FreeThreads"] += free
        counts["UsedResources"] += used
        if s.ready_groups:
            counts["ReadyThreads"] += threads * s.ready_groups
        if s.finished:
            counts["FinishedThreads"] += threads * len(s.finished)
        if s.awake:
            return cycle + 1
        self._sleep({"FreeThreads": free, "UsedResources": used}, min(s.ends, default=-1))
        return None

    # --- inputs and outputs --------------------------------------------------------------------------------------

    def _take(self, cycle: Cycle, group: Group) -> None:
        s = self.state
        number = s.free.popleft()
        slot = s.slots[number]
        plan = self.draws[group[1]]
        program = plan.fragment_program if group[0] == FRAGMENTS else plan.vertex_program
        slot.begin(group, program.instructions, program.registers * self._threads, -(-program.outputs // 2))
        s.free_registers -= slot.registers
        s.taken[group[1]][group[0]] += 1
        if len(s.free) >= self._buffers:
            self._make_ready(cycle, slot)
        else:
            s.filled.append(number)

    def _make_ready(self, cycle: Cycle, slot: GroupSlot) -> None:
        s = self.state
        slot.ready = True
        s.ready_groups += 1
        s.queues.load(cycle, slot)

    def _release(self, cycle: Cycle, number: int) -> None:
        """Free the slot of a group that has left, and make the oldest buffered group ready."""
        s = self.state
        s.free.append(number)
        s.free_registers += s.slots[number].registers
        if len(s.free) <= self._buffers and s.filled:
            self._make_ready(cycle, s.slots[s.filled.popleft()])

    def _output(self, cycle: Cycle) -> None:
        """Begin to send the first finished group."""
        s = self.state
        number = s.finished.popleft()
        slot = s.slots[number]
        cycles = slot.transmission
        latency = min(cycles + self.config.output_delay, self.config.output_latency)
        self._outputs.send(cycle, slot.group, self._threads, latency)
        s.counts["Outputs"] += self._threads
        if cycles > 1:
            s.transmitting, s.leaving = cycles - 1, number
        else:
            self._release(cycle, number)

    # --- fetch ---------------------------------------------------------------------------------------------------

    def _obey(self, commands: list[tuple[int, int, int]]) -> None:
        """Execute the commands of the last decoding."""
        s, counts = self.state, self.state.counts
        threads = self._threads
        for kind, number, position in commands:
            slot = s.slots[number]
            if kind == _REPEAT:
                slot.position = position
                slot.again = True
                counts["ReFetchedInstr"] += threads
            elif kind == _BLOCK:
                slot.ready = False
                slot.position = position + 1
                s.ready_groups -= 1
                counts["Blocks"] += threads
            elif kind == _UNBLOCK:
                slot.ready = True
                s.ready_groups += 1
                s.queues.unblocked(slot)
                counts["Unblocks"] += threads
            else:
                self._finish(number)

    def _finish(self, number: int) -> None:
        s = self.state
        s.finished.append(number)
        s.queues.finished(s.slots[number], s.slots)

    # --- decode and execute --------------------------------------------------------------------------------------

    def _decode(self, cycle: Cycle, fetched: list[tuple[int, int, bool]]) -> None:
        s, executed = self.state, self.state.executed
        threads = self._threads
        s.writes.pop(cycle - 1, None)
        for number, position, again in fetched:
            slot = s.slots[number]
            if again:
                slot.waits_again = False
            if slot.waits_again or slot.blocked:
                executed["RemovedInstructions"] += threads
                continue
            instruction = slot.instructions[position]
            if self._refused(cycle, slot, instruction):
                slot.waits_again = True
                s.commands.append((_REPEAT, number, position))
                executed["ReplayCommands"] += 1
                executed["RemovedInstructions"] += threads
            else:
                self._execute(cycle, slot, instruction, position)

    def _refused(self, cycle: Cycle, slot: GroupSlot, instruction: InstructionWork) -> bool:
        """Return whether an instruction waits for a register, a write port or a texture unit."""
        s = self.state
        if instruction.texture >= 0 and not s.tickets[s.next_unit]:
            return True
        written = slot.written
        if written:
            for source in instruction.sources:
                if written.get(source, 0) > cycle:
                    return True
            if written.get(instruction.destination, 0) >= cycle + instruction.latency:
                return True
        return s.writes.get(cycle + instruction.latency, 0) >= self.config.results * self._rate

    def _execute(self, cycle: Cycle, slot: GroupSlot, instruction: InstructionWork, position: int) -> None:
        s, executed, threads = self.state, self.state.executed, self._threads
        done = cycle + instruction.latency
        s.writes[done] = s.writes.get(done, 0) + 1
        if instruction.destination >= 0:
            slot.written[instruction.destination] = done
        if done > slot.done:
            slot.done = done
        executed["ExecutedInstructions"] += threads
        texture = instruction.texture >= 0
        if texture:
            s.tickets[s.next_unit] -= threads
            s.accesses.append((slot.number, instruction.texture, cycle))
        if instruction.is_end:
            slot.ended = True
            executed["EndCommands"] += threads
            if not texture:
                s.ends.setdefault(slot.done + 1, []).append(slot.number)
        if texture or instruction.is_end:
            slot.blocked = True
            s.commands.append((_BLOCK, slot.number, position))
            executed["BlockCommands"] += threads

    def _request(self, cycle: Cycle) -> None:
        """Send texture requests to the units in turn."""
        s, executed, texture = self.state, self.state.executed, self._texture
        for _ in range(texture.request_rate):
            if s.accesses:
                number, read, began = s.accesses.popleft()
                _, draw, quad, _ = s.slots[number].group
                self._requests[s.next_unit].send(cycle, (number, draw, quad, read, began))
                s.unit_requests += 1
                executed["TextureRequests"] += 1
            elif s.unit_requests >= texture.request_group:
                s.unit_requests = 0
                s.next_unit = (s.next_unit + 1) % texture.units

    def _texture_results(self, cycle: Cycle, numbers: list[int]) -> None:
        """Let groups continue after their texture reads."""
        s = self.state
        for number in numbers:
            slot = s.slots[number]
            if not slot.ended:
                slot.blocked = False
                s.commands.append((_UNBLOCK, number, 0))
                s.executed["UnblockCommands"] += self._threads
            elif slot.done <= cycle:
                s.commands.append((_FINISH, number, 0))
            else:
                s.ends.setdefault(slot.done + 1, []).append(number)

    @property
    def queues(self) -> Queues:
        """Threads and registers in use."""
        s, config = self.state, self.config
        threads = config.group * (len(s.slots) - len(s.free))
        return (
            QueueFill("threads", threads, config.threads + config.buffers),
            QueueFill("regs", config.registers - s.free_registers, config.registers),
        )

    @property
    def counted(self) -> dict[str, Counts]:
        """Counts of fetching, those of inputs by the groups of each program, and of decoding and execution."""
        s, counts = self.state, dict(self.state.counts)
        for draw, taken in zip(self.draws, s.taken, strict=True):
            for program, groups in zip((draw.vertex_program, draw.fragment_program), taken, strict=True):
                inputs = self._threads * groups
                counts["Inputs"] += inputs
                counts["InputActiveInputAttributes"] += inputs * program.inputs
                counts["InputActiveOutputAttributes"] += inputs * program.outputs
                counts["InputRegisters"] += inputs * (program.temporaries or 1)
        return {self.suffixed("ShF"): counts, self.suffixed(self.suffix): s.executed}
