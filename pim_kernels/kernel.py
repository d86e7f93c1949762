"""A kernel: a program, the data that the host puts into the PEs, and what must come out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from microcode import assemble
from pixelflow.config import ArrayConfig, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.packaged import shipped
from pixelflow.simd.report import counted

__all__ = ["HostMemory", "PimKernel", "PimProblem", "kernel_program", "lane_bits"]

_PROGRAMS = shipped("pim_kernels", "programs")


class HostMemory:
    """The ranges of a program in the PEs of a node, by name: unsigned integers of 1 to 8 bytes, low byte first."""

    def __init__(self, node: Node, program: Program) -> None:
        self.node = node
        self._ranges = {each.name: each for each in program.ranges}
        self.written = 0
        """Bytes that were put in."""

    def put(self, name: str, values: NDArray[np.unsignedinteger]) -> None:
        """Put numbers of every PE, uint[lanes, count], into a range."""
        rows = np.ascontiguousarray(values).view(np.uint8).reshape(self.node.lanes, -1).T
        self.node.write_memory(self._ranges[name].start, np.ascontiguousarray(rows))
        self.written += rows.size

    def get(self, name: str, size: int) -> NDArray[np.uint64]:
        """Return the numbers of ``size`` bytes of a range: uint64[lanes, count]."""
        found = self._ranges[name]
        count = found.size // size
        words = [self.node.read_word(found.start + size * index, size) for index in range(count)]
        return np.stack(words, axis=1)


@dataclass(frozen=True, slots=True)
class PimProblem:
    """Data in place: how much there is, and whether a node that has run the program holds the right results."""

    elements: int
    """What is worked on, over all PEs."""
    check: Callable[[], bool]
    """Compares with numpy, exactly."""
    left: int
    """Bytes of results that the host has to read, and to put together where modules stand alone."""


@dataclass(frozen=True)
class PimKernel:
    """A kernel by name. ``each`` says how much of what is in a PE; ``ends`` what is left to the host."""

    name: str
    about: str
    each: str
    ends: str
    place: Callable[[HostMemory, np.random.Generator], PimProblem]
    """Puts data into a node's PEs."""
    peer: Mapping[str, int] = field(default_factory=dict)
    """What the same work is on a bit-serial machine with as many columns as there are PEs: its operations, counted."""
    peer_ends: str = ""
    """What of the work those operations leave to the host, or why there are none."""

    def program(self, config: NodeConfig) -> Program:
        """Return the program for a machine; raises InputError where the kernel does not fit it."""
        return kernel_program(self.name, lane_bits(config.array))


def lane_bits(array: ArrayConfig) -> int:
    """Return the bits of a PE's number in its module; raises InputError where kernels do not fit the machine."""
    emcs = array.emcs_per_module
    faults = []
    if array.panels_per_emc != 8:
        found = f"array.panels_per_emc: {counted(array.panels_per_emc, 'panel')}"
        faults.append(Fault(found, hint="allowed: 8 (kernels know 3 bits of x and y for the panel)"))
    if emcs & (emcs - 1):
        found = f"array.emcs_per_module: {emcs} is not a power of two"
        faults.append(Fault(found, hint="allowed: 1, 2, 4, .. 64 (kernels exchange over 1, 2, 4, .. EMCs)"))
    if faults:
        raise InputError(faults)
    return 8 + emcs.bit_length() - 1


@cache
def kernel_program(name: str, bits: int) -> Program:
    """Return a kernel's program for modules whose PEs have numbers of so many bits; the same object each time."""
    path = _PROGRAMS / f"{name}.mc"
    needs_bits = "\nparam BITS" in "\n" + path.read_text(encoding="utf-8")
    return assemble(path, BITS=bits) if needs_bits else assemble(path)
