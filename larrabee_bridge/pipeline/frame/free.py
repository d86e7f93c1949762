"""Free work of a frame on Larrabee: what its cycles leave out, by formulas from counts of the run and from the model.

Every formula is written where its figure is shown. None of this is executed; what is has left this list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from larrabee_bridge.pipeline.frame.grounds import ENTRIES
from larrabee_bridge.pipeline.frame.renderer import PRIMSET, LarrabeeRun
from larrabee_bridge.pipeline.front_end import FrontEndResult
from larrabee_bridge.pipeline.traffic import TrafficConfig, corners_of
from larrabee_bridge.pipeline.traffic.settings import LINE_BYTES
from larrabee_bridge.vpu.core import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from pixelflow.simd.config.constants import constants_of, named
from pixelflow.simd.drawing import Bound, FreeWork, Work
from pixelflow.simd.report import counted
from pixelflow.simd.units import Constant

__all__ = ["LIGHT", "left_out", "line_wait"]

LIGHT: Mapping[str, int] = {
    "direction to the eye, of length 1": 16,
    "side that looks at it": 7,
    "two lights and what is there without": 12,
    "gamma of three channels, logarithm and exponential by polynomials of degree 5": 54,
    "one word of colours": 4,
    "texture coordinates": 4,
    "1 / w in shares of the nearest corner's: a reciprocal of three steps, a product": 8,
}
"""Vector operations of a program for sixteen vertices that nobody wrote, counted in the host's function for light."""
_LIGHT_LINES = 8
"""Vectors of places, normals and texture coordinates that it reads."""
_HEAD_BYTES = 8
"""Of a list of a tile, each thread's own."""
_THREADS = 4
_CORNER_LINES = 3 * LANES
"""Lines of the corners of sixteen triangles, which the front end has left in the L2 slice."""


_WAIT = ("l2_cycles", "ring_cycles", "memory_cycles", "memory_line_cycles")
"""Of the waits for a line of memory."""


def _rates(config: CoreConfig, *keys: str) -> tuple[Constant, ...]:
    return constants_of(config, named(keys), "core.")


def line_wait(config: CoreConfig) -> int:
    """Return the cycles that a thread waits for a line of memory; 0 where every access hits."""
    if not config.caches:
        return 0
    return config.l2_cycles + 2 * config.ring_cycles + config.memory_cycles + config.memory_line_cycles


def left_out(
    run: LarrabeeRun, parts: int, fronts: Sequence[FrontEndResult | None], written: int, far_lines: int
) -> tuple[FreeWork, ...]:
    """Return what ``parts`` cores have for nothing in a frame.

    ``written`` are bytes that go to memory, ``far_lines`` lines that came from there.
    """
    config = run.back_end.accounts.config
    made = [front for front in fronts if front is not None]
    return (
        *(_front(run, parts, made, config) if made else _host()),
        _light(run, parts, config),
        FreeWork(
            "triangles off the screen", Bound.OPEN, "a frame does not say how many a scene has", of=(Work.VERTICES,)
        ),
        *_memory(parts, config, written, far_lines),
        FreeWork("commands and state", Bound.OPEN, "no driver is here", of=(Work.COMMANDS,)),
    )


def _host() -> Iterator[FreeWork]:
    why = "the host's; without --free-setup they are executed"
    yield FreeWork("vertices, bins and planes", Bound.OPEN, why, of=(Work.VERTICES, Work.SETUP, Work.BINNING))


def _front(run: LarrabeeRun, parts: int, fronts: Sequence[FrontEndResult], config: CoreConfig) -> Iterator[FreeWork]:
    wait = line_wait(config)
    primsets = sum(len(front.vertices) for front in fronts)
    rounds = -(-primsets // parts)
    tiles = len(run.back_end.quads)
    heads = _THREADS * -(-_HEAD_BYTES * tiles // LINE_BYTES)
    yield FreeWork(
        "lists of tiles, cleared",
        Bound.AT_MOST,
        f"{heads} lines a PrimSet, one after the other, each 1 + {wait}; {primsets} PrimSets, {parts} at a time",
        rounds * heads * (1 + wait),
        (Work.BINNING,),
        _rates(config, *_WAIT),
    )
    if any(front.cut for front in fronts):
        why = "put back in order, their colours: no program does it"
        yield FreeWork("pieces of cut triangles", Bound.OPEN, why, of=(Work.VERTICES,))
    # Places of corners; at each of them depth, three colours, 1 / w and two texture coordinates where there are such.
    textured, deep = (
        any(getattr(draw.triangles, name) is not None for draw in run.frame.draws)
        for name in ("coordinates", "nearness")
    )
    vectors = 6 + 3 * (4 + 2 * textured + deep)
    near = config.l2_cycles if config.caches else 0
    each = _CORNER_LINES * near + vectors * (LANES * config.gather_line_cycles + 1)
    groups = min(sum(len(raster.planes.cycles) for raster in run.rasters), rounds * (-(-PRIMSET // LANES) + 1))
    yield FreeWork(
        "corners' values side by side",
        Bound.AT_MOST,
        f"{vectors} gathers of 16 lines and stores, {_CORNER_LINES} lines of the L2 slice: {each} for 16 triangles; "
        f"{groups} times on the core that has the most",
        groups * each,
        (Work.SETUP,),
        _rates(config, "l2_cycles", "gather_line_cycles"),
    )


def _light(run: LarrabeeRun, parts: int, config: CoreConfig) -> FreeWork:
    vertices = int(corners_of(run.frame).max(initial=-1)) + 1
    vectors = -(-vertices // LANES)
    groups = -(-vectors // parts)
    operations = sum(LIGHT.values())
    each = operations * config.vector_latency + _LIGHT_LINES * (1 + line_wait(config))
    return FreeWork(
        "light, texture coordinates, 1 / w",
        Bound.AT_MOST,
        f"{operations} operations that wait for each other and {_LIGHT_LINES} lines of memory: {each} for 16 of "
        f"{vertices:,} vertices, {counted(parts, 'core')}, one thread of each",
        groups * each,
        (Work.VERTICES,),
        _rates(config, "vector_latency", *_WAIT),
    )


def _memory(parts: int, config: CoreConfig, written: int, far_lines: int) -> Iterator[FreeWork]:
    if not config.caches:
        why = "ideal: every access hits; without --ideal-memory it is executed"
        yield FreeWork("memory", Bound.OPEN, why, of=(Work.MEMORY, Work.FEED, Work.OUTPUT))
        return
    lines = -(-written // LINE_BYTES)
    rate = config.memory_line_cycles
    sizes = (*_rates(config, "memory_line_cycles"), *constants_of(TrafficConfig(), named(ENTRIES), "traffic."))
    yield FreeWork(
        "lines written back",
        Bound.ABOUT,
        f"{counted(lines, 'line')} by the bytes above, {rate} cycles each, {counted(parts, 'core')}",
        -(-lines // parts) * rate,
        (Work.OUTPUT,),
        sizes,
    )
    yield FreeWork(
        "one memory for all cores",
        Bound.FLOOR,
        f"{far_lines + lines:,} lines to and fro, if memory takes one in {rate} cycles whoever asks",
        (far_lines + lines) * rate,
        (Work.MEMORY,),
        sizes,
    )
