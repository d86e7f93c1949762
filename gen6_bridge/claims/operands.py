"""Measures of claims about operands, channels and control flow."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.claims.bench import Printed, by_name, executed, held, rules_of, timed
from gen6_bridge.claims.nests import wrong_channels
from gen6_bridge.isa.declarations import INSTRUCTIONS, EuFamily
from gen6_bridge.isa.encoding import SOURCES, mask_of
from gen6_bridge.isa.legality import RULES, source_rules
from gen6_bridge.isa.operands import REGISTER_BYTES, EuType, File, SourceRegion
from pixelflow.evidence import Bench, Measured

_CHANNELS = np.arange(16, dtype=np.int32)


def _integers(unit_register: NDArray[np.uint8]) -> list[int]:
    values: list[int] = unit_register.reshape(-1).view(np.int32).tolist()
    return values


def native_control(bench: Bench, printed: Printed) -> Measured:
    """Count to ten, call a subroutine twice, jump by a table."""
    loop = executed(
        "TOP:\nadd (8) g20<1>D g20<8,8,1>D 1D\ncmp.l.f0.0 (8) null<1>D g20<8,8,1>D 10D\n(+f0.0) while (8) TOP\nnop\n",
        dispatch=0xFF,
    )
    calls = executed(
        "call (2) g40<1>D SUB\ncall (2) g40<1>D SUB\njmpi (1) END\nSUB:\nadd (8) g20<1>D g20<8,8,1>D 1D\n"
        "ret (2) null g40<2,2,1>D\nEND:\nnop\n",
    )
    entries = "".join(f"mov (8) g20<1>D {10 * at}D\njmpi (1) END\n" for at in range(5))
    case = executed(f"jmpi (1) g10<0,1,0>D\n{entries}END:\nnop\n", {10: np.full(8, 3 * 4, np.int32)})
    results = [_integers(unit.general[0, 20])[0] for unit in (loop, calls, case)]
    text = f"a loop ends at {results[0]}, {results[1]} calls return, the fourth case gives {results[2]}"
    return Measured(text, {"loop": results[0], "subroutine": results[1], "case": results[2]})


def pointer_per_channel(bench: Bench, printed: Printed) -> Measured:
    """Let channel c leave a loop after c + 1 turns; execute random nests together and each channel alone."""
    source = """
    TOP:
    add (16) g20<1>D g20<8,8,1>D 1D
    cmp.g.f0.0 (16) null<1>D g20<8,8,1>D g10<8,8,1>D
    (+f0.0) break (16) LAST PAST
    cmp.l.f0.0 (16) null<1>D g20<8,8,1>D 100D
    LAST:
    (+f0.0) while (16) TOP
    PAST:
    add (16) g22<1>D g20<8,8,1>D 100D
    """
    unit = executed(source, {10: _CHANNELS})
    wrong = sum(value != channel + 101 for channel, value in enumerate(_integers(unit.general[0, 22:24])))
    nests, threads = 10, 64
    differ = sum(wrong_channels(seed, threads) for seed in range(nests))
    text = (
        f"{wrong} of 16 channels differ from each alone; of {nests} random nests {differ} of {nests * threads * 16:,}"
    )
    return Measured(text, {"wrong": wrong, "wrong_in_nests": differ})


_FACTORIAL = """
    mov (1) g20<1>D 12D
    mov (1) a0.0<1>UW 1280UW
    call (2) g4<1>D FACTORIAL
    jmpi END
FACTORIAL:
    cmp.le.f0.0 (8) null<1>D g20<0,1,0>D 1D
    (+f0.0) jmpi ONE
    mov (2) g[a0.0]<1>D g4<2,2,1>D
    mov (1) g[a0.0, 8]<1>D g20<0,1,0>D
    add (1) a0.0<1>UW a0.0<0,1,0>UW 16UW
    add (1) g20<1>D g20<0,1,0>D -1D
    call (2) g4<1>D FACTORIAL
    add (1) a0.0<1>UW a0.0<0,1,0>UW -16W
    mov (2) g4<1>D g[a0.0]<2,2,1>D
    mov (1) g20<1>D g[a0.0, 8]<0,1,0>D
    mul (1) g21<1>D g20<0,1,0>D g21<0,1,0>D
    ret (2) null g4<2,2,1>D
ONE:
    mov (1) g21<1>D 1D
    ret (2) null g4<2,2,1>D
