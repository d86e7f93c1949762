"""Writes to texture memory that collide whatever the PEs hold, as findings of ``asm --check``."""

from __future__ import annotations

from collections.abc import Iterator

from microcode.analysis.check import Finding
from pixelflow.debugger.colliding import certain_collisions
from pixelflow.isa import Program
from pixelflow.simd.errors import Place

__all__ = ["colliding_writes"]


def colliding_writes(program: Program) -> Iterator[Finding]:
    """Yield a finding for each transfer that loses data in every run."""
    for index, each in certain_collisions(program):
        line = program.line_at(index)
        place = None if line is None else Place(line.file, line.line, text=line.text)
        message = (
            f"in round {each.round} several EMCs of module {each.module} write to texture address {each.address:#x}, "
            "and what the last of them writes stays"
        )
        yield Finding(message, place, "mark PEs of one EMC, or give each address its own PE: LANGUAGE.md, rounds")
