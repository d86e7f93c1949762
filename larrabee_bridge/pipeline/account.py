"""Grounds of a frame on Larrabee: model values that figures rest on, formulas, and the work that is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from larrabee_bridge.pipeline.back_end_programs import TileStage
from larrabee_bridge.pipeline.frame import PRIMSET, LarrabeeRun
from larrabee_bridge.pipeline.front_end import FrontEndResult
from larrabee_bridge.pipeline.schedule import ScheduleConfig
from larrabee_bridge.pipeline.traffic import LINE_BYTES, TrafficConfig, corners_of
from larrabee_bridge.vpu.config import CORE_MHZ, CoreConfig
from larrabee_bridge.vpu.isa import LANES
from pixelflow.simd.configuration import Param, constants_of, named
from pixelflow.simd.drawing import Blend, Bound, Frame, FreeWork, Ground, HowCounted, Work
from pixelflow.simd.report import counted
from pixelflow.simd.units import Constant, Standing

_LANES = Constant("lanes", LANES, Standing.DERIVED, "Seiler et al. 2008, 3.2", "of the vector unit", "lanes")
_BITS = Constant("lane bits", 32, Standing.DERIVED, "Seiler et al. 2008, 3.2", unit="bits")
_CLOCK = "Seiler et al. 2008, 5.1: the unit is a core at 1 GHz"
_SWITCHES = ("caches",)
_CORES = ("cores",)
ENTRIES = ("entry_bytes", "position_bytes", "mask_bytes", "vertex_bytes", "clears_written")
"""Sizes behind the bytes moved that no source gives."""


def grounds_of_cores(run: LarrabeeRun, core_mhz: float) -> Mapping[str, Ground]:
    """Return the values that figures of a frame rest on; times of the texture unit if a draw has a texture."""
    config = run.back_end.accounts.config
    clock = Standing.DERIVED if core_mhz == CORE_MHZ else Standing.INVENTED
    rates = constants_of(config, _used(config), "core.")
    textured = any(draw.state.texture is not None for draw in run.frame.draws)
    unit = run.back_end.accounts.texture
    texels = constants_of(unit, prefix="texture.") if textured else ()
    alone = Ground.executed(*rates, *texels)
    # The number of cores is an option, not a rate.
    shared = alone | Ground.executed(*constants_of(ScheduleConfig(), lambda key, _: key not in _CORES, "schedule."))
    sizes = constants_of(TrafficConfig(), named(ENTRIES), "traffic.")
    return {
        "clock_mhz": Ground.given(
            Constant("core_mhz", core_mhz, clock, _CLOCK if clock is Standing.DERIVED else "set", unit="MHz")
        ),
        "lanes": Ground.given(_LANES),
        "lane_bits": Ground.given(_BITS),
        "cycles": shared,
        "work": shared,
        "interval": shared,
        "stages": alone,
        "mix": Ground.executed(),
        "covered_lanes": Ground.executed(),
        "traffic": Ground.formula("bytes of bins, targets and vertices, by what was drawn", *sizes),
        "traffic: texels, read": Ground.executed(*constants_of(unit, named(["cache_bytes", "ways"]), "texture.")),
        "picture": Ground.executed(),
    }


def _used(config: CoreConfig) -> Callable[[str, Param], bool]:
    def used(key: str, about: Param) -> bool:
        return key not in _SWITCHES and (config.caches or about.matters != "caches")

    return used


def counted_by_cores(run: LarrabeeRun, *, free_setup: bool) -> Mapping[Work, HowCounted]:
    """Return how each kind of work of a picture enters the cycles of cores."""
    caches = run.back_end.accounts.config.caches
    before = HowCounted.FREE if free_setup else HowCounted.PROGRAM
    return {
        # Vertices pass through the front end; their light is the application's.
        Work.VERTICES: HowCounted.FREE if free_setup else HowCounted.PART,
        Work.SETUP: before,
        Work.BINNING: before,
        Work.COVERAGE: HowCounted.PROGRAM,
        Work.TESTS: HowCounted.PROGRAM,
        Work.COLOURS: HowCounted.PROGRAM,
        Work.TEXELS: HowCounted.UNITS,
        Work.BLENDING: HowCounted.PROGRAM,
        Work.MEMORY: HowCounted.UNITS if caches else HowCounted.FREE,
        Work.FEED: HowCounted.UNITS if caches else HowCounted.FREE,
        Work.OUTPUT: HowCounted.FREE,
        Work.COMMANDS: HowCounted.FREE,
    }


def work_of_stages(frame: Frame) -> Mapping[str, Work]:
    """Return the work of each stage; the planes that pixels add up are counted with their colours."""
    blends = any(draw.state.blend is not Blend.REPLACE for draw in frame.draws)
    return {
        **dict.fromkeys(("front end: index", "front end: transform"), Work.VERTICES),
        **dict.fromkeys(("front end: assemble", "front end: cut", "triangle set-up", "planes"), Work.SETUP),
        **dict.fromkeys(("front end: bin", TileStage.SETUP.value), Work.BINNING),
        "rasterizer's descent": Work.COVERAGE,
        **dict.fromkeys((TileStage.CLEAR.value, TileStage.DEPTH.value), Work.TESTS),
        **dict.fromkeys((TileStage.QUADS.value, TileStage.SHADE.value, TileStage.RESOLVE.value), Work.COLOURS),
        TileStage.TEXTURE.value: Work.TEXELS,
        TileStage.BLEND.value: Work.BLENDING if blends else Work.COLOURS,
        TileStage.SORT.value: Work.BLENDING,
    }


# Work that the cycles of a frame leave out, by formulas of counts of the run and values of the model. Reports show each
# formula next to its figure.


LIGHT: Mapping[str, int] = {
    "direction to the eye, of length 1": 16,
    "side that looks at it": 7,
    "two lights and what is there without": 12,
    "gamma of three channels, logarithm and exponential by polynomials of degree 5": 54,
    "one word of colours": 4,
    "texture coordinates": 4,
    "1 / w in shares of the nearest corner's: a reciprocal of three steps, a product": 8,
}
"""Vector operations of an assumed program for sixteen vertices, counted in the host's function for light."""
_LIGHT_LINES = 8
"""Vectors of positions, normals and texture coordinates that it reads."""
_HEAD_BYTES = 8
"""Of a thread's list of a tile."""
_THREADS = 4
_CORNER_LINES = 3 * LANES
"""Lines of the corners of sixteen triangles, left in the L2 slice by the front end."""


