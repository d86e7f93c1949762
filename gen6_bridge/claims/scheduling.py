"""Measures of claims about threads, issue, caches, registers and messages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from gen6_bridge.claims.bench import NO_CACHES, Printed, by_name, constant, executed, held, issue_order, timed
from gen6_bridge.drawing import draw_on_gen6
from gen6_bridge.isa.execution import CHANNELS
from gen6_bridge.isa.operands import GRF_REGISTERS, MRF_REGISTERS, REGISTER_BYTES, Architecture, EuType
from gen6_bridge.program import assemble_eu
from gen6_bridge.time import CarriedStep, EuConfig, schedule
from gen6_bridge.time.schedule import LINE_BYTES, LINE_INSTRUCTIONS
from gen6_bridge.unit import BlockMemory
from pixelflow.evidence import Bench, Measured
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles, State, Texture, draw_frame, snap
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.report import counted

# Closed forms of the schedule: cases whose cycles or misses can be computed by hand.
#
# t: cycles for which the pipe is held; L: latency of a result; K: threads; N: instructions of each. Caches are off
# except where lines are counted.


_CHAINS = {2: "add (8) g{0}<1>F g{0}<8,8,1>F g1<8,8,1>F", 4: "add (16) g{0}<1>F g{0}<8,8,1>F g2<8,8,1>F"}
"""An instruction that waits for itself, by the cycles for which it holds the pipe."""
_LATENCIES, _THREADS = (12, 14, 16), range(1, 6)
LOOPS = {10: 0, 64: 0, 65: 5, 70: 30, 80: 80, 90: 90}
"""Lines of a loop, and the misses of each turn after the first: of 16 sets of 4, a set with five lines misses all."""
_TURNS = 3

Case = tuple[str, int, int]
"""Name, measured value, value of the closed form."""


def chains(count: int = 40) -> Iterator[Case]:
    """Yield cycles of K threads, each with m interleaved chains of dependent instructions.

    N turns take (N - 1) L + m K t for m K t up to L; above that the pipe is always held: m K N t.
    """
    for ways, latency, held, threads in product((1, 2, 3, 4), _LATENCIES, _CHAINS, _THREADS):
        source = "\n".join(_CHAINS[held].format(10 + 4 * way) for way in range(ways))
        config = EuConfig(caches=False, dependent_cycles=latency)
        turn, most = ways * threads * held, max(latency, held)
        wanted = (count - 1) * most + turn if turn <= most else count * turn
        name = f"{counted(threads, 'thread')} of {counted(ways, 'chain')}, t {held}, L {latency}"
        yield name, timed(source, threads, count * ways, config).cycles, wanted


def independent(count: int = 60) -> Iterator[Case]:
    """Yield cycles of K threads of independent instructions: K N t."""
    for held, threads in product(_CHAINS, _THREADS):
        lines = [_CHAINS[held].format(1).replace("g1<1>", f"g{20 + 2 * at}<1>") for at in range(20)]
        yield (
            f"{counted(threads, 'thread')} of independent instructions",
            timed("\n".join(lines), threads, count).cycles,
            (threads * count * held),
        )


def parts() -> Iterator[Case]:
    """Yield cycles of a thread of roots next to one of sums: the longer of the two, or one cycle more."""
    code = assemble_eu(_CHAINS[2].format(10) + "\nmath (8) g12<1>F g12<8,8,1>F inv").code
    config = EuConfig(caches=False)
    alone = [schedule(code, [[CarriedStep(at)] * 50], config).cycles for at in (0, 1)]
    both = schedule(code, [[CarriedStep(at)] * 50 for at in (0, 1)], config).cycles
    yield "roots next to sums", both, max(alone) + (both == max(alone) + 1)


def loop_misses(lines: int) -> int:
    """Return the misses of a loop of this many lines in all of its turns."""
    code = assemble_eu("nop\n" * (4 * lines)).code
    return schedule(code, [[CarriedStep(at) for at in range(4 * lines)] * _TURNS], EuConfig()).l1_misses


def loops() -> Iterator[Case]:
    """Yield misses of loops that fit a cache of 64 lines, and of some that do not."""
    for lines, each_turn in LOOPS.items():
        yield f"a loop of {lines} lines", loop_misses(lines), lines + (_TURNS - 1) * each_turn


def off(*families: Iterator[Case]) -> tuple[int, list[str]]:
    """Return the count of cases, and those that differ from their closed form."""
    cases = [case for family in families for case in family]
    wrong = [f"{name}: {got}, by the closed form {wanted}" for name, got, wanted in cases if got != wanted]
    return len(cases), wrong


_KB = 1024
_CHAIN = "add (8) g1<1>F g1<8,8,1>F g2<8,8,1>F"
_EIGHT, _SIXTEEN = "add (8) g10<1>F g1<8,8,1>F g3<8,8,1>F", "add (16) g10<1>F g1<8,8,1>F g3<8,8,1>F"


def priority(bench: Bench, printed: Printed) -> Measured:
    """Give the last of three threads the highest priority."""
    order = issue_order(_CHAIN, 3, 5, priorities=[0, 1, 2])
    first = [thread for thread, _ in order[:3]]
    return Measured(f"first issues by threads {first}", {"first_is_highest": int(first == [2, 1, 0])})


def several_cycles(bench: Bench, printed: Printed) -> Measured:
    """Hold the pipe by eight and by sixteen floats."""
    eight, sixteen = held(_EIGHT), held(_SIXTEEN)
    return Measured(f"{eight} cycles for eight floats, {sixteen} for sixteen", {"eight": eight, "sixteen": sixteen})


def stalled_thread(bench: Bench, printed: Printed) -> Measured:
    """Find when the second of two threads of dependent instructions issues, and compare schedules with closed forms:
    one to five threads of one to four chains, of independent instructions, and roots next to sums.
    """
    order = issue_order(_CHAIN, 2, 10)
    cycle = next(cycle for thread, cycle in order if thread == 1)
    count, wrong = off(chains(), independent(), parts())
    figures = {"first_idle_cycle_used": int(cycle == held(_CHAIN)), "off_closed_form": len(wrong)}
    text = f"the other thread issues in cycle {cycle}; {len(wrong)} of {count} schedules are off their closed form"
    return Measured("; ".join([text, *wrong[:1]]), figures)


def forced_switch(bench: Bench, printed: Printed) -> Measured:
    """Run two threads whose instructions request a switch."""
    source = "\n".join(f"mov (8) g{at}<1>D 1D {{align1 switch}}" for at in range(1, 9))
    threads = [thread for thread, _ in issue_order(source, 2, 8)]
    wrong = sum(thread != at % 2 for at, thread in enumerate(threads))
    return Measured(f"order of threads {threads}", {"turns_out_of_order": wrong})


def atomic(bench: Bench, printed: Printed) -> Measured:
    """Run two threads of dependent atomic instructions."""
    threads = [thread for thread, _ in issue_order(f"{_CHAIN} {{align1 atomic}}", 2, 8)]
    between = sum(thread != 0 for thread in threads[:8])
    return Measured(f"order of threads {threads}", {"others_between": between})


def l1_cache(bench: Bench, printed: Printed) -> Measured:
    """Run 200 instructions in a row on one unit, and on three that share a cache."""
    source, config = "nop\n" * 200, EuConfig()
    alone = timed(source, config=config)
    row = timed(source, 3, config=EuConfig(units=3))
    figures = {
        "kilobytes": config.l1_bytes // _KB,
        "units": config.row,
        "misses_more_than_one_unit": row.l1_misses - alone.l1_misses,
    }
    count, wrong = off(loops())
    figures["loops_off"] = len(wrong)
    text = f"{alone.l1_misses} lines for one unit, {row.l1_misses} for three"
    return Measured(f"{text}; {len(wrong)} of {count} loops miss other than by hand", figures)


def cache_lines(bench: Bench, printed: Printed) -> Measured:
    """Run 50 instructions in a row."""
    misses = timed("nop\n" * 50, config=EuConfig()).l1_misses
    figures = {"bytes": LINE_BYTES, "instructions": LINE_INSTRUCTIONS, "misses": misses}
    return Measured(f"{misses} lines for 50 instructions", figures)


def fetch_buffer(bench: Bench, printed: Printed) -> Measured:
    """Count fetches of 64 instructions in a row."""
    fetches = timed("nop\n" * 64, config=EuConfig()).fetches
    return Measured(f"{fetches} fetches of 64 instructions", {"instructions": 64 // fetches})


def compressed(bench: Bench, printed: Printed) -> Measured:
    """Execute sixteen floats at once and as two eights."""
    values = np.linspace(-4, 9, 32, dtype=np.float32)
    both = executed("mul (16) g20<1>F g10<8,8,1>F g12<8,8,1>F", {10: values})
    halves = executed(
        "mul (8) g20<1>F g10<8,8,1>F g12<8,8,1>F\nmul (8) g21<1>F g11<8,8,1>F g13<8,8,1>F {align1 sechalf}",
        {10: values},
    )
    wrong = int((both.general != halves.general).sum())
    ratio = held(_SIXTEEN) / held(_EIGHT)
    return Measured(f"{ratio:.0f} times as long, {wrong} bytes differ", {"ratio": ratio, "wrong": wrong})


def sixteen_floats(bench: Bench, printed: Printed) -> Measured:
    """Compare how long the pipe is held."""
    ratio = held(_SIXTEEN) / held(_EIGHT)
    return Measured(f"{ratio:.0f} passes", {"instructions": ratio})


def fixed_threads(bench: Bench, printed: Printed) -> Measured:
    """Dispatch more threads than fit and count those that begin before the first has ended."""
    account = timed(_CHAIN, _CONFIG.threads + 2, 20)
    first = min(each.end for each in account.threads)
    together = sum(each.begin < first - held(_CHAIN) for each in account.threads)
    text = f"{together} threads at once, whatever registers they use"
    return Measured(text, {"threads": together, "registers": GRF_REGISTERS})


def spilling(bench: Bench, printed: Printed) -> Measured:
    """Compare the use of a block of memory with that of a register."""
    block = "send (8) 1 g20<1>UD null read(0, 4, 2, 0) mlen 1 rlen 1\nadd (8) g21<1>D g20<8,8,1>D 1D"
    register = "mov (8) g20<1>D g19<8,8,1>D\nadd (8) g21<1>D g20<8,8,1>D 1D"
    slow, fast = timed(block).cycles, timed(register).cycles
    return Measured(f"{slow} cycles by memory, {fast} by a register", {"slower": int(slow > fast)})


def banks(bench: Bench, printed: Printed) -> Measured:
    """Take two sources from one bank, and from two."""
    config = EuConfig(caches=False, banks=True)
    one, two = (timed(f"add (8) g9<1>F g1<8,8,1>F g{at}<8,8,1>F", config=config).cycles for at in (3, 2))
    base = timed(_EIGHT).cycles
    text = f"{one - base} cycles more in one bank, {two - base} in two"
    return Measured(text, {"one_bank": one - base, "two_banks": two - base})


def write_only(bench: Bench, printed: Printed) -> Measured:
    """Read a message register as a source."""
    try:
        executed("mov (8) g1<1>D m1<8,8,1>D")
    except MachineFault as fault:
        return Measured(str(fault), {"refused": 1})
    return Measured("it was read", {"refused": 0})


def answers(bench: Bench, printed: Printed) -> Measured:
    """Read a block of memory to general registers."""
    memory = np.arange(256, dtype=np.uint8)
    unit = executed("send (8) 1 g20<1>UD null read(0, 4, 2, 0) mlen 1 rlen 1", functions=BlockMemory(memory))
    wrong = int((unit.general[0, 20] != memory[:REGISTER_BYTES]).sum())
    return Measured(f"{wrong} bytes of the answer differ", {"wrong": wrong})


def in_flight(bench: Bench, printed: Printed) -> Measured:
    """Ask a sampler eight times, then use the answers."""
    count, config = 8, NO_CACHES
    reads = [f"send (8) 1 g{20 + 4 * at}<1>UW null sampler(1, 0, F) mlen 1 rlen 4" for at in range(count)]
    uses = [f"mov (8) g{at + 1}<1>F g{20 + 4 * at}<8,8,1>F" for at in range(count)]
    cycles = timed("\n".join([*reads, *uses])).cycles
    formula = (count - 1) * config.sampler_busy + config.sampler_cycles + config.issue_cycles
    text = f"{cycles} cycles for eight messages, {count * config.sampler_cycles} if they waited for each other"
    return Measured(text, {"cycles_more_than_formula": cycles - formula})


def accumulators(bench: Bench, printed: Printed) -> Measured:
    """Multiply 32 by 32 bits as 64 in eight channels, by mul, mach and the accumulator."""
    numbers = np.random.default_rng(42).integers(-(1 << 31), 1 << 31, (2, 8))
    source = """
    mul (8) acc0<1>D g10<8,8,1>D g11<8,8,1>D
    mach (8) g21<1>D g10<8,8,1>D g11<8,8,1>D {align1 accwrctrl}
    mov (8) g20<1>D acc0<8,8,1>D
    """
    unit = executed(source, {10: numbers.astype(np.int32).reshape(-1)})
    low, high = (unit.general[0, at].view(np.uint32).tolist() for at in (20, 21))
    products = [(upper << 32 | lower) for upper, lower in zip(high, low, strict=True)]
    wanted = [int(a) * int(b) & (1 << 64) - 1 for a, b in numbers.T]
    wrong = sum(mine != theirs for mine, theirs in zip(products, wanted, strict=True))
    registers = CHANNELS * EuType.D.size // REGISTER_BYTES
    return Measured(f"{wrong} of 8 products differ", {"registers": registers, "wrong": wrong})


# Measure of the claim about dispatch: threads draw with nothing but the registers that the rasterizer filled.


_WIDTH, _HEIGHT, _TRIANGLES = 40, 24, 6


def _triangles(source: np.random.Generator) -> ScreenTriangles:
    points, depths = source.uniform(-8, 48, (_TRIANGLES, 3, 2)), source.uniform(0, 1, (_TRIANGLES, 3))
    colours, places = source.integers(0, 256, (_TRIANGLES, 3, 3)), source.uniform(-40, 40, (_TRIANGLES, 3, 2))
    return snap(points, depths, colours, places)


def dispatch(bench: Bench, printed: Printed) -> Measured:
    """Draw random triangles, plain and textured, by threads that depend on their payload alone."""
    source = np.random.default_rng(38)
    plain, textured = _triangles(source), _triangles(source)
    texture = Texture(source.integers(0, 256, (16, 8, 4)).astype(np.uint8))
    draws = (Draw("plain", plain), Draw("textured", textured, State(texture=texture)))
    frame = Frame(_WIDTH, _HEIGHT, (9, 99, 199), draws)
    drawn, wanted = draw_on_gen6(frame), draw_frame(frame)
    wrong = int((drawn.picture.colours != wanted.colours).any(axis=-1).sum())
    lit = int((wanted.colours != frame.background).any(axis=-1).sum())
    text = f"{wrong} of {_WIDTH * _HEIGHT} pixels are others than by integers of 64 bits; {lit} are drawn"
    return Measured(text, {"wrong": wrong})


_CONFIG = EuConfig()
_LINES, _ENTRIES = _CONFIG.l2_bytes // LINE_BYTES, _CONFIG.threads * GRF_REGISTERS
_MESSAGE_KB = MRF_REGISTERS * REGISTER_BYTES / _KB
_ARCHITECTURE = ", ".join(each.name.lower().replace("_", " ") for each in Architecture)
_SIZES = [each.size for each in EuType if each is not EuType.DF and not each.packed]

MEASURES = {
    **by_name(
        priority, several_cycles, stalled_thread, forced_switch, atomic, l1_cache, cache_lines, fetch_buffer,
        compressed, sixteen_floats, fixed_threads, spilling, banks, write_only, answers, in_flight, accumulators,
        dispatch,
    ),
    "l2-cache": constant(
        f"{_LINES} lines, {_LINES * LINE_INSTRUCTIONS:,} instructions", kilobytes=_CONFIG.l2_bytes // _KB
    ),
    "register-width": constant(f"{REGISTER_BYTES} bytes", bits=8 * REGISTER_BYTES),
    "register-file": constant(
        f"{_ENTRIES} registers, {_ENTRIES * REGISTER_BYTES // _KB} KB",
        entries=_ENTRIES, kilobytes=_ENTRIES * REGISTER_BYTES // _KB,
    ),
    "element-sizes": constant(
        f"{min(_SIZES)} to {max(_SIZES)} bytes",
        least=min(_SIZES), most=max(_SIZES), doubles_refused=int(EuType.DF.size not in _SIZES),
    ),
    "message-registers": constant(
        f"{MRF_REGISTERS} registers, {_MESSAGE_KB} KB", registers=MRF_REGISTERS, kilobytes=_MESSAGE_KB
    ),
    "architecture-registers": constant(_ARCHITECTURE, kinds=len(Architecture)),
    "address-registers": constant(
        "the instruction set has one a0 of eight words", registers=[*Architecture].count(Architecture.ADDRESS)
    ),
}  # fmt: skip
"""Measure of each claim: executed programs, or constants of the model."""
