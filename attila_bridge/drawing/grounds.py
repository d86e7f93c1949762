"""Grounds of a frame on ATTILA (watching): values of the model that figures rest on, formulas, work that is counted."""

from __future__ import annotations

from collections.abc import Mapping

from attila_bridge.drawing.run import CLOCK_MHZ, FORMULAS, PHASES
from attila_bridge.time.config import AttilaConfig
from pixelflow.simd.config.constants import constants_of, named
from pixelflow.simd.drawing import Bound, FreeWork, Ground, HowCounted, Work
from pixelflow.simd.units import Constant, Standing

__all__ = ["COUNTED", "LEFT_OUT", "grounds_of_gpu"]

_PAPER = "Moya et al., ISPASS 2006"

_CLOCK = Constant("clock", CLOCK_MHZ, Standing.DERIVED, f"{_PAPER}, section 5", "of the GPU and its memory", "MHz")
_COMPONENTS = Constant("components", 4, Standing.DERIVED, f"{_PAPER}, Table 1", "of an input, worked on at once")
_BITS = Constant("lane bits", 32, Standing.DERIVED, f"{_PAPER}, section 2", unit="bits")
_LANES = ("gpu.shaders", "shader.group")

COUNTED: Mapping[Work, HowCounted] = {
    # The program of vertices hands on what the application has taken to clip space and lit.
    Work.VERTICES: HowCounted.PART,
    Work.SETUP: HowCounted.UNITS,
    Work.BINNING: HowCounted.NONE,
    Work.COVERAGE: HowCounted.UNITS,
    Work.TESTS: HowCounted.UNITS,
    Work.COLOURS: HowCounted.PROGRAM,
    Work.TEXELS: HowCounted.UNITS,
    Work.BLENDING: HowCounted.UNITS,
    Work.MEMORY: HowCounted.UNITS,
    Work.FEED: HowCounted.UNITS,
    Work.OUTPUT: HowCounted.UNITS,
    Work.COMMANDS: HowCounted.FORMULA,
}

LEFT_OUT = (
    FreeWork("camera and light", Bound.OPEN, "the application's; vertices come in clip space, with colours"),
    FreeWork("order of what is sorted", Bound.OPEN, "the application's: triangles come sorted by depth"),
    FreeWork("bytes of uploads", Bound.OPEN, "their cycles are a formula, their bytes are not counted"),
)


def grounds_of_gpu(config: AttilaConfig) -> Mapping[str, Ground]:
    """Return what figures of a frame rest on."""
    rates = Ground.executed(*constants_of(config))
    command = constants_of(config, lambda key, about: key.startswith("command."))
    phases = {PHASES[key]: Ground.formula(PHASES[key].removesuffix(" (formula)"), *command) for key in FORMULAS}
    whole = rates
    for each in phases.values():
        whole |= each
    return {
        "clock_mhz": Ground.given(_CLOCK),
        "lanes": Ground.given(_COMPONENTS, *constants_of(config, named(_LANES))),
        "lane_bits": Ground.given(_BITS),
        "cycles": whole,
        "work": whole,
        "stages": rates,
        **{f"stages: {name}": each for name, each in phases.items()},
        "mix": Ground.executed(),
        "covered_lanes": Ground.executed(),
        "traffic": rates,
        "picture": Ground.executed(),
    }
