"""Grounds of a frame on Gen6: values of the model that figures rest on, and which work is counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gen6_bridge.drawing.account import FrameAccount
from gen6_bridge.time import EU_MHZ, EuConfig
from gen6_bridge.unit.messages import RENDER_CACHE
from pixelflow.simd.config.constants import constants_of, named
from pixelflow.simd.config.param import Param
from pixelflow.simd.drawing import Bound, FreeWork, Ground, HowCounted, Work
from pixelflow.simd.units import Constant, Standing

__all__ = ["PIPE_LANES", "counted_by_units", "grounds_of_units", "left_out"]

PIPE_LANES = 4
"""Channels of the vector pipe that a cycle serves: it is held for two cycles for each eight."""

_CLOCK = Constant("clock", EU_MHZ, Standing.DERIVED, "Intel's product lists: the fastest turbo of desktop parts",
    unit="MHz")  # fmt: skip
_LANES = Constant("pipe lanes", PIPE_LANES, Standing.DERIVED,
    "Mesa's performance model: two cycles for each eight channels", "that a cycle serves", "lanes")  # fmt: skip
_BITS = Constant("lane bits", 32, Standing.DERIVED, "Kanter 2011", unit="bits")
_ASKED = ("units", "count", "channels")
"""What is asked for; they are no rates."""


def _rates(config: EuConfig) -> tuple[Constant, ...]:
    def used(key: str, about: Param) -> bool:
        return key not in (*_ASKED, "caches") and (config.caches or about.matters != "caches")

    return constants_of(config, used)


def grounds_of_units(config: EuConfig) -> Mapping[str, Ground]:
    """Return what figures of a frame rest on."""
    rates = Ground.executed(*_rates(config))
    pipes = Ground.executed(*constants_of(config, named(["issue_cycles", "power_issue", "division_issue"])))
    return {
        "clock_mhz": Ground.given(_CLOCK),
        "lanes": Ground.given(_LANES),
        "lane_bits": Ground.given(_BITS),
        "cycles": rates,
        "work": pipes,
        "stages": rates,
        "mix": Ground.executed(),
        "covered_lanes": Ground.executed(),
        "enabled_lanes": Ground.executed(),
        "traffic": Ground.executed(),
        "picture": Ground.executed(),
    }


def counted_by_units(config: EuConfig, *, shaded: bool) -> Mapping[Work, HowCounted]:
    """Return how the cycles of units have the work of a picture; ``shaded`` where threads took its vertices."""
    return {
        Work.VERTICES: HowCounted.PROGRAM if shaded else HowCounted.FREE,
        Work.SETUP: HowCounted.FREE,
        Work.BINNING: HowCounted.NONE,
        Work.COVERAGE: HowCounted.FREE,
        Work.TESTS: HowCounted.FREE,
        Work.COLOURS: HowCounted.PROGRAM,
        # A thread waits for the sampler; what the filter does, and texels that are not in its cache, take no cycles.
        Work.TEXELS: HowCounted.PART,
        Work.BLENDING: HowCounted.FREE,
        Work.MEMORY: HowCounted.FREE,
        Work.FEED: HowCounted.UNITS if config.caches else HowCounted.FREE,
        Work.OUTPUT: HowCounted.FREE,
        Work.COMMANDS: HowCounted.FREE,
    }


def left_out(account: FrameAccount) -> Iterator[FreeWork]:
    """Yield what a frame has for nothing."""
    fixed, config = "a fixed function of the machine that is not modelled", account.config
    if not account.vertices:
        why = "the application's; render --projection eus executes them"
        yield FreeWork("camera and light", Bound.OPEN, why, of=(Work.VERTICES,))
    yield FreeWork("set-up, coverage, depth, stencil", Bound.OPEN, fixed, of=(Work.SETUP, Work.COVERAGE, Work.TESTS))
    if account.traffic["texels"]:
        why = f"{fixed}; threads wait for the answer as if every texel were in its cache"
        yield FreeWork("filter of the sampler", Bound.OPEN, why, of=(Work.TEXELS,))
    yield FreeWork("blending, rounding of colours", Bound.OPEN, fixed, of=(Work.BLENDING,))
    if served := account.served[RENDER_CACHE]:
        why = f"the render cache is held {config.render_busy} cycles by each write, a guess; no thread waits"
        held = constants_of(config, named(["render_busy"]))
        yield FreeWork("writes of pixels", Bound.FLOOR, why, served, (Work.OUTPUT,), held)
    why = "of targets and texels; caches of instructions alone are timed"
    yield FreeWork("memory", Bound.OPEN, why, of=(Work.MEMORY, Work.OUTPUT))
    yield FreeWork("commands and state", Bound.OPEN, "no driver is here", of=(Work.COMMANDS,))
