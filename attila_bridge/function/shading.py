"""Shading: programs carried out on lanes, for vertices and for the fragments of quads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from attila_bridge.code.assembler import ShaderProgram
from attila_bridge.code.isa import carry_out
from attila_bridge.code.isa.execution import TextureSampler
from attila_bridge.code.isa.registers import (
    COMPONENTS,
    GROUP_LANES,
    INPUTS_OF_GROUP,
    KILLED,
    ROWS,
    RegisterBank,
    row_of,
    shader_shape,
)
from attila_bridge.function.programs import registers_of
from pixelflow.simd.lanes.wide.bytememory import ByteMemory
from pixelflow.simd.lanes.wide.words import LaneValues, WordsEngine

__all__ = ["COLOR", "QuadSampler", "Shaded", "shade_quads", "shade_vertices"]

Floats = NDArray[np.float32]
Words = NDArray[np.uint32]
_DEFAULT = np.array([0, 0, 0, 1], np.float32)
_CONSTANT_BYTES = 16
COLOR = 1
"""The output register that holds the colour, of vertices and of fragments."""


class QuadSampler(TextureSampler[Words], Protocol):
    """Answers texture reads, and is told which instruction asks."""

    instruction: int


@dataclass(frozen=True, slots=True, eq=False)
class Shaded:
    """Outputs of shaded inputs."""

    outputs: dict[int, Floats]
    """By number of the output register, float32[inputs, 4]: those that the program writes."""
    killed: NDArray[np.bool_]
    """[inputs]"""

    def output(self, number: int) -> Floats:
        """Return an output register, zeros where the program does not write it."""
        found = self.outputs.get(number)
        return np.zeros((len(self.killed), COMPONENTS), np.float32) if found is None else found

    def with_colors_clamped(self) -> Shaded:
        """Return the outputs of vertices with the colour within 0..1, as the end of the vertex side leaves it."""
        with np.errstate(all="ignore"):
            color = np.clip(self.output(COLOR), np.float32(0), np.float32(1))
        return Shaded({**self.outputs, COLOR: color}, self.killed)


def shade_vertices(program: ShaderProgram, attributes: dict[int, Floats], count: int) -> Shaded:
    """Shade vertices; attributes by input register, float32[count, up to 4]; the rest is (0, 0, 0, 1)."""
    groups = -(-count // INPUTS_OF_GROUP)
    inputs = {}
    for register, values in attributes.items():
        whole = np.broadcast_to(_DEFAULT, (groups * INPUTS_OF_GROUP, COMPONENTS)).copy()
        whole[:count, : values.shape[1]] = values
        inputs[register] = whole.reshape(groups, GROUP_LANES)
    found = _run(program, inputs, groups, None)
    return Shaded({number: values[:count] for number, values in found.outputs.items()}, found.killed[:count])


def shade_quads(program: ShaderProgram, inputs: dict[int, Floats], quads: int, sampler: QuadSampler | None) -> Shaded:
    """Shade quads; inputs by register, float32[quads, 16], four components for each fragment."""
    return _run(program, inputs, quads, sampler)


def _run(program: ShaderProgram, inputs: dict[int, Floats], groups: int, sampler: QuadSampler | None) -> Shaded:
    constants = np.array(program.constants, np.float32).reshape(-1, COMPONENTS)
    # Constants lie in memory too, for instructions that address them by a register.
    memory = ByteMemory(max(1, len(constants)) * _CONSTANT_BYTES)
    memory.data[0, : constants.nbytes] = constants.reshape(-1).view(np.uint8)
    lanes = WordsEngine(shader_shape(groups), memory)
    rows: dict[int, Words] = {}
    default = np.tile(_DEFAULT, INPUTS_OF_GROUP)[None].view(np.uint32)
    for register in range(row_of(RegisterBank.OUTPUT, 0)):
        rows[row_of(RegisterBank.INPUT, register)] = default
    for register, values in inputs.items():
        rows[row_of(RegisterBank.INPUT, register)] = np.ascontiguousarray(values).view(np.uint32)
    for number, value in enumerate(constants):
        rows[row_of(RegisterBank.CONSTANT, number)] = np.tile(value, INPUTS_OF_GROUP)[None].view(np.uint32)
    assert len(rows) <= ROWS
    lanes.set_values(LaneValues(rows, {}, {}))
    for number, instruction in enumerate(program.instructions):
        if sampler is not None:
            sampler.instruction = number
        lanes.run([(partial(carry_out, instruction, sampler=sampler),)])
    found = lanes.values()
    outputs = {}
    for register in registers_of(program, RegisterBank.OUTPUT):
        row = np.broadcast_to(found.rows[row_of(RegisterBank.OUTPUT, register)], (groups, GROUP_LANES))
        outputs[register] = np.ascontiguousarray(row).view(np.float32).reshape(-1, COMPONENTS)
    killed = np.broadcast_to(found.flags[KILLED], (groups, GROUP_LANES))
    return Shaded(outputs, killed.reshape(-1, COMPONENTS)[:, 0].copy())
