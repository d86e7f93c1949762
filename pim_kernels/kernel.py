"""A kernel: a program, the data that the host puts into the PEs, and the expected results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from microcode import assemble
from pixelflow.config import ArrayConfig, NodeConfig
from pixelflow.isa import MemoryRange, Program
from pixelflow.node import Node, Physical
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


@dataclass(frozen=True, slots=True)
class PimProblem:
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
    """Operations of the same work on a bit-serial machine with as many columns as there are PEs, counted."""
    peer_ends: str = ""
    """Work that those operations leave to the host, or why there are none."""

    def program(self, config: NodeConfig) -> Program:
        """Return the program for a machine; raises InputError if the kernel does not fit it."""
        return kernel_program(self.name, lane_bits(config.array))


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
def kernel_program(name: str, bits: int) -> Program:
    """Return a kernel's program for modules whose PEs have numbers of this many bits; the same object each time."""
    path = _PROGRAMS / f"{name}.mc"
    needs_bits = "\nparam BITS" in "\n" + path.read_text(encoding="utf-8")
    return assemble(path, BITS=bits) if needs_bits else assemble(path)


# The kernels.
#
# Each works on all PEs. Where PEs have to cooperate, a module is a separate machine: data move from module to module
# only through the GPs, so each module solves a separate problem, or the host combines a number of each.


_WORDS, _BYTES = 1 << 32, 256


def _shape(memory: HostMemory) -> tuple[int, int]:
    """Return the number of modules, and of PEs in a module."""
    modules = memory.node.config.array.modules
    return modules, memory.node.lanes // modules


def _numbers(memory: HostMemory, random: np.random.Generator, count: int, below: int) -> NDArray[np.unsignedinteger]:
    kind = np.uint32 if below > _BYTES else np.uint8
    return random.integers(0, below, (memory.node.lanes, count)).astype(kind)


