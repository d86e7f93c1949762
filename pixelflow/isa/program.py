"""A program for a node's two instruction streams."""

from __future__ import annotations

from typing import ClassVar

from pixelflow.isa.declaration import NodeDeclaration
from pixelflow.isa.emc import INSTRUCTIONS
from pixelflow.simd.isa import program as core
from pixelflow.simd.isa.declare import InstructionSet

__all__ = ["SCHEMA", "Program"]

SCHEMA = "pixelflow.program/1"


class Program(core.Program):
    """An assembled program: the words of both streams, of routines and procedures."""

    instruction_set: ClassVar[InstructionSet[NodeDeclaration]] = INSTRUCTIONS
    schema: ClassVar[str] = SCHEMA
    stream: ClassVar[str] = "eigc"
