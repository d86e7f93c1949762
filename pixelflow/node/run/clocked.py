"""Order on the clock: the streams of a program as boxes, joined by wires with TASICs, ports, GNI and GPs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.control import SEMAPHORES
from pixelflow.isa.tas import MEM_WR_OVER4
from pixelflow.node.run.analysis import analysis_of
from pixelflow.node.run.gni_box import GniBox, GniPortBox, GniPortSpec, GniSpec, GpBox, GpSpec, NetworkBox, NetworkSpec
from pixelflow.node.run.perform import Performance
from pixelflow.node.run.semaphores import STREAMS, Semaphores
from pixelflow.node.run.stream import Issue, IssueKind, OpenWait, OrderAhead, Stream, deadlock
from pixelflow.node.run.supply import supplies
from pixelflow.node.run.tasic_box import EmcPortsBox, EmcPortsSpec, PortTimes, TasicBox, TasicSpec
from pixelflow.node.transfer import Transfer
from pixelflow.observe import TRANSFER, Bus, Carried, Progressed, TransferBegan
from pixelflow.simd.boxes import AnyBox, Box, Clock, Netlist, Sent
from pixelflow.simd.errors import CycleLimitError, DeadlockError, InternalError, MachineFault, SimulatorError
from pixelflow.simd.units import Cycle, Snapshot

# The two sequencers as boxes: a stream runs ahead until something visible to others must happen on time.
#
# Between two such points a stream's cycles are added up without any event. Visible are a signal, a wait, a transfer, an
# access to a local port or to a mark, and the end. Each of them happens in a tick in its cycle, so that the order of
# ticks within a cycle, and the distance of one stream ahead of the other, cannot matter.


@dataclass(frozen=True, slots=True)
class IgcSpec:
    """The semaphores that the other stream waits for: their signals go over the wire."""

    remote_semaphores: frozenset[int]


ALONE = IgcSpec(frozenset())
"""The specification of a stream that runs alone."""


@dataclass(slots=True)
class IgcState:
    """The state of a sequencer box, without its stream."""

    resume_at: int | None = 0
    pending: Issue | None = None
    """Yielded by the stream and not executed yet."""
    outstanding: int = 0
    """Modules that are still busy with a transfer."""
    transfer: Transfer | None = None
    """The transfer under way."""


class IgcBox(Box[IgcSpec, IgcState]):
    """A sequencer that runs alone, and the base of the paired ones: running ahead, signals, waits."""

    def __init__(self, stream: Stream, performance: Performance, spec: IgcSpec = ALONE) -> None:
        super().__init__(stream.name, spec, IgcState())
        self.stream = stream
        self.performance = performance
        self.hold: int | None = None
        """Nothing that begins at or after this cycle is executed before it, visible or not."""
        self._issues: Iterator[Issue] = stream.issues()
        self._going: list[int] = []
        self._failure: SimulatorError | None = None
        """An error found while the stream ran ahead; raised in its cycle."""

    def next_event(self) -> Cycle | None:
        return None if self.state.resume_at is None else Cycle(self.state.resume_at)

    @property
    def waits_for(self) -> str | None:
        """The reason why the stream waits, as in `Run.waits`; None where it does not wait."""
        if self.state.transfer is not None:
            return TRANSFER
        if self.state.pending is not None and self.state.pending.kind is IssueKind.STARVED:
            return "instructions"
        return f"sem {self.stream.waiting}" if self._is_blocked else None

    @property
    def _is_blocked(self) -> bool:
        return self.state.pending is not None and self.state.pending.kind is IssueKind.BLOCKED

    def why_blocked(self) -> str | None:
        if not self._is_blocked or self.state.resume_at is not None:
            return None
        return self.stream.why_waiting()

    @property
    def worked(self) -> int:
        return self.stream.cycle

    def tick(self, cycle: Cycle) -> None:
        state, stream = self.state, self.stream
        if stream.supply is not None:
            stream.supply.advance(cycle)
        self._hear(cycle)
        if state.outstanding or (state.resume_at is not None and cycle < state.resume_at):
            return
        if self._failure is not None:
            raise self._failure
        state.resume_at = None
        try:
            while self._step(cycle):
                pass
            self._flush()
        except (MachineFault, CycleLimitError) as error:
            late = isinstance(error, CycleLimitError)  # found before the instruction was counted
            due = stream.cycle if late else stream.cycle - stream.sequencer.cycles[max(0, stream.index - 1)]
            if due <= cycle:
                raise
            # Other boxes may still act before that cycle.
            self._failure, state.resume_at = error, due
        self._tell(cycle)

    def _step(self, cycle: Cycle) -> bool:
        """Advance the stream by one step; returns whether it can take another one in this cycle."""
        state, stream = self.state, self.stream
        if state.pending is None or state.pending.kind is IssueKind.STARVED:
            if self.hold is not None and self.hold <= stream.cycle:
                state.resume_at = stream.cycle
                return False
            state.pending = next(self._issues, None)
        issue = state.pending
        if issue is not None and issue.kind is IssueKind.STARVED:
            state.resume_at = max(cycle + 1, stream.cycle)
            return False
        due = stream.cycle if issue is None else self._due(issue)
        if due is not None and due > cycle:
            state.resume_at = due
            return False
        if issue is None:
            return False
        kind = issue.kind
        if kind is IssueKind.BLOCKED:
            assert stream.waiting is not None, "a stream is blocked by a semaphore"
            if not stream.semaphores.count(stream.waiting):
                return False
            stream.resume(cycle)
        state.pending = None
        if kind is IssueKind.SIGNALLED:
            if stream.signalled in self.spec.remote_semaphores:
                self._going.append(stream.signalled)
        elif kind is not IssueKind.BLOCKED and kind is not IssueKind.STALLED:
            self._act(issue, due)
        return not state.outstanding

    def _due(self, issue: Issue) -> int | None:
        """Return the cycle in which the step must be taken, or None where that is invisible."""
        if issue.kind is IssueKind.STALLED:
            return None
        if issue.index is None and issue.kind is not IssueKind.UNLATCH:
            return self.stream.cycle
        return self._begins(issue)

    def _begins(self, issue: Issue) -> int | None:
        """Return the first cycle of an instruction that is visible to others, None for any other."""
        return None

    def _act(self, issue: Issue, cycle: int | None) -> None:
        """Execute an instruction that begins in ``cycle``."""
        self.performance.issue(self.stream, issue)

    def _hear(self, cycle: Cycle) -> None:
        """Read what has arrived."""

    def _flush(self) -> None:
        """Execute deferred instructions."""

    def _tell(self, cycle: Cycle) -> None:
        """Send the stream's signals."""


