"""Shading: programs executed on lanes, for vertices and for the fragments of quads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from attila_bridge.assembler import ShaderProgram
from attila_bridge.function.layout import clamped, registers_of
from attila_bridge.isa.declarations import ShaderDeclaration, ShaderUnit, execute
from attila_bridge.isa.execution import TextureSampler
from attila_bridge.isa.operands import (
    COMPONENTS,
    GROUP_LANES,
    INPUTS_OF_GROUP,
    KILLED,
    POINTER,
    RegisterBank,
    row_of,
    shader_shape,
)
from pixelflow.simd.isa.declare import Instruction
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.lanes.native.plain import WIDE
from pixelflow.simd.lanes.words import ByteMemory, LaneValues, WordsEngine

_WORTH = 2_000_000
"""Instructions times groups of inputs after which a stretch is compiled."""
Floats = NDArray[np.float32]
Words = NDArray[np.uint32]
_DEFAULT = np.array([0, 0, 0, 1], np.float32)
_CONSTANT_BYTES = 16
COLOR = 1
"""The output register that holds the colour, of vertices and of fragments."""


class QuadSampler(TextureSampler[Words], Protocol):
    """Answers texture reads; ``instruction`` is the number of the reading one."""

    instruction: int


@dataclass(frozen=True, slots=True, eq=False)
class Shaded:
    """Outputs of shaded vertices or fragments."""

    outputs: dict[int, Floats]
    """float32[inputs, 4] of each output register that the program writes."""
    killed: NDArray[np.bool_]
    """[inputs]"""

    def output(self, number: int) -> Floats:
        """Return an output register, zeros where the program does not write it."""
        written = self.outputs.get(number)
        return np.zeros((len(self.killed), COMPONENTS), np.float32) if written is None else written

    def with_colors_clamped(self) -> Shaded:
        """Return the outputs of vertices with the colour clamped to 0..1, as commit does."""
        return Shaded({**self.outputs, COLOR: clamped(self.output(COLOR))}, self.killed)


class Shader:
    """A program that shades any number of groups of four inputs."""

    def __init__(self, program: ShaderProgram, engine: str = AUTO) -> None:
        """``engine`` is ``rows`` (numpy), ``compiled`` (native) or the fastest that works; the bits are the same."""
        self.program = program
        self._at_once = engine != AUTO
        self._native = NativeProgram(program) if WIDE.choose(engine).engine == "compiled" else None
        constants = np.array(program.constants, np.float32).reshape(-1, COMPONENTS)
        # Constants are in memory too, for instructions that address them by a register.
        self._memory = ByteMemory(max(1, len(constants)) * _CONSTANT_BYTES)
        self._memory.data[0, : constants.nbytes] = constants.reshape(-1).view(np.uint8)
        self._rows = {row_of(RegisterBank.CONSTANT, at): _everywhere(value) for at, value in enumerate(constants)}
        for register in registers_of(program, RegisterBank.INPUT):
            self._rows[row_of(RegisterBank.INPUT, register)] = _everywhere(_DEFAULT)
        self._outputs = registers_of(program, RegisterBank.OUTPUT)

    def vertices(self, attributes: dict[int, Floats], count: int) -> Shaded:
        """Shade vertices; attributes by input register, float32[count, up to 4]; the rest is (0, 0, 0, 1)."""
        groups = -(-count // INPUTS_OF_GROUP)
        inputs = {}
        for register, values in attributes.items():
            whole = np.broadcast_to(_DEFAULT, (groups * INPUTS_OF_GROUP, COMPONENTS)).copy()
            whole[:count, : values.shape[1]] = values
            inputs[register] = whole.reshape(groups, GROUP_LANES)
        shaded = self.quads(inputs, groups)
        return Shaded({number: values[:count] for number, values in shaded.outputs.items()}, shaded.killed[:count])

    def quads(self, inputs: dict[int, Floats], groups: int, sampler: QuadSampler | None = None) -> Shaded:
        """Shade groups; inputs by register, float32[groups, 16], four components for each fragment."""
        lanes = WordsEngine(shader_shape(groups), self._memory)
        given = {
            row_of(RegisterBank.INPUT, register): np.ascontiguousarray(values).view(np.uint32)
            for register, values in inputs.items()
        }
        lanes.set_values(LaneValues(self._rows | given, {}, {}))
        number = 0
        while number < len(self.program.instructions):
            number = self._execute(lanes, number, groups, sampler)
        values = lanes.values()
        outputs = {}
        for register in self._outputs:
            row = np.broadcast_to(values.rows[row_of(RegisterBank.OUTPUT, register)], (groups, GROUP_LANES))
            outputs[register] = np.ascontiguousarray(row).view(np.float32).reshape(-1, COMPONENTS)
        killed = np.broadcast_to(values.flags[KILLED], (groups, GROUP_LANES))
        return Shaded(outputs, killed.reshape(-1, COMPONENTS)[:, 0].copy())

    def _execute(self, lanes: WordsEngine, number: int, groups: int, sampler: QuadSampler | None) -> int:
        """Execute an instruction, or the native stretch that it begins; return the number of the next one."""
        native = self._native
        if native is not None and native.execute(lanes, number, groups, at_once=self._at_once):
            return native.ends[number]
        if sampler is not None:
            sampler.instruction = number
        lanes.run([(partial(execute, self.program.instructions[number], sampler=sampler),)])
        return number + 1


def _everywhere(value: Floats) -> Words:
    """Return a register that is the same for all inputs."""
    return np.tile(value, INPUTS_OF_GROUP)[None].view(np.uint32)


class NativeProgram:
    """Native code of one program's stretches between texture reads and functions; numpy executes the rest."""

    def __init__(self, program: ShaderProgram) -> None:
        self.ends = _ends(program.instructions)
        """For each instruction the one past the stretch that it begins; itself if it cannot be compiled."""
        from pixelflow.simd.lanes.native.group_run import Stretches  # it needs a compiler

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
