"""The scalar side, as far as vector programs need it: arithmetic, bit scans, memory, branches.

Scalar registers have 32 bits here. Arithmetic sets three flags: zero, carry (of an unsigned result), and less (the
exact signed result is negative).
"""

from __future__ import annotations

from collections.abc import Callable

from larrabee_bridge.isa.declarations import (
    Family,
    Pipe,
    address,
    declare,
    described,
    plus,
    scalar,
)
from pixelflow.simd.units import Standing

__all__ = ["CARRY", "FLAGS", "LESS", "NEXT", "STOPPED", "ZERO"]

ZERO, CARRY, LESS = FLAGS = ("zero", "carry", "less")
NEXT = "next"
"""The register that a branch writes: the word address to go on at."""
STOPPED = 0xFFFFFFFF
"""Its value in a thread that has ended."""

_X86 = "Seiler et al. 2008, 3.2: the Pentium's scalar instructions"


def _put(lanes, r, value) -> None:
    lanes.write(f"r{r.number}", value)


def _flags(lanes, value, carry, less) -> None:
    lanes.set_flag(ZERO, lanes.equal(value, lanes.word(0)))
    lanes.set_flag(CARRY, carry)
    lanes.set_flag(LESS, less)


def _negative(lanes, value):
    return lanes.less(value, lanes.word(0), signed=True)


def _sum(lanes, a, b):
    total, carry = lanes.add(a, b, lanes.bit(False))
    overflow = lanes.both(lanes.complement(lanes.differ(a, b)), lanes.differ(a, total))
    return total, carry, lanes.differ(_negative(lanes, total), _negative(lanes, overflow))


def _difference(lanes, a, b):
    total = lanes.add(a, lanes.complement(b), lanes.bit(True))[0]
    return total, lanes.less(a, b, signed=False), lanes.less(a, b, signed=True)


def _plain(operation: Callable) -> Callable:
    def result(lanes, a, b):
        value = operation(lanes, a, b)
        return value, lanes.bit(False), _negative(lanes, value)

    return result


def _arithmetic(mnemonic: str, operation: Callable, text: str, *, kept: bool = True, pipe: Pipe = Pipe.EITHER) -> None:
    def meaning(lanes, r, s) -> None:
        value, carry, less = operation(lanes, lanes.read(f"r{r.number}"), scalar(lanes, s))
        _flags(lanes, value, carry, less)
        if kept:
            _put(lanes, r, value)

    declare(mnemonic, "r", "s", family=Family.SCALAR, pipe=pipe, source=_X86)(described(meaning, text))


@declare("mov", "r", "s", family=Family.SCALAR, pipe=Pipe.EITHER, source=_X86)
def mov(lanes, r, s) -> None:
    """Copy: r = s. No flag changes."""
    _put(lanes, r, scalar(lanes, s))


_arithmetic("add", _sum, "Add: r = r + s.")
_arithmetic("sub", _difference, "Subtract: r = r - s; carry is a borrow.")
_arithmetic("cmp", _difference, "Compare: sets the flags of r - s.", kept=False)
_arithmetic("and", _plain(lambda lanes, a, b: lanes.both(a, b)), "And: r = r & s.")
_arithmetic("or", _plain(lambda lanes, a, b: lanes.either(a, b)), "Or: r = r | s.")
_arithmetic("xor", _plain(lambda lanes, a, b: lanes.differ(a, b)), "Exclusive or: r = r ^ s.")
_arithmetic("test", _plain(lambda lanes, a, b: lanes.both(a, b)), "Test bits: sets the flags of r & s.", kept=False)
_arithmetic(
    "shl",
    _plain(lambda lanes, a, b: lanes.shift_up(a, lanes.both(b, lanes.word(31)))),
    "Shift left by the low five bits of s: r = r << s. The carry is cleared.",
)
_arithmetic(
    "shr",
    _plain(lambda lanes, a, b: lanes.shift_down(a, lanes.both(b, lanes.word(31)), signed=False)),
    "Shift right, zeros coming in, by the low five bits of s: r = r >> s. The carry is cleared.",
)
_arithmetic(
    "sar",
    _plain(lambda lanes, a, b: lanes.shift_down(a, lanes.both(b, lanes.word(31)), signed=True)),
    "Shift right, the sign coming in, by the low five bits of s: r = r >> s. The carry is cleared.",
)
_arithmetic(
    "imul",
    _plain(lambda lanes, a, b: lanes.multiply(a, b, signed=True)[0]),
    "Multiply: r = r * s modulo 2^32. The carry is cleared.",
    pipe=Pipe.PRIMARY,
)