class _PairedBox(IgcBox):
    """One of two sequencers that signal each other."""

    inputs: tuple[str, ...] = ("signals_in",)
    outputs: tuple[str, ...] = ("signals_out",)

    def __init__(self, stream: Stream, performance: Performance, spec: IgcSpec, ports: PortTimes) -> None:
        super().__init__(stream, performance, spec)
        self._ports = ports

    def _hear(self, cycle: Cycle) -> None:
        for semaphores in self.wires["signals_in"].take_all(cycle):
            for semaphore in semaphores:
                self.stream.semaphores.signal(semaphore)

    def _tell(self, cycle: Cycle) -> None:
        if self._going:
            # Control takes no time, so a stream can send any number of signals in one cycle: they go as one item.
            self.wires["signals_out"].send(cycle, tuple(self._going))
            self._going.clear()
        self.bus.emit(Progressed, cycle)


class EigcBox(_PairedBox):
    """The sequencer of the EMCs, where that of the TASICs can see local ports and marks."""

    def _begins(self, issue: Issue) -> int | None:
        if issue.index is None or not self._ports.use.shared(issue.index, self.stream.parameters):
            return None
        return self.stream.begins(issue)

    def _act(self, issue: Issue, cycle: int | None) -> None:
        if issue.index is not None and cycle is not None:
            self._ports.touch(issue.index, cycle, self.stream.cycle)
        super()._act(issue, cycle)

    def _flush(self) -> None:
        if self.bus.wants(Progressed):  # a subscriber may look at the PEs; the texture side flushes itself
            self.performance.flush()


