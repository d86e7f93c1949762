"""Memory controller: requests of all clients, channels with their pages, and answers in one common order."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.statistics import Counts
from attila_bridge.time.caches import Transaction
from attila_bridge.time.config import MemoryConfig
from attila_bridge.time.gpu_box import BOTH, NOTHING, READS, GpuBox, GpuBoxSpec, GpuBoxState, Queues
from pixelflow.simd.dashboard import QueueFill
from pixelflow.simd.units import Cycle


class _Request:
    """A transaction in the controller."""

    __slots__ = ("blocks", "number", "ready", "transaction", "waits")

    def __init__(self, number: int, transaction: Transaction, ready: bool) -> None:
        self.number = number
        self.transaction = transaction
        self.ready = ready
        """True if all data of a write have arrived."""
        self.waits = -1
        """Request of the other kind to the same bytes that has to end first; -1: none."""
        self.blocks = False
        """True if another request waits for this one."""


class _Channel:
    """A channel: its requests in order, and its last transaction."""

    __slots__ = (
        "counted",
        "done_at",
        "last",
        "last_write",
        "pages",
        "reads",
        "reads_run",
        "returned",
        "tried_again",
        "writes",
        "writes_run",
    )

    def __init__(self, pages: int) -> None:
        self.reads: deque[_Request] = deque()
        self.writes: deque[_Request] = deque()
        self.reads_run = self.writes_run = 0
        self.last = 0
        self.last_write = False
        self.pages = [0] * pages
        self.returned = -1
        """Request whose data are on the channel; -1: none."""
        self.done_at = -1
        self.tried_again = 0
        """Cycle in which the next transaction can start, if it waits for time only; else 0."""
        self.counted = ""
        """Statistic that each cycle until then counts."""

    @property
    def active(self) -> bool:
        """True if it has requests or data."""
        return bool(self.reads or self.writes) or self.returned >= 0


@dataclass
class ControllerState(GpuBoxState):
    """State of the controller."""

    channels: list[_Channel]
    bus: list[int]
    """Remaining busy cycles of each client's bus."""
    serving: list[bool]
    """True if an answer is on the bus."""
    writing: list[int]
    """Number of the write whose data are on the bus."""
    reserved: list[bool]
    accepted: list[int]
    """Last state sent to each client."""
    requests: dict[int, _Request] = field(default_factory=dict)
    busy: list[int] = field(default_factory=list)
    """Clients whose buses are busy."""
    services: deque[Transaction] = field(default_factory=deque)
    number: int = 0
    free_requests: int = 0
    free_services: int = 0
    free_reads: int = 0
    free_writes: int = 0
    base: int = BOTH


