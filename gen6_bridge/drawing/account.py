"""Account of a frame: what its threads did and took, draw by draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gen6_bridge.code.assembler import EuProgram
from gen6_bridge.drawing.vertices import ShadedVertices
from gen6_bridge.time import CarriedStep, EuConfig, schedule
from pixelflow.simd.report import TimeSpan

__all__ = ["FrameAccount", "pixels_of_draw"]


def pixels_of_draw(name: str) -> str:
    """Return the stage of a draw's pixels."""
    return f"{name}: pixels"


@dataclass(slots=True)
class FrameAccount:
    """What the threads of a frame did; each batch of threads begins when the one before has ended."""

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
    """Of pixels."""
    there: int = 0
    """Channels of theirs that were dispatched."""
    visible: int = 0
    """Channels whose pixels were written."""
    traffic: Counter[str] = field(default_factory=Counter)
    spans: list[TimeSpan] = field(default_factory=list)
    """When each batch of threads began and ended."""
    vertices: int = 0
    turns: int = 0
    """In which sorted draws were blended."""

    def __post_init__(self) -> None:
        self.ended = [0] * self.config.units

    def took(self, stage: str, program: EuProgram, steps: Sequence[Sequence[CarriedStep]]) -> None:
        """Schedule threads that have been carried out, and add up what they took."""
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

    def took_pixels(self, name: str, program: EuProgram, steps: Sequence[Sequence[CarriedStep]]) -> None:
        """Add up what shading pixels of a draw took: one batch of threads."""
        self.took(pixels_of_draw(name), program, steps)

    def took_vertices(self, name: str, vertices: ShadedVertices) -> None:
        """Add up what shading the vertices of a draw took."""
        self.took(f"{name}: vertices", vertices.program, vertices.steps)
        self.vertices += len(vertices.clip)
        self.traffic["URB"] += vertices.written