END:
    nop
"""
"""12! by nested calls; an address register saves what CALL writes, starting at g40."""


def nesting(bench: Bench, printed: Printed) -> Measured:
    """Nest 64 conditions, of which channel c passes 4 c; let a routine call itself."""
    depth = 64
    lines = []
    for level in range(depth):
        lines += [f"cmp.g.f0.0 (16) null<1>D g10<8,8,1>D {level}D", f"(+f0.0) if (16) E{level}"]
        lines.append("add (16) g12<1>D g12<8,8,1>D 1D")
    for level in reversed(range(depth)):
        lines += [f"E{level}:", f"endif (16) {f'E{level - 1}' if level else 'END'}"]
    unit = executed("\n".join([*lines, "END:", "nop"]), {10: 4 * _CHANNELS})
    wrong = sum(value != 4 * channel for channel, value in enumerate(_integers(unit.general[0, 12:14])))
    recursive = _integers(executed(_FACTORIAL).general[0, 21])[0]
    text = f"{depth} deep, {wrong} channels wrong; a routine that calls itself finds 12! = {recursive:,}"
    return Measured(text, {"wrong": wrong, "recursive": recursive})


_STACK = 16
"""Levels of a mask stack that the proxy of the previous generation has; invented."""


def _level(level: int, *, stack: bool) -> tuple[list[str], list[str]]:
    """Return the lines that open a level of a nest and those that close it; past a stack, masks go to memory."""
    opening = [f"cmp.g.f0.0 (8) null<1>D g10<8,8,1>D {level}D"]
    closing = [f"E{level}:", f"endif (8) {f'E{level - 1}' if level else 'END'}"]
    if stack and level >= _STACK:
        opening += ["mov (1) m2<1>UW f0.0<0,1,0>UW", "send (8) 1 null null write(0, 2, 8, 0) mlen 2 rlen 0"]
        restore = ["send (8) 1 g60<1>UD null read(0, 4, 2, 0) mlen 1 rlen 1", "mov (1) f0.0<1>UW g60<0,1,0>UW"]
        closing = [closing[0], *restore, closing[1]]
    return [*opening, f"(+f0.0) if (8) E{level}"], closing


def ironlake_nesting(bench: Bench, printed: Printed) -> Measured:
    """Compare the cycles of a level with those of one past a stack whose masks the program saves to memory."""

    def cycles(depth: int, *, stack: bool) -> int:
        levels = [_level(level, stack=stack) for level in range(depth)]
        lines = [line for opening, _ in levels for line in opening]
        lines += [line for _, closing in reversed(levels) for line in closing]
        return timed("\n".join([*lines, "END:", "nop"])).cycles

    own, past = (cycles(2 * _STACK, stack=stack) - cycles(2 * _STACK - 1, stack=stack) for stack in (False, True))
    text = f"{own} cycles a level by pointers, {past} past a stack of {_STACK} (invented), whose masks go to memory"
    return Measured(text, {"level": own, "level_past_stack": past})


def vector_length(bench: Bench, printed: Printed) -> Measured:
    """Find the largest destination stride at which sixteen floats fit two registers."""
    strides = [stride for stride in (1, 2, 4) if "D5" not in rules_of(f"mov (16) g20<{stride}>F g10<8,8,1>F")]
    size = 16 * max(strides) * EuType.F.size
    return Measured(f"{size} bytes at most", {"bytes": size, "registers": size // REGISTER_BYTES})


def masks(bench: Bench, printed: Printed) -> Measured:
    """Move sixteen values behind each gate; count what was written."""
    one = np.ones(16, np.int32)
    predicate = executed("mov (1) f0.0<1>UW 0x0112UW\n(+f0.0) mov (16) g20<1>D g10<8,8,1>D", {10: one})
    destination = executed("mov (16) g20<1>.xzF g10<4,4,1>F {align16}", {10: one})
    execution = executed("mov (16) g20<1>D g10<8,8,1>D", {10: one}, dispatch=0x1F)
    counts = [sum(_integers(unit.general[0, 20:22])) for unit in (predicate, destination, execution)]
    figures = dict(zip(("predicate", "destination", "execution"), counts, strict=True))
    return Measured(f"{counts[0]}, {counts[1]} and {counts[2]} channels written", figures)


def alignment(bench: Bench, printed: Printed) -> Measured:
    """Take a byte at each offset."""
    legal = sum(not rules_of(f"mov (1) g20<1>UD g10.{at}<0,1,0>UB") for at in range(REGISTER_BYTES))
    return Measured(f"{legal} offsets of {REGISTER_BYTES}", {"offsets": legal})


def regions(bench: Bench, printed: Printed) -> Measured:
    """Judge every combination of a direct source region."""
    total = legal = most = 0
    kinds = {1: EuType.UB, 2: EuType.UW, 4: EuType.UD}
    sizes, vertical, widths, strides = (1, 2, 4, 8, 16), (0, 1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16), (0, 1, 2, 4)
    for size, v, width, h, element in product(sizes, vertical, widths, strides, kinds):
        for sub in range(0, REGISTER_BYTES, element):
            region = SourceRegion(File.GENERAL, kinds[element], 10, sub, v, width, h)
            total += 1
            if not any(source_rules(size, region)):
                legal += 1
                last = sub + max(region.place(each) for each in range(size)) + element
                most = max(most, -(-last // REGISTER_BYTES))
    text = f"{legal:,} of {total:,} regions are legal; at most {most} registers"
    return Measured(text, {"most_registers": most})


def packing(bench: Bench, printed: Printed) -> Measured:
    """Take bytes of eight pixels apart into floats, both ways."""
    values = np.random.default_rng(20).integers(0, 256, 32).astype(np.uint8)
    by_regions = "\n".join(f"mov (8) g{20 + at}<1>F g10.{at}<32,8,4>UB" for at in range(4))
    shifts = [line for at in range(4) for line in (
        *([f"shr (8) g{30 + at}<1>UD g10<8,8,1>UD {8 * at}UD"] if at else []),
        *([f"and (8) g{30 + at}<1>UD g{30 + at if at else 10}<8,8,1>UD 255UD"] if at < 3 else []),
        f"mov (8) g{20 + at}<1>F g{30 + at}<8,8,1>UD",
    )]  # fmt: skip
    first, second = executed(by_regions, {10: values}), executed("\n".join(shifts), {10: values})
    wanted = values.reshape(8, 4).T.astype(np.float32)
    wrong = sum(int((unit.floats(20, 4).reshape(4, 8) != wanted).sum()) for unit in (first, second))
    cycles = timed(by_regions).cycles, timed("\n".join(shifts)).cycles
    text = f"4 instructions by regions, {len(shifts)} by shifts and masks; {cycles[0]} and {cycles[1]} cycles"
    return Measured(text, {"by_regions": len(by_regions.splitlines()), "wrong": wrong})


def indirect(bench: Bench, printed: Printed) -> Measured:
    """Look up a table of floats, each channel by a separate address, and write by another."""
    table = np.linspace(0, 31, 32, dtype=np.float32)
    places = np.array([7, 0, 31, 12, 3, 3, 20, 16])
    source = """
    mov (8) a0.0<1>UW g10<8,8,1>UW
    mov (8) g20<1>F g[a0.0, 64]<1,0>F
    mov (1) a0.3<1>UW 672UW
    mov (8) g[a0.3, 32]<1>F g20<8,8,1>F
    """
    unit = executed(source, {10: (40 * 32 - 64 + 4 * places).astype(np.uint16).repeat(1), 40: table})
    wrong = int((unit.floats(20)[0] != table[places]).sum() + (unit.floats(22)[0] != table[places]).sum())
    return Measured(f"{wrong} of 16 elements differ", {"wrong": wrong})


def two_modes(bench: Bench, printed: Printed) -> Measured:
    """Compare the fields of both modes."""
    broken = {*rules_of("mov (8) g20<2>F g10<4,4,1>F {align16}"), *rules_of("mov (8) g20<1>F g10<2,4,1>F {align16}")}
    forms = SOURCES[0]
    swizzle = mask_of(each for each in forms["direct16"] if each.name in "xyzw")
    region = mask_of(each for each in forms["direct"] if each.name in ("sub", "horizontal", "width"))
    shared = (swizzle & region).bit_count()
    text = "; ".join(RULES[rule] for rule in sorted(broken)) + f"; {shared} bits are swizzle or region"
    return Measured(text, {"rules": len(broken), "shared_bits": shared})


def layouts(bench: Bench, printed: Printed) -> Measured:
    """Multiply eight vertices by a matrix: as four registers of components, and two vertices a register."""
    soa = [
        f"{'mul' if term == 0 else 'mac'} (8) {f'g{20 + row}' if term == 3 else 'acc0'}<1>F "
        f"g{10 + term}<8,8,1>F g{2 + row // 2}.{4 * (row % 2) + term}<0,1,0>F"
        for row in range(4)
        for term in range(4)
    ]
    aos = [
        f"dp4 (8) g{20 + pair}<1>.{'xyzw'[row]}F g{10 + pair}<4,4,1>F g{2 + row}<4,4,1>F {{align16}}"
        for pair in range(4)
        for row in range(4)
    ]
    source = np.random.default_rng(23)
    matrix, points = (
        source.integers(-4, 5, (4, 4)).astype(np.float32),
        source.integers(-4, 5, (8, 4)).astype(np.float32),
    )
    wanted = points @ matrix.T
    first = executed("\n".join(soa), {2: matrix.reshape(-1), 10: points.T.reshape(-1).copy()})
    second = executed("\n".join(aos), {2: np.tile(matrix, 2).reshape(-1), 10: points.reshape(-1)})
    rows = "\n".join(f"mov (4) g{20 + at}<1>F g{10}.{at}<4,1,0>F" for at in range(4))
    turned = executed(rows, {10: np.arange(16, dtype=np.float32)})
    wrong = int((wanted != first.floats(20, 4).reshape(4, 8).T).sum())
    wrong += int((second.floats(20, 4).reshape(8, 4) != wanted).sum())
    transposed = np.array([turned.floats(20 + at)[0, :4] for at in range(4)])
    wrong += int((transposed != np.arange(16).reshape(4, 4).T).sum())
    text = (
        f"{len(soa)} instructions and {timed(chr(10).join(soa)).cycles} cycles by components, "
        f"{len(aos)} and {timed(chr(10).join(aos)).cycles} by vertices"
    )
    return Measured(text, {"transposition": len(rows.splitlines()), "wrong": wrong})


def operands(bench: Bench, printed: Printed) -> Measured:
    """Count sources and destinations of declarations that compute."""
    computing = [each for each in INSTRUCTIONS.values() if each.family not in (EuFamily.FLOW, EuFamily.MESSAGE)]
    three = sum(len(each.operands) - 1 == 3 for each in computing)
    text = f"{three} of {len(computing)}; the accumulator of mac, mach and sada2 and the w of line and pln are implied"
    return Measured(text, {"most_have_three": int(2 * three > len(computing))})


def indirect_operand(bench: Bench, printed: Printed) -> Measured:
    """Execute a sum with both sources indirect."""
    unit = executed(
        "mov (1) a0.0<1>UW 320UW\nmov (1) a0.1<1>UW 352UW\nadd (8) g20<1>D g[a0.0]<8,8,1>D g[a0.1]<8,8,1>D",
        {10: np.arange(16, dtype=np.int32)},
    )
    count = 1 + int(_integers(unit.general[0, 20]) == [2 * at + 8 for at in range(8)])
    text = f"{count} sources were indirect at once, as the instruction set lets them be; real programs have one"
    return Measured(text, {"sources": count})


def multiply_add(bench: Bench, printed: Printed) -> Measured:
    """Look at its declaration and at the rule."""
    inputs = sum(spec.name.startswith("src") for spec in INSTRUCTIONS["mad"].operands)
    broken = rules_of("mad (8) g20<1>F g10<4,4,1>F g11<4,4,1>F g12<4,4,1>F {align1}")
    return Measured(f"{inputs} inputs; breaks {broken}", {"inputs": inputs, "refused": int("T1" in broken)})


def eight_floats(bench: Bench, printed: Printed) -> Measured:
    """Count the registers that a region touches."""
    region = SourceRegion(File.GENERAL, EuType.F, 10, 0, 8, 8, 1)
    registers = {region.place(each) // REGISTER_BYTES for each in range(8)}
    return Measured(
        f"{len(registers)} register, {held('mov (8) g1<1>F g2<8,8,1>F')} cycles", {"registers": len(registers)}
    )


MEASURES = by_name(
    native_control, pointer_per_channel, nesting, ironlake_nesting, vector_length, masks, alignment, regions, packing,
    indirect, two_modes, layouts, operands, indirect_operand, multiply_add, eight_floats,
)  # fmt: skip
