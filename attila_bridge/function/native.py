"""Native code for stretches of instructions between texture reads and functions."""

from __future__ import annotations

from functools import partial

from attila_bridge.assembler import ShaderProgram
from attila_bridge.isa.declarations import ShaderDeclaration, ShaderUnit, execute
from attila_bridge.isa.operands import POINTER, shader_shape
from pixelflow.simd.isa.declare import Instruction
from pixelflow.simd.lanes.native.group_run import Stretches
from pixelflow.simd.lanes.words import WordsEngine

_WORTH = 2_000_000


class NativeProgram:
    """Native code of one program's stretches; numpy executes the rest."""

    def __init__(self, program: ShaderProgram) -> None:
        self.ends = _ends(program.instructions)
        """For each instruction the one past the stretch that it begins; itself if it cannot be compiled."""
        self._stretches = Stretches(
            shader_shape(1), POINTER, _WORTH, lambda number: partial(execute, program.instructions[number])
        )

    def execute(self, lanes: WordsEngine, first: int, groups: int, *, at_once: bool) -> bool:
        """Execute the stretch that begins with an instruction, as `Stretches` does."""
        return self._stretches.execute(lanes, first, self.ends[first], groups, at_once=at_once)


def _ends(instructions: tuple[Instruction, ...]) -> list[int]:
    """Return, for each instruction, the next one without native code: a texture read or an elementary function."""
    ends = list(range(len(instructions)))
    for number in reversed(range(len(instructions))):
        declaration = instructions[number].declaration
        assert isinstance(declaration, ShaderDeclaration)
        if declaration.unit is not ShaderUnit.TEXTURE and not declaration.elementary:
            ends[number] = ends[number + 1] if number + 1 < len(ends) else number + 1
    return ends
