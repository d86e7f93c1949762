"""Grounds of a frame on Larrabee: values of its models that figures rest on, formulas, and which work is counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from larrabee_bridge.pipeline.frame.renderer import LarrabeeRun
from larrabee_bridge.pipeline.scheduling import ScheduleConfig
from larrabee_bridge.pipeline.traffic import TrafficConfig
from larrabee_bridge.vpu.core import CORE_MHZ, CoreConfig
from larrabee_bridge.vpu.isa import LANES
from pixelflow.simd.config.constants import constants_of, named
from pixelflow.simd.config.param import Param
from pixelflow.simd.drawing import Ground, HowCounted, Work
from pixelflow.simd.units import Constant, Standing

__all__ = ["ENTRIES", "counted_by_cores", "grounds_of_cores"]

_LANES = Constant("lanes", LANES, Standing.DERIVED, "Seiler et al. 2008, 3.2", "of the vector unit", "lanes")
_BITS = Constant("lane bits", 32, Standing.DERIVED, "Seiler et al. 2008, 3.2", unit="bits")
_CLOCK = "Seiler et al. 2008, 5.1: the unit is a core at 1 GHz"
_SWITCHES = ("caches",)
_CORES = ("cores",)
ENTRIES = ("entry_bytes", "position_bytes", "mask_bytes", "vertex_bytes", "clears_written")
"""Of what makes the bytes that are moved: sizes that no source gives."""
_SCHEDULED = "how a scheduler shares out what was executed"


def grounds_of_cores(run: LarrabeeRun, core_mhz: float) -> Mapping[str, Ground]:
    """Return what figures of a frame rest on; times of the texture unit where a draw has a texture."""
    config = run.back_end.accounts.config
    clock = Standing.DERIVED if core_mhz == CORE_MHZ else Standing.INVENTED
    rates = constants_of(config, _used(config), "core.")
    textured = any(draw.state.texture is not None for draw in run.frame.draws)
    unit = run.back_end.accounts.texture
    texels = constants_of(unit, prefix="texture.") if textured else ()
    alone = Ground.executed(*rates, *texels)
    # How many cores there are is asked for; it is no rate.
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
    """Return how the cycles of cores have the work of a picture."""
    caches = run.back_end.accounts.config.caches
    before = HowCounted.FREE if free_setup else HowCounted.PROGRAM
    return {
        # Vertices go through the front end; their light is the application's.
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
