"""A frame's work through the boxes: a run tells its cycles, its statistics and its counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attila_bridge.function.layout import SCAN_TILE, TILE
from attila_bridge.function.work import AttilaWork
from attila_bridge.statistics import Counts, counts_of
from attila_bridge.time.caches import Tags
from attila_bridge.time.command_processor import Step
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.netlist import Boxes, FramePlan, contents, netlist
from attila_bridge.time.prepare import DrawPlan, plans
from pixelflow.simd.attendance import Telling
from pixelflow.simd.boxes import Clock, Sent
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.observe import Bus, Carried

# Agreement: a frame's work was made for some units and tiles; a machine with others cannot take it.
#
# Values that are each in range may stop the machine together: a unit that never says it is ready never gets anything.


_SINGLE = 4
"""Clients of memory that there is one of: command processor, fetch of indices, loader of vertices, display."""


def check_agreement(work: AttilaWork, config: AttilaConfig) -> None:
    """Raise InputError where work and configuration do not fit each other."""
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
    """Raise InputError where a unit would never be ready, with the value that is too small and why."""
    fifo, gpu, shader = config.fifo, config.gpu, config.shader
    quads = 32 * config.traversal.steps
    taken = max(
        (each.registers for draw in work.draws for each in (draw.vertex_program, draw.fragment_program)), default=1
    )
    steps = f"traversal.steps is {config.traversal.steps}"
    for key, held, needed, because in (
        (
            "depth.op_queue",
            config.depth.op_queue,
            config.depth.alu_latency,
            f"depth.alu_latency is {config.depth.alu_latency}",
        ),
        (
            "color.op_queue",
            config.color.op_queue,
            config.color.alu_latency,
            f"color.alu_latency is {config.color.alu_latency}",
        ),
        ("fifo.vertex_inputs", fifo.vertex_inputs, 2 * gpu.vertex_ports, f"gpu.vertex_ports is {gpu.vertex_ports}"),
        ("hz.queue", config.hz.queue, quads + 1, steps),
        ("fifo.generated", fifo.generated, quads, steps),
        (
            "shader.registers",
            shader.registers,
            2 * shader.group * taken,
            f"two groups of a program take {taken} a thread",
        ),
        ("shader.threads + shader.buffers", shader.threads + shader.buffers, 2 * shader.group, "two groups must fit"),
    ):
        if held < needed:
            raise InputError(
                Fault(f"{key} is {held}; the machine would stand still, as {because}", hint=f"at least {needed}")
            )


# Summary: the statistics of a run, with what only its end tells: tags of caches, phases, sums over draws.


def summary(boxes: Boxes) -> dict[str, Counts]:
    """Return copies of all counts by box."""
    made = {box: dict(counts) for box, counts in boxes.counts.items()}
    draws = boxes.draws
    made["SL0"]["MappedAttributes"] = sum(len(draw.attributes) for draw in draws)
    made["StC"]["OutputAttributes"] = sum(draw.vertex_program.outputs for draw in draws)
    made["CP"] = _commands(boxes)
    for box, tags in tags_of(boxes).items():
        counted = tags.counted()
        made[box] = {name: counted[name] for name in counts_of(box.partition("-")[0])}
    return made


def _commands(boxes: Boxes) -> Counts:
    """Return what the command processor counts."""
    counts = counts_of("CP")
    counts.update(boxes.processor.state.phases)
    loads = (each for draw in boxes.draws for each in (draw.vertex_program, draw.fragment_program) if each.loads)
    counts["BytesRead"] = sum(program.bytes for program in loads)
    counts["BytesWritten"] = boxes.uploaded
    counts["Batches"] = len(boxes.draws)
    counts["Frames"] = 1
    return counts


def tags_of(boxes: Boxes) -> dict[str, Tags]:
    """Return the tags of all caches by their names."""
    found = {"FC_InC": boxes.loader.state.tags}
    for rop, (depth, color) in enumerate(zip(boxes.depth, boxes.color, strict=True)):
        found[f"FC_ZST-SU{rop}"] = depth.state.cache.tags
        found[f"FC_CW-SU{rop}"] = color.state.cache.tags
    for shader, units in enumerate(boxes.textures):
        for number, unit in enumerate(units):
            found[f"FC64_TU-FS{shader}TU{number}"] = unit.state.tags
    return found


# Machine: a frame's work goes through the boxes; a run tells its cycles, its statistics and its counts.


_TRANSACTION = 64
_OF_QUAD = 4
_LOOK = 512
"""Cycles between two words about how far a frame has come."""


@dataclass(frozen=True)
class AttilaRun:
    """What a frame took."""

    phases: Mapping[str, int]
    """Cycles of the command processor's states: Ready, Draw, EndGeometry, EndFragment, Clear, MemoryWrite, ..."""
    rendered: int
    """Cycle in which the swap began."""
    counts: Mapping[str, Mapping[str, int]]
    """By box (`HZ`, `CW-SU0`), then by name."""
    spans: tuple[tuple[str, int, int, int], ...] = ()
    """When steps of the frame, and fragments of its draws, began and ended: stream, step, first cycle, end."""
    steps: tuple[Step, ...] = ()
    """What the command processor did, in order: what the numbers of steps mean."""

    @property
    def statistics(self) -> dict[str, int]:
        """Every statistic under its whole name: `InputFragments_CW-SU0`."""
        return {f"{name}_{box}": value for box, counts in self.counts.items() for name, value in counts.items()}

    @property
    def cycles(self) -> int:
        """Cycles of the whole frame."""
        return sum(self.phases.values()) + 1

    @property
    def drawing(self) -> int:
        """Cycles of the draws alone."""
        return self.phases["Draw"] + self.phases["EndGeometry"] + self.phases["EndFragment"]


