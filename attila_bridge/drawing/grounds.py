"""Grounds of a frame on ATTILA (watching): values of the model that figures rest on, formulas, work that is counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attila_bridge.drawing.run import CLOCK_MHZ, FORMULAS, PHASES
from attila_bridge.time.config import AttilaConfig
from pixelflow.simd.config.constants import constants_of, named
from pixelflow.simd.drawing import Blend, Bound, Frame, FreeWork, Ground, HowCounted, Work
from pixelflow.simd.units import Constant, Standing

__all__ = ["counted_by_gpu", "grounds_of_gpu", "left_out"]

_PAPER = "Moya et al., ISPASS 2006"

_CLOCK = Constant("clock", CLOCK_MHZ, Standing.DERIVED, f"{_PAPER}, section 5", "of the GPU and its memory", "MHz")
_COMPONENTS = Constant("components", 4, Standing.DERIVED, f"{_PAPER}, Table 1", "of an input, worked on at once")
_BITS = Constant("lane bits", 32, Standing.DERIVED, f"{_PAPER}, section 2", unit="bits")
_LANES = ("gpu.shaders", "shader.group")


def counted_by_gpu(frame: Frame) -> Mapping[Work, HowCounted]:
    """Return how the cycles of a frame have its work."""
    return {
        # The program of vertices hands on what the application has taken to clip space and lit.
        Work.VERTICES: HowCounted.PART,
        Work.SETUP: HowCounted.UNITS,
        Work.BINNING: HowCounted.NONE,
        Work.COVERAGE: HowCounted.UNITS,
        Work.TESTS: HowCounted.UNITS,
        Work.COLOURS: HowCounted.PROGRAM,
        Work.TEXELS: HowCounted.UNITS,
        Work.BLENDING: HowCounted.PART if _sorts(frame) else HowCounted.UNITS,
        Work.MEMORY: HowCounted.UNITS,
        Work.FEED: HowCounted.UNITS,
        Work.OUTPUT: HowCounted.UNITS,
        Work.COMMANDS: HowCounted.FORMULA,
    }


def _sorts(frame: Frame) -> bool:
    return any(draw.state.blend is Blend.SORTED for draw in frame.draws)


def left_out(frame: Frame, uploaded: int) -> Iterator[FreeWork]:
    """Yield what a frame has for nothing; ``uploaded`` are the bytes that the command processor takes in."""
    why = "the application's; vertices come in clip space, with colours"
    yield FreeWork("camera and light", Bound.OPEN, why, of=(Work.VERTICES,))
    if _sorts(frame):
        why = "the application's: triangles come sorted by depth"
        yield FreeWork("order of what is sorted", Bound.OPEN, why, of=(Work.BLENDING,))
    why = f"{uploaded:,} bytes, whose cycles are a formula, are not among those that are moved"
    yield FreeWork("bytes of uploads", Bound.OPEN, why, of=(Work.COMMANDS,))
    yield FreeWork("driver", Bound.OPEN, "what the host does before the command processor reads", of=(Work.COMMANDS,))


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
