"""Order on the clock: the streams of a program as boxes, joined by wires with TASICs, ports, GNI and GPs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.control import SEMAPHORES
from pixelflow.node.run.analysis import analysis_of
from pixelflow.node.run.perform import Performance
from pixelflow.node.run.semaphores import STREAMS, Semaphores
from pixelflow.node.run.sequencer_box import EigcBox, IgcBox, IgcSpec, PortTimes, TigcBox
from pixelflow.node.run.stream import IssueKind, OpenWait, OrderAhead, Stream, deadlock
from pixelflow.node.run.supply import supplies
from pixelflow.observe import Bus, Carried
from pixelflow.simd.boxes import AnyBox, Clock, Netlist, Sent
from pixelflow.simd.errors import DeadlockError
from pixelflow.simd.units import Snapshot

if TYPE_CHECKING:
    from pixelflow.node.run.block_diagram import NodeBoxes
    from pixelflow.node.run.tasic_box import TasicBox


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
            from pixelflow.node.run.block_diagram import NodeBoxes

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