@declare("load", "r", "where", family=Family.SCALAR, pipe=Pipe.EITHER, source=_X86)
def load(lanes, r, where) -> None:
    """Load the word at [where] into a scalar register."""
    _put(lanes, r, lanes.fetch(address(lanes, where), 4))


@declare("store", "where", "r", family=Family.SCALAR, pipe=Pipe.EITHER, source=_X86)
def store(lanes, where, r) -> None:
    """Store a scalar register in the word at [where]."""
    lanes.put(address(lanes, where), lanes.read(f"r{r.number}"), 4)


# --- bits ------------------------------------------------------------------------------------------------------


def _bit_number(lanes, single):
    """Return which bit is the only one set: it becomes the exponent of a float, which is exact."""
    exponent = lanes.shift_down(lanes.to_float(single, signed=False), lanes.word(23), signed=False)
    return lanes.both(plus(lanes, exponent, lanes.word(-127)), lanes.word(0xFF))


def _less_one(lanes, value):
    return plus(lanes, value, lanes.word(-1))


def _next_up(lanes, index, bits):
    below = _less_one(lanes, lanes.shift_up(lanes.word(1), plus(lanes, index, lanes.word(1))))
    left = lanes.both(bits, lanes.complement(below))
    return left, lanes.both(left, lanes.add(lanes.complement(left), lanes.word(0), lanes.bit(True))[0])


def _next_down(lanes, index, bits):
    left = lanes.both(bits, _less_one(lanes, lanes.shift_up(lanes.word(1), index)))
    smeared = left
    for step in (1, 2, 4, 8, 16):
        smeared = lanes.either(smeared, lanes.shift_down(smeared, lanes.word(step), signed=False))
    return left, lanes.differ(smeared, lanes.shift_down(smeared, lanes.word(1), signed=False))


def _scan(mnemonic: str, find: Callable, text: str) -> None:
    def meaning(lanes, index, s) -> None:
        name = f"r{index.number}"
        before = lanes.read(name)
        left, single = find(lanes, before, scalar(lanes, s))
        none = lanes.equal(left, lanes.word(0))
        lanes.write(name, lanes.select(none, before, _bit_number(lanes, single)))
        lanes.set_flag(ZERO, none)

    declare(mnemonic, "index", "s", family=Family.SCALAR, pipe=Pipe.PRIMARY, standing=Standing.INVENTED)(
        described(meaning, text)
    )


_RULE = "\n\nThat the scan goes on from the destination is published; that it leaves out the bit itself is recalled."
_scan(
    "bsfi",
    _next_up,
    "Next set bit upwards: index = lowest set bit of s above index; -1 begins. Zero flag where there is none." + _RULE,
)
_scan(
    "bsri",
    _next_down,
    "Next set bit downwards: index = highest set bit of s below index; 32 begins. Zero flag where there is none."
    + _RULE,
)


@declare("popcnt", "r", "s", family=Family.SCALAR, pipe=Pipe.PRIMARY)
def popcnt(lanes, r, s) -> None:
    """Count bits: r = how many bits of s are set."""
    value = scalar(lanes, s)
    for step, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        shifted = lanes.shift_down(value, lanes.word(step), signed=False)
        value = plus(lanes, lanes.both(value, lanes.word(mask)), lanes.both(shifted, lanes.word(mask)))
    _put(lanes, r, value)


# --- branches --------------------------------------------------------------------------------------------------


def _branch(mnemonic: str, flag: str, wanted: bool, text: str) -> None:
    def meaning(lanes, target: int) -> None:
        where = lanes.flag(flag)
        lanes.write(NEXT, lanes.word(target), where if wanted else lanes.complement(where))

    declare(mnemonic, "target", family=Family.BRANCH, pipe=Pipe.EITHER, source=_X86)(described(meaning, text))


@declare("jmp", "target", family=Family.BRANCH, pipe=Pipe.EITHER, source=_X86)
def jmp(lanes, target: int) -> None:
    """Go on at the target."""
    lanes.write(NEXT, lanes.word(target))


_branch("jz", ZERO, True, "Go on at the target where the zero flag is set.")
_branch("jnz", ZERO, False, "Go on at the target where the zero flag is clear.")
_branch("jc", CARRY, True, "Go on at the target where the carry flag is set: below, or a mask of all ones.")
_branch("jnc", CARRY, False, "Go on at the target where the carry flag is clear.")
_branch("jl", LESS, True, "Go on at the target where the result was negative: r < s after cmp.")
_branch("jge", LESS, False, "Go on at the target where the result was not negative: r >= s after cmp.")


@declare("halt", family=Family.BRANCH, pipe=Pipe.EITHER, source="invented", standing=Standing.INVENTED)
def halt(lanes) -> None:
    """End the thread."""
    lanes.write(NEXT, lanes.word(STOPPED))