_WAIT = ("l2_cycles", "ring_cycles", "memory_cycles", "memory_line_cycles")
"""Values of the wait for a line of memory."""


def _rates(config: CoreConfig, *keys: str) -> tuple[Constant, ...]:
    return constants_of(config, named(keys), "core.")


def line_wait(config: CoreConfig) -> int:
    """Return the cycles that a thread waits for a line of memory; 0 where every access hits."""
    if not config.caches:
        return 0
    return config.l2_cycles + 2 * config.ring_cycles + config.memory_cycles + config.memory_line_cycles


def left_out(
    run: LarrabeeRun, parts: int, fronts: Sequence[FrontEndResult | None], written: int
) -> tuple[FreeWork, ...]:
    """Return the work that the cycles of ``parts`` cores leave out; ``written`` are bytes that go to memory."""
    config = run.back_end.accounts.config
    made = [front for front in fronts if front is not None]
    return (
        *(_front(run, parts, made, config) if made else _host()),
        _light(run, parts, config),
        FreeWork(
            "triangles off the screen",
            "PF401",
            Bound.OPEN,
            "a frame does not say how many a scene has",
            of=(Work.VERTICES,),
        ),
        *_memory(parts, config, written),
        FreeWork("commands and state", "PF401", Bound.OPEN, "no driver is here", of=(Work.COMMANDS,)),
    )


def _host() -> Iterator[FreeWork]:
    why = "the host's; without --free-setup they are executed"
    yield FreeWork("vertices, bins and planes", "PF401", Bound.OPEN, why, of=(Work.VERTICES, Work.SETUP, Work.BINNING))


def _front(run: LarrabeeRun, parts: int, fronts: Sequence[FrontEndResult], config: CoreConfig) -> Iterator[FreeWork]:
    wait = line_wait(config)
    primsets = sum(len(front.vertices) for front in fronts)
    rounds = -(-primsets // parts)
    tiles = len(run.back_end.quads)
    heads = _THREADS * -(-_HEAD_BYTES * tiles // LINE_BYTES)
    yield FreeWork(
        "lists of tiles, cleared",
        "PF401",
        Bound.AT_MOST,
        f"{heads} lines a PrimSet, one after the other, each 1 + {wait}; {primsets} PrimSets, {parts} at a time",
        rounds * heads * (1 + wait),
        (Work.BINNING,),
        _rates(config, *_WAIT),
    )
    if any(front.cut for front in fronts):
        why = "put back in order, their colours: no program does it"
        yield FreeWork("pieces of cut triangles", "PF401", Bound.OPEN, why, of=(Work.VERTICES,))
    # Corners' positions; for each depth, three colours, and 1 / w and two texture coordinates if the draw has them.
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
        "PF401",
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
        "PF401",
        Bound.AT_MOST,
        f"{operations} operations that wait for each other and {_LIGHT_LINES} lines of memory: {each} for 16 of "
        f"{vertices:,} vertices, {counted(parts, 'core')}, one thread of each",
        groups * each,
        (Work.VERTICES,),
        _rates(config, "vector_latency", *_WAIT),
    )


def _memory(parts: int, config: CoreConfig, written: int) -> Iterator[FreeWork]:
    if not config.caches:
        why = "ideal: every access hits; without --ideal-memory it is executed"
        yield FreeWork("memory", "PF402", Bound.OPEN, why, of=(Work.MEMORY, Work.FEED, Work.OUTPUT))
        return
    lines = -(-written // LINE_BYTES)
    rate = config.write_line_cycles
    sizes = (*_rates(config, "write_line_cycles"), *constants_of(TrafficConfig(), named(ENTRIES), "traffic."))
    yield FreeWork(
        "lines written back",
        "PF402",
        Bound.ABOUT,
        f"{counted(lines, 'line')} by the bytes above, {rate} cycles each, {counted(parts, 'core')}",
        -(-lines // parts) * rate,
        (Work.OUTPUT,),
        sizes,
    )
