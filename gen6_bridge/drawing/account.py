"""Account of a frame: instructions and cycles of its threads, draw by draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gen6_bridge.drawing.shaders import ShadedVertices
from gen6_bridge.program import EuProgram
from gen6_bridge.time import EU_MHZ, CarriedStep, EuConfig, schedule
from gen6_bridge.unit.messages import RENDER_CACHE
from pixelflow.simd.configuration import Param, constants_of, named
from pixelflow.simd.drawing import Bound, Frame, FreeWork, Ground, HowCounted, Work
from pixelflow.simd.report import TimeSpan
from pixelflow.simd.units import Constant, Standing


def pixels_of_draw(name: str) -> str:
    """Return the stage of a draw's pixels."""
    return f"{name}: pixels"


@dataclass(slots=True)
class FrameAccount:
    """Sums over a frame's threads; each batch of threads begins when the previous one has ended."""

    config: EuConfig
    cycles: int = 0
    held: Counter[str] = field(default_factory=Counter)
    together: int = 0
    """Cycles in which both pipes of a unit were held."""
    ended: list[int] = field(init=False)
    """When the last thread of each unit ended, 0 where it had none."""
    served: Counter[int] = field(default_factory=Counter)
    """Cycles for which targets of messages are held, by number."""
    stages: Counter[str] = field(default_factory=Counter)
    mix: Counter[str] = field(default_factory=Counter)
    threads: int = 0
    """Threads of pixels."""
    there: int = 0
    """Channels that they dispatched."""
    visible: int = 0
    """Channels whose pixels were written."""
    traffic: Counter[str] = field(default_factory=Counter)
    spans: list[TimeSpan] = field(default_factory=list)
    """Begin and end of each batch of threads."""
    vertices: int = 0
    turns: int = 0
    """Turns in which sorted draws were blended."""

    def __post_init__(self) -> None:
        self.ended = [0] * self.config.units

    def took(self, stage: str, program: EuProgram, steps: Sequence[Sequence[CarriedStep]]) -> None:
        """Schedule executed threads and add their account."""
        timed = schedule(program.code, steps, self.config)
        self.spans.append(TimeSpan(stage, self.cycles, self.cycles + timed.cycles))
        self.ended = [self.cycles + end if end else before for end, before in zip(timed.ended, self.ended, strict=True)]
        self.cycles += timed.cycles
        self.held += timed.held
        self.together += timed.together
        self.served += timed.served
        self.stages[stage] += timed.cycles
        families = [each.declaration.family.value for each in program.code]
        for number, count in Counter(step.number for each in steps for step in each).items():
            self.mix[families[number]] += count

    def works(self, frame: Frame) -> dict[str, Work]:
        """Return the work of each stage; textured pixels, which are shaded and filtered, are left out."""
        pixels = {pixels_of_draw(each.name): Work.COLOURS for each in frame.draws if each.state.texture is None}
        return pixels | {stage: Work.VERTICES for stage in self.stages if stage.endswith(": vertices")}

    def took_vertices(self, name: str, vertices: ShadedVertices) -> None:
        """Add the threads that shaded a draw's vertices."""
        self.took(f"{name}: vertices", vertices.program, vertices.steps)
        self.vertices += len(vertices.clip)
        self.traffic["URB"] += vertices.written


# Grounds of a frame on Gen6: values of the model on which figures rest, and the work that is counted.


PIPE_LANES = 4
"""Channels that the vector pipe serves in a cycle: it is held for two cycles for each eight."""

_CLOCK = Constant("clock", EU_MHZ, Standing.DERIVED, "Intel's product lists: the fastest turbo of desktop parts",
    unit="MHz")  # fmt: skip
_LANES = Constant("pipe lanes", PIPE_LANES, Standing.DERIVED,
    "Mesa's performance model: two cycles for each eight channels", "that a cycle serves", "lanes")  # fmt: skip
_BITS = Constant("lane bits", 32, Standing.DERIVED, "Kanter 2011", unit="bits")
_ASKED = ("units", "count", "channels")
"""Values that a user chooses; they are not rates."""


def _rates(config: EuConfig) -> tuple[Constant, ...]:
    def used(key: str, about: Param) -> bool:
        return key not in (*_ASKED, "caches") and (config.caches or about.matters != "caches")

    return constants_of(config, used)


def grounds_of_units(config: EuConfig) -> Mapping[str, Ground]:
    """Return the ground of each figure of a frame."""
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
    """Return how each work of a picture is counted in cycles; ``shaded`` where threads shaded its vertices."""
    return dict.fromkeys(Work, HowCounted.FREE) | {
        Work.VERTICES: HowCounted.PROGRAM if shaded else HowCounted.FREE,
        Work.BINNING: HowCounted.NONE,
        Work.COLOURS: HowCounted.PROGRAM,
        # A thread waits for the sampler; the filter, and texels missing from its cache, take no cycles.
        Work.TEXELS: HowCounted.PART,
        Work.FEED: HowCounted.UNITS if config.caches else HowCounted.FREE,
    }


def left_out(account: FrameAccount) -> Iterator[FreeWork]:
    """Yield the work of a frame that takes no cycles."""
    fixed, config = "a fixed function of the machine that is not modelled", account.config
    if not account.vertices:
        why = "the application's; render --projection eus executes them"
        yield FreeWork("camera and light", "PF501", Bound.OPEN, why, of=(Work.VERTICES,))
    yield FreeWork(
        "set-up, coverage, depth, stencil", "PF501", Bound.OPEN, fixed, of=(Work.SETUP, Work.COVERAGE, Work.TESTS)
    )
    if account.traffic["texels"]:
        why = f"{fixed}; threads wait for the answer as if every texel were in its cache"
        yield FreeWork("filter of the sampler", "PF501", Bound.OPEN, why, of=(Work.TEXELS,))
    yield FreeWork("blending, rounding of colours", "PF501", Bound.OPEN, fixed, of=(Work.BLENDING,))
    if served := account.served[RENDER_CACHE]:
        why = f"the render cache is held {config.render_busy} cycles by each write, a guess; no thread waits"
        held = constants_of(config, named(["render_busy"]))
        yield FreeWork("writes of pixels", "PF501", Bound.FLOOR, why, served, (Work.OUTPUT,), held)
    why = "of targets and texels; caches of instructions alone are timed"
    yield FreeWork("memory", "PF501", Bound.OPEN, why, of=(Work.MEMORY, Work.OUTPUT))
    yield FreeWork("commands and state", "PF501", Bound.OPEN, "no driver is here", of=(Work.COMMANDS,))
