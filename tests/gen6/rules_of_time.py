"""Rules of time as a table: a program, its cycles derived by hand, and its cycles with a value or the rule changed.

    python -m tests.gen6.rules_of_time

names the rules whose cycles differ, and returns 1 then. Caches are off unless a row sets them. "@16" is the cycle in
which an instruction issues. Without another reason an instruction issues a cycle after the previous one, or when its
part is free: the vector pipe and the math unit are held for 2 cycles by eight channels of 4 bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gen6_bridge.machine import run_program
from gen6_bridge.program import assemble_eu
from gen6_bridge.time import Account, CarriedStep, EuConfig, schedule
from tests.sabotage.broken_rules import differing

Steps = Sequence[Sequence[int]]
"""For each thread the numbers of the instructions that it executes."""


def _figure(account: Account, figure: str) -> int:
    name, _, of = figure.partition(" ")
    if name == "waited":
        return sum(each.waited[of] for each in account.threads)
    if name in ("unit", "begin"):
        return int(getattr(account.threads[int(of)], name))
    found = getattr(account, name)
    return int(found[int(of) if of.isdigit() else of] if of else found)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; ``changed`` has other values of the configuration, or another source, steps or priorities."""

    name: str
    source: str
    """Instructions with ``; `` between them."""
    cycles: int
    why: str
    changed: Mapping[str, object]
    then: int
    """Cycles with what is changed."""
    config: Mapping[str, object] = field(default_factory=dict)
    steps: Steps = ()
    """One thread executes all instructions by default."""
    priorities: Sequence[int] = ()
    executed: bool = False
    """True if the program is executed, so that addresses and flags choose registers and steps."""
    figure: str = "cycles"
    """Field of the account, and within it a part, a cause, a unit, a thread or a target."""

    def measured(self) -> int:
        """Return the cycles that the machine takes, or another figure of its account."""
        program = assemble_eu(self.source.replace("; ", "\n"))
        config = EuConfig(**{"caches": False, **self.config})
        if self.executed:
            return _figure(run_program(program, config=config).account, self.figure)
        steps = self.steps or [range(len(program.code))]
        traces = [[CarriedStep(number) for number in thread] for thread in steps]
        return _figure(schedule(program.code, traces, config, priorities=self.priorities or None), self.figure)

    def after(self) -> Rule:
        """Return the row with what is changed."""
        own = {key: value for key, value in self.changed.items() if key in ("source", "steps", "priorities")}
        config = {key: value for key, value in self.changed.items() if key not in own}
        return replace(self, config={**self.config, **config}, cycles=self.then, **own)


ADD, SIXTEEN = "add (8) g{0}<1>F g{1}<8,8,1>F g3<8,8,1>F", "add (16) g{0}<1>F g{1}<8,8,1>F g4<8,8,1>F"
CHAIN, USE = ADD.format(1, 1), "mov (8) g90<1>D g{0}<8,8,1>D"
ONE, OTHER, THIRD = (ADD.format(to, 2) for to in (20, 22, 24))
"""Independent instructions."""
INVERSE = "math (8) g20<1>F g10<8,8,1>F inv"
POWER, SECOND_POWER = (f"math (8) g{to}<1>F g10<8,8,1>F g11<8,8,1>F pow" for to in (20, 22))
DIVIDE, SECOND_DIVIDE = (f"math (8) g{to}<1>D g10<8,8,1>D g11<8,8,1>D intdiv" for to in (20, 22))
READ, SECOND_READ = (f"send (8) 1 g{to}<1>UD null read(0, 4, 2, 0) mlen 1 rlen 1" for to in (20, 21))
SAMPLE, SECOND_SAMPLE = (f"send (8) 1 g{to}<1>UW null sampler(1, 0, F) mlen 1 rlen 4" for to in (20, 24))
URB, SECOND_URB = (f"send (8) 1 g{to}<1>UW null urb 0 mlen 1 rlen 1" for to in (20, 21))
WRITE, COMMIT = (f"send (8) 1 {to} null write(0, 4, 12, {commit}) mlen 5 rlen {commit}"
                 for to, commit in (("null", 0), ("g20<1>UW", 1)))  # fmt: skip
INDIRECT = "mov (1) a0.0<1>UW 1280UW; mov (8) g20<1>D g[a0.0]<8,8,1>D"
COMPARE, GUARDED = "cmp.l.f0.0 (8) null<1>F g10<8,8,1>F 1.0F", "(+f0.0) mov (8) g20<1>D 1D"
PLANE, WIDE_PLANE = (f"pln ({size}) g20<1>F g10<0,1,0>F g4<8,8,1>F" for size in (8, 16))
LONG = "; ".join(["nop"] * 769)
SMALL = {"caches": True, "l1_bytes": 1024, "ways": 1}
"""A first level of sixteen lines, each a set: lines 0 and 16 share one."""

