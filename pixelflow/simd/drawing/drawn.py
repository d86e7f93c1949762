"""Drawn frames: what a machine did for a picture, in terms that hold for every one."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.simd.drawing.reference import Picture

__all__ = ["ALL_PARTS", "Comparison", "DrawnFrame"]

ALL_PARTS = "of all parts"
"""What cycles by stage are added up over where nothing else is said."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnFrame:
    """One machine's picture and its account; every count is a sum over what was executed, where it is not a formula."""

    machine: str
    parts: int
    """Nodes or cores."""
    lanes: int
    """Lanes of all parts together."""
    clock_mhz: float
    cycles: int
    """From the first cycle of the first part to the last of the last."""
    work: int
    """Cycles in which parts were busy, of all parts together."""
    stages: dict[str, int]
    """Cycles of all parts, or of all their threads alone, by what they were spent on."""
    mix: dict[str, int]
    """Instructions of all parts together, by family."""
    covered_lanes: float
    """Of the blocks of pixels that a triangle reaches (128x64 PEs, or the 4x4 lanes of a core), the share that it
    covers; 0 where there is none."""
    enabled_lanes: float | None
    """Share of the lanes that were enabled, over all cycles; None where that is not counted."""
    traffic: dict[str, int]
    """Bytes that were moved, by way."""
    picture: Picture
    whose_stages: str = ALL_PARTS
    """What the cycles by stage are added up over."""
    facts: tuple[tuple[str, str], ...] = field(default=())
    """What else is worth knowing: (name, text)."""

    @property
    def milliseconds(self) -> float:
        """Time for the picture at the machine's clock."""
        return self.cycles / self.clock_mhz / 1e3

    @property
    def lane_cycles(self) -> int:
        """Cycles of all parts together times the lanes of one: what was paid, whatever the clock."""
        return self.work * (self.lanes // self.parts)


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A scene on machines side by side, beside the picture that 64-bit integers draw."""

    scene: str
    triangles: int
    """That have an area once their corners are rounded."""
    dropped: int
    """That have none."""
    expected: Picture
    sides: tuple[DrawnFrame, ...]

    @property
    def identical(self) -> bool:
        """Whether every machine has drawn every pixel, depth and colour, as it is expected."""
        return all(side.picture.equals(self.expected) for side in self.sides)