class TigcBox(_PairedBox):
    """The sequencer of the TASICs: it commands those of all modules and waits until the last is done."""

    def __init__(self, stream: Stream, performance: Performance, spec: IgcSpec, ports: PortTimes, modules: int) -> None:
        super().__init__(stream, performance, spec, ports)
        self.inputs = (*self.inputs, *(f"done{module}" for module in range(modules)))
        self.outputs = (*self.outputs, *(f"command{module}" for module in range(modules)))
        self._modules = range(modules)

    def _begins(self, issue: Issue) -> int | None:
        return self.stream.begins(issue)

    def _act(self, issue: Issue, cycle: int | None) -> None:
        if issue.index is None:
            return
        assert cycle is not None, "texture instructions are visible"
        with self._placed(issue.index, cycle):
            transfer = self.performance.tell(issue.index)
        if transfer is None:
            return
        if transfer.uses_ports:
            self._ports.begin(transfer, cycle)
        with self._placed(issue.index, cycle):
            commands = self.performance.begin(transfer)
        for module, command in zip(self._modules, commands, strict=True):
            self.wires[f"command{module}"].send(Cycle(cycle), command)
        if self.bus.wants(TransferBegan) and self.performance.accessed is not None:
            self.bus.emit(TransferBegan, cycle, self.stream.name, issue.index, self.performance.accessed)
        self.state.transfer = transfer
        self.state.outstanding = len(self._modules)

    @contextmanager
    def _placed(self, index: int, cycle: int | None) -> Iterator[None]:
        """Give a fault the place of its instruction in the program, the stream and the cycle."""
        try:
            yield
        except MachineFault as error:
            where = self.stream.program.where(index)
            said = str(error).removeprefix(f"{where}: ")
            raise MachineFault(f"{where}: {said} (TIGC, cycle {cycle})") from None

    def _hear(self, cycle: Cycle) -> None:
        super()._hear(cycle)
        if not self.state.outstanding:
            return
        for module in self._modules:
            self.state.outstanding -= len(self.wires[f"done{module}"].take_all(cycle))
        if not self.state.outstanding:
            self.stream.resume(cycle)
            self.performance.end()
            assert self.state.transfer is not None, "a transfer is under way"
            if self.state.transfer.uses_ports:
                self._ports.end(cycle)
            self.state.transfer = None


# The block diagram of a node: its boxes, the wires between them, and counts of what these carry.