class MemoryController(GpuBox[ControllerState]):
    """Controller with reads before writes in each channel, and one queue of answers for all clients."""

    section, suffix, label = "memory", "MC", "memory"
    config: MemoryConfig

    def __init__(self, name: str, spec: GpuBoxSpec) -> None:
        super().__init__(name, spec)
        config, clients, modules = self.config, spec.clients, range(self.config.channels)
        self.inputs = (*(each.request for each in clients), *(f"module{number}_back" for number in modules))
        self.outputs = (
            *(port for each in clients for port in (each.data, each.state)),
            *(f"module{number}" for number in modules),
        )
        self._threshold = config.reserve * len(clients)
        self._write_threshold = config.reserve * sum(client.writes for client in clients)
        self._bus_shift = config.interleave.bit_length() - 1
        self._bank_shift = (config.channels * config.page_bytes).bit_length() - 1
        self._page_shift = self._bank_shift + config.open_pages.bit_length() - 1
        self._transaction = config.transaction_cycles
        self._data_cycles = [f"DataCycles{number:02}" for number in modules]
        self._banks = max(2, config.open_pages) - 1
        names = ("Transactions", "ReadTransactions", "WriteTransactions", "ReadBytes", "WriteBytes")
        self._names = [tuple(f"{each.kind}{name}" for name in names) for each in clients]
        for cycle, address in spec.frame.written:
            self._uploaded(cycle, address)

    def begin(self, counts: Counts) -> ControllerState:
        """Return the state in which everything is free."""
        config, clients = self.config, len(self.spec.clients)
        return ControllerState(
            counts,
            [_Channel(max(2, config.open_pages)) for _ in range(config.channels)],
            bus=[0] * clients,
            serving=[False] * clients,
            writing=[-1] * clients,
            reserved=[False] * clients,
            accepted=[BOTH] * clients,
            free_requests=config.request_queue,
            free_services=config.service_queue,
            free_reads=config.read_buffers,
            free_writes=config.write_buffers,
            skipped={"IdleCycles": 1},
        )

    def _uploaded(self, cycle: int, address: int) -> None:
        """Leave the page of a write before the first draw open, and its channel turned to writes."""
        s = self.state
        number = (address >> self._bus_shift) % len(s.channels)
        channel = s.channels[number]
        self._open(channel, number, address)
        channel.last, channel.last_write = cycle, True

    def wired(self) -> None:
        """Keep the wires used in every cycle."""
        wires, clients, channels = self.wires, self.spec.clients, range(self.config.channels)
        self._requests = [wires[client.request] for client in clients]
        self._answers = [wires[client.data] for client in clients]
        self._states = [self.level(client.state) for client in clients]
        self._modules = [wires[f"module{number}"] for number in channels]
        self._backs = [wires[f"module{number}_back"] for number in channels]

    def tick(self, cycle: Cycle) -> None:
        """Take requests, advance answers, start transactions, drive the states of the clients."""
        s = self.state
        if s.skipped:
            self._wake(cycle)
        s.cycle = cycle
        touched: set[int] = set()
        for wire in self._requests:
            if wire.waiting:
                for transaction in wire.take_all(cycle):
                    self._receive(transaction)
                    touched.add(transaction[3])
        if s.busy:
            touched.update(s.busy)
            self._move_buses()
        if s.services:
            self._serve(cycle, touched)
        active = False
        for number, channel in enumerate(s.channels):
            back = self._backs[number].waiting
            if back and back[0][0] <= cycle:
                channel.returned = back.popleft()[3]
                channel.done_at = cycle + self._transaction - 1
            if channel.returned >= 0:
                active = True
                s.counts[self._data_cycles[number]] += 1
                if channel.done_at == cycle:
                    self._finish(channel, number)
            if channel.reads or channel.writes:
                active = True
                channel.tried_again, channel.counted = channel.last + self._transaction, ""
                if cycle >= channel.tried_again:
                    self._issue(cycle, channel, number)
        if not active:
            s.counts["IdleCycles"] += 1
        self._drive(cycle, touched)
        self._rest(cycle)

    def _rest(self, cycle: Cycle) -> None:
        """Note the next event, and the counts of each cycle until then."""
        s = self.state
        if s.busy or s.services:
            s.wake = cycle + 1
            return
        s.wake = -1
        wakes: list[int] = []
        for number, channel in enumerate(s.channels):
            if channel.returned >= 0:
                s.skipped[self._data_cycles[number]] = 1
                wakes.append(channel.done_at)
            if channel.reads or channel.writes:
                if channel.tried_again:
                    wakes.append(channel.tried_again)
                if channel.counted:
                    s.skipped[channel.counted] = 1
        if wakes:
            s.wake = min(wakes)
        elif not any(channel.active for channel in s.channels):
            s.skipped["IdleCycles"] = 1

    # --- clients -------------------------------------------------------------------------------------------------

    def _receive(self, transaction: Transaction) -> None:
        s, counts = self.state, self.state.counts
        is_write, address, size, number, _ = transaction
        received, read, written, _, _ = self._names[number]
        s.free_requests -= 1
        request = _Request(s.number, transaction, not is_write)
        s.number += 1
        s.requests[request.number] = request
        channel = s.channels[(address >> self._bus_shift) % len(s.channels)]
        counts[received] += 1
        if is_write:
            counts[written] += 1
            s.free_writes -= 1
            s.bus[number] = -(-size // self.spec.clients[number].width)
            s.busy.append(number)
            s.serving[number] = False
            s.writing[number] = request.number
            others, own = channel.reads, channel.writes
        else:
            counts[read] += 1
            others, own = channel.writes, channel.reads
        own.append(request)
        for other in others:
            _, other_address, other_size, _, _ = other.transaction
            if other_address < address + size and address < other_address + other_size:
                request.waits = other.number
                other.blocks = True
                break

    def _move_buses(self) -> None:
        s = self.state
        still = []
        for client in s.busy:
            s.bus[client] -= 1
            if s.bus[client]:
                still.append(client)
            elif s.serving[client]:
                s.serving[client] = False
                s.free_services += 1
                s.free_reads += 1
            else:
                s.requests[s.writing[client]].ready = True
        s.busy = still

    def _serve(self, cycle: Cycle, touched: set[int]) -> None:
        """Send the oldest answer if its bus is free, and reserve the bus of the next one."""
        s = self.state
        transaction = s.services[0]
        number = transaction[3]
        if not s.bus[number] and s.reserved[number]:
            self._answers[number].send(cycle, transaction)
            s.bus[number] = -(-transaction[2] // self.spec.clients[number].width)
            s.busy.append(number)
            s.serving[number] = True
            s.reserved[number] = False
            touched.add(number)
            s.services.popleft()
            if not s.services:
                return
            number = s.services[0][3]
        if s.bus[number] <= 1:
            s.reserved[number] = True
            touched.add(number)

    def _drive(self, cycle: Cycle, touched: set[int]) -> None:
        s = self.state
        if s.free_requests < self._threshold:
            base = NOTHING
        elif s.free_writes < self._write_threshold:
            base = READS
        else:
            base = BOTH
        for number in range(len(s.bus)) if base != s.base else touched:
            value = READS if base == BOTH and (s.bus[number] >= 2 or s.reserved[number]) else base
            if value != s.accepted[number]:
                s.accepted[number] = value
                self._states[number].drive(cycle, value)
        s.base = base

    # --- channels ------------------------------------------------------------------------------------------------

    def _finish(self, channel: _Channel, number: int) -> None:
        s, counts = self.state, self.state.counts
        request = s.requests.pop(channel.returned)
        channel.returned = -1
        is_write, _, size, client, _ = request.transaction
        _, _, _, read, written = self._names[client]
        if is_write:
            s.free_writes += 1
            counts[written] += size
            counts[f"WriteBytesMemoryBus{number:02}"] += size
        else:
            s.services.append(request.transaction)
            counts[read] += size
            counts[f"ReadBytesMemoryBus{number:02}"] += size
        if request.blocks:
            for other in channel.reads if is_write else channel.writes:
                if other.waits == request.number:
                    other.waits = -1
        s.free_requests += 1

    def _issue(self, cycle: Cycle, channel: _Channel, number: int) -> None:
        """Start the next transaction of a channel, or note when it may start."""
        s, config = self.state, self.config
        reads, writes = channel.reads, channel.writes
        channel.tried_again = 0
        read_ready = bool(reads) and reads[0].waits < 0
        write_ready = bool(writes) and writes[0].waits < 0
        if read_ready and not (
            write_ready and (1 < channel.writes_run < config.max_writes or channel.reads_run == config.max_reads)
        ):
            request = reads[0]
        elif write_ready:
            request = writes[0]
        else:
            return
        is_write, address, _, _, _ = request.transaction
        if is_write and not request.ready:
            return
        since = cycle - channel.last
        if is_write != channel.last_write:
            if is_write:
                turn, name = config.read_latency, "ReadToWritePenalty"
            else:
                turn, name = config.write_latency + config.write_to_read, "WriteToReadPenalty"
            turn += self._transaction
            if since < turn:
                self._hold_up(channel, f"{name}{number:02}", channel.last + turn)
                return
        if since < config.page_open and channel.pages[self._bank(address)] != address >> self._page_shift:
            self._hold_up(channel, f"OpenPagePenalty{number:02}", channel.last + config.page_open)
            return
        if not (is_write or (s.free_reads and s.free_services)):
            return
        self._open(channel, number, address)
        if is_write:
            writes.popleft()
            channel.reads_run = 0
            channel.writes_run += 1
            latency = config.write_latency
        else:
            reads.popleft()
            channel.writes_run = 0
            channel.reads_run += 1
            s.free_reads -= 1
            s.free_services -= 1
            latency = config.read_latency
        channel.last = cycle
        channel.tried_again = cycle + self._transaction
        channel.last_write = is_write
        self._modules[number].send(cycle, request.number, latency=latency)

    def _bank(self, address: int) -> int:
        # One open page is two, one for even and one for odd pages, as measured openings show.
        return address >> self._bank_shift & self._banks

    def _open(self, channel: _Channel, number: int, address: int) -> None:
        """Open the page of an address unless it is open."""
        bank, page = self._bank(address), address >> self._page_shift
        if channel.pages[bank] != page:
            channel.pages[bank] = page
            self.state.counts[f"OpenPages{number:02}"] += 1

    def _hold_up(self, channel: _Channel, penalty: str, until: int) -> None:
        """Count a cycle of a penalty that ends in a cycle unless another request arrives."""
        self.state.counts[penalty] += 1
        channel.tried_again, channel.counted = until, penalty

    @property
    def queues(self) -> Queues:
        """Requests, answers, and used buffers of reads and writes."""
        s, config = self.state, self.config
        return (
            QueueFill("req", config.request_queue - s.free_requests, config.request_queue),
            QueueFill("serve", len(s.services), config.service_queue),
            QueueFill("rbuf", config.read_buffers - s.free_reads, config.read_buffers),
            QueueFill("wbuf", config.write_buffers - s.free_writes, config.write_buffers),
        )
