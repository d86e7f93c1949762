"""Configuration of instructions: their sequencers, how their words come, and what they take beyond their steps."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.config.sections import FITTED, INVENTED
from pixelflow.simd.config.param import param

__all__ = ["ExtraConfig", "IgcConfig"]

_IGC = "pixelflow/node/run/streams/stream.py"
_SUPPLY = "pixelflow/node/run/costs/supply.py"
_EXTRA = "pixelflow/node/run/costs/extra.py"


# The tables below stay aligned, as those of `tree.py`.
# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True)
class IgcConfig:
    """The two instruction sequencers, EIGC and TIGC."""

    control_cycles: int = param(0, "cost of a loop, call, return, jump, free semaphore or halt", unit="cycles",
        low=0, high=64, source="the IGC runs ahead, which leaves tables 3 and 4 their cycles", standing=INVENTED,
        matters="control", read_by=_IGC, moved=(1,))
    call_depth: int = param(16, "calls inside calls", unit="frames", low=1, high=1024,
        source="no published value", standing=INVENTED, matters="limit", state=True, read_by=_IGC)
    loop_depth: int = param(16, "loops inside loops", unit="loops", low=1, high=1024,
        source="no published value", standing=INVENTED, matters="limit", state=True, read_by=_IGC)
    supply: int = param(0, "path of instruction words to the IGCs; 0: words are there at once", unit="MB/s",
        low=0, high=1_000_000, source="the thesis counts no time for it, and prints no path to the IGCs",
        standing=INVENTED, matters="delivery", read_by=_SUPPLY, added=True, moved=(200,))
    shared_supply: bool = param(False, "one path of instruction words for both IGCs, not one each", unit="",
        source="no published value; where both have room they take turns, word by word", standing=INVENTED,
        matters="both supplied", read_by=_SUPPLY, added=True, moved=(True,))
    prefetch: bool = param(True, "words are sent before their instruction is the next one", unit="",
        source="no published value; the order of execution depends on no data", standing=INVENTED,
        matters="supply", read_by=_SUPPLY, added=True, moved=(False,))
    fifo_words: int = param(64, "instruction words that an IGC holds before they are executed", unit="words",
        low=8, high=1_048_576, source="no published value; one of the longest instruction is 7", standing=INVENTED,
        matters="supply", read_by=_SUPPLY, added=True, moved=(8,))
    memory_words: int = param(4096, "instruction words of routines and loops that stay in an IGC", unit="words",
        low=0, high=1_048_576, source="no published value; a float library has less", standing=INVENTED,
        matters="pieces", read_by=_SUPPLY, added=True, moved=(0,))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraConfig:
    """Cycles of instructions beyond their declared steps: what a machine would need that lacks an ability.

    All are 0: the machine is that of the declarations. Sources say what an instruction is lowered into.
    """

    memory_operand: int = param(0, "arithmetic and logic on a memory byte", unit="cycles", low=0, high=16,
        source="1 where the byte is loaded first, into a latch of the ALU", standing=INVENTED,
        matters="extra memory_operand", read_by=_EXTRA, added=True, moved=(1,))
    memory_shift: int = param(0, "a shift of a memory byte", unit="cycles", low=0, high=16,
        source="1 where the byte is loaded first: LD r, then the shift of r", standing=INVENTED,
        matters="extra memory_shift", read_by=_EXTRA, added=True, moved=(1,))
    gated_write: int = param(0, "an instruction with the suffix .E", unit="cycles", low=0, high=16,
        source="3 where only stores can be gated: STA of the old value, the operation, ST of the new one, LD",
        standing=INVENTED, matters="extra gated_write", read_by=_EXTRA, added=True, moved=(3,))
    other_result: int = param(0, "arithmetic, logic or a shift with its result in S or M", unit="cycles",
        low=0, high=16, source="4 where R alone takes results: R is stored, loaded, used, moved, loaded again",
        standing=INVENTED, matters="extra other_result", read_by=_EXTRA, added=True, moved=(4,))
    store_immediate: int = param(0, "STI", unit="cycles", low=0, high=16,
        source="1 where a register is free for the constant: LD, ST", standing=INVENTED,
        matters="extra store_immediate", read_by=_EXTRA, added=True, moved=(1,))
    store_enable: int = param(0, "STE", unit="cycles", low=0, high=16,
        source="3 where a register is free: LD 0, STA, LD 1, ST", standing=INVENTED,
        matters="extra store_enable", read_by=_EXTRA, added=True, moved=(3,))
    pair_shift: int = param(0, "SHLP and SHRP", unit="cycles", low=0, high=16,
        source="1 where the registers are shifted one after the other", standing=INVENTED,
        matters="extra pair_shift", read_by=_EXTRA, added=True, moved=(1,))
    multiply_step: int = param(0, "MSTEP", unit="cycles", low=0, high=16,
        source="1 where the sum is formed first and the pair shifted then", standing=INVENTED,
        matters="extra multiply_step", read_by=_EXTRA, added=True, moved=(1,))
    enable: int = param(0, "an instruction that sets, saves or restores enables", unit="cycles", low=-1, high=16,
        source="-1 where it is part of the instruction before it", standing=INVENTED,
        matters="extra enable", read_by=_EXTRA, added=True, moved=(-1,))
    start: int = param(0, "START, the start-up of a routine", unit="cycles", low=-1, high=16,
        source="-1 where a routine begins at once; fits 16- and 32-bit addition in 7 and 13 cycles", standing=FITTED,
        matters="extra start", read_by=_EXTRA, added=True, moved=(-1, 1))
    lee_start: int = param(0, "a load or compare of the LEE", unit="cycles", low=-1, high=16,
        source="-1 where it has no start-up; one fits table 4 and 2.2.4", standing=FITTED,
        matters="extra lee_start", read_by=_EXTRA, added=True, moved=(-1,))
    copy_start: int = param(0, "PixCopy and PixSwap", unit="cycles", low=-2, high=16,
        source="-1 without its last cycle, -2 without its start-up as well; two fit table 6", standing=FITTED,
        matters="extra copy_start", read_by=_EXTRA, added=True, moved=(-1, -2))
# fmt: on
