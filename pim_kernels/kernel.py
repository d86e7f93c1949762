"""A kernel: a program, the data that the host puts into the PEs, and the expected results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microcode import assemble
from pixelflow.config import ArrayConfig, NodeConfig
from pixelflow.isa import MemoryRange, Program
from pixelflow.node import Node
from pixelflow.node.named_ranges import find_range
from pixelflow.simd.errors import Fault, InputError, must_be
from pixelflow.simd.files import shipped
from pixelflow.simd.isa.operands import is_whole
from pixelflow.simd.report import counted

_PROGRAMS = shipped("pim_kernels", "programs")


class HostMemory:
    """The ranges of a program in the PEs of a node, by name: unsigned integers of 1 to 8 bytes, low byte first."""

    def __init__(self, node: Node, program: Program) -> None:
        self.node = node
        self._program = program
        self.written = 0
        """Bytes written."""

    def put(self, name: str, values: NDArray[np.unsignedinteger]) -> None:
        """Write numbers of every PE, uint[lanes, count], to a range, which they must fill.

        Raises InputError for an unknown name, for types other than uint8, uint16, uint32 and uint64, for a wrong number
        of PEs, and for numbers that do not fill the range exactly.
        """
        found, lanes = self._range(name), self.node.lanes
        must_be(values, np.ndarray, f"an array uint[{lanes}, count] for {name}")
        if values.dtype.kind != "u":
            hint = "say how many bytes a number has: values.astype(np.uint16)"
            message = f"{name}: expected uint8, uint16, uint32 or uint64, found {values.dtype}"
            raise InputError(Fault(message, hint=hint))
        each = values.dtype.itemsize
        count, left = divmod(found.size, each)
        if left or values.shape != (lanes, count):
            fills = f"so {count} numbers of {values.dtype} in each of {lanes} PEs fill it"
            hint = f"{values.dtype} does not divide it" if left else f"{fills}: expected shape {(lanes, count)}"
            message = f"{name} has {counted(found.size, 'byte')}, found {values.dtype}{list(values.shape)}"
            raise InputError(Fault(message, hint=hint))
        low_first = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
        rows = low_first.view(np.uint8).reshape(lanes, found.size).T
        self.node.write_memory(found.start, np.ascontiguousarray(rows))
        self.written += rows.size

    def get(self, name: str, size: int) -> NDArray[np.uint64]:
        """Return the numbers of ``size`` bytes in a range: uint64[lanes, count].

        Raises InputError for an unknown name, and for a size that is not 1 to 8 or does not divide the range.
        """
        found = self._range(name)
        if not is_whole(size) or not 1 <= size <= 8:
            raise InputError(Fault(f"{name}: a number has 1 to 8 bytes, not {size!r}"))
        count, left = divmod(found.size, size)
        if left:
            message = f"{name} has {counted(found.size, 'byte')}, not a multiple of words of {size}"
            sizes = [str(each) for each in range(1, 9) if found.size % each == 0]
            raise InputError(Fault(message, hint=f"sizes that divide it: {', '.join(sizes)}"))
        words = [self.node.read_word(found.start + size * index, size) for index in range(count)]
        return np.stack(words, axis=1)

    def _range(self, name: str) -> MemoryRange:
        must_be(name, str, "the name of a range")
        return find_range(f"{name}:bytes", self._program)[0]


class PimProblem(NamedTuple):
    """Data in place, and the check of the results after the program has run."""

    elements: int
    """Elements of the problem, over all PEs."""
    check: Callable[[], bool]
    """Compares the results exactly with numpy's."""
    left: int
    """Bytes of results that the host has to read, and to combine if modules work separately."""


@dataclass(frozen=True)
class PimKernel:
    """A kernel by name. ``each`` describes the data of a PE, ``ends`` the work left to the host."""

    name: str
    about: str
    each: str
    ends: str
    place: Callable[[HostMemory, np.random.Generator], PimProblem]
    """Puts data into a node's PEs."""
    peer: Mapping[str, int] = field(default_factory=dict)
    """Operations of PIMbench's program for the work of a PE on a bit-serial machine, at PIMbench's widths."""
    like: Mapping[str, int] = field(default_factory=dict)
    """The same operations at the least widths that hold the numbers; empty if these are PIMbench's."""
    peer_ends: str = ""
    """Work that those operations leave to the host or do another way, or why there are none: no ratio is shown then."""

    def program(self, config: NodeConfig) -> Program:
        """Return the program for a machine; raises InputError if the kernel does not fit it."""
        return kernel_program(self.name, lane_bits(config.array), config.array.modules)


def lane_bits(array: ArrayConfig) -> int:
    """Return the bits of a PE's number in its module; raises InputError if kernels do not fit the machine."""
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
def kernel_program(name: str, bits: int, modules: int) -> Program:
    """Return a kernel's program for modules whose PEs have numbers of this many bits; the same object each time.

    Raises InputError where it exchanges data between modules and their number is not a power of two.
    """
    path = _PROGRAMS / f"{name}.mc"
    given = {"BITS": bits, "MODULE_BITS": modules.bit_length() - 1}
    text = "\n" + path.read_text(encoding="utf-8")
    taken = {parameter: value for parameter, value in given.items() if f"\nparam {parameter} " in text}
    if "MODULE_BITS" in taken and modules & (modules - 1):
        raise InputError(Fault(f"array.modules: {modules} is not a power of two", hint=f"{name} is for 1, 2, 4 or 8"))
    return assemble(path, **taken)