@dataclass(frozen=True)
class NodeBoxes:
    """The boxes of one node without its sequencers; a node that runs nothing has an interface and GPs only."""

    gni: GniBox
    gps: list[GpBox]
    tasics: list[TasicBox]
    emcs: list[EmcPortsBox]
    ports: list[GniPortBox]
    prefix: str = ""

    @classmethod
    def of(cls, config: NodeConfig, *, node: int = 0, nodes: int = 1, modules: bool = True) -> NodeBoxes:
        """Make the boxes of node number ``node`` of ``nodes``; without ``modules``, of one that runs nothing."""
        spec = GniSpec.of(config, node=node, networked=nodes > 1)
        there = range(spec.modules if modules else 0)
        if not modules:
            spec = replace(spec, modules=0)
        boxes = cls(
            GniBox(spec),
            [GpBox(gp, GpSpec(spec.gp_bytes_per_cycle)) for gp in range(spec.gps)],
            [TasicBox(module, TasicSpec.of(config)) for module in there],
            [EmcPortsBox(module, EmcPortsSpec.of(config)) for module in there],
            [GniPortBox(GniPortSpec.of(config, module, node=node, nodes=nodes)) for module in there],
            f"node[{node}]." if nodes > 1 else "",
        )
        for box in boxes.all:
            box.name = boxes.prefix + box.name
        return boxes

    @property
    def all(self) -> tuple[TasicBox | EmcPortsBox | GniPortBox | GniBox | GpBox, ...]:
        """Every box, in the order of the block diagram."""
        return (*self.tasics, *self.emcs, *self.ports, self.gni, *self.gps)

    @property
    def bytes_moved(self) -> dict[str, tuple[int, int]]:
        """Bytes passed from one kind of box to the next, as counted by the givers and by the takers."""
        gni = self.gni.state
        return {
            "EMCs to TASICs for GPs": (_sum(self.emcs, "collected_bytes"), _sum(self.ports, "sent_bytes")),
            "TASICs to GNI": (_sum(self.ports, "sent_bytes"), gni.from_modules_bytes),
            "through the GNI": (
                gni.from_modules_bytes + gni.from_network_bytes,
                gni.to_gps_bytes + gni.to_network_bytes,
            ),
            "GNI to GPs": (gni.to_gps_bytes, _sum(self.gps, "stored_bytes")),
            "GPs to GNI": (_sum(self.gps, "given_bytes"), gni.from_gps_bytes),
            "GNI to TASICs": (gni.to_modules_bytes, _sum(self.tasics, "loaded_bytes")),
        }

    def check_bytes(self) -> None:
        """Raise InternalError where bytes were lost or appeared between two boxes of a run that has ended."""
        wrong = [f"{way}: {gave} given, {took} taken" for way, (gave, took) in self.bytes_moved.items() if gave != took]
        if wrong:
            raise InternalError(f"{self.gni.name}: bytes do not balance: {'; '.join(wrong)}")

    def join(self, netlist: Netlist, eigc: EigcBox | None = None, tigc: TigcBox | None = None) -> None:
        """Add the boxes to a netlist, and the sequencers where the node runs a program."""
        sequencers = [box for box in (eigc, tigc) if box is not None]
        for box in sequencers:
            box.name = self.prefix + box.name
        distances = () if tigc is None else _distances(tigc.stream.program, len(self.tasics))
        for tasic, emcs in zip(self.tasics, self.emcs, strict=True):
            tasic.reach(distances)
            emcs.reach(distances)
        for each in (*sequencers, *self.all):
            netlist.add(each)
        if eigc is not None and tigc is not None:
            netlist.connect(f"{eigc.name}.signals", (eigc, "signals_out"), (tigc, "signals_in"))
            netlist.connect(f"{tigc.name}.signals", (tigc, "signals_out"), (eigc, "signals_in"))
            for module in range(len(self.tasics)):
                self._join_module(netlist, tigc, module)
                for distance in distances:
                    self._join_path(netlist, module, distance)
        for index, gp in enumerate(self.gps):
            width = self.gni.spec.gp_bytes_per_cycle
            netlist.connect(
                f"{gp.name}.store", (self.gni, f"store{index}"), (gp, "store"), bandwidth=width, unit="bytes"
            )
            netlist.connect(f"{gp.name}.stored", (gp, "stored"), (self.gni, f"stored{index}"))
            netlist.connect(f"{gp.name}.ask", (self.gni, f"ask{index}"), (gp, "ask"), bandwidth=self.gni.spec.parts)
            netlist.connect(f"{gp.name}.give", (gp, "give"), (self.gni, f"give{index}"), bandwidth=width, unit="bytes")

    def _join_module(self, netlist: Netlist, tigc: TigcBox, module: int) -> None:
        """Widths: one byte a cycle for each EMC and direction (derived, thesis 2.2.4), to the GNI 800 MB/s (3.8)."""
        tasic, emcs, port, gni = self.tasics[module], self.emcs[module], self.ports[module], self.gni
        pins = emcs.spec.emcs * emcs.spec.port_bytes_per_cycle
        path = gni.spec.bytes_per_cycle
        # A node has few GPs, and each may acknowledge one parcel in a cycle; other nodes too.
        words = 64
        name = tasic.name
        netlist.connect(f"{name}.command", (tigc, f"command{module}"), (tasic, "command"))
        netlist.connect(f"{name}.done", (tasic, "done"), (tigc, f"done{module}"))
        netlist.connect(f"{name}.fetch", (tasic, "fetch"), (emcs, "fetch"))
        netlist.connect(f"{name}.inbound", (emcs, "inbound"), (tasic, "inbound"), bandwidth=pins, unit="bytes")
        netlist.connect(f"{name}.outbound", (tasic, "outbound"), (emcs, "outbound"), bandwidth=pins, unit="bytes")
        netlist.connect(f"{name}.gp_command", (tasic, "gp_command"), (port, "command"))
        netlist.connect(f"{name}.gp_done", (port, "done"), (tasic, "gp_done"))
        netlist.connect(f"{name}.load_request", (tasic, "load_request"), (gni, f"load_request{module}"))
        netlist.connect(f"{name}.loaded", (tasic, "loaded"), (gni, f"loaded{module}"))
        netlist.connect(
            f"{name}.from_gni", (gni, f"from_gni{module}"), (tasic, "from_gni"), bandwidth=path, unit="bytes"
        )
        name = port.name
        netlist.connect(f"{name}.collect", (port, "collect"), (emcs, "collect"))
        netlist.connect(f"{name}.collected", (emcs, "collected"), (port, "collected"), bandwidth=pins, unit="bytes")
        netlist.connect(f"{name}.request", (port, "request"), (gni, f"request{module}"))
        netlist.connect(f"{name}.grant", (gni, f"grant{module}"), (port, "grant"), bandwidth=words)
        netlist.connect(f"{name}.to_gni", (port, "to_gni"), (gni, f"to_gni{module}"), bandwidth=path, unit="bytes")
        netlist.connect(f"{name}.delivered", (gni, f"delivered{module}"), (port, "delivered"), bandwidth=words)

    def _join_path(self, netlist: Netlist, module: int, distance: int) -> None:
        """Connect the EMCs of a module with the TASICs of the module at a distance."""
        emcs, tasic = self.emcs[module], self.tasics[(module + distance) % len(self.tasics)]
        name, width = f"{self.tasics[module].name}.over{distance}", tasic.spec.path_bytes_per_cycle
        netlist.connect(f"{name}.fetch", (tasic, f"fetch{distance}"), (emcs, f"fetch{distance}"))
        netlist.connect(name, (emcs, f"over{distance}"), (tasic, f"over{distance}"), bandwidth=width, unit="bytes")


