"""Runs of scenes: drawn by function, timed by the boxes, and their account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from attila_bridge.drawing.busy import shares
from attila_bridge.drawing.events import ToldFrame
from attila_bridge.function import Units, draw
from attila_bridge.function.work import AttilaWork
from attila_bridge.scene.model import AttilaScene
from attila_bridge.statistics.columns import columns_of
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.machine import AttilaRun, run
from pixelflow.simd.observe import Bus
from pixelflow.simd.report import Column, Json, Part, Report, Table, counted, number, verbatim
from pixelflow.simd.telling import Telling

__all__ = ["CLOCK_MHZ", "FORMULAS", "PHASES", "SceneRun", "run_scene", "units_of"]

CLOCK_MHZ = 600
"""Of the GPU and its memory, in section 5 of the paper."""
_OCCUPATION = "Occupation"
"""In the name of statistics that add up over cycles what lies in a queue."""
PHASES = {
    "cp_Ready": "registers and commands (formula)", "cp_MemoryWrite": "uploads (formula)",
    "cp_MemoryRead": "loading programs", "cp_Clear": "clearing", "cp_Draw": "drawing: until geometry has ended",
    "cp_EndGeometry": "drawing: until fragments have ended", "cp_EndFragment": "drawing: the end",
    "cp_Swap": "the swap, and the picture's way to the display",
}  # fmt: skip
"""States of the command processor, whose cycles are those of the frame."""
FORMULAS = ("cp_Ready", "cp_MemoryWrite")
"""Those whose cycles are worked out, not carried out."""


@dataclass(frozen=True, eq=False)
class SceneRun:
    """A scene that has been drawn."""

    scene: AttilaScene
    work: AttilaWork
    timed: AttilaRun
    config: AttilaConfig

    @property
    def cycles(self) -> int:
        """Of the whole frame, the picture's way to the display among them."""
        return self.timed.cycles

    @cached_property
    def columns(self) -> Mapping[str, int]:
        """Cycles by phase and counts, under the names that recorded runs have."""
        timed = self.timed
        return columns_of(timed.phases, timed.rendered, timed.cycles, timed.counts)

    @cached_property
    def statistics(self) -> Mapping[str, float]:
        """Every statistic by ATTILA's name, with the unit's where there are several."""
        return {f"{name}_{unit}": count for unit, counts in self.timed.counts.items() for name, count in counts.items()}

    @property
    def image(self) -> NDArray[np.uint8]:
        """The picture, [row, column, rgb], the top row first."""
        return self.work.picture

    def report(self) -> Report:
        """Return phases, counts, and how much of the time the units worked."""
        columns = self.columns
        width, height = self.scene.size
        drawing = columns["cycles_drawing"]
        phases = [(text, columns[key], f"{columns[key] / max(1, self.cycles):.1%}") for key, text in PHASES.items()]
        counts = [(name, value) for name, value in columns.items() if not name.startswith(("cp_", "cycles"))]
        frames = CLOCK_MHZ * 1e6 / max(1, self.cycles)
        parts: list[Part] = [
            f"{self.scene.name}: {width}x{height}, {counted(len(self.scene.draws), 'draw')}; "
            f"{self.cycles:,} cycles, of them {drawing:,} drawing",
            f"{frames:,.1f} frames a second at {CLOCK_MHZ} MHz (formula: clock / cycles)",
            "",
            Table(
                (Column("cycles of", fixed=True), Column("cycles", number, bars=True), Column("share", verbatim)),
                phases,
            ),
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
        if before is not None:
            drawn = f"the first {counted(before.draws, 'draw')} by function alone, in no time; then caches are cold, "
            parts.insert(1, drawn + "and lines count as stored in the size that their words compress to")
        return Report(results=parts, schema="pixelflow.attila-run/1", data=self._object())

    def _busy(self) -> list[tuple[str, str]]:
        """Return what share of the cycles of drawing units worked, by statistics that count it."""
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
        """Return how many items lay in queues on average over the cycles of drawing."""
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
    """Return what the picture's arithmetic has to know of a machine."""
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
    """Draw a scene and time it, from a draw on: those before it are drawn by function alone, in no time.

    ``progress`` hears how far the frame has come. Raises InputError for programs with faults, a draw that is not there
    or values that would stop the machine, MachineFault where it stops, DeadlockError where it stands still, and
    CycleLimitError where an event lies at or beyond ``max_cycles``.
    """
    config = config or PAPER
    if progress is not None:
        progress(f"{scene.name}: what is drawn, before its time")
    work = draw(scene, units_of(config), first=from_draw)
    if bus is not None and bus.watched:
        timed = ToldFrame(scene.name, work, config, bus).finish(max_cycles, progress)
    else:
        timed = run(work, config, max_cycles=max_cycles, progress=progress)
    return SceneRun(scene, work, timed, config)
