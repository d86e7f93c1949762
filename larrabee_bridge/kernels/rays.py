"""Sixteen rays against a triangle: what each further triangle costs."""

from __future__ import annotations

from dataclasses import dataclass

from larrabee_bridge.kernels.timing import THREADS, Timed, timed
from larrabee_bridge.vpu.core import CoreConfig
from larrabee_bridge.vpu.unit.program import MEMORY_BYTES, shipped
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.wide.bytememory import ByteMemory
from pixelflow.simd.report import counted

__all__ = ["RayTest", "time_rays"]


@dataclass(frozen=True, slots=True)
class RayTest:
    """What one more triangle costs a thread."""

    vector: float
    """Operations of the vector unit."""
    alone: float
    """Cycles of a thread that has the core for itself."""
    shared: float
    """Cycles of the core for each of the threads that take turns."""


def time_rays(triangles: int = 10, threads: int = THREADS, config: CoreConfig | None = None) -> RayTest:
    """Time sixteen rays against one triangle and against ``triangles`` more; the difference is the loop.

    Raises InputError for fewer triangles or threads than one.
    """
    if triangles < 1 or threads < 1:
        raise InputError(Fault(f"{triangles} more triangles, {counted(threads, 'thread')}", hint="1 or more of each"))
    one, many = (_timed(count, threads, config) for count in (1, 1 + triangles))
    turns = triangles * threads
    return RayTest(
        vector=(many.vector - one.vector) / turns,
        alone=(sum(many.alone) - sum(one.alone)) / turns,
        shared=(many.core - one.core) / turns,
    )


def _timed(triangles: int, threads: int, config: CoreConfig | None) -> Timed:
    # Each thread has rays of its own.
    memory = ByteMemory(MEMORY_BYTES, threads)
    return timed(VectorUnit(shipped("ray.mc", TRIANGLES=triangles), threads, memory), config)
