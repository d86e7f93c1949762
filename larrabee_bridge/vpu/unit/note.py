"""Notes of what threads carried out: which basic blocks, one after the other, and how many lines they touched.

Engines write notes and whoever works out times reads them; a note knows no values and no clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.unit.program import VectorProgram
from pixelflow.simd.isa.effects import effects
from pixelflow.simd.isa.operands import Target

__all__ = ["Blocks", "Note", "NoteSubscriber", "Step"]

Step = tuple[int, tuple[int, ...]]
"""Number of an instruction, and the lines that it touched."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Basic blocks of a program, in its order: each ends after a branch and before what a branch leads to."""

    bounds: NDArray[np.int64]
    """Where each begins, as the number of an instruction, then the number of all: int64[blocks + 1]."""
    touching: tuple[tuple[int, ...], ...]
    """Of each block the instructions that touch memory, ascending; a prefetch touches none."""
    block_at: dict[int, int]
    """The block that begins at an instruction."""

    @classmethod
    def of(cls, program: VectorProgram) -> Blocks:
        """Return the basic blocks of a program; the same object for the same program."""
        found = program.analyses.get("basic blocks")
        if found is None:
            begins = {0, len(program.instructions)}
            for number, each in enumerate(program.instructions):
                if each.declaration.family is VectorFamily.BRANCH:
                    begins.add(number + 1)
                arguments = zip(each.declaration.operands, each.operands, strict=True)
                begins |= {program.index_of[value] for spec, value in arguments if isinstance(spec.kind, Target)}
            found = program.analyses["basic blocks"] = cls._made(program, sorted(begins))
        return found

    @classmethod
    def single(cls, program: VectorProgram) -> Blocks:
        """Return blocks of one instruction each; the same object for the same program."""
        found = program.analyses.get("single instructions")
        if found is None:
            begins = list(range(len(program.instructions) + 1))
            found = program.analyses["single instructions"] = cls._made(program, begins)
        return found

    @classmethod
    def _made(cls, program: VectorProgram, begins: list[int]) -> Blocks:
        memory = [effects(each.apply).memory for each in program.instructions]
        touching = tuple(
            tuple(number for number in range(first, past) if memory[number])
            for first, past in zip(begins, begins[1:], strict=False)
        )
        return cls(np.array(begins, np.int64), touching, {at: block for block, at in enumerate(begins[:-1])})


@dataclass(frozen=True, slots=True, eq=False)
class Note:
    """What threads carried out, or a part of it: later notes go on where this one ends.

    The words of a thread are, for each block that it carried out to its end: the number of the block, then for each
    instruction of it that touches memory, in order, how many cache lines that touched (0 where no lane was enabled),
    each followed, where ``has_lines``, by so many numbers of lines, each once and ascending. A block that a fault cut
    short comes in a note of its own, whose blocks are single instructions.
    """

    blocks: Blocks
    threads: NDArray[np.int64]
    """Which threads of the unit, each once, ascending: int64[n]."""
    words: NDArray[np.uint32]
    """Of one thread after the other."""
    starts: NDArray[np.int64]
    """Where the words of each begin, then their number: int64[n + 1]."""
    has_lines: bool = False

    def steps(self, place: int) -> Iterator[Step]:
        """Yield what the thread at ``place`` of ``threads`` carried out, instruction by instruction.

        Raises ValueError where lines were not noted.
        """
        if not self.has_lines:
            raise ValueError("a note without lines")
        words = iter(self.words[self.starts[place] : self.starts[place + 1]].tolist())
        for block in words:
            touching = self.blocks.touching[block]
            for number in range(*self.blocks.bounds[block : block + 2].tolist()):
                lines = next(words) if number in touching else 0
                yield number, tuple(next(words) for _ in range(lines))


NoteSubscriber = Callable[[Note], None]
"""Called with each note of a run."""
