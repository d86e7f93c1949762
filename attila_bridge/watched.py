"""Watched run of a scene: advances to any cycle, and shows queues, wires and busy units there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attila_bridge.function import draw
from attila_bridge.run import CLIENTS, CLOCK_MHZ, INTERPOLATED, ReportedFrame, SceneRun, shares, units_of
from attila_bridge.scene import AttilaScene
from attila_bridge.time.config import PAPER, PRESETS, AttilaConfig
from attila_bridge.time.netlist import Boxes
from pixelflow.simd.dashboard import (
    BoxState,
    BusyTrack,
    ByteTraffic,
    CacheHits,
    History,
    PhaseCycles,
    PipelineState,
    Utilisation,
    WireTraffic,
)
from pixelflow.simd.observe import Bus, Carried
from pixelflow.simd.report import Report, counted

_DRAWING = ("Draw", "EndGeometry", "EndFragment")
_SAMPLES = 64
"""Cycles between two samples of the work of units, for bars over time."""
_TRACKS = ("CLP", "TS", "TT", "HZ", "FFU", "ShDX", "TU", "ZST", "CW")
"""Kinds of units shown over time, each by the mean of its units."""
_CACHES = {"FC_InC": "attributes", "FC_ZST": "depth", "FC_CW": "colour", "FC64_TU": "texels"}


class WatchedFrame:
    """A scene on the machine. Watching changes no cycle and no count."""

    def __init__(
        self, scene: AttilaScene, *, config: AttilaConfig | None = None, bus: Bus | None = None, from_draw: int = 0
    ) -> None:
        """Draw the scene by function, and stop before the first cycle.

        Raises InputError for faults of programs or a draw that does not exist.
        """
        self._scene = scene
        self._config = config = config or PAPER
        self._work = draw(scene, units_of(config), first=from_draw)
        bus = bus or Bus()
        self._carried: dict[str, int] = {}
        bus.subscribe(self._hear, Carried)
        self._frame = ReportedFrame(scene.name, self._work, config, bus)
        self._cycle = 0
        self._history = History()
        self._before: dict[str, float] = {}

    def _hear(self, event: Carried) -> None:
        self._carried[event.wire] = self._carried.get(event.wire, 0) + event.amount

    @property
    def _boxes(self) -> Boxes:
        return self._frame.simulation.boxes

    @property
    def ended(self) -> bool:
        """True if no event is left."""
        return self._frame.ended

    def advance(self, cycle: int) -> None:
        """Execute every event before ``cycle``, a later one than before, up to the end of the frame."""
        while self._cycle < cycle and not self.ended:
            self._cycle = min(cycle, self._cycle + _SAMPLES)
            self._frame.advance(self._cycle)
            self._sample()
        if self.ended:
            self._cycle = min(self._cycle, self._frame.simulation.clock.cycle + 1)

    def finish(self) -> Report:
        """Run to the end and return the account; raises MachineFault where the machine stops."""
        return SceneRun(self._scene, self._work, self._frame.finish(), self._config).report()

    def _sample(self) -> None:
        """Record the work of units since the last sample."""
        rates: dict[str, list[float]] = {}
        first: dict[str, str] = {}
        for each in shares(self._boxes.counts_before(self._cycle), self._config, 1):
            # The first of several rates of a unit counts.
            if first.setdefault(each.rate.unit, each.rate.statistic) == each.rate.statistic:
                rates.setdefault(each.rate.unit, []).append(each.share)
        for unit in _TRACKS:
            # Thousandths of a cycle, as amounts over time are whole numbers.
            done = round(1000 * sum(rates[unit]) / len(rates[unit]))
            self._history.add(unit, self._cycle - 1, self._cycle, done - round(self._before.get(unit, 0)))
            self._before[unit] = done

    # --- a frame on the screen -----------------------------------------------------------------------------------

    def state(self, *, status: str | None = None, rate: float | None = None) -> PipelineState:
        """Return the state of the run at its present cycle."""
        config, boxes = self._config, self._boxes
        phases = self._phases()
        drawing = sum(each.cycles for each in phases if each.name in _DRAWING)
        preset = next((name for name, each in PRESETS.items() if each.sha256 == config.sha256), "own")
        counts = boxes.counts_before(self._cycle)
        processor = boxes.processor.state
        return PipelineState(
            machine="ATTILA",
            subject=f"{self._scene.name} {'x'.join(map(str, self._scene.size))}",
            config=preset,
            config_hash=config.sha256[:6],
            status=status or ("halt" if processor.finished else "running"),
            cycle=self._cycle,
            clock_mhz=CLOCK_MHZ,
            progress=tuple(self._progress()),
            phases=phases,
            boxes=tuple(self._box_states(max(1, drawing))),
            busy_of=f"% of what they could do in {drawing:,} cycles of drawing",
            wires=tuple(sorted(self._wires(), key=lambda each: (-each.share, each.name))),
            caches=tuple(self._caches()),
            memory=tuple(
                ByteTraffic(name, counts["MC"][f"{kind}ReadBytes"], counts["MC"][f"{kind}WriteBytes"])
                for kind, name in CLIENTS.items()
            ),
            channels=tuple(
                counts["MC"][f"DataCycles{number:02}"] / max(1, self._cycle) for number in range(config.memory.channels)
            ),
            utilisation=self._utilisation(),
            rate=rate,
        )

    def _phases(self) -> tuple[PhaseCycles, ...]:
        """Return the present cycles of the command processor's states."""
        processor = self._boxes.processor.state
        return tuple(
            PhaseCycles(
                name,
                cycles
                + (max(0, self._cycle - processor.since) if name == processor.phase and not processor.finished else 0),
                name == processor.phase and not processor.finished,
            )
            for name, cycles in processor.phases.items()
        )

    def _progress(self) -> Iterator[str]:
        """Yield the present step and draws."""
        processor, steps = self._boxes.processor.state, self._frame.simulation.steps
        draws = len(self._work.draws)
        if processor.finished:
            yield f"all of {counted(draws, 'draw')}"
            return
        yield f"step {processor.position} of {len(steps)}"
        if processor.geometry >= 0:
            yield f"geometry of draw {processor.geometry + 1} of {draws}"
        if processor.fragments >= 0:
            yield f"fragments of draw {processor.fragments + 1} of {draws}"

    def _box_states(self, drawing: int) -> Iterator[BoxState]:
        """Yield every box with its busy share and its queues."""
        busy: dict[str, float] = {}
        for each in shares(self._boxes.counts_before(self._cycle), self._config, drawing):
            # Cycles of an upload are none of drawing, although units draw in them.
            busy.setdefault("INT" if each.rate.statistic == INTERPOLATED else each.unit, min(1.0, each.share))
        processor = self._boxes.processor
        for box in self._boxes:
            doing = ""
            if box is processor and not processor.state.finished:
                doing = f"{processor.state.step or 'waits'} ({processor.state.phase})"
            number = ".".join(re.findall(r"\d+", box.unit))
            yield BoxState(f"{box.label} {number}".rstrip(), busy.get(box.suffixed(box.suffix)), box.queues, doing)

    def _wires(self) -> Iterator[WireTraffic]:
        """Yield the traffic of wires that have carried something."""
        for wire in self._frame.simulation.clock.netlist.wires:
            carried = self._carried.get(wire.name)
            if carried is not None:
                share = carried / (wire.bandwidth * max(1, self._cycle))
                yield WireTraffic(wire.name, carried, wire.unit, share)

    def _caches(self) -> Iterator[CacheHits]:
        """Yield the hits of all caches, beginning with shaded vertices; repeated tries count again."""
        shaded = self._boxes.cache.state.counts
        yield CacheHits("vertices", shaded["Hits"], shaded["Misses"])
        for name, tags in self._boxes.tags.items():
            kind, _, unit = name.partition("-")
            hits, fills_of = tags.hits + tags.allocate_hits, tags.misses_ok + tags.allocate_ok
            yield CacheHits(f"{_CACHES[kind]} {'.'.join(re.findall(r'[0-9]+', unit))}".rstrip(), hits, fills_of)

    def _utilisation(self) -> Utilisation | None:
        history, cycle = self._history, self._cycle
        if not cycle:
            return None
        history.total(_TRACKS[0], cycle)
        spans = [(begin, min(begin + history.cycles, cycle)) for begin in range(0, cycle, history.cycles)]
        step = max(1, _SAMPLES // history.cycles)
        short = {box.suffix: box.label for box in self._boxes}
        tracks = []
        for unit in _TRACKS:
            sums = history.sums(unit, cycle)
            together = [range(at, min(at + step, len(spans))) for at in range(0, len(spans), step)]
            of = [
                min(1.0, sum(sums[each] for each in some) / 1000 / (spans[some[-1]][1] - spans[some[0]][0]))
                for some in together
            ]
            tracks.append(BusyTrack(short[unit], tuple(of)))
        return Utilisation(history.cycles * step, tuple(tracks))


def watch(
    scene: AttilaScene, *, config: AttilaConfig | None = None, bus: Bus | None = None, from_draw: int = 0
) -> WatchedFrame:
    """Return a watched run of a scene; see `WatchedFrame`."""
    return WatchedFrame(scene, config=config, bus=bus, from_draw=from_draw)
