"""Layout of memory: addresses of a scene's buffers; the line, ROP and shader of each tile of the frame."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from attila_bridge.assembler import ShaderProgram, assemble_shader
from attila_bridge.function.work import NONE, PAGE_BYTES, InstructionWork, ProgramWork
from attila_bridge.isa.declarations import ShaderDeclaration, destination_of, sources_of, unit_of
from attila_bridge.isa.operands import RegisterBank, ShaderStage, register_id
from attila_bridge.scene import AttilaScene
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.isa.declare import Instruction

# Bounds of values; a NaN is above every bound.


Real = TypeVar("Real", np.float32, np.float64)


def clamped(values: NDArray[Real], low: float | NDArray[Real] = 0, high: float | NDArray[Real] = 1) -> NDArray[Real]:
    """Return values within bounds. The upper one is tested first, as in the recorded machine, so a NaN becomes it."""
    return np.where(values < high, np.where(values > low, values, low), high).astype(values.dtype, copy=False)


QUADS = 16
"""Quads of a tile, and of a step."""
_NUMBERS = np.arange(QUADS)
QUAD_X = 2 * (_NUMBERS & 1 | _NUMBERS >> 1 & 2)
QUAD_Y = 2 * (_NUMBERS >> 1 & 1 | _NUMBERS >> 2 & 2)
"""Positions of the quads of a tile, in Morton order: traversal splits tiles in four down to quads."""
PLACES = tuple((2 * QUAD_Y + QUAD_X // 2).tolist())
"""Places of these quads in their line of memory, which has them row by row."""
TILE = 8
"""Side in pixels of a generation tile, whose 64 words are one line."""
SCAN_TILE = 16
OVER_TILE = 64
LINE_BYTES = 256
Integers = NDArray[np.int64]


class Units(NamedTuple):
    """Machine values that drawing depends on: units that share the quads, and the kind of traversal."""

    rops: int = 2
    shaders: int = 2
    square: bool = False
    """True if a frame is cut off at the height of its width, as the public simulator does, which uses the width for
    both sides. A frame wider than high has tiles above its top either way."""
    testers: int = 4
    """Tiles split by one descent."""
    recursive: bool = True
    """True if four triangles at once descend through tiles; otherwise each is scanned by rows."""


DEFAULT_UNITS = Units()


class Allocator:
    """Addresses in the graphics memory, assigned in order in pages, as the public simulator's driver does."""

    def __init__(self) -> None:
        self._next = 0

    def place(self, size: int) -> int:
        """Return the address of this many bytes."""
        found = self._next
        self._next += -(-size // PAGE_BYTES) * PAGE_BYTES
        return found


def morton(x: Integers, y: Integers, bits: int) -> Integers:
    """Return the bits of x and y interleaved, x lowest."""
    found = np.zeros(np.broadcast(x, y).shape, np.int64)
    for bit in range(bits):
        found |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << 2 * bit + 1
    return found


def blocks_of(width: int, height: int) -> int:
    """Return the lines of a buffer: those of whole over-tiles of 64x64 pixels."""
    return -(-width // OVER_TILE) * -(-height // OVER_TILE) * (OVER_TILE // TILE) ** 2


def line_of(x: Integers, y: Integers, width: int) -> Integers:
    """Return the number of the line of 8x8 tiles at x, y in pixels.

    Over-tiles row by row; in them scan tiles in Morton order; in those four 8x8 tiles row by row.
    """
    across = -(-width // OVER_TILE)
    over = (y // OVER_TILE) * across + x // OVER_TILE
    scan = morton(x // SCAN_TILE, y // SCAN_TILE, 2)
    return (over * 16 + scan) * 4 + (y // TILE & 1) * 2 + (x // TILE & 1)


def rop_of(x: Integers, y: Integers, rops: int) -> Integers:
    """Return the ROP of tiles at x, y in pixels: the Morton number of the scan tile modulo ROPs."""
    return morton(x // SCAN_TILE, y // SCAN_TILE, 8) % rops


def shader_of(x: Integers, y: Integers, shaders: int) -> Integers:
    """Return the shader of tiles at x, y in pixels.

    The public simulator spreads quads over 2 or 4 shaders; any other number of them gives all quads to the first.
    """
    column, row = x // SCAN_TILE, y // SCAN_TILE
    if shaders == 2:
        return (column + row) % 2
    if shaders == 4:
        return (column & 1) | (row & 1) << 1
    return np.zeros(np.broadcast(x, y).shape, np.int64)


# Programs of a scene, assembled, and their work.


DEPTH_OUTPUT = 0
"""The output register of a fragment program whose third component is depth."""
_WRITABLE = (RegisterBank.TEMPORARY, RegisterBank.ADDRESS)


def assembled_program(scene: AttilaScene, name: str, stage: ShaderStage) -> ShaderProgram:
    """Return a program of a scene; raises InputError for faults of its text or the wrong stage."""
    program = assemble_shader(scene.programs[name], name, f"{scene.file}: program {name}")
    if program.stage is not stage:
        message = f"program {name} is a {program.stage.value} program, a {stage.value} program is wanted"
        raise InputError(Fault(message, Place(scene.file)))
    return program


def registers_of(program: ShaderProgram, bank: RegisterBank) -> list[int]:
    """Return the registers of a bank that a program names, in order."""
    operands = [each for one in program.instructions for each in (*sources_of(one), destination_of(one))]
    return sorted({each.number for each in operands if each is not None and each.bank is bank})


def program_bytes(program: ShaderProgram) -> int:
    """Return the bytes of a program in memory, with the instructions that pad it."""
    return 16 * (len(program.instructions) + 16)


def writes_depth(program: ShaderProgram) -> bool:
    """Return whether a fragment program writes depth, so that the depth test comes after it."""
    return program.stage is ShaderStage.FRAGMENT and DEPTH_OUTPUT in registers_of(program, RegisterBank.OUTPUT)


def program_work(program: ShaderProgram, address: int | None) -> ProgramWork:
    """Return the work of a program, loaded from an address unless an earlier draw loaded it."""
    last = len(program.instructions) - 1
    outputs = len(registers_of(program, RegisterBank.OUTPUT))
    reads = count()
    temporaries = registers_of(program, RegisterBank.TEMPORARY)
    return ProgramWork(
        instructions=tuple(_work(each, reads, at == last) for at, each in enumerate(program.instructions)),
        inputs=len(registers_of(program, RegisterBank.INPUT)),
        outputs=max(1, outputs - writes_depth(program)),
        temporaries=temporaries[-1] + 1 if temporaries else 0,
        address=address,
    )


def _work(instruction: Instruction, reads: Iterator[int], is_end: bool) -> InstructionWork:
    declaration = instruction.declaration
    assert isinstance(declaration, ShaderDeclaration)
    written = destination_of(instruction)
    read = (each for each in sources_of(instruction) if each.bank in _WRITABLE)
    return InstructionWork(
        latency=declaration.latency + 1,
        sources=tuple({register_id(each.bank, each.number) for each in read}),
        destination=NONE if written is None else register_id(written.bank, written.number),
        texture=NONE if unit_of(instruction) is None else next(reads),
        is_end=is_end,
    )