def _distances(program: Program, modules: int) -> tuple[int, ...]:
    """Return the distances over which a program writes, as far as a node has modules at them."""
    found = {each.operands[0] for each in program.by_kind.kinds if each.declaration is MEM_WR_OVER4}
    return tuple(distance for distance in range(1, modules) if distance in found)


def _sum(boxes: Sequence[AnyBox], name: str) -> int:
    return sum(getattr(box.state, name) for box in boxes)


def connect_network(netlist: Netlist, nodes: list[NodeBoxes]) -> NetworkBox:
    """Join the interfaces of several nodes by a geometry network; return its box."""
    width = nodes[0].gni.spec.bytes_per_cycle
    box = NetworkBox(NetworkSpec(len(nodes), width))
    netlist.add(box)
    words = 64
    for node, boxes in enumerate(nodes):
        gni, name = boxes.gni, f"{box.name}[{node}]"
        netlist.connect(f"{name}.from", (gni, "network_out"), (box, f"from{node}"), bandwidth=width, unit="bytes")
        netlist.connect(f"{name}.to", (box, f"to{node}"), (gni, "network_in"), bandwidth=width, unit="bytes")
        netlist.connect(f"{name}.ack_from", (gni, "network_ack_out"), (box, f"ack_from{node}"), bandwidth=words)
        netlist.connect(f"{name}.ack_to", (box, f"ack_to{node}"), (gni, "network_ack_in"), bandwidth=words)
    return box


