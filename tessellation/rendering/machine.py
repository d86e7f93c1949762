"""PixelFlow as a machine: its record, runs of programs on a node, frames on nodes that share the triangles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from pixelflow.config import THESIS, TINY, NodeConfig
from pixelflow.isa import PIXELFLOW, Program
from pixelflow.node import Node, Run, guesses, words_of
from pixelflow.observe import EnabledCounted
from pixelflow.simd.attendance import Telling
from pixelflow.simd.configuration import leaves
from pixelflow.simd.drawing import Blend, Bound, DrawnFrame, Frame, FreeWork, ScreenTriangles, Work, places_of, spans_of
from pixelflow.simd.isa.encoding import WORD_BITS
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.machine import MachineRecord
from pixelflow.simd.observe import Bus
from pixelflow.simd.report import TimeSpan, counted
from pixelflow.simd.units import Constant, Standing
from tessellation.commands import COMMANDS, MOST_NODES
from tessellation.rendering.account import (
    PE_BITS,
    STAGES,
    counted_by_nodes,
    feed_floors,
    free_feed,
    free_pixels,
    grounds_of_nodes,
    uncounted_pixels,
    uncounted_work,
)

if TYPE_CHECKING:
    from tessellation.rendering import NetworkTime, NodeRuns


_NO_RATE = "no rate of a GP is printed"


def run_on_node(
    program: Program, *, config: NodeConfig | None = None, bus: Bus | None = None, engine: str = AUTO
) -> Run:
    """Run a program on a fresh node."""
    node = Node(config or THESIS, engine)
    if bus is not None:
        node.bus = bus
    return node.run(program)


def draw_on_pixelflow(
    frame: Frame,
    *,
    parts: int = 1,
    shaders: int = 0,
    config: NodeConfig | None = None,
    engine: str = AUTO,
    progress: Telling | None = None,
    watch: Callable[[Node], None] | None = None,
) -> DrawnFrame:
    """Draw a frame on ``parts`` rasterizers and ``shaders`` after them.

    With more than one node the image composition network is run and determines the picture's cycles. Raises InputError
    for a frame that nodes do not draw.
    """
    # Assembles the programs of rendering, which would delay commands that do not draw.
    from tessellation.rendering import Roles, draw_on_nodes
    from tessellation.rendering.composition import busy_spans

    config = config or THESIS
    triangles = ScreenTriangles.joined([each.triangles for each in frame.draws])
    enabled = 0

    def count(event: EnabledCounted) -> None:
        nonlocal enabled
        enabled += sum(event.counts)

    def attach(node: Node) -> None:
        node.bus.subscribe(count, EnabledCounted)
        if watch is not None:
            watch(node)

    composed = draw_on_nodes(
        frame, Roles.told(parts, shaders), config=config, engine=engine, progress=progress, watch=attach
    )
    drawn = composed.nodes
    stages: Counter[str] = Counter()
    for each in drawn:
        stages.update(each.cycles_by_stage)
    busy = sum(run.busy for run in (*composed.loading, *(each.run for node in drawn for each in node.regions)))
    cycles = composed.time.cycles if composed.time else drawn[0].cycles
    nodes, regions, reached = parts + shaders, drawn[0].places, sum(each.drawn for each in drawn)
    pairs = f"{reached:,} pairs of a triangle and a region that its box reaches"
    pixels = uncounted_pixels(frame.width, frame.height, composed=composed.time is not None)
    facts = [
        ("regions", f"{regions} of 128x64 pixels{_by_each(parts)}, {pairs}"),
        ("not counted", f"{uncounted_work(textures=bool(composed.loading))}; {pixels}"),
        ("bytes", "of the words of the programs that ran; their encoding is invented"),
    ]
    if composed.loading:
        most = max(run.cycles for run in composed.loading)
        facts.append(("textures", f"loaded before, once for all pictures, in {most:,} cycles that are not counted"))
    used = guesses([each.run for node in drawn for each in node.regions], config)
    if used.delivery is not None:
        facts.append(("instruction words", used.delivery.amount))
    words = _words(drawn)
    facts.append(("instruction feed", _feed(words, cycles, parts, config)))
    single = None if composed.time else regions
    if composed.time:
        rates = ", ".join(f"{key} {str(value).lower()}" for key, _, value, _ in leaves(config.composition))
        facts.append(("image composition", f"executed, within the picture's time; rates without a source: {rates}"))
    return DrawnFrame(
        machine="PixelFlow",
        parts=nodes,
        lanes=nodes * config.lanes,
        clock_mhz=config.clock_mhz,
        cycles=cycles,
        work=sum(stages.values()),
        stages=dict(stages),
        mix=_families(drawn),
        covered_lanes=_covered(triangles, frame) / (reached * config.lanes) if reached else 0.0,
        enabled_lanes=enabled / (busy * config.lanes),
        traffic=_traffic(drawn, composed.time),
        picture=composed.picture,
        facts=tuple(facts),
        lane_bits=PE_BITS,
        free=(*_left_out(len(triangles), reached, words, parts, single, config), *_left_out_of_shading(frame)),
        grounds=grounds_of_nodes(used, config, composed=composed.time is not None),
        part="node",
        timeline=_timeline(drawn[0]) if composed.time is None else tuple(busy_spans(composed.time)),
        ended=() if composed.time is None else ended_of(composed.time),
        counted=counted_by_nodes(used, composed=composed.time is not None, fed=config.igc.supply > 0),
        works=STAGES,
    )


def ended_of(time: NetworkTime) -> tuple[int, ...]:
    """Return the cycle in which each of several nodes finishes its last work.

    A node is busy while its programs run, including waits for texels and for instructions (``igc.supply``). From its
    last work to that of the last node its time is lost to imbalance; all other time is waiting.
    """
    return tuple(max((end for doing, _, end in node.spans if not doing.waits), default=0) for node in time.nodes)


def _timeline(node: NodeRuns) -> tuple[tuple[str, tuple[TimeSpan, ...]], ...]:
    """Return the timeline of a node alone: each region drawn and shaded."""
    spans, begin = list[TimeSpan](), 0
    for (does, left, top), runs in groupby(node.regions, lambda each: (each.does, each.left, each.top)):
        end = begin + sum(each.cycles for each in runs)
        spans.append(TimeSpan(f"{does} region {left}, {top}", begin, end))
        begin = end
    return (("node", tuple(spans)),)


def _feed(words: int, cycles: int, parts: int, config: NodeConfig) -> str:
    """Return the bandwidth that the instruction words of a picture need: a bound, not counted as time."""
    count, clock = words * WORD_BITS // 8, config.clock_mhz
    rate = count * clock / cycles if cycles else 0.0
    bounds = [f"{cycles:,} cycles at {name}" for name, cycles in feed_floors(words, parts, config)]
    return (
        f"{count:,} bytes of instructions a picture, {rate:,.0f} MB/s in {cycles:,} cycles; at least "
        f"{' and '.join(bounds)}: by formula, no time is counted for it"
    )


def _left_out(
    triangles: int, reached: int, words: int, parts: int, regions: int | None, config: NodeConfig
) -> tuple[FreeWork, ...]:
    """Return work that nodes get free of charge; ``regions`` are those of a node alone, whose pixels are not sent."""
    found = [
        FreeWork(what, "PF301", Bound.OPEN, f"the GPs': {amount}; {_NO_RATE}", of=(work,))
        for what, amount, work in (
            ("camera, light, 1 / w", f"corners of {counted(triangles, 'triangle')}", Work.VERTICES),
            ("triangles to regions", f"{reached:,} pairs of a triangle and a region", Work.BINNING),
            ("edges and planes, instructions", f"{counted(words, 'word')} made", Work.SETUP),
        )
    ]
    found.append(FreeWork("commands and state", "PF301", Bound.OPEN, "the host's and the GPs'", of=(Work.COMMANDS,)))
    found += free_feed(words, parts, config)
    if regions is not None:
        from tessellation.rendering.network import pixel_cycles

        found.append(free_pixels(regions, pixel_cycles(config), config))
    else:
        found.append(
            FreeWork(
                "frame buffer", "PF302", Bound.OPEN, "what it does with pixels; nothing is printed", of=(Work.OUTPUT,)
            )
        )
    return tuple(found)


def _left_out_of_shading(frame: Frame) -> Iterator[FreeWork]:
    """Yield the additional free work of textures and sorted draws."""
    textures = {id(draw.state.texture): draw.state.texture for draw in frame.draws if draw.state.texture is not None}
    if textures:
        levels = sum(len(each.levels) for each in textures.values())
        why = f"the GPs': {counted(levels, 'level')} made and put into GP memory, planes of coordinates; {_NO_RATE}"
        yield FreeWork("textures", "PF301", Bound.OPEN, why, of=(Work.TEXELS,))
    if any(draw.state.blend is Blend.SORTED for draw in frame.draws):
        why = "asked of all PEs after each layer of a region; the machine has no wire for it"
        yield FreeWork("whether a layer was the last", "PF303", Bound.OPEN, why, of=(Work.BLENDING,))


def _covered(triangles: ScreenTriangles, frame: Frame) -> int:
    """Return the number of samples covered, summed over triangles."""
    places = places_of(frame.samples)
    return sum(int(spans_of(triangles, frame.width, frame.height, place).pixels.sum()) for place in places)


def _families(drawn: Sequence[NodeRuns]) -> dict[str, int]:
    """Return executed instructions of the EIGC by family, without those that take no cycle."""
    totals: Counter[str] = Counter()
    for run in (each.run for node in drawn for each in node.regions):
        by_kind = run.program.by_kind
        for kind in by_kind.in_order(run.executed):
            totals[by_kind.kinds[kind].declaration.family.value] += run.times[kind] if run.cycles_of_kinds[kind] else 0
    return {name: count for name, count in totals.items() if count}


def _words(drawn: Sequence[NodeRuns]) -> int:
    """Return the instruction words that nodes need, with routines and loops sent once."""
    return sum(words_of(each.run).needed for node in drawn for each in node.regions)


def _traffic(drawn: Sequence[NodeRuns], time: NetworkTime | None) -> dict[str, int]:
    """Return bytes of instruction words, of texels, and on the image composition network."""
    words = _words(drawn)
    found = {"instructions to the nodes": words * WORD_BITS // 8}
    ledgers = (each.run.ledger for node in drawn for each in node.regions)
    texels = sum(ledger.outbound.moved for ledger in ledgers if ledger is not None)
    if texels:
        found["texels to the PEs"] = texels
    if time is not None:
        found["image composition network"] = sum(node.sent_bytes for node in time.nodes)
    return found


def _by_each(parts: int) -> str:
    return f", by each of {parts} rasterizers" if parts > 1 else ""


_BUILT = (Constant("year", 1995, Standing.THESIS, "Keller, UNC TR95-043", "in which the machine is described"),)
"""The thesis gives neither process nor area of the chips."""

MACHINE = MachineRecord(
    name="pixelflow",
    title="PixelFlow",
    part="node",
    most_parts=MOST_NODES,
    target=PIXELFLOW,
    configuration=NodeConfig,
    clock_mhz=lambda config: config.clock_mhz,
    run=run_on_node,
    draw=draw_on_pixelflow,
    presets={"thesis": THESIS, "tiny": TINY},
    paper="tessellation.reproduction:PAPER",
    built=_BUILT,
    commands=COMMANDS,
)
