"""Native code for stretches of instructions between texture reads and functions."""

from __future__ import annotations

from functools import partial

from attila_bridge.assembler import ShaderProgram
from attila_bridge.isa.declarations import ShaderDeclaration, ShaderUnit, execute
from attila_bridge.isa.operands import POINTER, shader_shape
from pixelflow.simd.isa.declare import Instruction
from pixelflow.simd.lanes.form import Part, places_of
from pixelflow.simd.lanes.native.group_program import GroupProgram
from pixelflow.simd.lanes.native.group_run import GroupRuns
from pixelflow.simd.lanes.numbers import record_numbers
from pixelflow.simd.lanes.words import WordsEngine

WORTH = 2_000_000
"""Instructions times groups after which a stretch is compiled: about what numpy executes in the meantime."""
_STOPPED = 0xFFFFFFFF


class NativeProgram:
    """Compiled stretches of one program; numpy executes the rest."""

    def __init__(self, program: ShaderProgram) -> None:
        self._instructions = program.instructions
        self.ends = _ends(self._instructions)
        """For each instruction the one past the stretch that it begins; itself if it cannot be compiled."""
        self._runs: dict[int, GroupRuns] = {}
        self._done: dict[int, int] = {}

    def execute(self, lanes: WordsEngine, first: int, groups: int, *, at_once: bool) -> bool:
        """Execute the stretch that begins with an instruction; False if nothing was executed.

        ``at_once`` compiles at the first execution instead of the one past `WORTH`.
        """
        past = self.ends[first]
        if first not in self._runs:
            self._done[first] = self._done.get(first, 0) + (past - first) * groups
            if past == first or (self._done[first] < WORTH and not at_once):
                return False
            self._runs[first] = _made(self._instructions[first:past])
        return self._runs[first].run(lanes, past - first).is_done


def _made(instructions: tuple[Instruction, ...]) -> GroupRuns:
    shape = shader_shape(1)
    places, parts = places_of(shape), list[Part]()
    for instruction in instructions:
        parts.append(record_numbers(partial(execute, instruction), places))
    return GroupRuns(
        GroupProgram(
            shape=shape,
            parts=parts,
            branches=[False] * len(parts),
            addresses=range(len(parts) + 1),
            following=POINTER,
            stopped=_STOPPED,
            begins=[0],
        )
    )


def _ends(instructions: tuple[Instruction, ...]) -> list[int]:
    """Return, for each instruction, the next one without native code: a texture read or an elementary function."""
    ends = list(range(len(instructions)))
    for number in reversed(range(len(instructions))):
        declaration = instructions[number].declaration
        assert isinstance(declaration, ShaderDeclaration)
        if declaration.unit is not ShaderUnit.TEXTURE and not declaration.elementary:
            ends[number] = ends[number + 1] if number + 1 < len(ends) else number + 1
    return ends
