"""Article on the Gen6 EU: its claims and their measures."""

from __future__ import annotations

from collections.abc import Callable

from gen6_bridge.claims import operands, scheduling
from pixelflow.evidence import Bench, Claim, ClaimClass, Note, Paper, Reason, derived

# Claims of Kanter's article: the page on the shader front end and the register files, paraphrased and numbered here.
#
# The page prints few figures; where it prints none, a consequence of the sentence is compared.


M, N, P, R = ((each,) for each in (ClaimClass.MECHANICAL, ClaimClass.NOT, ClaimClass.PROXY, ClaimClass.REPRODUCIBLE))

_OURS = "programs of ours on the model"
CONTRADICTED = {
    "address-registers": Note("address-registers", "41", Reason.MODEL,
        "The instruction set has one address register of eight words, a0.0 to a0.7: its number has no second one."),
    "indirect-operand": Note("indirect-operand", "25", Reason.MODEL,
        "The encoding has an address for the second source too, and the unit here takes it; real programs use it for "
        "the first alone."),
}  # fmt: skip
"""Contradictions between the article and the instruction set."""

# fmt: off
CLAIMS = (
    Claim("priority", "1", "The thread of the highest priority that has a ready instruction issues.", R,
        "no figure", _OURS, expected={"first_is_highest": 1}),
    Claim("several-cycles", "2", "An instruction may execute for several cycles.", R, "no figure",
        "how long the vector pipe is held by eight and by sixteen floats; the value is Mesa's of the next generation",
        expected={"eight": 2, "sixteen": 4},
        constants=frozenset(("eight", "sixteen"))),
    Claim("stalled-thread", "3", "A thread that stalls is switched out for another one.", R, "no figure",
        "when the second of two threads issues; cycles of one to five threads with one to four chains each, of "
        "independent instructions, and of roots next to sums, against closed forms",
        expected={"first_idle_cycle_used": 1, "off_closed_form": 0}),
    Claim("forced-switch", "4", "An instruction may force a switch when it is done.", R, "no figure", _OURS,
        expected={"turns_out_of_order": 0}),
    Claim("atomic", "5", "Instructions marked atomic go first: no other thread issues between.", R, "no figure", _OURS,
        expected={"others_between": 0}),
    Claim("native-control", "6", "While, call, return, indexed jumps and case are native.", R, "no figure",
        "a loop, a subroutine called twice and a table of jumps; results computed by hand",
        expected={"loop": 10, "subroutine": 2, "case": 30}),
    Claim("pointer-per-channel", "7", "Each channel has a separate instruction pointer.", R, "16 channels",
        "a loop that each channel leaves at another turn, and random nests of IF, ELSE, WHILE, BREAK and CONT, "
        "against each channel alone", expected={"wrong": 0, "wrong_in_nests": 0}),
    Claim("nesting", "8", "Nesting has no bound, nor has recursion.", R, "no figure",
        "a nest of 64 conditions, which no state but the pointers remembers; a routine calls itself 12 deep, and saves "
        "what CALL writes", expected={"wrong": 0, "recursive": 479_001_600}),
    Claim("ironlake-nesting", "9", "Ironlake nested deeply only with help of software, at great cost.", P, "no figure",
        "cycles of a level by pointers (18 + 2 + 2), and past a stack of 16 levels, with masks saved to memory "
        "(18 + 16 + 2 + 2, then 100 + 1 + 2); the stack is invented", expected={"level": 22, "level_past_stack": 141}),
    Claim("l1-cache", "10", "A row of three units shares an instruction cache of 4 KB.", R, "4 KB; 3 units",
        "a straight program on three units in step: lines that the row misses; loops that fit and do not, against "
        "what 16 sets of 4 lines must miss (ways are invented)", values={"kilobytes": 4, "units": 3},
        expected={"misses_more_than_one_unit": 0, "loops_off": 0},
        constants=frozenset(("kilobytes", "units"))),
    Claim("l2-cache", "11", "One second-level instruction cache of 24 KB serves all.", M, "24 KB",
        "a parameter of the model", values={"kilobytes": 24}, constants=frozenset(("kilobytes",))),
    Claim("cache-lines", "12", "Lines are 64 bytes, four instructions of fixed length.", R, "64 bytes; 4 instructions",
        "lines that 50 instructions in a row miss", values={"bytes": 64, "instructions": 4}, expected={"misses": 13},
        constants=frozenset(("bytes", "instructions"))),
    Claim("self-modifying", "13", "Programs cannot modify themselves.", N, "no figure",
        reason="no message of the model reaches a program, so that there is nothing to forbid"),
    Claim("fetch-buffer", "14", "Each thread presumably has a buffer of four instructions.", R, "4 instructions",
        "fetches of 64 instructions in a row", values={"instructions": 4},
        constants=frozenset(("instructions",))),
    Claim("vector-length", "15", "Vectors are as long as width times channels, bounded by the registers.", M,
        "no figure", "bytes of sixteen floats, and the rule that ends at two registers",
        expected={"bytes": 64, "registers": 2}),
    Claim("compressed", "16", "A compressed instruction is executed as two native ones.", R, "two",
        "issue of sixteen floats over eight, and the same bits", values={"ratio": 2}, expected={"wrong": 0}),
    Claim("masks", "17", "Predication, destination masks and execution masks enable channels.", R, "three gates",
        "a move behind each of the three, channels that it writes of sixteen",
        expected={"predicate": 3, "destination": 8, "execution": 5}),
    Claim("alignment", "18", "Operands need no alignment in the register file.", R, "no figure",
        "byte offsets at which one byte is a legal source; a row of elements must not cross a register",
        expected={"offsets": 32}),
    Claim("regions", "19", "Regions gather rows with strides, over several registers.", R, "multiple registers",
        "every region of a direct source of 1, 2 and 4 bytes with 1 to 16 channels, by the rules; more than two "
        "registers are refused", expected={"most_registers": 2}),
    Claim("packing", "20", "Narrow data need no packing instructions.", R, "no figure",
        "bytes of eight pixels as four registers of floats, by regions and by shifts and masks",
        expected={"by_regions": 4, "wrong": 0}),
    Claim("indirect", "21", "Operands may be indirect, by an address register and an offset.", R, "no figure", _OURS,
        expected={"wrong": 0}),
    Claim("two-modes", "22", "A 16-byte mode has swizzles and masks and no regions; a 1-byte mode the reverse.", M,
        "no figure", "rules that forbid strides there; the fields of a swizzle are those of a region",
        expected={"rules": 2, "shared_bits": 8}),
    Claim("layouts", "23", "Arrays of structures and structures of arrays serve alike, and transposing is easy.", R,
        "no figure", "eight vertices times a matrix both ways, one thread; four rows of four transposed",
        expected={"transposition": 4, "wrong": 0}),
    Claim("operands", "24", "Most instructions have three operands, some an implied fourth.", M, "no figure",
        "declarations that compute", expected={"most_have_three": 1}),
    Claim("indirect-operand", "25", "Both sources have regions, only the first can be indirect.", M, "one source",
        "sources that the encoding lets be indirect", values={"sources": 1},
        instead={"sources": derived("first + second", first=1, second=1)},
        notes=(CONTRADICTED["indirect-operand"],)),
    Claim("multiply-add", "26", "Multiply-add has three inputs and needs 16-byte alignment.", M, "3 inputs",
        "its declaration, and the rule that it breaks otherwise", values={"inputs": 3}, expected={"refused": 1}),
    Claim("register-width", "27", "Registers have 256 bits.", M, "256 bits", "a constant of the model",
        values={"bits": 256},
        constants=frozenset(("bits",))),
    Claim("eight-floats", "28", "Eight floats are one register an operand.", M, "one register",
        "registers that the region <8;8,1> of floats touches", values={"registers": 1}),
    Claim("sixteen-floats", "29", "Sixteen floats are two instructions with a register each.", R, "two instructions",
        "cycles that the pipe is held, over those of eight", values={"instructions": 2}),
    Claim("register-file", "30", "The register file has 640 entries, 20 KB.", M, "640; 20 KB", "arithmetic",
        values={"entries": 640, "kilobytes": 20},
        constants=frozenset(("entries", "kilobytes"))),
    Claim("fixed-threads", "31", "Five threads with 128 registers each; their number does not vary.", R, "5; 128",
        "threads that are on a unit at once, of seven", values={"threads": 5, "registers": 128},
        constants=frozenset(("registers",))),
    Claim("spilling", "32", "Registers are spilled to 32 KB of memory, past the caches.", P, "32 KB",
        "cycles from a block read to its use over those of a register; latencies are Mesa's and a guess",
        expected={"slower": 1}),
    Claim("element-sizes", "33", "Elements have 1 to 4 bytes; there are no doubles.", M, "1 to 4 bytes",
        "types of the encoding", values={"least": 1, "most": 4}, expected={"doubles_refused": 1},
        constants=frozenset(("least", "most", "doubles_refused"))),
    Claim("banks", "34", "Odd and even banks each read and write one register a cycle.", P, "one read, one write",
        "cycles more for two sources of one bank with the switch on; what a conflict costs is invented",
        expected={"one_bank": 1, "two_banks": 0}),
    Claim("message-registers", "35", "There are 24 message registers, 0.75 KB.", M, "24; 0.75 KB", "arithmetic",
        values={"registers": 24, "kilobytes": 0.75},
        constants=frozenset(("registers", "kilobytes"))),
    Claim("write-only", "36", "Message registers are written, and read by messages alone.", R, "no figure", _OURS,
        expected={"refused": 1}),
    Claim("answers", "37", "Answers are written to the general registers.", R, "no figure", _OURS,
        expected={"wrong": 0}),
    Claim("dispatch", "38", "Messages fill general registers when a thread is dispatched.", R, "no figure",
        "triangles drawn by threads that know their payload alone: places, constants and planes",
        expected={"wrong": 0}),
    Claim("in-flight", "39", "A thread may have several messages queued or in flight.", R, "no figure",
        "eight reads through a sampler that is held 16 cycles by each: the last answer, in cycles",
        expected={"cycles_more_than_formula": 0}),
    Claim("architecture-registers", "40", "Architecture registers hold pointers, priority, dependencies, notification, "
        "flags and exceptions.", M, "no figure",
        "kinds of architecture registers that operands can name; exceptions and priority are not modelled as registers",
        expected={"kinds": 10},
        constants=frozenset(("kinds",))),
    Claim("address-registers", "41", "There are two address registers.", M, "2", "what operands can name",
        values={"registers": 2}, instead={"registers": derived("words // a_register", words=8, a_register=8)},
        notes=(CONTRADICTED["address-registers"],)),
    Claim("accumulators", "42", "Two accumulators serve higher precision.", R, "2",
        "products of 32 by 32 bits as 64, eight at random", values={"registers": 2}, expected={"wrong": 0},
        constants=frozenset(("registers",))),
    Claim("last-level", "43", "Spilled registers are in memory that the processor's last-level cache holds.", N,
        "no figure", reason="there is no processor here, and no cache of data"),
)
# fmt: on


def _bench(watch: Callable[[object], None]) -> Bench:
    return Bench()


PAPER = Paper(
    name="gen6",
    title="Kanter, Intel's Sandy Bridge Graphics Architecture, RealWorldTech, 2011: front end and register files",
    claims=CLAIMS,
    measures={**scheduling.MEASURES, **operands.MEASURES},
    efforts={"stalled-thread": 2, "pointer-per-channel": 3},
    bench=_bench,
    notes=tuple(CONTRADICTED.values()),
    closing="The page prints no peak rates, no rate of the math unit and no sizes of the generation before, so nothing "
    "here claims any. Latencies are Mesa's, of the next generation or marked there as guesses.",
)
"""Kanter 2011; no model reads its figures."""
