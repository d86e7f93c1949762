"""Simulation of a frame's work by the boxes; a run has its cycles and its statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from attila_bridge.function.layout import SCAN_TILE, TILE
from attila_bridge.function.work import AttilaWork
from attila_bridge.statistics import Counts, counts_of
from attila_bridge.time.caches import TRANSACTION_BYTES
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.netlist import Boxes, netlist
from attila_bridge.time.prepare import Step, plan_frame
from pixelflow.simd.attendance import Telling
from pixelflow.simd.boxes import Clock, Sent
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.observe import Bus, Carried

# Agreement: work that was drawn for other units or tiles does not fit a machine. Values that are each in range may
# stop the machine together, as a unit that is never ready receives nothing.


_SINGLE = 4
"""Clients of memory other than ROPs and textures: command processor, fetch of indices, loader of vertices, display."""


def check_agreement(work: AttilaWork, config: AttilaConfig) -> None:
    """Raise InputError where work does not fit a configuration."""
    quads = [draw.quads for draw in work.draws if len(draw.quads.triangle)]
    rops = 1 + max((int(each.rop.max()) for each in quads), default=0)
    shaders = 1 + max((int(each.shader.max()) for each in quads), default=0)
    tile = config.traversal.generation_tile
    pairs = (
        ("gpu.rops", config.gpu.rops, rops, config.gpu.rops >= rops),
        ("gpu.shaders", config.gpu.shaders, shaders, config.gpu.shaders >= shaders),
        ("traversal.scan_tile", config.traversal.scan_tile, SCAN_TILE, config.traversal.scan_tile == SCAN_TILE),
        ("traversal.generation_tile", tile, TILE, tile == TILE),
        ("hz.block_quads", config.hz.block_quads, TILE * TILE // 4, config.hz.block_quads == TILE * TILE // 4),
        ("hz.blocks", config.hz.blocks, work.blocks, config.hz.blocks >= work.blocks),
    )
    for key, ours, needed, fits in pairs:
        if not fits:
            raise InputError(f"{key} is {ours}; the frame was drawn for {needed}")
    clients = _SINGLE + 2 * config.gpu.rops + config.gpu.shaders * config.texture.units
    writers = 1 + 2 * config.gpu.rops
    for key, held, needed in (
        ("memory.request_queue", config.memory.request_queue, config.memory.reserve * clients),
        ("memory.write_buffers", config.memory.write_buffers, config.memory.reserve * writers),
    ):
        if held <= needed:
            raise InputError(f"{key} is {held}; memory.reserve keeps {needed} free, so that nothing would be accepted")
    _check_progress(work, config)
    together = config.traversal.at_once
    if any(len(each.batches) != -(-len(each.triangles.drawn) // together) for each in work.draws):
        recursive = config.traversal.recursive
        raise InputError(f"traversal.recursive is {recursive}; the frame was drawn for {not recursive}")


def _check_progress(work: AttilaWork, config: AttilaConfig) -> None:
    """Raise InputError with the value that is too small where a unit would never be ready."""
    fifo, gpu, shader = config.fifo, config.gpu, config.shader
    quads = 32 * config.traversal.steps
    taken = max(
        (each.registers for draw in work.draws for each in (draw.vertex_program, draw.fragment_program)), default=1
    )
    steps = f"traversal.steps is {config.traversal.steps}"
    begun, heard = config.command.start_latency, config.command.setup_latency
    stages = (("depth", config.depth), ("color", config.color))
    for key, held, needed, because in (
        *(
            (f"{kind}.op_queue", rop.op_queue, rop.alu_latency, f"{kind}.alu_latency is {rop.alu_latency}")
            for kind, rop in stages
        ),
        (
            # Requests of triangles are lost before set-up hears of the draw, and before the Clipper does.
            "traversal.queue",
            *(config.traversal.queue, heard - begun - 2 + config.traversal.at_once),
            f"command.setup_latency is {heard}",
        ),
        ("setup.fifo", config.setup.fifo, begun - heard + 1, f"command.start_latency is {begun}"),
        ("fifo.vertex_inputs", fifo.vertex_inputs, 2 * gpu.vertex_ports, f"gpu.vertex_ports is {gpu.vertex_ports}"),
        ("hz.queue", config.hz.queue, quads + 1, steps),
        ("fifo.generated", fifo.generated, quads, steps),
        (
            "shader.registers",
            *(shader.registers, 2 * shader.group * taken),
            f"two groups of a program take {taken} a thread",
        ),
        ("shader.threads + shader.buffers", shader.threads + shader.buffers, 2 * shader.group, "two groups must fit"),
    ):
        if held < needed:
            raise InputError(Fault(f"{key} is {held}; the machine would stop, as {because}", hint=f"at least {needed}"))


# Summary: the statistics of a run, with those known at its end: tags of caches, phases, sums over draws.


def summary(boxes: Boxes, cycles: int) -> dict[str, Counts]:
    """Return copies of all counts by box at the end of a run."""
    made = boxes.counts_before(cycles)
    draws = boxes.frame.draws
    made["SL0"]["MappedAttributes"] = sum(len(draw.attributes) for draw in draws)
    made["StC"]["OutputAttributes"] = sum(draw.vertex_program.outputs for draw in draws)
    made["CP"] = _commands(boxes)
    for box, tags in boxes.tags.items():
        counted = tags.counted()
        made[box] = {name: counted[name] for name in counts_of(box.partition("-")[0])}
    return made


def _commands(boxes: Boxes) -> Counts:
    """Return the counts of the command processor."""
    counts = counts_of("CP")
    counts.update(boxes.processor.state.phases)
    counts["BytesRead"] = sum(size for _, size in boxes.frame.programs)
    counts["BytesWritten"] = boxes.frame.uploaded
    counts["Batches"] = len(boxes.frame.draws)
    counts["Frames"] = 1
    return counts


def upload_statistics(boxes: Boxes) -> dict[str, int]:
    """Return the statistics of memory that uploads before the first draw add to those of the boxes (formula)."""
    memory, added = boxes.config.memory, Counter[str]()
    for address, size in boxes.frame.first_uploads:
        for at in range(0, size, TRANSACTION_BYTES):
            channel = f"{(address + at) // memory.interleave % memory.channels:02}_MC"
            added[f"WriteBytesMemoryBus{channel}"] += min(TRANSACTION_BYTES, size - at)
            added[f"DataCycles{channel}"] += memory.transaction_cycles
        for name in ("Transactions", "WriteTransactions"):
            added[f"CommandProcessor{name}_MC"] += -(-size // TRANSACTION_BYTES)
        added["CommandProcessorWriteBytes_MC"] += size
    return added


_OF_QUAD = 4
_LOOK = 512
"""Cycles between two reports of progress."""


@dataclass(frozen=True)
class AttilaRun:
    """Cycles and statistics of a frame."""

    phases: Mapping[str, int]
    """Cycles of the command processor's states: Ready, Draw, EndGeometry, EndFragment, Clear, MemoryWrite, ..."""
    rendered: int
    """Cycle in which the swap began."""
    counts: Mapping[str, Mapping[str, int]]
    """By box (`HZ`, `CW-SU0`), then by name."""
    spans: tuple[tuple[str, int, int, int], ...] = ()
    """Steps of the frame, and fragments of its draws: stream, number of the step, first cycle, end."""
    steps: tuple[Step, ...] = ()
    """Steps of the command processor, in order."""
    uploads: Mapping[str, int] = field(default_factory=dict)
    """Statistics that uploads add, by full name; `counts` are without them."""

    @property
    def statistics(self) -> dict[str, int]:
        """Every statistic under its full name: `InputFragments_CW-SU0`."""
        counts = {f"{name}_{box}": value for box, each in self.counts.items() for name, value in each.items()}
        return {name: value + self.uploads.get(name, 0) for name, value in counts.items()}

    @property
    def cycles(self) -> int:
        """Cycles of the whole frame."""
        return sum(self.phases.values()) + 1

    @property
    def drawing(self) -> int:
        """Cycles of the draws alone."""
        return self.phases["Draw"] + self.phases["EndGeometry"] + self.phases["EndFragment"]


