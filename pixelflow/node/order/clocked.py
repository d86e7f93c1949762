"""A run of both instruction streams: sequencers, TASICs and EMC ports as boxes, joined by wires.

Meaning is carried out when the boxes say that its time has come; the boxes never see a byte.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from pixelflow.config import NodeConfig
from pixelflow.errors import DeadlockError, MachineFault
from pixelflow.isa import Program, Unit
from pixelflow.isa.control import SEMAPHORES
from pixelflow.node.account.ledger import Ledger, WireCounts
from pixelflow.node.array.pe_array import PeArray
from pixelflow.node.marks.timed_texture import TimedTextureUnit
from pixelflow.node.marks.tracker import MarkTracker
from pixelflow.node.order.igc_box import EigcBox, TigcBox
from pixelflow.node.order.netlist import NodeBoxes
from pixelflow.node.perform.on_lanes import ArrayWorker
from pixelflow.node.perform.score import Score, begin, tell
from pixelflow.node.streams.analysis import Analysis, analysis_of
from pixelflow.node.streams.ports import sharing
from pixelflow.node.streams.semaphore_use import STREAMS, OpenWait, deadlock
from pixelflow.node.streams.semaphores import Semaphores
from pixelflow.node.streams.stream import Issue, Stream
from pixelflow.node.texture.transfer import Command, Transfer
from pixelflow.node.texture.unit import TextureUnit
from pixelflow.observe import Bus, Carried, Executed
from pixelflow.sim import Clock, Netlist
from pixelflow.sim import Transfer as Sent

__all__ = ["TwoStreams"]


@dataclass
class _Ports:
    """Which transfer uses the ports, and when PEs last did: the two must not meet."""

    transfer: Transfer | None = None
    since: int = 0
    until: int = -1
    touched_from: int = 0
    touched_until: int = -1
    touched_by: Issue = -1
    """The instruction that began in ``touched_from``; others may have followed it at once (`Stretch.shared`)."""
    next_touch: int | None = None
    """When PEs will use a port again, where a transfer has begun between two instructions that do."""
    next_by: Issue = -1

    def touch(self, program: Program, issue: Issue, cycle: int, end: int) -> None:
        """PE instructions use a port or set a mark from ``cycle`` on and before ``end``.

        Raises MachineFault where a transfer is using the ports.
        """
        self.touched_from, self.touched_until, self.touched_by = cycle, end - 1, issue
        if self.transfer is not None or cycle <= self.until:
            raise self._conflict(program, issue, f"in use from cycle {self.since}", cycle)

    def begin(self, program: Program, transfer: Transfer, cycle: int) -> None:
        self.transfer, self.since = transfer, cycle
        if cycle > self.touched_until:
            return
        issue, begins = self.touched_by, self.touched_from
        while begins + program.cycles[issue] <= cycle:
            begins, issue = begins + program.cycles[issue], issue + 1
        if self._touches(program, issue):
            raise self._conflict(program, issue, "taken in this cycle", cycle)
        while not self._touches(program, issue):
            begins, issue = begins + program.cycles[issue], issue + 1
        self.next_touch, self.next_by = begins, issue

    def _touches(self, program: Program, issue: Issue) -> bool:
        """Whether an instruction that began in or after ``touched_from`` uses a port or sets a mark.

        Where that depends on parameters, the first did, and those that followed it at once do not.
        """
        return issue == self.touched_by or sharing(program.instructions[issue]) is True

    def end(self, program: Program, cycle: int) -> None:
        if self.next_touch is not None and self.next_touch <= cycle:
            raise self._conflict(program, self.next_by, f"in use from cycle {self.since}", self.next_touch)
        self.transfer, self.until, self.next_touch = None, cycle, None

    def _conflict(self, program: Program, issue: Issue, how: str, cycle: int) -> MachineFault:
        who = f"{program.instructions[issue].text()} at {program.where(issue)}"
        return MachineFault(f"port conflict in cycle {cycle}: {who}, while the ports are {how} by a texture transfer")


class TwoStreams:
    """One run of a program on a node whose TASICs work beside its EMCs.

    Without ``function`` only time passes: PE data are left alone, and marks are followed by what the program says.
    Given a netlist, the run is one of several and adds its boxes; whoever made the netlist then has the clock.
    """

    def __init__(
        self,
        program: Program,
        config: NodeConfig,
        array: PeArray,
        texture: TextureUnit,
        *,
        max_cycles: int | None = None,
        shuffle_seed: int | None = None,
        function: bool = True,
        boxes: NodeBoxes | None = None,
        netlist: Netlist | None = None,
        bus: Bus | None = None,
        score: Score | None = None,
    ) -> None:
        self.program = program
        self.bus = Bus() if bus is None else bus
        analysis = analysis_of(program, config.igc)
        sequencer, specs = analysis.sequencer, analysis.specs
        self.streams = {
            name: Stream(
                sequencer, name, Semaphores(SEMAPHORES), max_cycles, elsewhere=specs[name].elsewhere, bus=self.bus
            )
            for name in STREAMS
        }
        self._ports = _Ports()
        if function:
            self._emc: _EmcWorker | _EmcTimer = _EmcWorker(array, program, self._ports, self.bus, score)
            self._emc.join(self.streams["eigc"], analysis)
            self._texture: _TasicWorker = _TasicWorker(texture, program, self._ports, self._emc, score)
        else:
            self._emc = _EmcTimer(array, analysis, self._ports)
            self._texture = _TasicTimer(config, texture, program, self._ports, self._emc)
            if not self.bus.wants(Executed):
                stream = self.streams["eigc"]
                stream.stretches = analysis.stretches(timed=True)
                stream.passed = self._emc.pass_over
        self.moved_before = dict(self._texture.moved)
        """Bytes of data that had gone each way before the run."""
        self.eigc = EigcBox(specs["eigc"], self.streams["eigc"], self._emc)
        self.tigc = TigcBox(specs["tigc"], self.streams["tigc"], self._texture, config.array.modules)
        self.boxes = boxes or NodeBoxes.of(config)
        self.tasics = self.boxes.tasics
        self.netlist = Netlist("node") if netlist is None else netlist
        self.boxes.join(self.netlist, self.eigc, self.tigc)
        self.counts = WireCounts()
        """Counts what goes over the wires; a watcher of the clock."""
        self.counts.watch((self.eigc, self.tigc), self.tasics)
        self._own_boxes = (self.eigc, self.tigc, *self.boxes.all)
        for box in self._own_boxes:
            box.bus = self.bus
        self.watchers = (self.counts, self._carried) if self.bus.wants(Carried) else (self.counts,)
        """Watchers of the clock, whoever has it."""
        if netlist is None:
            self.clock = Clock(self.netlist, watchers=self.watchers, shuffle_seed=shuffle_seed)

    @property
    def cycle(self) -> int:
        """The last cycle that a stream has come to."""
        return max(stream.cycle for stream in self.streams.values())

    @property
    def tasic_cycles(self) -> tuple[int, ...]:
        """Busy cycles of the TASICs of each module."""
        return tuple(tasic.state.busy_cycles for tasic in self.tasics)

    @property
    def gni_cycles(self) -> dict[str, int]:
        """Busy cycles of the paths out of the GNI."""
        return dict(self.boxes.gni.state.busy_cycles)

    @cached_property
    def _units(self) -> dict[str, str]:
        """The unit of every wire on which a box of this node sends."""
        wires = [box.wires[port] for box in self._own_boxes for port in box.outputs]
        return {wire.name: wire.unit for wire in wires}

    def _carried(self, sent: Sent) -> None:
        unit = self._units.get(sent.wire)
        if unit is not None:  # in a machine of several nodes, the wires of the others are not its own
            self.bus.tell(Carried, sent.sent, sent.wire, sent.arrives, sent.amount, unit)

    def run(self) -> None:
        """Run both streams to their end.

        Raises MachineFault, DeadlockError or CycleLimitError; PE state is then as the instructions before left it.
        """
        try:
            self.clock.run()
        except DeadlockError:
            raise deadlock(self.program, list(self.streams.values()), self.clock.cycle) from None
        finally:
            self.flush()
        self.settle()

    def flush(self) -> None:
        """Carry out what the EMC stream has put off."""
        self._emc.flush()

    def settle(self) -> None:
        """Close the account of a run that has ended.

        Raises InternalError where bytes were lost between boxes, or where an SDRAM command broke a rule.
        """
        for stream in self.streams.values():
            stream.settle()
        self.boxes.check_bytes()
        for tasic in self.tasics:
            if tasic.sdrams is not None:
                tasic.sdrams.verify()

    def run_until(self, cycle: int) -> bool:
        """Carry out what begins before ``cycle``; returns whether the run got there."""
        for box in (self.eigc, self.tigc):
            box.hold = cycle
        try:
            with self.streams["eigc"].one_by_one():
                self.clock.run_until(cycle)
        finally:
            self._emc.flush()
        for box in (self.eigc, self.tigc):
            box.hold = None
        return self.next_cycle() is not None or self.cycle >= cycle

    @property
    def last_cycle(self) -> int:
        """The last cycle in which something happened."""
        return self.clock.cycle

    def next_cycle(self) -> int | None:
        """Return the next cycle in which something happens, or None where nothing will."""
        return self.clock.next_cycle()

    def open_waits(self) -> dict[str, OpenWait]:
        """Return for each stream the wait that was open when something stopped the run.

        It lasts up to the last cycle in which something happened, or to the cycle limit where that comes first.
        """
        end = max(self.cycle, self.last_cycle)
        limit = self.eigc.stream.max_cycles
        end = end if limit is None else min(end, limit)
        waiting = [box for box in (self.eigc, self.tigc) if box.waits_for is not None]
        return {box.stream.name: OpenWait(box.waits_for, max(0, end - box.stream.cycle)) for box in waiting}

    def ledger(self) -> Ledger:
        """Return the ledger of the run."""
        moved = {way: count - self.moved_before[way] for way, count in self._texture.moved.items()}
        return self.counts.ledger(self.streams.values(), self.boxes, moved)

    def snapshot(self) -> dict[str, Any]:
        """Return the state of streams, boxes, wires and ports; PE and texture data are not in it."""
        return {
            "streams": {name: stream.snapshot() for name, stream in self.streams.items()},
            "clock": self.clock.snapshot(),
            "ports": {each.name: getattr(self._ports, each.name) for each in fields(self._ports)},
            "counts": self.counts.snapshot(),
            "moved_before": dict(self.moved_before),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a snapshot of a run of the same program on the same machine."""
        for name, stream in self.streams.items():
            stream.restore(snapshot["streams"][name])
        for name, value in snapshot["ports"].items():
            setattr(self._ports, name, value)
        self.counts.restore(snapshot["counts"])
        self.moved_before = dict(snapshot["moved_before"])
        self.clock.restore(snapshot["clock"])