class Simulation:
    """A frame on a machine, which can be stopped, saved and continued."""

    def __init__(
        self, work: AttilaWork, config: AttilaConfig = PAPER, *, bus: Bus | None = None, shuffle: int | None = None
    ) -> None:
        check_agreement(work, config)
        draws = plans(work, config)
        self.boxes = Boxes(config, _frame(work, config, draws))
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
        """Run to the end of the frame; ``progress`` hears the cycle, and how many of the fragments have been generated.

        How many there will be is known of the function. What follows them, a twentieth of a frame, is not told.
        ``advance`` does what happens before a cycle, for those who look at the machine on the way.
        """
        if progress is not None or advance is not None:
            self._advance_with(progress, max_cycles, advance or self.clock.run_until)
        self.clock.run(max_cycles)
        done = self.boxes.processor.state
        return AttilaRun(dict(done.phases), done.rendered, summary(self.boxes), tuple(done.spans), self.steps)

    def _advance_with(self, progress: Telling | None, max_cycles: int | None, advance: Callable[[int], object]) -> None:
        most = "" if max_cycles is None else f" of at most {max_cycles:,}"
        while (cycle := self.clock.next_cycle()) is not None and (max_cycles is None or cycle < max_cycles):
            advance(cycle + _LOOK if max_cycles is None else min(cycle + _LOOK, max_cycles))
            if progress is not None:
                done = self.boxes.counts["TT"]["GeneratedFragments"]
                progress(f"cycle {self.clock.cycle:,}{most}", min(1.0, done / max(1, self._fragments)))

    @property
    def steps(self) -> tuple[Step, ...]:
        """What the command processor does, in order."""
        return self.boxes.processor.spec.steps


def run(
    work: AttilaWork,
    config: AttilaConfig = PAPER,
    *,
    bus: Bus | None = None,
    max_cycles: int | None = None,
    progress: Telling | None = None,
) -> AttilaRun:
    """Take a frame's work through the machine; ``bus`` gets every transfer on a wire that somebody wants."""
    return Simulation(work, config, bus=bus).finish(max_cycles, progress)


def _frame(work: AttilaWork, config: AttilaConfig, draws: tuple[DrawPlan, ...]) -> FramePlan:
    return FramePlan(
        draws=draws,
        steps=_steps(work, config, draws),
        blocks=work.blocks,
        pixels=work.size[0] * work.size[1],
        color_address=work.color_address,
        depth_address=work.depth_address,
        clear_color=work.clear.color or 0,
        clear_depth=work.clear.depth_word,
        program_address=work.end_address,
        uploaded=sum(each.size for each in work.uploads) + sum(_loaded(draw) for draw in draws),
        before=contents(work),
    )


def _loaded(draw: DrawPlan) -> int:
    """Return the bytes of programs that a draw loads."""
    return sum(each.bytes for each in (draw.vertex_program, draw.fragment_program) if each.loads)


def _upload_cycles(size: int, width: int) -> int:
    """Return the cycles in which bytes go over the command processor's bus, 64 at a time."""
    whole, rest = divmod(size, _TRANSACTION)
    return whole * -(-_TRANSACTION // width) + -(-rest // width)


def _steps(work: AttilaWork, config: AttilaConfig, draws: tuple[DrawPlan, ...]) -> tuple[Step, ...]:
    """Return what the command processor does, in order; registers of later draws cost nothing (see the README)."""
    command, width = config.command, config.memory.command_bus
    steps: list[Step] = []
    for draw in draws:
        cold = not draw.number and work.before is None
        if cold:
            ready = command.ready_cycles + draw.first_textures * command.texture_cycles
            ready += command.index_cycles if draw.index_bytes else 0
            steps.append(("ready", ready + draw.tests * command.test_cycles + draw.blends * command.blend_cycles))
        uploads = [upload.size for upload in work.uploads if upload.draw == work.draws[draw.number].number]
        programs = [each.bytes for each in (draw.vertex_program, draw.fragment_program) if each.loads]
        cycles = sum(_upload_cycles(size, width) for size in (*uploads, *programs))
        if cycles:
            steps.append(("write", cycles))
        steps += [("read", size) for size in programs]
        if cold:
            if work.clear.color is not None:
                steps.append(("clear", 0))
            if work.clear.depth is not None or work.clear.stencil is not None:
                steps.append(("clear", 1))
        steps.append(("draw", draw.number))
    return (*steps, ("swap", 0))