def _vector_add(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x, y = (_numbers(memory, random, 16, _WORDS) for _ in "xy")
    memory.put("x", x)
    memory.put("y", y)
    return PimProblem(x.size, lambda: bool((memory.get("z", 4) == x + y).all()), 4 * x.size)


def _totals(memory: HostMemory, wanted: NDArray[np.uint64], size: int) -> bool:
    """Return whether PE 0 of each module holds the total of its module, and their sum is that of all."""
    found = memory.get("sum", size).reshape(_shape(memory))[:, 0]
    by_module = wanted.reshape(_shape(memory)[0], -1).sum(axis=1, dtype=np.uint64)
    return bool((found == by_module).all()) and int(found.sum()) == int(wanted.sum(dtype=np.uint64))


def _reduction(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x = _numbers(memory, random, 32, _WORDS)
    memory.put("x", x)
    return PimProblem(x.size, lambda: _totals(memory, x.astype(np.uint64), 7), 7 * _shape(memory)[0])


def _dot_product(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x, y = (_numbers(memory, random, 64, _BYTES) for _ in "xy")
    memory.put("x", x)
    memory.put("y", y)
    products = x.astype(np.uint64) * y
    return PimProblem(x.size, lambda: _totals(memory, products, 5), 5 * _shape(memory)[0])


def _gemv(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    a = _numbers(memory, random, 64, _BYTES)
    x = random.integers(0, _BYTES, 64).astype(np.uint8)
    memory.put("a", a)
    memory.put("x", np.tile(x, (len(a), 1)))
    wanted = a.astype(np.uint64) @ x.astype(np.uint64)
    return PimProblem(a.size, lambda: bool((memory.get("y", 4)[:, 0] == wanted).all()), 4 * len(a))


def _histogram(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    v = _numbers(memory, random, 32, _BYTES)
    memory.put("v", v)

    def check() -> bool:
        modules, lanes = _shape(memory)
        # PE p of the first panel has bins p, 32 + p, ..
        found = memory.get("bins", 4).reshape(modules, lanes, 8)[:, :32].swapaxes(1, 2).reshape(modules, 256)
        wanted = np.stack([np.bincount(each.ravel(), minlength=256) for each in v.reshape(modules, lanes, -1)])
        return bool((found == wanted).all())

    return PimProblem(v.size, check, 4 * 256 * _shape(memory)[0])


def _prefix_sum(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x = _numbers(memory, random, 8, _WORDS)
    memory.put("x", x)

    def check() -> bool:
        by_module = x.reshape(_shape(memory)[0], -1)
        return bool(
            (memory.get("x", 4).reshape(by_module.shape) == np.cumsum(by_module, axis=1, dtype=np.uint32)).all()
        )

    return PimProblem(x.size, check, 4 * x.size)


def _select(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    record = _numbers(memory, random, 4, _WORDS)
    memory.put("record", record)
    memory.put("limit", np.full((len(record), 1), _WORDS // 4, np.uint32))
    chosen = record[:, 0] < _WORDS // 4

    def check() -> bool:
        right = True
        for module, (rows, taken) in enumerate(
            zip(record.reshape(*_shape(memory), 4), chosen.reshape(_shape(memory)), strict=True)
        ):
            wanted = np.ascontiguousarray(rows[taken]).view(np.uint8).reshape(-1, 4, 4)
            config = memory.node.config.sdram
            device = np.arange(4)[None, :]
            row, column = np.divmod(4 * np.arange(len(wanted))[:, None], config.columns)
            bank, row = np.divmod(row, config.rows)
            found = memory.node.texture_memory[module].read(Physical(device, bank, row, column))
            right &= bool((found == wanted).all())
        counts = memory.get("sum", 4).reshape(_shape(memory))[:, 0]
        return right and bool((counts == chosen.reshape(_shape(memory)).sum(axis=1)).all())

    return PimProblem(len(record), check, 16 * int(chosen.sum()))


def _sort(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    key = _numbers(memory, random, 4, _WORDS)
    memory.put("key", key)

    def check() -> bool:
        by_module = key.reshape(_shape(memory)[0], -1)
        return bool((memory.get("key", 4).reshape(by_module.shape) == np.sort(by_module, axis=1)).all())

    return PimProblem(key.size, check, 4 * key.size)


def _nearest(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    point = _numbers(memory, random, 64, _BYTES)
    query = random.integers(0, _BYTES, 16).astype(np.uint8)
    memory.put("point", point)
    memory.put("query", np.tile(query, (len(point), 1)))

    def check() -> bool:
        modules, lanes = _shape(memory)
        points = point.reshape(modules, 4 * lanes, 16).astype(np.int64)
        distance = np.abs(points - query).sum(axis=2)
        found = memory.get("best", 4).reshape(modules, lanes, 8)
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :8]
        wanted = np.take_along_axis(distance, nearest, axis=1) << 16 | nearest
        return bool((found == wanted[:, None, :]).all())

    return PimProblem(4 * len(point), check, 4 * 8 * _shape(memory)[0])


# fmt: off
_ALL = (
    PimKernel(
        "vector_add", "z = x + y, 32 bits", "16 sums", "z is in the PEs",
        _vector_add, {"add uint32": 16},
    ),
    PimKernel(
        "reduction", "sum of 32-bit integers", "32 numbers", "a sum of each module to add up",
        _reduction, {"redsum 32": 32},
    ),
    PimKernel(
        "dot_product", "sum of products of bytes", "64 products", "a sum of each module to add up",
        _dot_product, {"mul uint16": 64, "redsum 16": 64},
    ),
    PimKernel(
        "gemv", "a row of 64 bytes in each PE by a vector", "64 products", "y is in the PEs",
        _gemv, {"scaled_add uint32": 64},
    ),
    PimKernel(
        "histogram", "256 bins of bytes", "32 bytes", "256 counts of each module to add up",
        _histogram, {"eq_scalar uint8": 256 * 32, "redsum 8": 256 * 32},
    ),
    PimKernel(
        "prefix_sum", "running sums of 32-bit integers", "8 numbers", "a vector of each module, in its PEs",
        _prefix_sum, {}, "its model gives a prefix sum no time",
    ),
    PimKernel(
        "select", "records with a key below a limit, packed", "a record", "the records of each module, in its SDRAMs",
        _select, {"lt_scalar uint32": 1}, "the host packs the records",
    ),
    PimKernel(
        "bitonic_sort", "32-bit keys", "4 keys", "a sorted vector of each module, in its PEs",
        _sort, {}, "its suite has a radix sort that the host helps with",
    ),
    PimKernel(
        "nearest", "8 nearest of points of 16 bytes", "4 points", "8 points of each module to choose from",
        _nearest, {"sub_scalar int32": 64, "abs int32": 64, "add int32": 60}, "the host finds the smallest",
    ),
)
# fmt: on

KERNELS = MappingProxyType({kernel.name: kernel for kernel in _ALL})
"""Every kernel by name, in the order in which tables show them."""