class _EmcWorker(ArrayWorker):
    """The EMC stream's instructions, with an eye on the ports."""

    def __init__(self, array: PeArray, program: Program, ports: _Ports, bus: Bus, score: Score | None = None) -> None:
        super().__init__(array, program, bus, score)
        self._ports = ports

    def begin_shared(self, stream: Stream, issue: Issue, cycle: int) -> None:
        self._ports.touch(stream.sequencer.program, issue, cycle, stream.cycle)


class _TasicWorker:
    """The texture stream's instructions. Before each, what the EMCs have put off is carried out: it sees the PEs."""

    def __init__(
        self,
        texture: TextureUnit,
        program: Program,
        ports: _Ports,
        emc: _EmcWorker | _EmcTimer,
        score: Score | None = None,
    ) -> None:
        self._emc = emc
        self._score = score
        self._texture = texture
        self._program = program
        self._ports = ports

    @property
    def moved(self) -> dict[str, int]:
        """Bytes of data that went each way, since the node was made."""
        return self._texture.moved

    def issue(self, stream: Stream, issue: Issue) -> Transfer | None:
        instruction = stream.sequencer.program.instructions[issue]
        if instruction.declaration.unit is not Unit.TASIC:
            where = stream.sequencer.program.where(issue)
            raise MachineFault(f"{where}: {instruction.text()}: not an instruction of the TASICs")
        self._emc.flush()
        if self._score is not None:
            return self._score.told(self._texture, instruction)
        return tell(self._texture, instruction)

    def begin(self, transfer: Transfer, cycle: int) -> tuple[Command, ...]:
        if transfer.uses_ports:
            self._ports.begin(self._program, transfer, cycle)
        self._emc.flush()
        if self._score is not None:
            return self._score.begin(self._texture, transfer)
        return begin(self._texture, transfer)

    def end(self, transfer: Transfer, cycle: int) -> None:
        self._emc.flush()
        if self._score is not None:
            self._score.end(self._texture)
        else:
            self._texture.end()
        if transfer.uses_ports:
            self._ports.end(self._program, cycle)


class _EmcTimer(MarkTracker):
    """The EMC stream's instructions where only time passes, with an eye on the ports."""

    def __init__(self, array: PeArray, analysis: Analysis, ports: _Ports) -> None:
        super().__init__(analysis, array)
        self._port_times = ports

    def begin_shared(self, stream: Stream, issue: Issue, cycle: int) -> None:
        self._port_times.touch(stream.sequencer.program, issue, cycle, stream.cycle)

    def issue(self, stream: Stream, issue: Issue) -> None:
        if stream.passing is None:
            super().issue(stream, issue)
        else:
            self.pass_over(stream.passing)


class _TasicTimer(_TasicWorker):
    """The texture stream's instructions where only time passes: rounds follow from the marks that the program sets."""

    def __init__(
        self, config: NodeConfig, texture: TextureUnit, program: Program, ports: _Ports, tracker: _EmcTimer
    ) -> None:
        # A unit of its own takes the instructions: it sees marks instead of PEs, and never moves a byte.
        super().__init__(TimedTextureUnit(config, texture, tracker), program, ports, tracker)
        self._tracker = tracker

    def issue(self, stream: Stream, issue: Issue) -> Transfer | None:
        self._tracker.asked_by = issue
        return super().issue(stream, issue)
