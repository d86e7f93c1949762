"""Sixteen rays against a triangle: what each further triangle costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.study import THREADS, CoresRun, run_kernel
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa.operands import Conversion, Replication
from larrabee_bridge.vpu.program import LINE_BYTES, MEMORY_BYTES, assemble_vector, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes.words import ByteMemory

# Loads that widen and replicate: the same program for every kind of memory operand, timed.


_LOADS = 8


class LoadConversion(NamedTuple):
    """Eight additions with an operand of one kind from memory."""

    conversion: Conversion
    replication: Replication
    cycles: int
    """Of the eight, each of which waits for the one before, and of an end."""
    result: NDArray[np.float32]
    """The sum, sixteen lanes: eight times the operand."""


def loads(memory: bytes, config: CoreConfig | None = None) -> Iterator[LoadConversion]:
    """Time every kind of operand on the first 64 bytes of memory, added up eight times."""
    held = np.frombuffer(memory, np.uint8, LINE_BYTES)
    text = "data [0]: " + ", ".join(map(str, held.tolist()))
    for conversion in Conversion:
        for replication in Replication:
            # Plain operands have no braces.
            words = "".join(f"{{{each.value}}}" for each in (conversion, replication) if each not in _PLAIN)
            program = assemble_vector("\n".join([text, *[f"vaddps v1, v1, [0]{words}"] * _LOADS]))
            unit = VectorUnit(program)
            cycles = run_kernel(unit, config).cycles
            yield LoadConversion(conversion, replication, cycles, unit.vector(1)[0].view(np.float32).copy())


_PLAIN = (Conversion.NONE, Replication.NONE)


class RayTest(NamedTuple):
    """Cost of one more triangle for a thread."""

    vector: float
    """Operations of the vector unit."""
    alone: float
    """Cycles of a thread that has the core for itself."""
    shared: float
    """Cycles of the core for each of the threads that take turns."""


def time_rays(triangles: int = 10, config: CoreConfig | None = None) -> RayTest:
    """Time sixteen rays against one triangle and against ``triangles`` more, on four threads; the difference is the
    loop.
    """
    one, many = (_run(count, config) for count in (1, 1 + triangles))
    turns = triangles * THREADS
    return RayTest(
        vector=(many.vector - one.vector) / turns,
        alone=int((many.alone - one.alone).sum()) / turns,
        shared=(many.cycles - one.cycles) / turns,
    )


def _run(triangles: int, config: CoreConfig | None) -> CoresRun:
    # Each thread has its own rays.
    memory = ByteMemory(MEMORY_BYTES, THREADS)
    return run_kernel(VectorUnit(shipped("ray.mc", TRIANGLES=triangles), THREADS, memory), config)
