"""Loads that widen and replicate: the same program for every kind of memory operand, timed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.timing import timed
from larrabee_bridge.vpu.core import CoreConfig
from larrabee_bridge.vpu.isa.operands import Conversion, Replication
from larrabee_bridge.vpu.unit.program import LINE_BYTES, assemble_vector
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError

__all__ = ["LoadConversion", "loads"]

_LOADS = 8


@dataclass(frozen=True, slots=True, eq=False)
class LoadConversion:
    """Eight additions with an operand of one kind from memory."""

    conversion: Conversion
    replication: Replication
    cycles: int
    """Of the eight, each of which waits for the one before, and of an end."""
    result: NDArray[np.float32]
    """The sum, sixteen lanes: eight times the operand."""


def loads(memory: bytes, config: CoreConfig | None = None) -> Iterator[LoadConversion]:
    """Time every kind of operand on the first 64 bytes of memory, added up eight times.

    Raises InputError for fewer bytes.
    """
    if len(memory) < LINE_BYTES:
        raise InputError(Fault(f"{len(memory)} bytes of memory", hint=f"{LINE_BYTES} or more"))
    held = np.frombuffer(memory, np.uint8, LINE_BYTES)
    text = "data [0]: " + ", ".join(map(str, held.tolist()))
    for conversion in Conversion:
        for replication in Replication:
            # What is not widened and not replicated is written without braces.
            words = "".join(f"{{{each.value}}}" for each in (conversion, replication) if each not in _PLAIN)
            program = assemble_vector("\n".join([text, *[f"vaddps v1, v1, [0]{words}"] * _LOADS]))
            unit = VectorUnit(program)
            timing = timed(unit, config)
            yield LoadConversion(conversion, replication, timing.core, unit.vector(1)[0].view(np.float32).copy())


_PLAIN = (Conversion.NONE, Replication.NONE)