@dataclass
class WireCounts:
    """Watcher of the clock that counts what the wires of a node carry."""

    totals: Counter[str] = field(default_factory=Counter)
    signals: Counter[int] = field(default_factory=Counter)

    def watch(self, sequencers: Iterable[EigcBox | TigcBox], tasics: Iterable[TasicBox]) -> None:
        """Register the wires to be counted."""
        self._count = {box.wires["signals_out"].name: self._signals for box in sequencers}
        for box in tasics:
            self._emcs = box.spec.emcs
            named = {"command": self._command, "done": self._done, "inbound": self._inbound, "outbound": self._outbound}
            self._count |= {box.wires[port].name: count for port, count in named.items()}
            crossed = partial(self._crossed, box.module)
            self._count |= {box.wires[port].name: crossed for port in box.inputs if port.startswith("over")}

    def __call__(self, transfer: Sent) -> None:
        count = self._count.get(transfer.wire)
        if count is not None:
            count(transfer)

    def _signals(self, transfer: Sent) -> None:
        self.signals.update(transfer.item)

    def _command(self, transfer: Sent) -> None:
        command = transfer.item
        self.totals["commands"] += 1
        self.totals["inbound asked"] += command.inbound_bytes * self._emcs
        self.totals["outbound asked"] += command.outbound_bytes * self._emcs
        self.totals["slots"] += command.rounds * self._emcs
        self.totals["slots used"] += command.used
        self.totals["inbound used"] += command.given
        if command.transfer.over:
            self.totals["over asked"] += command.inbound_bytes * self._emcs
            self.totals["over used"] += command.given
        self.totals["outbound used"] += command.taken

    def _done(self, transfer: Sent) -> None:
        self.totals["dones"] += 1

    def _inbound(self, transfer: Sent) -> None:
        self.totals["inbound"] += transfer.amount

    def _outbound(self, transfer: Sent) -> None:
        self.totals["outbound"] += transfer.amount

    def _crossed(self, module: int, transfer: Sent) -> None:
        self.totals["inbound"] += transfer.amount
        self.totals[f"over to {module}"] += transfer.amount

    def over(self, module: int) -> int:
        """Return the bytes that crossed from other modules to the TASICs of one."""
        return self.totals[f"over to {module}"]

    def snapshot(self) -> Snapshot:
        return {"totals": dict(self.totals), "signals": dict(self.signals)}

    def restore(self, snapshot: Snapshot) -> None:
        self.totals, self.signals = Counter(snapshot["totals"]), Counter(snapshot["signals"])
        if self.totals["commands"] and "slots" not in self.totals:  # an older file: all slots count as used
            for way in ("inbound", "outbound"):
                self.totals[f"{way} used"] = self.totals[f"{way} asked"]


