"""Runs of scenes: drawing by function, timing by the boxes, events, busy units, account."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function import Units, draw
from attila_bridge.function.work import AttilaWork
from attila_bridge.scene import AttilaScene
from attila_bridge.statistics import columns_of
from attila_bridge.time.command_processor import FRAGMENTS_OF, STEPS_OF, UPLOADS_OF
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.prepare import Step
from attila_bridge.time.simulation import AttilaRun, Simulation, run
from pixelflow.caveats import resting_on
from pixelflow.simd.attendance import Telling
from pixelflow.simd.configuration import leaves
from pixelflow.simd.observe import Bus, Executed, QueueFilled, RunBegan, RunEnded
from pixelflow.simd.report import Column, Json, Part, Report, Table, counted, largest, number, verbatim
from pixelflow.simd.units import GUESSED

# Busy shares: throughput of a unit, by a statistic, as a share of its best rate.


CLIENTS = {
    "CommandProcessor": "programs", "StreamerFetch": "indices", "StreamerLoader": "vertices", "TextureUnit": "textures",
    "ZStencilTest": "depth and stencil", "ColorWrite": "colour", "DAC": "display",
}  # fmt: skip
"""Traffic of the kinds of clients of memory, by their names in statistics; uploads are not counted as traffic."""
INTERPOLATED = "InterpolatedFragments"
"""Statistic of the fragment FIFO that stands for the interpolator."""


class BusyRate(NamedTuple):
    """Best rate of a kind of unit."""

    unit: str
    """Its suffix in names of statistics, without a number."""
    what: str
    """Unit and counted items, in words."""
    statistic: str
    rate: Callable[[AttilaConfig], float]
    """Most items of one unit in a cycle."""


class BusyShare(NamedTuple):
    """Busy share of one unit."""

    rate: BusyRate
    unit: str
    """Its suffix in names of statistics: `ShDX-FS0`."""
    share: float
    """0 to 1."""


def _one(config: AttilaConfig) -> float:
    return 1


BUSY: tuple[BusyRate, ...] = (
    BusyRate("StF", "fetch, indices", "IndexesSent", lambda config: config.streamer.indices),
    BusyRate("StOC", "cache of vertices, indices", "Indices", lambda config: config.streamer.indices),
    BusyRate("SL0", "loader, attributes read", "Reads", lambda config: config.streamer.attributes),
    BusyRate("StC", "commit, vertices", "Outputs", lambda config: config.streamer.vertices),
    BusyRate("PA", "assembly, triangles", "Triangles", lambda config: config.assembly.triangles),
    BusyRate("CLP", "Clipper, triangles", "InputTriangles", lambda config: 1 / config.clipper.start),
    BusyRate("TS", "set-up, triangles", "InputTriangles", lambda config: 1 / config.setup.start),
    BusyRate("TT", "traversal, cycles", "UtilizationCycles", _one),
    BusyRate("HZ", "hierarchical Z, fragments", "InputFragments", lambda config: 64 * config.traversal.steps),
    BusyRate("FFU", "fragment FIFO, fragments out", "OutputFragments", lambda config: 4 * config.gpu.rops),
    BusyRate("FFU", "interpolator, fragments", INTERPOLATED, lambda config: 4 * config.gpu.rops),
    BusyRate("ShDX", "shaders, instructions", "ExecutedInstructions", lambda config: config.shader.thread_rate),
    BusyRate("TU", "texture filters, bilinear steps", "FilterALUBusyCycles", _one),
    BusyRate("TU", "texture addresses, bilinear steps", "AddressALUBusyCycles", _one),
    BusyRate("ZST", "depth units, quads", "OperatedFragments", lambda config: 1 / config.depth.alu_rate),
    BusyRate("CW", "colour units, quads", "OperatedFragments", lambda config: 1 / config.color.alu_rate),
)
"""Kinds of units with a statistic of their work, in the order of the pipeline."""


def shares(counts: Mapping[str, Mapping[str, int]], config: AttilaConfig, cycles: int) -> list[BusyShare]:
    """Return the share of ``cycles`` in which each unit was busy; ``counts`` are by suffix."""
    return [
        BusyShare(each, unit, counted[each.statistic] / each.rate(config) / max(1, cycles))
        for each in BUSY
        for unit, counted in sorted(counts.items())
        if unit.partition("-")[0] == each.unit
    ]


# Events of a run: steps of a frame and fragments of its draws as two streams, traffic of wires, fill of queues.


_TEXTS = {"ready": "registers", "write": "upload", "read": "load a program", "registers": "registers", "frame": "end"}
_KINDS = ("ready", "write", "read", "clear", "swap", "draw", "upload", "registers", "frame")
_BUFFERS = ("colour", "depth")
_STREAMS = (STEPS_OF, FRAGMENTS_OF, UPLOADS_OF)


class _Kind(NamedTuple):
    mnemonic: str
    opcode: int


@dataclass(slots=True)
class _Step:
    declaration: _Kind
    words: str
    cycles: int = 0

    def text(self) -> str:
        """Return the step in words."""
        return self.words


class FrameProgram:
    """Steps of a frame as a program, for subscribers of events."""

    def __init__(self, name: str, steps: tuple[Step, ...]) -> None:
        self.name = name
        self.names: tuple[str, ...] = ()
        self.instructions = tuple(_Step(_Kind(kind, _KINDS.index(kind)), _words(kind, of)) for kind, of in steps)
        self.addresses = tuple(range(len(steps)))

    @property
    def sha256(self) -> str:
        """A hash of the steps."""
        return hashlib.sha256("\n".join(each.words for each in self.instructions).encode()).hexdigest()

    def where(self, index: int) -> str:
        """Return the number of a step in words."""
        return f"step {index}"

    def line_at(self, index: int) -> None:
        """Return None: steps have no lines."""

    def routine_at(self, address: int) -> None:
        """Return None: steps are in no routine."""


@dataclass(slots=True)
class _FrameAccount:
    """Progress of a frame, and the reason of its end."""

    cycle: int
    reason: str = "halt"

    @property
    def total_cycles(self) -> int:
        """Cycles of the frame."""
        return self.cycle


class ReportedFrame:
    """A frame on the machine with events: wires and queues during the run, steps at its end."""

    def __init__(self, name: str, work: AttilaWork, config: AttilaConfig, bus: Bus) -> None:
        self.simulation = Simulation(work, config, bus=bus)
        self._bus = bus
        self._fills = bus.wants(QueueFilled)
        self._last: dict[str, int] = {}
        first = 0 if work.before is None else work.before.draws
        steps = tuple((kind, of + first if kind == "draw" else of) for kind, of in self.simulation.steps)
        bus.emit(RunBegan, 0, FrameProgram(name, steps), _STREAMS, True, _FrameAccount(0))

    @property
    def ended(self) -> bool:
        """True if no event is left."""
        return self.simulation.clock.next_cycle() is None

    def advance(self, cycle: int) -> None:
        """Execute every event before ``cycle``."""
        clock = self.simulation.clock
        if not self._fills:
            clock.run_until(cycle)
        while self._fills and (event := clock.next_cycle()) is not None and event < cycle:
            clock.run_until(event + 1)
            self._report_queues(event)

    def finish(self, max_cycles: int | None = None, progress: Telling | None = None) -> AttilaRun:
        """Run to the end of the frame as `Simulation.finish` does, and emit its steps."""
        done = self.simulation.finish(max_cycles, progress, self.advance)
        bus = self._bus
        for stream, step, begin, end in done.spans:
            bus.emit(Executed, begin, stream, step, end - begin)
        ends = {each: max((end for stream, _, _, end in done.spans if stream == each), default=0) for each in _STREAMS}
        bus.emit(RunEnded, done.cycles, "halt", ends, _FrameAccount(done.cycles))
        return done

    def _report_queues(self, cycle: int) -> None:
        """Emit the fill of every queue that changed."""
        last = self._last
        for box in self.simulation.boxes:
            for queue in box.queues:
                name = f"{box.name} {queue.name}"
                if last.get(name) != queue.fill:
                    last[name] = queue.fill
                    self._bus.emit(QueueFilled, cycle, name, queue.fill, queue.capacity)


def _words(kind: str, argument: int) -> str:
    if kind in ("draw", "upload"):
        return f"{kind} {argument}"
    if kind == "clear":
        return f"clear {_BUFFERS[argument]}"
    if kind == "swap":
        return "swap"
    return f"{_TEXTS[kind]} ({argument:,} {'bytes' if kind == 'read' else 'cycles'})"


# Runs of scenes and their account.


CLOCK_MHZ = 600
"""Of the GPU and its memory, in section 5 of the paper."""
_OCCUPATION = "Occupation"
"""Part of the names of statistics that add the fill of a queue over cycles."""
_MOST_PHASES, _MOST_UNITS = 7, 5
"""Rows of the tables of a brief."""
PHASES = {
    "cp_Ready": "registers and commands (formula)", "cp_MemoryWrite": "uploads (formula)",
    "cp_MemoryRead": "loading programs", "cp_Clear": "clearing", "cp_Draw": "drawing: until geometry has ended",
    "cp_EndGeometry": "drawing: until fragments have ended", "cp_EndFragment": "drawing: the end",
    "cp_Swap": "the swap, and the picture's way to the display",
}  # fmt: skip
"""States of the command processor, whose cycles make up the frame."""
FORMULAS = ("cp_Ready", "cp_MemoryWrite")
"""States whose cycles are formulas."""


@dataclass(frozen=True, eq=False)
class SceneRun:
    """A scene, drawn and timed."""

    scene: AttilaScene
    work: AttilaWork
    timed: AttilaRun
    config: AttilaConfig

    @property
    def cycles(self) -> int:
        """Cycles of the whole frame, including the reads of the display."""
        return self.timed.cycles

    @cached_property
    def columns(self) -> Mapping[str, int]:
        """Cycles by phase and counts, under the names that recorded runs have."""
        timed = self.timed
        return columns_of(timed.phases, timed.rendered, timed.cycles, timed.counts)

    @cached_property
    def statistics(self) -> Mapping[str, float]:
        """Every statistic by its full name: `InputFragments_CW-SU0`."""
        return self.timed.statistics

    @property
    def image(self) -> NDArray[np.uint8]:
        """Picture, [row, column, rgb], the top row first."""
        return self.work.picture

    def report(self) -> Report:
        """Return phases, counts, and busy shares of units."""
        columns = self.columns
        width, height = self.scene.size
        drawing = columns["cycles_drawing"]
        phases = [(text, columns[key], f"{columns[key] / max(1, self.cycles):.1%}") for key, text in PHASES.items()]
        counts = [(name, value) for name, value in columns.items() if not name.startswith(("cp_", "cycles"))]
        frames = CLOCK_MHZ * 1e6 / max(1, self.cycles)
        spending = (Column("cycles of", fixed=True), Column("cycles", number, bars=True), Column("share", verbatim))
        parts: list[Part] = [
            f"{self.scene.name}: {width}x{height}, {counted(len(self.scene.draws), 'draw')}; "
            f"{self.cycles:,} cycles, of them {drawing:,} drawing",
            f"{frames:,.1f} frames a second at {CLOCK_MHZ} MHz (formula: clock / cycles)",
            "",
            Table(spending, phases),
            "",
            Table((Column("counts", fixed=True), Column("", number)), counts),
            "",
            Table(
                (
                    Column("busy, of what a unit could do in the cycles of drawing", fixed=True),
                    Column("share", verbatim),
                ),
                self._busy(),
            ),
            "",
            Table((Column("waiting, on average while drawing", fixed=True), Column("", verbatim)), self._waiting()),
        ]
        before = self.work.before
        spent = largest({text: columns[key] for key, text in PHASES.items()}, _MOST_PHASES)
        busiest = sorted(self._busy(), key=lambda row: -float(row[1].rstrip("%")))[:_MOST_UNITS]
        brief: list[Part] = [
            *parts[:2],
            "",
            Table(spending, [(text, cycles, f"{cycles / max(1, self.cycles):.1%}") for text, cycles in spent]),
            "",
            Table((Column("busiest in the cycles of drawing", fixed=True), Column("share", verbatim)), busiest),
            "",
            resting_on(sum(known.standing in GUESSED for _, known, _, _ in leaves(self.config)), "attila"),
        ]
        if before is not None:
            drawn = f"the first {counted(before.draws, 'draw')} by function alone, in no time; then caches are cold, "
            drawn += "and lines count as stored in the size that their words compress to"
            parts.insert(1, drawn)
            brief.insert(1, drawn)
        return Report(parts=parts, brief=brief, schema="pixelflow.attila-run/1", data=self._object())

    def _busy(self) -> list[tuple[str, str]]:
        """Return the busy shares of units in the cycles of drawing."""
        drawing, counts = max(1, self.columns["cycles_drawing"]), self.timed.counts
        found = []
        for each in shares(counts, self.config, drawing):
            number = each.unit.partition("-")[2]
            found.append((f"{each.rate.what} {number}".rstrip(), f"{each.share:.1%}"))
        for channel in range(self.config.memory.channels):
            share = counts["MC"][f"DataCycles{channel:02}"] / drawing
            found.append((f"channels of memory, data {channel:02}", f"{share:.1%}"))
        return found

    def _waiting(self) -> list[tuple[str, str]]:
        """Return the mean fill of queues over the cycles of drawing."""
        drawing = max(1, self.columns["cycles_drawing"])
        waited = ((key, count) for key, count in self.statistics.items() if _OCCUPATION in key and count)
        return [(key.replace(_OCCUPATION, ""), f"{count / drawing:,.2f}") for key, count in sorted(waited)]

    def _object(self) -> dict[str, Json]:
        return {
            "scene": self.scene.name,
            "size": list(self.scene.size),
            "from_draw": 0 if self.work.before is None else self.work.before.draws,
            **self.columns,
            "statistics": dict(self.statistics),
        }


def units_of(config: AttilaConfig) -> Units:
    """Return the values of a machine that drawing depends on."""
    ways = config.traversal
    return Units(config.gpu.rops, config.gpu.shaders, ways.square, ways.testers, ways.recursive)


def run_scene(
    scene: AttilaScene,
    *,
    config: AttilaConfig | None = None,
    bus: Bus | None = None,
    from_draw: int = 0,
    max_cycles: int | None = None,
    progress: Telling | None = None,
) -> SceneRun:
    """Draw a scene and time it; draws before ``from_draw`` are drawn by function alone and take no time.

    ``progress`` receives the progress of the frame. Raises InputError for faults of programs, a draw that does not
    exist or values that would stop the machine, MachineFault and DeadlockError where the machine stops, and
    CycleLimitError for an event at or beyond ``max_cycles``.
    """
    config = config or PAPER
    if progress is not None:
        progress(f"{scene.name}: what is drawn, before its time")
    work = draw(scene, units_of(config), first=from_draw)
    if bus is not None and bus.watched:
        timed = ReportedFrame(scene.name, work, config, bus).finish(max_cycles, progress)
    else:
        timed = run(work, config, max_cycles=max_cycles, progress=progress)
    return SceneRun(scene, work, timed, config)