RULES = (
    # The pipes: how long they are held.
    Rule("the pipe is held for 2 cycles by eight floats", f"{ONE}; {OTHER}; {THIRD}", 6, "@0, @2, @4, 2 each",
         {"issue_cycles": 3}, 9),
    Rule("sixteen floats hold it twice as long", f"{SIXTEEN.format(20, 2)}; {SIXTEEN.format(22, 2)}", 8, "@0, @4 to 8",
         {"source": f"{ONE}; {OTHER}"}, 4),
    Rule("sixteen words hold it as eight floats do", "add (16) g20<1>W g10<16,16,1>W 1W", 2, "32 bytes",
         {"source": "add (16) g20<1>D g10<8,8,1>D 1D"}, 4),
    Rule("the wider of what is computed and written counts", "mov (16) g20<1>D g10<16,16,1>UW", 4, "64 bytes written",
         {"source": "mov (16) g20<1>UW g10<16,16,1>UW"}, 2),
    Rule("one channel holds it as long as eight", "add (1) g20<1>F g2<0,1,0>F 1.0F", 2, "at least one pass",
         {"issue_cycles": 5}, 5),
    Rule("pipe and math unit work at once, one issue a cycle", f"{INVERSE}; {ADD.format(22, 2)}", 3, "@0, @1 to 3",
         {"source": f"{ONE}; {OTHER}"}, 4),
    Rule("the math unit is held for 2 cycles by eight", f"{INVERSE}; math (8) g22<1>F g10<8,8,1>F inv", 4, "@0, @2",
         {"issue_cycles": 4}, 8),
    Rule("powers hold it for 4 cycles", f"{POWER}; {SECOND_POWER}", 8, "@0, @4", {"power_issue": 5}, 10),
    Rule("divisions of integers hold it for 26 cycles", f"{DIVIDE}; {SECOND_DIVIDE}", 52, "@0, @26",
         {"division_issue": 20}, 40),
    Rule("sixteen channels hold it twice as long", POWER.replace("(8)", "(16)"), 8, "two passes of 4",
         {"source": POWER}, 4),
    Rule("divisions and other functions too", f"{SECOND_DIVIDE}; {INVERSE}".replace("(8)", "(16)"), 56, "@0, @52 to 56",
         {"source": f"{SECOND_DIVIDE}; {INVERSE}"}, 28),
    Rule("sources of one bank cost a cycle where that is switched on", "add (8) g20<1>F g11<8,8,1>F g13<8,8,1>F", 3,
         "2 and 1: registers 11 and 13 are odd", {"banks": False}, 2, {"banks": True}),
    Rule("sources of two banks do not", "add (8) g20<1>F g11<8,8,1>F g12<8,8,1>F", 2, "registers 11 and 12",
         {"source": "add (8) g20<1>F g10<8,8,1>F g12<8,8,1>F"}, 3, {"banks": True}),
    Rule("other registers are in no bank", "add (8) g20<1>F acc0<8,8,1>F g12<8,8,1>F", 2, "g12 alone",
         {"source": "add (8) g20<1>F g10<8,8,1>F g12<8,8,1>F"}, 3, {"banks": True}),
    Rule("nor are those that an address chooses", "mov (1) a0.0<1>UW 1280UW; add (8) g20<1>D g[a0.0]<8,8,1>D "
         "g12<8,8,1>D", 18, "@0, @16 to 18", {"source": "mov (1) a0.0<1>UW 1280UW; add (8) g20<1>D g40<8,8,1>D "
         "g12<8,8,1>D"}, 5, {"banks": True}, executed=True),
    Rule("sources of functions cost it as well", DIVIDE.replace("g11", "g12"), 27,
         "26 and 1: registers 10 and 12 are even", {"banks": False}, 26, {"banks": True}),
    Rule("the last two of three sources in one bank always do",
         "mad (8) g20<1>F g11<4,4,1>F g12<4,4,1>F g14<4,4,1>F {align16}", 3, "2 and 1: registers 12 and 14 are even",
         {"source": "mad (8) g20<1>F g10<4,4,1>F g12<4,4,1>F g13<4,4,1>F {align16}"}, 2),
    # Registers: when a result can be used.
    Rule("a result can be used after 16 cycles", f"{CHAIN}; {CHAIN}", 18, "@0, @16 to 18", {"dependent_cycles": 14},
         16),
    Rule("a destination waits for its last result", f"{ADD.format(1, 2)}; mov (8) g1<1>D 1D", 18, "@0, @16 to 18",
         {"source": f"{ADD.format(1, 2)}; mov (8) g1<1>D 1D {{NoDDChk}}"}, 4),
    Rule("with NoDDChk the last result counts", f"{POWER}; mov (8) g20<1>D 1D {{NoDDChk}}; {USE.format(20)}", 19,
         "@0, @1, @17 to 19, though the power is there at 24", {"dependent_cycles": 10}, 13),
    Rule("NoDDChk does not spare the sources", f"{CHAIN}; add (8) g1<1>F g1<8,8,1>F g3<8,8,1>F {{NoDDChk}}", 18,
         "@0, @16 to 18: it reads g1", {"source": f"{CHAIN}; add (8) g1<1>F g2<8,8,1>F g3<8,8,1>F {{NoDDChk}}"}, 4),
    Rule("a register that was read can be written at once", f"{ADD.format(20, 1)}; mov (8) g1<1>D 1D", 4, "@0, @2 to 4",
         {"source": f"{ADD.format(1, 1)}; mov (8) g1<1>D 1D"}, 18),
    Rule("a source of sixteen channels waits for both of its registers",
         f"mov (8) g11<1>D 1D; {SIXTEEN.format(20, 10)}", 20, "@0, @16 to 20: it reads g10 and g11",
         {"source": f"mov (8) g12<1>D 1D; {SIXTEEN.format(20, 10)}"}, 6),
    Rule("a destination of sixteen channels is two registers", f"{SIXTEEN.format(20, 2)}; {USE.format(21)}", 18,
         "@0, @16 to 18", {"source": f"{SIXTEEN.format(20, 2)}; {USE.format(22)}"}, 6),
    Rule("a plane waits for both registers of its pair", f"mov (8) g5<1>D 1D; {PLANE}", 18, "@0, @16 to 18: g4 and g5",
         {"source": f"mov (8) g6<1>D 1D; {PLANE}"}, 4),
    Rule("a plane of sixteen channels waits for two pairs", f"mov (8) g7<1>D 1D; {WIDE_PLANE}", 20,
         "@0, @16 to 20: g4 to g7", {"source": f"mov (8) g8<1>D 1D; {WIDE_PLANE}"}, 6),
    Rule("a destination with gaps is two registers, too", f"mov (8) g20<2>D 1D; {USE.format(21)}", 18, "@0, @16 to 18",
         {"source": f"mov (8) g20<1>D 1D; {USE.format(21)}"}, 4),
    Rule("the last byte of a source counts", "mov (8) g11<1>D 1D; mov (8) g20<1>UB g10.25<8,8,1>UB", 18,
         "@0, @16 to 18: bytes 25 to 32", {"source": "mov (8) g11<1>D 1D; mov (8) g20<1>UB g10.24<8,8,1>UB"}, 4),
    Rule("NoDDClr spares nothing", f"{ADD.format(1, 2)}; mov (8) g1<1>D 1D {{NoDDClr}}", 18, "@0, @16 to 18",
         {"source": f"{ADD.format(1, 2)}; mov (8) g1<1>D 1D {{NoDDClr,NoDDChk}}"}, 4),
    Rule("three sources take 18 cycles",
         f"mad (8) g20<1>F g11<4,4,1>F g12<4,4,1>F g13<4,4,1>F {{align16}}; {USE.format(20)}", 20, "@0, @18 to 20",
         {"three_source_cycles": 17}, 19),
    Rule("a flag can be used after 18 cycles", f"{COMPARE}; {GUARDED}", 20, "@0, @18 to 20", {"flag_cycles": 10}, 12),
    Rule("a condition of any instruction sets the flag", f"add.l.f0.0 (8) g22<1>F g10<8,8,1>F 1.0F; {GUARDED}", 20,
         "@0, @18 to 20", {"source": f"add (8) g22<1>F g10<8,8,1>F 1.0F; {GUARDED}"}, 4),
    Rule("a move to the flag register does too", f"mov (1) f0.0<1>UW 3UW; {GUARDED}", 20, "@0, @18 to 20",
         {"flag_cycles": 10}, 12),
    Rule("a selection by a condition sets no flag", f"sel.l (8) g22<1>F g10<8,8,1>F 1.0F; {GUARDED}", 4, "@0, @2 to 4",
         {"source": f"{COMPARE}; {GUARDED}"}, 20),
    Rule("a branch with a predicate waits for the flag", f"{COMPARE}; (+f0.0) if (8) 2; nop", 22, "@0, @18, @20 to 22",
         {"source": f"{COMPARE}; if (8) 2; nop"}, 5),
    Rule("the accumulator can be used after 8 cycles",
         "mov (8) acc0<1>F g10<8,8,1>F; mac (8) g20<1>F g10<8,8,1>F g11<8,8,1>F", 10, "@0, @8 to 10",
         {"accumulator_cycles": 5}, 7),
    Rule("what does not read the accumulator does not wait", f"mov (8) acc0<1>F g10<8,8,1>F; {ONE}", 4, "@0, @2 to 4",
         {"source": "mov (8) acc0<1>F g10<8,8,1>F; mac (8) g20<1>F g2<8,8,1>F g3<8,8,1>F"}, 10),
    Rule("an implied write of the accumulator too",
         "add (8) g20<1>F g10<8,8,1>F g11<8,8,1>F {accwrctrl}; mov (8) g22<1>F acc0<8,8,1>F", 10, "@0, @8 to 10",
         {"source": "add (8) g20<1>F g10<8,8,1>F g11<8,8,1>F; mov (8) g22<1>F acc0<8,8,1>F"}, 4),
    Rule("mach reads the accumulator and writes it",
         "mul (8) acc0<1>D g10<8,8,1>D g11<8,8,1>D; mach (8) g20<1>D g10<8,8,1>D g11<8,8,1>D; "
         "mov (8) g22<1>D acc0<8,8,1>D", 18, "@0, @8, @16 to 18", {"accumulator_cycles": 10}, 22),
    Rule("a function of the math unit takes 16 cycles", f"{INVERSE}; {USE.format(20)}", 18, "@0, @16 to 18",
         {"math_cycles": 20}, 22),
    Rule("a quotient of floats too", f"math (8) g20<1>F g10<8,8,1>F g11<8,8,1>F fdiv; {USE.format(20)}", 18,
         "@0, @16 to 18", {"math_cycles": 20}, 22),
    Rule("a power takes 24", f"{POWER}; {USE.format(20)}", 26, "@0, @24 to 26", {"power_cycles": 20}, 22),
    Rule("a division of integers takes 30", f"{DIVIDE}; {USE.format(20)}", 32, "@0, @30 to 32",
         {"division_cycles": 28}, 30),
    Rule("sine and cosine are two registers", f"math (8) g20<1>F g10<8,8,1>F sincos; {USE.format(21)}", 18,
         "@0, @16 to 18", {"source": f"math (8) g20<1>F g10<8,8,1>F sin; {USE.format(21)}"}, 3),
    Rule("quotient and remainder are two registers",
         f"math (8) g20<1>D g10<8,8,1>D g11<8,8,1>D intdivmod; {USE.format(21)}", 32, "@0, @30 to 32",
         {"source": f"{DIVIDE}; {USE.format(21)}"}, 3),
    Rule("an indirect source waits for the address register",
         "mov (1) a0.0<1>UW 1280UW; mov (8) g20<1>D g[a0.0]<8,8,1>D", 18, "@0, @16 to 18",
         {"source": "mov (1) a0.0<1>UW 1280UW; mov (8) g20<1>D g40<8,8,1>D"}, 4, executed=True),
    Rule("an indirect source waits for the register that the address chooses",
         f"mov (1) a0.0<1>UW 1280UW; {SIXTEEN.format(40, 2)}; mov (8) g20<1>D g[a0.0]<8,8,1>D", 20,
         "@0, @2, g40 at 18: @18 to 20",
         {"source": f"mov (1) a0.0<1>UW 1344UW; {SIXTEEN.format(40, 2)}; mov (8) g20<1>D g[a0.0]<8,8,1>D"}, 18,
         executed=True),
    Rule("all sixteen channels do", f"mov (1) a0.0<1>UW 1280UW; {ADD.format(41, 2)}; mov (16) g20<1>D g[a0.0]<8,8,1>D",
         22, "@0, @2, g41 at 18: @18 to 22", {"source": f"mov (1) a0.0<1>UW 1280UW; {ADD.format(42, 2)}; mov (16) "
         "g20<1>D g[a0.0]<8,8,1>D"}, 20, executed=True),
    Rule("an indirect destination is the register that the address chooses",
         f"mov (1) a0.0<1>UW 1280UW; mov (8) g[a0.0]<1>D 1D; {USE.format(40)}", 34, "@0, @16, @32 to 34",
         {"source": f"mov (1) a0.0<1>UW 1312UW; mov (8) g[a0.0]<1>D 1D; {USE.format(40)}"}, 20, executed=True),
    Rule("and waits for what is on its way there", f"mov (1) a0.0<1>UW 640UW; {POWER}; mov (8) g[a0.0]<1>D 1D", 27,
         "@0, @1, g20 at 25: @25 to 27", {"source": f"mov (1) a0.0<1>UW 1312UW; {POWER}; mov (8) g[a0.0]<1>D 1D"}, 18,
         executed=True),
    Rule("such a source is only read", f"{INDIRECT}; {USE.format(40)}", 20, "@0, @16, @18 to 20",
         {"source": f"{INDIRECT}; {USE.format(20)}"}, 34, executed=True),
    Rule("message registers are no general ones", f"mov (8) g127<1>D 1D; {READ.replace('(8) 1', '(8) 0')}", 3,
         "@0, @1 to 3",
         {"source": f"mov (8) m0<1>D 1D; {READ.replace('(8) 1', '(8) 0')}"}, 18),
    Rule("the last byte of a destination counts", f"mov (8) g20.25<1>UB g10<8,8,1>UB; {USE.format(21)}", 18,
         "@0, @16 to 18: bytes 25 to 32", {"source": f"mov (8) g20.24<1>UB g10<8,8,1>UB; {USE.format(21)}"}, 4),
    Rule("no other instruction reads pairs", "mov (8) g5<1>D 1D; add (8) g20<1>F g10<8,8,1>F g4<8,8,1>F", 4,
         "@0, @2 to 4: g10 and g4", {"source": f"mov (8) g5<1>D 1D; {PLANE}"}, 18),
    Rule("only functions have a second result", f"add.o.f0.0 (8) g20<1>F g10<8,8,1>F g11<8,8,1>F; {USE.format(21)}", 4,
         "@0, @2 to 4: a condition of the number of sincos", {"source": f"{INVERSE.replace('inv', 'sincos')}; "
         f"{USE.format(21)}"}, 18),
    Rule("an answer to nowhere is no register's", f"{READ.replace('g20', 'null')}; {USE.format(0)}", 4, "@0, @2 to 4",
         {"source": f"{READ.replace('g20', 'g0')}; {USE.format(0)}"}, 102),
    Rule("remainders hold the math unit as quotients do", f"{DIVIDE.replace('intdiv', 'intmod')}; {SECOND_DIVIDE}", 52,
         "@0, @26", {"division_issue": 20}, 40),
    Rule("both at once do, too", f"{DIVIDE.replace('intdiv', 'intdivmod')}; {INVERSE.replace('20', '24')}", 28,
         "@0, @26 to 28", {"division_issue": 20}, 22),
    Rule("an indirect destination is no other register", "mov (1) a0.0<1>UW 1280UW; mov (8) g[a0.0]<1>D 1D; "
         f"{USE.format(0)}", 20, "@0, @16, @18 to 20",
         {"source": f"mov (1) a0.0<1>UW 1280UW; mov (8) g[a0.0]<1>D 1D; {USE.format(40)}"}, 34, executed=True),
    # Branches.
    Rule("a branch holds the front end for 2 cycles", f"jmpi (1) 1; {ONE}", 4, "@0, @2 to 4", {"branch_cycles": 5}, 7),
    Rule("a jump by a register waits for it", "mov (1) g10<1>D 0D; jmpi (1) g10<0,1,0>D; nop", 20, "@0, @16, @18 to 20",
         {"source": "mov (1) g10<1>D 0D; jmpi (1) 1; nop"}, 5),
    Rule("a turn of a loop is a sum, a compare and the branch",
         "TOP:; add (8) g20<1>D g20<8,8,1>D 1D; cmp.l.f0.0 (8) null<1>D g20<8,8,1>D 3D; (+f0.0) while (8) TOP", 108,
         "three turns: sum @0, compare @16, flag at 34, branch to 36", {"flag_cycles": 10}, 84, executed=True),
    # Messages.
    Rule("a message holds the front end for 2 cycles", f"{READ}; {ADD.format(30, 2)}", 4, "@0, @2 to 4",
         {"send_cycles": 6}, 8),
    Rule("a message waits for its payload", f"mov (8) m1<1>D 1D; {READ}", 18, "@0, @16 to 18",
         {"source": f"mov (8) m2<1>D 1D; {READ}"}, 3),
    Rule("a result may reach into the payload", f"mov (8) m1.4<1>D 1D; {READ.replace('(8) 1', '(8) 2')}", 18,
         "@0, @16 to 18: m1 and m2", {"source": f"mov (8) m1<1>D 1D; {READ.replace('(8) 1', '(8) 2')}"}, 3),
    Rule("all of the payload", f"mov (8) m5<1>D 1D; {WRITE}", 18, "@0, @16 to 18: m1 to m5",
         {"source": f"mov (8) m6<1>D 1D; {WRITE}"}, 3),
    Rule("a message with a predicate waits for the flag", f"{COMPARE}; (+f0.0) {READ}", 20, "@0, @18 to 20",
         {"source": f"{COMPARE}; {READ}"}, 3),
    Rule("a block takes 100 cycles", f"{READ}; {USE.format(20)}", 102, "@0, @100 to 102", {"block_cycles": 50}, 52),
    Rule("blocks do not wait for each other", f"{READ}; {SECOND_READ}; {USE.format(21)}", 104, "@0, @2, @102 to 104",
         {"block_cycles": 50}, 54),
    Rule("a message waits for an answer to its registers", f"{READ}; {READ}", 102, "@0, g20 at 100: @100 to 102",
         {"source": f"{READ}; {SECOND_READ}"}, 4),
    Rule("but not with NoDDChk", f"{READ}; {READ} {{NoDDChk}}", 4, "@0, @2 to 4", {"source": f"{READ}; {READ}"}, 102),
    Rule("for any of them", f"{SAMPLE}; {SECOND_READ}", 142, "@0, g20 to g23 at 140: @140 to 142",
         {"source": f"{SAMPLE}; {READ.replace('g20', 'g24')}"}, 4),
    Rule("and for a result", f"{DIVIDE}; {READ}", 32, "@0, g20 at 30: @30 to 32",
         {"source": f"{DIVIDE}; {SECOND_READ}"}, 3),
    Rule("one a cycle", f"{READ}; {SECOND_READ}; {USE.format(21)}", 103, "@0, @1, @101 to 103", {"send_cycles": 2}, 104,
         {"send_cycles": 1}),
    Rule("one a cycle from two threads", f"{READ}; {USE.format(20)}", 103, "@0, @1, @101 to 103", {"block_cycles": 50},
         53, steps=[[0], [0, 1]]),
    Rule("texels take 140 cycles", f"{SAMPLE}; {USE.format(20)}", 142, "@0, @140 to 142", {"sampler_cycles": 700}, 702),
    Rule("in all registers of the answer", f"{SAMPLE}; {USE.format(23)}", 142, "@0, g20 to g23 at 140",
         {"source": f"{SAMPLE}; {USE.format(24)}"}, 4),
    Rule("the sampler is held for 16 cycles by a message", f"{SAMPLE}; {SECOND_SAMPLE}; {USE.format(24)}", 158,
         "@0, @2 for the sampler at 16: @156 to 158", {"sampler_busy": 30}, 172),
    Rule("by all messages before", f"{SAMPLE}; {SECOND_SAMPLE}; {SAMPLE.replace('g20', 'g28')}; {USE.format(28)}", 174,
         "@0, @2, @4 for the sampler at 32: @172 to 174", {"sampler_busy": 30}, 202),
    Rule("an answer of the render cache takes 300 cycles", f"{COMMIT}; {USE.format(20)}", 302, "@0, @300 to 302",
         {"render_cycles": 200}, 202),
    Rule("the render cache is held for 450 by a write", f"{WRITE}; {COMMIT}; {USE.format(20)}", 752,
         "@0, @2 for the cache at 450: @750 to 752", {"render_busy": 6}, 308),
    Rule("an answer of the URB takes 200 cycles", f"{URB}; {USE.format(20)}", 202, "@0, @200 to 202",
         {"urb_cycles": 90}, 92),
    Rule("the URB is held for 6 by a message", f"{URB}; {SECOND_URB}; {USE.format(21)}", 208,
         "@0, @2 for the URB at 6: @206 to 208", {"urb_busy": 20}, 222),
    # Threads.
    Rule("threads fill each other's waits", CHAIN, 42, "five threads of three: @0 to @8, the last @32 to @40, to 42",
         {"threads": 4}, 74, steps=[[0] * 3] * 5),
    Rule("a thread takes the place of one that ended", f"{ONE}; {INVERSE}", 3, "@0; the second begins at 1: @1 to 3",
         {"steps": [[0], [0]]}, 4, {"threads": 1}, [[0], [1]]),
    Rule("a message that ends a thread ends first", f"{READ}; {ONE}", 4, "@0 to 2; the second begins then: @2 to 4",
         {"send_cycles": 5}, 7, {"threads": 1}, [[0], [1]]),
    Rule("that message does not hold other threads", f"{READ}; {INVERSE}", 3, "@0 to 2; the other @1 to 3",
         {"threads": 1}, 4, steps=[[0], [1]]),
    Rule("threads are dealt to units in turn", CHAIN, 20, "unit 0 has the first and the third: @0, @2, @16, @18 to 20",
         {"units": 3}, 18, {"units": 2}, [[0] * 2, [0]] * 2),
    Rule("instructions that are executed together issue one by one", "; ".join(["mov (8) null<1>D 1D"] * 128), 40960,
         "160 threads of 128, 2 each", {"count": 80}, 20480, {"count": 160}, executed=True),
    Rule("as many threads run as are asked for", f"{CHAIN}; {CHAIN}", 20, "@0, @2, @16, @18 to 20", {"count": 1}, 18,
         {"count": 2}, executed=True),
    Rule("a thread continues while it can", f"{ONE}; {OTHER}; {SECOND_READ}; {USE.format(21)}", 105,
         "first @0, @2, its message @3, @103 to 105; the second meanwhile", {"always_switch": True}, 107,
         steps=[[0, 1, 2, 3], [0, 1, 0, 1]]),
    Rule("an instruction may force a switch", f"{ONE} {{switch}}; {OTHER}; {SECOND_READ}; {USE.format(21)}", 107,
         "first @0, second @2, first @4, its message @5, @105 to 107",
         {"source": f"{ONE}; {OTHER}; {SECOND_READ}; {USE.format(21)}"}, 105, steps=[[0, 1, 2, 3], [1] * 4]),
    Rule("nothing issues between atomic instructions", f"{CHAIN} {{atomic}}; {ONE}; {OTHER}", 22,
         "first @0, @16; second @18, @20 to 22", {"source": f"{CHAIN}; {ONE}; {OTHER}"}, 18, steps=[[0, 0], [1, 2]]),
    Rule("the higher priority goes first", f"{ONE}; {OTHER}; {CHAIN}", 18, "second @0, first @2, @4, second @16 to 18",
         {"priorities": [0, 0]}, 22, steps=[[0, 1], [2, 2]], priorities=[0, 1]),
    Rule("of equals the one that has waited longest goes first",
         f"{CHAIN}; mov (8) acc0<1>F g1<8,8,1>F; mac (8) g5<1>F g2<8,8,1>F g3<8,8,1>F; {ADD.format(6, 5)}; "
         f"mad (8) g7<1>F g11<4,4,1>F g12<4,4,1>F g13<4,4,1>F {{align16}}; {USE.format(7)}; {CHAIN}; "
         f"{SIXTEEN.format(30, 1)}; {SIXTEEN.format(32, 2)}", 48,
         "@0, @2, @4; first @16; third @20, @24 to 28; second @28, as its last issue was @2; first @30, @46 to 48",
         {"priorities": [1, 0, 0]}, 46, {"three_source_cycles": 22}, [[0, 1, 2, 3], [4, 5], [6, 7, 8]]),
    Rule("a front end that is held is no wait less", f"{CHAIN}; jmpi (1) 1; {READ.replace('g20', 'g24')}", 7,
         "first @0, second @1; first @2 to 4, as it issued in 0 and is before the third; third @3, second @5 to 7",
         {"priorities": [0, 0, 1]}, 6, steps=[[1, 2], [2, 0], [0]]),
    Rule("messages of units are served in the order of time", f"mov (8) m1<1>D 1D; {SAMPLE}; nop; {USE.format(20)}",
         144, "the second unit's @2, @142 to 144; the first one's waits for m1 until 16, and for the sampler until 18",
         {"sampler_cycles": 100}, 104, {"units": 2}, [[0, 1], [2, 1, 3]]),
    Rule("a thread without instructions takes no place, but its turn", CHAIN, 4, "both others are unit 1's: @0, @2",
         {"steps": [[0], [0]]}, 2, {"units": 2}, [[], [0], [], [0]]),
    Rule("each thread's address registers choose its own", f"shl (1) g10<1>UD g0<0,1,0>UD 5UD; "
         f"add (1) a0.0<1>UW g10<0,1,0>UW 1280UW; {READ.replace('g20', 'g41')}; mov (8) g20<1>D g[a0.0]<8,8,1>D", 121,
         "first @0, @16, @17, its g40 @32; second @2, @18, @19, its g41 at 119: @119 to 121", {"count": 1}, 34,
         {"count": 2}, executed=True),
    Rule("NoDDChk spares the destination beside an indirect source", f"mov (1) a0.0<1>UW 1280UW; {POWER}; "
         "mov (8) g20<1>D g[a0.0]<8,8,1>D {NoDDChk}", 18, "@0, @1, a0 at 16: @16 to 18, g20 at 25", {"source":
         f"mov (1) a0.0<1>UW 1280UW; {POWER}; mov (8) g20<1>D g[a0.0]<8,8,1>D"}, 27, executed=True),
    # Instruction caches.
    Rule("a line of memory takes 200 cycles", "nop; nop; nop; nop", 208, "line at 200, @200 to @206, to 208",
         {"l2_miss_cycles": 100}, 108, {"caches": True}),
    Rule("without caches instructions are always there", "nop; nop; nop; nop", 8, "@0 to @6, to 8", {"caches": True},
         208),
    Rule("a line is four instructions", "nop; nop; nop; nop; nop", 408, "second line asked for @206, at 406, to 408",
         {"source": "nop; nop; nop; nop"}, 208, {"caches": True}),
    Rule("a thread's line needs no second fetch", "nop; nop; nop; nop; nop", 206, "@200, @202, @204 to 206",
         {"steps": [[0, 4, 0]]}, 404, {"caches": True}, [[0, 1, 0]]),
    Rule("instructions of the same line take no turn at the port", f"{INVERSE}; {ADD.format(22, 2)}", 203,
         "the line at 200 for both units: each @200, @201 to 203", {"caches": False}, 3, {"caches": True, "units": 2},
         [[0, 1]] * 2),
    Rule("a line of the second level takes 20 cycles", LONG, 442, "0 @200, 16 @400, 0 @420, 16 @440: they share a set",
         {"l1_miss_cycles": 30}, 462, SMALL, [[0, 64, 0, 64]]),
    Rule("a set has as many lines as ways", LONG, 442, "0 @200, 16 @400, 0 @420, 16 @440", {"ways": 2}, 406, SMALL,
         [[0, 64, 0, 64]]),
    Rule("the first level has as many sets as its bytes give", LONG, 442, "0 @200, 16 @400, 0 @420, 16 @440",
         {"l1_bytes": 2048}, 406, SMALL, [[0, 64, 0, 64]]),
    Rule("the second level too", LONG, 602, "0 @200, 192 @400, 0 @600: 192 sets", {"l2_bytes": 24576}, 422,
         {**SMALL, "l2_bytes": 12288}, [[0, 768, 0]]),
    Rule("the line that was used last stays", LONG, 606, "0 @200, 8 @400, 0 @402, 16 @602 in the place of 8, 0 @604",
         {"ways": 1}, 624, {**SMALL, "ways": 2}, [[0, 32, 0, 64, 0]]),
    Rule("a row has one port, which serves one fetch a cycle", LONG, 203, "0 at 200, 1 asked for in 1: @201 to 203",
         {"row": 1}, 202, {"caches": True, "units": 2}, [[0], [4]]),
    Rule("for lines that are there, too", LONG, 406,
         "0 @200, 4 @400 on all four units; line 0 is there at 401, 402, 403, 404: the last @404 to 406",
         {"row": 1}, 404, {"caches": True, "units": 4, "row": 4}, [[0, 4, 0]] * 4),
    Rule("units of a row wait for the same line", LONG, 210, "0 at 200 for both: the second @200 to @208, to 210",
         {"l2_miss_cycles": 100}, 110, {"caches": True, "units": 2}, [[0], [0, 1, 2, 3, 0]]),
    Rule("units next to each other are a row", ONE, 1, "one line for both", {"steps": [[0], [], [0]]}, 2,
         {"caches": True, "units": 4, "row": 2}, [[0], [0]], figure="l1_misses"),
    Rule("threads of a row wait for the same line of the second level", LONG, 423,
         "@200 and @201, the second line at 400, @400 and @401, the first again at 420 for both: @420, @421 to 423",
         {"l1_miss_cycles": 30}, 433, SMALL, [[0, 64, 0]] * 2),
    Rule("rows wait for the same line of memory, too", LONG, 210, "0 at 200 for both: the second @200 to @208, to 210",
         {"l1_miss_cycles": 300}, 310, {"caches": True, "units": 2, "row": 1}, [[0], [0, 1, 2, 3, 0]]),
    Rule("a cache has lines over ways sets", LONG, 622, "0 @200, 8 @400, 16 @600 in the place of 0, 0 @620: eight sets "
         "of two", {"ways": 4}, 604, {**SMALL, "ways": 2}, [[0, 32, 64, 0]]),
    Rule("a row finds lines that it alone has fetched", LONG, 422, "second row: 0 @200, 16 @400, 0 @420",
         {"l1_miss_cycles": 30}, 432, {**SMALL, "units": 2, "row": 1}, [[4], [0, 64, 0]]),
    Rule("a thread that takes a place fetches then", "; ".join([ONE] * 5), 403,
         "0 @200; the second begins in 201: 1 @401", {"l2_miss_cycles": 100}, 203, {"caches": True, "threads": 1},
         [[0], [4]]),
    # The account: what cycles are for.
    Rule("a thread waits for a pipe, and further for a result", f"{CHAIN}; {CHAIN}", 14, "@0, the pipe to 2, @16",
         {"issue_cycles": 3}, 13, figure="waited operand"),
    Rule("from its last issue on for the pipe", f"{CHAIN}; {CHAIN}", 1, "@0, from 1 to 2", {"issue_cycles": 3}, 2,
         figure="waited fpu held"),
    Rule("a unit is idle while no part is held", f"{CHAIN}; {CHAIN}", 14, "@0 to 2, @16", {"issue_cycles": 3}, 13,
         figure="idle operand"),
    Rule("not while the other part is", f"{POWER}; {CHAIN}; {CHAIN}", 13, "math 0 to 4, @1 to 3, @17",
         {"source": f"{INVERSE}; {CHAIN}; {CHAIN}"}, 14, figure="idle operand"),
    Rule("the first fetch is a wait", "nop", 200, "to 200", {"l2_miss_cycles": 100}, 100, {"caches": True},
         figure="idle fetch"),
    Rule("each fetch is", "nop; nop; nop; nop; nop", 398, "to 200; the second from 208, when the front end is free, "
         "to 406", {"l2_miss_cycles": 100}, 198, {"caches": True}, figure="waited fetch"),
    Rule("results of the math unit have a cause of their own", f"{INVERSE}; {USE.format(20)}", 15, "@0, from 1 to 16",
         {"math_cycles": 14}, 13, figure="waited math result"),
    Rule("flags too", f"{COMPARE}; {GUARDED}", 16, "@0, the pipe to 2, the flag at 18", {"flag_cycles": 10}, 8,
         figure="waited flag"),
    Rule("answers too", f"{READ}; {USE.format(20)}", 98, "@0 to 2, the answer at 100", {"block_cycles": 50}, 48,
         figure="waited message"),
    Rule("and the accumulator", "mov (8) acc0<1>F g1<8,8,1>F; mac (8) g5<1>F g2<8,8,1>F g3<8,8,1>F", 6,
         "@0, the pipe to 2, to 8", {"accumulator_cycles": 6}, 4, figure="waited accumulator"),
    Rule("a thread waits for others that issue", f"{ONE}; {INVERSE}", 1, "the second thread's @1, ready in 0",
         {"steps": [[0, 1]]}, 0, steps=[[0], [1]], figure="waited other threads"),
    Rule("the cycles that the vector pipe is held", f"{ONE}; {INVERSE}; {SIXTEEN.format(22, 2)}", 6, "2 + 4",
         {"issue_cycles": 3}, 9, figure="held fpu"),
    Rule("the math unit", f"{ONE}; {INVERSE}; {POWER}", 6, "2 + 4", {"power_issue": 5}, 7, figure="held math"),
    Rule("the front end", f"jmpi (1) 1; {READ}", 4, "2 + 2", {"branch_cycles": 5}, 7, figure="held front"),
    Rule("both pipes at once", f"{INVERSE}; {ADD.format(22, 2)}; {ADD.format(24, 22)}", 1,
         "math 0 to 2, the pipe 1 to 3; the last 17 to 19 alone",
         {"source": f"{POWER}; {ADD.format(22, 2)}; {ADD.format(24, 22)}"}, 2, figure="together"),
    Rule("issues of another thread than before", CHAIN, 2, "threads 0, 1, 0, which ends, 1", {"steps": [[0, 0]]}, 0,
         steps=[[0, 0]] * 2, figure="switches"),
    Rule("instructions of all threads", CHAIN, 15, "five threads of three", {"steps": [[0] * 2] * 5}, 10,
         steps=[[0] * 3] * 5, figure="issued"),
    Rule("instructions with two sources in a bank", "; ".join(["mad (8) g20<1>F g11<4,4,1>F g12<4,4,1>F g14<4,4,1>F "
         "{align16}"] * 2), 2, "12 and 14 are even, twice", {"steps": [[0]]}, 1, figure="banked"),
    Rule("messages of a target", f"{SAMPLE}; {READ}; {SECOND_SAMPLE}", 2, "two to the sampler", {"steps": [[0, 1]]}, 1,
         figure="messages 2"),
    Rule("cycles that it is held", f"{SAMPLE}; {READ}; {SECOND_SAMPLE}", 32, "two of 16", {"sampler_busy": 30}, 60,
         figure="served 2"),
    Rule("a unit ends with the last of its threads", CHAIN, 4, "unit 1 has the second and the fourth: @0, @2 to 4",
         {"issue_cycles": 3}, 6, {"units": 2}, [[0] * 2, [0]] * 2, figure="ended 1"),
    Rule("threads are of the units that execute them", CHAIN, 1, "thread 3 of units 0 and 1", {"units": 1}, 0,
         {"units": 2}, [[0]] * 4, figure="unit 3"),
    Rule("a thread begins when its place is free", f"{READ}; {ONE}", 2, "@0 to 2", {"send_cycles": 5}, 5,
         {"threads": 1}, [[0], [1]], figure="begin 1"),
    Rule("without caches nothing is fetched", "nop", 0, "no line", {"caches": True}, 1, figure="fetches"),
    Rule("lines fetched", LONG, 3, "lines 0, 1, 0", {"steps": [[0, 4]]}, 2, {"caches": True}, [[0, 4, 0]],
         figure="fetches"),
    Rule("of them not in the first level", LONG, 4, "0, 16, 0, 16 share a set of one", {"ways": 2}, 2, SMALL,
         [[0, 64, 0, 64]], figure="l1_misses"),
    Rule("not in the second", LONG, 2, "0, 16", {"steps": [[0, 64, 128]]}, 3, SMALL, [[0, 64, 0, 64]],
         figure="l2_misses"),
)  # fmt: skip
"""Every rule and every value of the configuration that cycles depend on."""
ONLY_BITS = {"fused", "flushes", "channels"}
"""Values that change no cycle."""


if __name__ == "__main__":
    sys.exit(differing(RULES))