class Simulation:
    """A frame on a machine; it can be stopped, saved and continued."""

    def __init__(
        self, work: AttilaWork, config: AttilaConfig = PAPER, *, bus: Bus | None = None, shuffle: int | None = None
    ) -> None:
        check_agreement(work, config)
        self.boxes = Boxes(config, plan_frame(work, config))
        net = netlist(self.boxes)
        watchers: tuple[Callable[[Sent], None], ...] = ()
        if bus is not None and bus.wants(Carried):
            units = {wire.name: wire.unit for wire in net.wires}

            def carried(sent: Sent) -> None:
                bus.emit(Carried, sent.sent, sent.wire, sent.arrives, sent.amount, units[sent.wire])

            watchers = (carried,)
        self.clock = Clock(net, watchers=watchers, shuffle_seed=shuffle)
        self._fragments = _OF_QUAD * sum(int(each.quads.covered.size) for each in work.draws)

    def finish(
        self,
        max_cycles: int | None = None,
        progress: Telling | None = None,
        advance: Callable[[int], object] | None = None,
    ) -> AttilaRun:
        """Run to the end of the frame.

        ``progress`` receives the cycle and the share of fragments generated, whose total is known; the last twentieth
        of a frame, after them, is not reported. ``advance`` replaces `Clock.run_until` for a watched run.
        """
        if progress is not None or advance is not None:
            self._advance_with(progress, max_cycles, advance or self.clock.run_until)
        self.clock.run(max_cycles)
        done = self.boxes.processor.state
        counts = summary(self.boxes, sum(done.phases.values()) + 1)
        uploads = upload_statistics(self.boxes)
        return AttilaRun(dict(done.phases), done.rendered, counts, tuple(done.spans), self.steps, uploads)

    def _advance_with(self, progress: Telling | None, max_cycles: int | None, advance: Callable[[int], object]) -> None:
        most = "" if max_cycles is None else f" of at most {max_cycles:,}"
        while (cycle := self.clock.next_cycle()) is not None and (max_cycles is None or cycle < max_cycles):
            advance(cycle + _LOOK if max_cycles is None else min(cycle + _LOOK, max_cycles))
            if progress is not None:
                done = self.boxes.counts["TT"]["GeneratedFragments"]
                progress(f"cycle {self.clock.cycle:,}{most}", min(1.0, done / max(1, self._fragments)))

    @property
    def steps(self) -> tuple[Step, ...]:
        """Steps of the command processor, in order."""
        return self.boxes.processor.steps


def run(
    work: AttilaWork,
    config: AttilaConfig = PAPER,
    *,
    bus: Bus | None = None,
    max_cycles: int | None = None,
    progress: Telling | None = None,
) -> AttilaRun:
    """Run a frame's work to its end; ``bus`` receives every transfer on a wire if it is watched."""
    return Simulation(work, config, bus=bus).finish(max_cycles, progress)
