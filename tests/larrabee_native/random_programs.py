"""Random programs for the vector unit: every instruction, loops, ways that part, addresses near the edges."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from larrabee_bridge.vpu.isa import INSTRUCTIONS, VectorFamily
from larrabee_bridge.vpu.isa.operands import (
    Conversion,
    MaskForm,
    MaskRegister,
    Memory,
    MemoryForm,
    Replication,
    Scalar,
    ScalarForm,
    ScalarSourceForm,
    SourceForm,
    Swizzle,
    Vector,
    VectorForm,
    WideSourceForm,
)
from larrabee_bridge.vpu.program import VectorProgram
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.isa.declare import Instruction
from pixelflow.simd.isa.operands import Count, OperandKind
from pixelflow.simd.lanes.words import ByteMemory

BYTES = 1024
COUNTERS = (13, 14, 15)
"""Scalar registers that count loops; nothing else writes them."""
BASES = (10, 11, 12)
"""And those that addresses begin at: everybody's bytes, a thread's own, and anywhere."""
GATHERED = (7,)
"""Vector registers that are small offsets; nothing else writes them."""

WIDE = range(0x6C, 0x93)
"""Opcodes of instructions in lanes of 64 bits."""
ALL = sorted(each.mnemonic for each in INSTRUCTIONS.values() if each.family is not VectorFamily.BRANCH)
PLAIN = [name for name in ALL if INSTRUCTIONS[name].opcode not in WIDE]
JUMPS = ("jz", "jnz", "jc", "jnc", "jl", "jge")

WORDS = (0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFF, 0xFFFF)
FLOATS = (
    *(0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000),  # zeros, ones, infinities
    *(0x7FC00000, 0xFFC00001, 0x7F800001, 0xFFA12345, 0x7FC12345),  # NaNs, some of which signal
    *(0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x34000000),  # denormals and edges
    *(0x4F000000, 0xCF000000, 0x4EFFFFFF, 0x3F000000, 0x40200000),  # 2^31 and its neighbours, halves
)


@dataclass(frozen=True)
class Setting:
    """What a program is run with."""

    program: VectorProgram
    threads: int
    own: bool
    """Whether each thread has a memory of its own."""
    seed: int
    wide: bool = False
    """Whether all instructions stand in it, also those in lanes of 64 bits; else what a seed gives is as ever."""

    def unit(self, **options) -> VectorUnit:
        """Return threads with registers and memory full of what is easily wrong."""
        rng = np.random.default_rng(self.seed)
        memory = ByteMemory(BYTES, self.threads if self.own else 1)
        unit = VectorUnit(self.program, self.threads, memory, **options)
        memory.data[:] = words(rng, (memory.sets, BYTES // 4)).view(np.uint8)
        for number in range(8):
            unit.set_vector(number, words(rng, (self.threads, 16)).astype(np.int64))
            if self.wide and number % 2:
                unit.set_vector(number, doubles(rng, self.threads).astype(np.int64))
            unit.set_mask(number, rng.choice([0, 0xFFFF, 1, 0x8000, *rng.integers(0, 1 << 16, 4)], self.threads))
        for number in GATHERED:
            unit.set_vector(number, rng.integers(0, 64, (self.threads, 16)) * rng.choice([1, 2, 4]))
        for number in range(10):
            unit.set_scalar(number, words(rng, (self.threads,)).astype(np.int64))
        unit.set_scalar(0, np.arange(self.threads))
        unit.set_scalar(BASES[0], 0)
        unit.set_scalar(BASES[1], 256 + 128 * np.arange(self.threads))
        unit.set_scalar(BASES[2], rng.integers(0, BYTES - 60, self.threads))
        for number in COUNTERS:
            unit.set_scalar(number, rng.integers(1, 4, self.threads))
        return unit


def words(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    """Return words: edges of integers and floats, plain floats, and any bits."""
    edges = rng.choice(np.array([*WORDS, *FLOATS], np.uint32), size)
    floats = rng.normal(scale=100, size=size).astype(np.float32).view(np.uint32)
    kind = rng.random(size)
    anything = rng.integers(0, 1 << 32, size, np.uint32)
    return np.where(kind < 0.4, edges, np.where(kind < 0.8, floats, anything)).astype(np.uint32)


def doubles(rng: np.random.Generator, threads: int) -> np.ndarray:
    """Return eight numbers of 64 bits for each thread as words: edges and plain doubles, some of which lie far off."""
    edges = (0, 1, 0x3FF << 52, 0x7FF << 52, 0xFFF << 52, 0x7FF8 << 48, (0x7FF << 52) + 1, 1 << 63, (1 << 52) - 1)
    plain = rng.normal(size=(threads, 8)) * 2.0 ** rng.choice([0, 0, 20, 31, 600, -600, -1060], (threads, 8))
    found = np.where(
        rng.random((threads, 8)) < 0.3, rng.choice(np.array(edges, np.uint64), (threads, 8)), plain.view("u8")
    )
    return found.astype("<u8").view(np.uint32)


class Writer:
    """Writes a program; ``risky`` is how often an address is anywhere, ``shared`` how often a store meets others."""

    def __init__(self, seed: int, risky: float, shared: float, names: Sequence[str] = PLAIN) -> None:
        self.names = names
        self.random = random.Random(seed)
        self.risky, self.shared = risky, shared
        self.lines: list[Instruction | tuple[str, str] | str] = []
        self.labels = 0

    # --- operands -------------------------------------------------------------------------------------------

    def mask(self) -> int | None:
        return self.random.choice([None, None, *range(4)])

    def base(self, writes: bool) -> int:
        roll = self.random.random()
        if roll < self.risky:
            return BASES[2]
        if writes:
            return BASES[0] if self.random.random() < self.shared else BASES[1]
        return self.random.choice(BASES[:2])

    def offset(self, reach: int) -> int:
        most = 128 - reach
        offset = self.random.choice([0, 4, 32, 64, self.random.randrange(0, 129)])
        return max(0, min(offset, most) if self.random.random() > self.risky else offset)

    def memory(self, *, writes: bool, reach: int = 64, mask: int | None = None) -> Memory:
        return Memory(self.offset(reach), self.base(writes), mask=mask)

    def operand(self, kind: OperandKind, name: str, mnemonic: str):
        pick = self.random
        match kind:
            case VectorForm():
                if kind.written:
                    return Vector(pick.randrange(7), mask=self.mask())
                return Vector(7 if name == "indices" else pick.randrange(8))
            case MaskForm():
                return MaskRegister(pick.randrange(4), mask=self.mask() if kind.written else None)
            case WideSourceForm():
                if pick.random() < 0.6:
                    return Vector(pick.randrange(8), pick.choice(list(Swizzle)))
                many = pick.choice(list(Replication))
                reach = {Replication.NONE: 64, Replication.ONE: 8, Replication.FOUR: 32}[many]
                memory = self.memory(writes=False, reach=reach)
                return Memory(memory.offset, memory.base, replication=many)
            case SourceForm():
                if pick.random() < 0.6:
                    return Vector(pick.randrange(8), pick.choice(list(Swizzle)))
                how, many = pick.choice(list(Conversion)), pick.choice(list(Replication))
                memory = self.memory(writes=False, reach=how.size * many.elements)
                return Memory(memory.offset, memory.base, how, many)
            case MemoryForm():
                writes = mnemonic in ("store", "vstored", "vscatterd", "vcompressd", "vstoreq", "vcompressq")
                offset = 4 if mnemonic in ("load", "store") else 64
                reach = 128 if "gather" in mnemonic or "scatter" in mnemonic else offset
                return self.memory(writes=writes, reach=reach, mask=self.mask() if kind.masked else None)
            case ScalarForm():
                return Scalar(pick.randrange(1, 10))
            case ScalarSourceForm():
                if pick.random() < 0.5:
                    return Scalar(pick.randrange(0, 10))
                return pick.choice([*WORDS, *FLOATS, pick.randrange(1 << 32), pick.randrange(64)])
            case Count():
                return pick.randint(kind.low, kind.high)
        raise AssertionError(f"no operand of kind {kind}")

    # --- instructions ---------------------------------------------------------------------------------------

    def plain(self, count: int) -> None:
        for _ in range(count):
            name = self.random.choice(self.names)
            declaration = INSTRUCTIONS[name]
            operands = [self.operand(each.kind, each.name, name) for each in declaration.operands]
            self.lines.append(INSTRUCTIONS.make(name, *operands))

    def do(self, name: str, *operands) -> None:
        self.lines.append(INSTRUCTIONS.make(name, *operands))

    def label(self) -> str:
        self.labels += 1
        return f"label {self.labels}"

    def body(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.plain(self.random.randint(1, 6))
            roll = self.random.random()
            if depth and roll < 0.35:
                end = self.label()
                self.lines.append((self.random.choice(JUMPS), end))
                self.body(depth - 1)
                self.lines.append(end)
            elif depth and roll < 0.65:
                again, counter = self.label(), Scalar(COUNTERS[depth - 1])
                if self.random.random() < 0.5:
                    self.do("mov", counter, self.random.randint(1, 4))
                else:  # another number in each thread
                    self.do("mov", counter, Scalar(0))
                    self.do("and", counter, 3)
                    self.do("add", counter, 1)
                self.lines.append(again)
                self.body(depth - 1)
                self.do("sub", counter, 1)
                self.lines.append(("jnz", again))
            elif roll < 0.7:
                end = self.label()
                self.lines += [("jmp", end), INSTRUCTIONS.make("kmov", MaskRegister(0), MaskRegister(1)), end]
            elif roll < 0.72:
                end = self.label()
                self.do("test", Scalar(0), self.random.choice([1, 2, 4]))
                self.lines += [("jz", end), INSTRUCTIONS.make("halt"), end]

    def program(self) -> VectorProgram:
        self.body(3)
        self.do("halt")
        return laid_out(self.lines)


def laid_out(lines: Sequence[Instruction | tuple[str, str] | str]) -> VectorProgram:
    """Return a program of instructions, branches to labels, and labels."""
    branch = INSTRUCTIONS.make("jmp", 0).words
    at, places = 0, {}
    for line in lines:
        if isinstance(line, str):
            places[line] = at
        else:
            at += branch if isinstance(line, tuple) else line.words
    instructions = [
        INSTRUCTIONS.make(line[0], places[line[1]]) if isinstance(line, tuple) else line
        for line in lines
        if not isinstance(line, str)
    ]
    return VectorProgram(tuple(word for each in instructions for word in each.encode()), "random")


def setting(seed: int, *, wide: bool = False) -> Setting:
    """Return a random program, and what it is run with; ``wide`` with instructions in lanes of 64 bits."""
    pick = random.Random(seed)
    risky, shared = pick.choice([0, 0, 0, 0.02, 0.1]), pick.choice([0, 0, 0, 0.1])
    threads = pick.choice([1, 2, 3, 5])
    program = Writer(seed, risky, shared, ALL if wide else PLAIN).program()
    return Setting(program, threads, pick.random() < 0.4, seed, wide)
