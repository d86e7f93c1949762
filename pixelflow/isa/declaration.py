"""Declarations of the node's instructions: families, units, and what they have besides those of any machine."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pixelflow.simd.isa.declare import Declaration

__all__ = ["Family", "NodeDeclaration", "Transfers", "Unit"]


class Family(Enum):
    """Groups of instructions in the cycle report and in the manual."""

    STARTUP = "start-up"
    MOVE = "move"
    ARITHMETIC = "arithmetic"
    LOGIC = "logic"
    SHIFT = "shift"
    MULTIPLY = "multiply"
    ENABLE = "enable"
    LEE = "linear expression"
    PIXEL_COPY = "pixel copy"
    PORT = "port"
    TEXTURE = "texture"
    CONTROL = "control"


class Unit(Enum):
    """Which part of the machine gives an instruction its meaning."""

    PE = "processing elements"
    LEE = "linear expression evaluator"
    TASIC = "texture ASICs"
    SEQUENCER = "sequencer"


class Transfers(Enum):
    """What a transfer does to the SDRAMs of texture memory."""

    READ = "reads them"
    WRITE = "writes them"
    PASS = "leaves them alone"


@dataclass(frozen=True, eq=False)
class NodeDeclaration(Declaration):
    """One instruction of a node."""

    transfers: Transfers | None = None
    """Which way it moves bytes through the TASICs, for as long as that takes; None where it is no transfer."""

    @property
    def on_lanes(self) -> bool:
        """Whether its meaning is over the lanes: that of the processing elements' instructions is."""
        return self.unit is Unit.PE
