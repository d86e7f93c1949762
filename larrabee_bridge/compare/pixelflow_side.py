"""A scene on PixelFlow: nodes share the triangles, and their regions are merged by depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from larrabee_bridge.compare.sides import Side
from larrabee_bridge.spans import spans_of
from pixelflow.config import THESIS, NodeConfig, leaves
from pixelflow.observe.stats import Collector, RunStatistics
from pixelflow.simd.drawing import Frame, ScreenTriangles
from pixelflow.simd.isa.encoding import WORD_BITS
from tessellation.rendering import (
    SENT_BYTES,
    Rendering,
    compose,
    composition_time,
    plain_triangles,
    render,
    shares,
    works_of,
)

__all__ = ["draw_on_pixelflow"]


def draw_on_pixelflow(
    frame: Frame,
    *,
    nodes: int = 1,
    config: NodeConfig = THESIS,
    engine: str = "rows",
    progress: Callable[[str], None] | None = None,
    watch: Callable[[Any], None] | None = None,
) -> Side:
    """Draw a plain frame on nodes side by side.

    With more than one, the time of the image composition network, a formula, is in the picture's cycles. Raises
    InputError for a frame that is not plain.
    """
    triangles = plain_triangles(frame)
    collector = Collector()

    def attach(node: Any) -> None:
        collector.attach(node.bus)
        if watch is not None:
            watch(node)

    drawn = [
        render(
            share,
            frame.width,
            frame.height,
            background=frame.background,
            composed=nodes > 1,
            config=config,
            engine=engine,
            progress=progress,
            watch=attach,
        )
        for share in shares(triangles, nodes)
    ]
    stages: Counter[str] = Counter()
    for each in drawn:
        stages.update(each.cycles_by_stage)
    busy = _sum(collector.runs, "eigc.busy_cycles")
    composed = composition_time(works_of(drawn), config) if nodes > 1 else None
    cycles = composed.cycles if composed else drawn[0].cycles
    regions, reached = sum(len(each.regions) for each in drawn), sum(each.drawn for each in drawn)
    facts = [
        ("regions", f"{regions} of 128x64 pixels, {reached:,} pairs of a triangle and a region that its box reaches"),
        ("not counted", "camera, light, regions and instructions: work of the GPs; pixels to the frame buffer"),
        ("bytes", "of the words of the programs that ran; their encoding is invented"),
    ]
    if composed:
        rates = ", ".join(f"{key} {str(value).lower()}" for key, _, value, _ in leaves(config.composition))
        facts.append(("formula", f"the image composition network's time, within the picture's; no source: {rates}"))
    return Side(
        machine="PixelFlow",
        parts=nodes,
        lanes=nodes * config.lanes,
        clock_mhz=config.clock_mhz,
        cycles=cycles,
        work=sum(stages.values()),
        stages=dict(stages),
        mix=_families(drawn),
        covered_lanes=_covered(triangles, frame) / (reached * config.lanes) if reached else 0.0,
        enabled_lanes=_sum(collector.runs, "array.enabled_pe_cycles") / (busy * config.lanes),
        traffic=_traffic(drawn, regions if composed else 0, config),
        picture=compose([each.picture for each in drawn]),
        facts=tuple(facts),
    )


def _covered(triangles: ScreenTriangles, frame: Frame) -> int:
    """Return how many pixels the triangles cover, each on its own."""
    return int(spans_of(triangles, frame.width, frame.height).pixels.sum())


def _sum(runs: list[RunStatistics], name: str) -> int:
    return sum(run.values[name] for run in runs)


def _families(drawn: list[Rendering]) -> dict[str, int]:
    """Return executed instructions of the EIGC by family; those that take no cycle are left out."""
    totals: Counter[str] = Counter()
    for run in (each.run for node in drawn for each in node.regions):
        for instruction, executed, cycles in zip(run.program.instructions, run.executed, run.cycles_each, strict=True):
            totals[instruction.declaration.family.value] += executed if cycles else 0
    return {name: count for name, count in totals.items() if count}


def _traffic(drawn: list[Rendering], regions: int, config: NodeConfig) -> dict[str, int]:
    """Return bytes of the words that the nodes are sent, and of pixels in ``regions`` that were copied to leave."""
    words = sum(len(each.run.program.words) for node in drawn for each in node.regions)
    found = {"instructions to the nodes": words * WORD_BITS // 8}
    if regions:
        found["copied for composition"] = regions * config.lanes * SENT_BYTES
    return found