class Clocked:
    """One run of a program, whose issues a performance executes in the cycles that the boxes determine.

    A stream that runs alone has one box and no wires. Given a netlist, the run is one of several and adds its boxes;
    the owner of the netlist then has the clock.
    """

    def __init__(
        self,
        program: Program,
        config: NodeConfig,
        performance: Performance,
        *,
        entry: str | None = None,
        max_cycles: int | None = None,
        shuffle_seed: int | None = None,
        boxes: NodeBoxes | None = None,
        netlist: Netlist | None = None,
        bus: Bus | None = None,
    ) -> None:
        """``entry`` is the stream that runs alone, None where all of the program runs."""
        self.program = program
        self.bus = Bus() if bus is None else bus
        self.performance = performance
        analysis = analysis_of(program, config)
        self.alone = entry is not None or len(program.entries) == 1
        remote = {} if self.alone else analysis.remote_semaphores
        names = (entry or STREAMS[0],) if self.alone else STREAMS
        self._supplies = supplies(program, config, len(names))
        self.streams = {
            name: Stream(
                *(analysis.sequencer, name, Semaphores(SEMAPHORES), max_cycles),
                remote_semaphores=remote.get(name, frozenset()),
                bus=self.bus,
                supply=supply,
            )
            for name, supply in zip(names, self._supplies, strict=True)
        }
        for supply, stream in zip(self._supplies, self.streams.values(), strict=True):
            if supply is not None and supply.joint:
                supply.ahead = OrderAhead(stream, supply, analysis.straight_codes())
        first = next(iter(self.streams.values()))
        performance.join(first)
        self._ports = PortTimes(program, analysis.port_use)
        self.moved_before = dict(performance.moved)
        """Bytes of data moved each way before the run."""
        self.counts = WireCounts()
        self.netlist = Netlist("node") if netlist is None else netlist
        self.boxes: NodeBoxes | None = None
        """The boxes without the sequencers; None for a stream that runs alone."""
        if self.alone:
            self.sequencers: tuple[IgcBox, ...] = (IgcBox(first, performance),)
            self.netlist.add(*self.sequencers)
        else:
            eigc, tigc = self.streams.values()
            self.sequencers = (
                EigcBox(eigc, performance, IgcSpec(eigc.remote_semaphores), self._ports),
                TigcBox(tigc, performance, IgcSpec(tigc.remote_semaphores), self._ports, config.array.modules),
            )
            self.boxes = boxes or NodeBoxes.of(config)
            self.boxes.join(self.netlist, *self.sequencers)
            self.counts.watch(self.sequencers, self.boxes.tasics)
        for box in self._own_boxes:
            box.bus = self.bus
        self.watchers = (self.counts, self._carried) if self.bus.wants(Carried) else (self.counts,)
        """Watchers for the clock."""
        if netlist is None:
            self.clock = Clock(self.netlist, watchers=self.watchers, shuffle_seed=shuffle_seed)

    @property
    def _own_boxes(self) -> tuple[AnyBox, ...]:
        return (*self.sequencers, *(() if self.boxes is None else self.boxes.all))

    @property
    def cycle(self) -> int:
        """The cycle that the streams have reached."""
        return max(stream.cycle for stream in self.streams.values())

    @property
    def tasic_cycles(self) -> tuple[int, ...]:
        """Busy cycles of the TASICs of each module; none for a stream that runs alone."""
        return () if self.boxes is None else tuple(tasic.state.busy_cycles for tasic in self.boxes.tasics)

    @property
    def gni_cycles(self) -> dict[str, int]:
        """Busy cycles of the paths out of the GNI; none for a stream that runs alone."""
        return {} if self.boxes is None else dict(self.boxes.gni.state.busy_cycles)

    @property
    def moved(self) -> dict[str, int]:
        """Bytes of data moved each way in this run."""
        return {way: count - self.moved_before[way] for way, count in self.performance.moved.items()}

    @cached_property
    def _units(self) -> dict[str, str]:
        """The unit of every wire on which a box of this node sends."""
        wires = [box.wires[port] for box in self._own_boxes for port in box.outputs]
        return {wire.name: wire.unit for wire in wires}

    def _carried(self, sent: Sent) -> None:
        unit = self._units.get(sent.wire)
        if unit is not None:  # else a wire of another node of the machine
            self.bus.emit(Carried, sent.sent, sent.wire, sent.arrives, sent.amount, unit)

    # --- going -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run all streams to their end.

        Raises MachineFault, DeadlockError or CycleLimitError; PE state is then that after the previous instructions.
        """
        try:
            self.clock.run()
        except DeadlockError:
            raise deadlock(self.program, list(self.streams.values()), self.clock.cycle) from None
        finally:
            self.flush()
        self.settle()

    def steps(self) -> Iterator[Stream]:
        """Run a stream alone, instruction by instruction: yields it after each, with PE state up to date."""
        (stream,) = self.streams.values()
        stream.straight_codes = None
        for issue in stream.issues():
            if issue.kind is IssueKind.BLOCKED:
                raise deadlock(self.program, [stream], stream.cycle)
            if issue.kind not in (IssueKind.SIGNALLED, IssueKind.STALLED):
                self.performance.issue(stream, issue)
            self.flush()
            yield stream

    def flush(self) -> None:
        """Execute deferred instructions of the EMC stream."""
        self.performance.flush()

    def settle(self) -> None:
        """Close the account of a run that has ended.

        Raises InternalError where bytes were lost between boxes, or where an SDRAM command broke a rule.
        """
        for stream in self.streams.values():
            stream.settle()
        if self.boxes is None:
            return
        self.boxes.check_bytes()
        for tasic in self.boxes.tasics:
            if tasic.sdrams is not None:
                tasic.sdrams.verify()

    def run_until(self, cycle: int) -> bool:
        """Execute everything that begins before ``cycle``; returns whether the run reached that cycle."""
        for box in self.sequencers:
            box.hold = cycle
        try:
            with next(iter(self.streams.values())).one_by_one():
                self.clock.run_until(cycle)
            for supply in self._supplies:
                if supply is not None:
                    supply.settle(cycle)
        finally:
            self.flush()
        for box in self.sequencers:
            box.hold = None
        return self.next_cycle() is not None or self.cycle >= cycle

    @property
    def last_cycle(self) -> int:
        """The last cycle in which something happened."""
        return max(self.clock.cycle, self.cycle) if self.alone else self.clock.cycle

    def next_cycle(self) -> int | None:
        """Return the next cycle in which something happens, or None where nothing will."""
        return self.clock.next_cycle()

    def open_waits(self) -> dict[str, OpenWait]:
        """Return for each stream the wait that was open when the run was stopped.

        It lasts up to the last cycle in which something happened, or to the cycle limit where that comes first. A
        stream that runs alone has no open wait.
        """
        if self.alone:
            return {}
        end = max(self.cycle, self.last_cycle)
        limit = self.sequencers[0].stream.max_cycles
        end = end if limit is None else min(end, limit)
        return {
            box.stream.name: OpenWait(reason, max(0, end - box.stream.cycle))
            for box in self.sequencers
            if (reason := box.waits_for) is not None
        }

    def waits_for(self, stream: str, cycle: int) -> str | None:
        """Return the reason why a stream waits in the current cycle, as in `Run.waits`; None where it does not wait."""
        box = next(each for each in self.sequencers if each.name == stream)
        return None if box.stream.halted or box.stream.cycle > cycle else box.waits_for

    # --- state -------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the state of streams, boxes, wires and ports; PE and texture data are not in it."""
        return {
            "streams": {name: stream.snapshot() for name, stream in self.streams.items()},
            "clock": self.clock.snapshot(),
            "ports": {each.name: getattr(self._ports.state, each.name) for each in fields(self._ports.state)},
            "counts": self.counts.snapshot(),
            "moved_before": dict(self.moved_before),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of a run of the same program on the same machine."""
        for name, stream in self.streams.items():
            stream.restore(snapshot["streams"][name])
        for name, value in snapshot["ports"].items():
            setattr(self._ports.state, name, value)
        self.counts.restore(snapshot["counts"])
        self.moved_before = dict(snapshot["moved_before"])
        self.clock.restore(snapshot["clock"])
