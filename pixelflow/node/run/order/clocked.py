"""Order on the clock: the streams of a program as boxes, beside TASICs, EMC ports, GNI and GPs, joined by wires.

What the streams issue is carried out when the boxes say that its time has come; the boxes never see a byte. A stream
that runs alone is the same with one box and no wires.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cached_property

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.control import SEMAPHORES
from pixelflow.node.run.costs.supply import supplies
from pixelflow.node.run.order.emc_ports_box import PortTimes
from pixelflow.node.run.order.igc_box import EigcBox, IgcBox, IgcSpec, TigcBox
from pixelflow.node.run.order.netlist import NodeBoxes, WireCounts
from pixelflow.node.run.perform.performance import Performance
from pixelflow.node.run.streams.analysis import analysis_of
from pixelflow.node.run.streams.deadlock import OpenWait, deadlock
from pixelflow.node.run.streams.issue import IssueKind
from pixelflow.node.run.streams.semaphores import STREAMS, Semaphores
from pixelflow.node.run.streams.stream import Stream
from pixelflow.node.run.streams.upcoming import OrderAhead
from pixelflow.observe import Bus, Carried
from pixelflow.simd.boxes import Clock, Netlist
from pixelflow.simd.boxes import Sent as Sent
from pixelflow.simd.boxes.netlist import AnyBox
from pixelflow.simd.errors import DeadlockError
from pixelflow.simd.snapshot import Snapshot

__all__ = ["Clocked"]


class Clocked:
    """One run of a program: what its streams issue is carried out by a performance in the cycles in which it happens.

    Given a netlist, the run is one of several and adds its boxes; whoever made the netlist then has the clock.
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
        """Bytes of data that had gone each way before the run."""
        self.counts = WireCounts()
        """Counts what goes over the wires; a watcher of the clock."""
        self.netlist = Netlist("node") if netlist is None else netlist
        self.boxes: NodeBoxes | None = None
        """The boxes beside the sequencers; None for a stream that runs alone."""
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
        """Watchers of the clock, whoever has it."""
        if netlist is None:
            self.clock = Clock(self.netlist, watchers=self.watchers, shuffle_seed=shuffle_seed)

    @property
    def _own_boxes(self) -> tuple[AnyBox, ...]:
        return (*self.sequencers, *(() if self.boxes is None else self.boxes.all))

    @property
    def cycle(self) -> int:
        """The last cycle that a stream has come to."""
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
        """Bytes of data that have gone each way in this run."""
        return {way: count - self.moved_before[way] for way, count in self.performance.moved.items()}

    @cached_property
    def _units(self) -> dict[str, str]:
        """The unit of every wire on which a box of this node sends."""
        wires = [box.wires[port] for box in self._own_boxes for port in box.outputs]
        return {wire.name: wire.unit for wire in wires}

    def _carried(self, sent: Sent) -> None:
        unit = self._units.get(sent.wire)
        if unit is not None:  # in a machine of several nodes, the wires of the others are not its own
            self.bus.emit(Carried, sent.sent, sent.wire, sent.arrives, sent.amount, unit)

    # --- going -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run all streams to their end.

        Raises MachineFault, DeadlockError or CycleLimitError; PE state is then as the instructions before left it.
        """
        try:
            self.clock.run()
        except DeadlockError:
            raise deadlock(self.program, list(self.streams.values()), self.clock.cycle) from None
        finally:
            self.flush()
        self.settle()

    def steps(self) -> Iterator[Stream]:
        """Run the stream that runs alone instruction by instruction: yields it after each, with PE state up to date."""
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
        """Carry out what the EMC stream has put off."""
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
        """Carry out what begins before ``cycle``; returns whether the run got there."""
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
        """Return for each stream the wait that was open when something stopped the run.

        It lasts up to the last cycle in which something happened, or to the cycle limit where that comes first. A
        stream that runs alone waits for nothing that could still come.
        """
        if self.alone:
            return {}
        end = max(self.cycle, self.last_cycle)
        limit = self.sequencers[0].stream.max_cycles
        end = end if limit is None else min(end, limit)
        waiting = [box for box in self.sequencers if box.waits_for is not None]
        return {box.stream.name: OpenWait(box.waits_for, max(0, end - box.stream.cycle)) for box in waiting}

    def waits_for(self, stream: str, cycle: int) -> str | None:
        """Return what a stream waits for in a cycle that the run was taken to; None where it goes on.

        ``sem 3``, ``transfer`` or ``instructions``: the reason under which the account counts it.
        """
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
        """Go on from a snapshot of a run of the same program on the same machine."""
        for name, stream in self.streams.items():
            stream.restore(snapshot["streams"][name])
        for name, value in snapshot["ports"].items():
            setattr(self._ports.state, name, value)
        self.counts.restore(snapshot["counts"])
        self.moved_before = dict(snapshot["moved_before"])
        self.clock.restore(snapshot["clock"])
