"""Every rule of time of a node: a program, its cycles derived by hand, and those with the rule's value changed.

A row shows that a rule holds and that its value matters. Machine: one EMC of 256 PEs, in eight panels. Wires take a
cycle; so a signal reaches the other stream, a command the TASICs, and their answer the stream in the next cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from microcode import assemble
from pixelflow.config import TINY, load_config
from pixelflow.node import Node
from pixelflow.node.nodes import Machine
from pixelflow.node.sdram import Sdram
from pixelflow.node.sdram_commands import CommandKind, SdramCommand
from pixelflow.simd.configuration import leaves
from pixelflow.simd.units import Cycle

ASK = "\nSIGNAL 0\nHALT\nstream tigc\nWAIT 0\n"
"""Ends the EMC stream; the texture stream follows, once the signal is there."""
ONE_PE = "EMC_TreeEQZero_Li 0, 2, 1, 16, 0\n"
"""Enables the PE whose x and y are 0, in three cycles."""
ALONE = "HALT\nstream tigc\n"
"""The texture stream alone: its first command is sent in cycle 0."""
READ, WRITE = f"EMC_MarkRead{ASK}", f"EMC_MarkWrite{ASK}"
"""Of all PEs: the TASICs have the command of the texture stream in cycle 3."""
ONE_READ, ONE_WRITE = f"{ONE_PE}{READ}", f"{ONE_PE}{WRITE}"
"""Of one PE: in cycle 6."""
BOTH = f"EMC_MarkRead\nEMC_MarkWrite{ASK}"
ALTERNATE = "TAS_SetBanks 1\nTAS_SetStep 1\nTAS_SetCrossbar 2, 0\n"
"""Banks take turns, by promise; three cycles."""
ROWS = "TAS_SetStep 1\nTAS_SetCrossbar 9, 0\n"
"""Another row in every round; two cycles."""
TIGC = "stream tigc\n" + "TAS_SetCounter 9\n" * 5
TEN = "LD R, #1\n" * 10
ROUTINES = f"routine f()\n{TEN}end\nroutine g()\n{TEN}end"


class Rule(NamedTuple):
    """A program and its cycles; the derivation; for changed values their cycles."""

    program: str
    cycles: int
    derivation: str
    changed: dict[str, int] = {}  # noqa: RUF012  (nobody writes to it)
    given: str = ""
    """Values of the row's machine, where they are not those of the tiny one."""
    needs_data: bool = False
    """True where a timing-only run does not know the addresses."""


RULES = {
    # The EMC stream.
    "issue": Rule("LD R, #1\nADD R, [0]\nST [0], R", 3, "a cycle each", {"extra.memory_operand=1": 4}),
    "start-up of a routine": Rule(
        "CALL f, [0]\nHALT\nroutine f(d)\nLD R, d\nST d, R\nend", 3, "START, LD, ST; CALL and RET are free",
        {"extra.start=-1": 2, "extra.start=1": 4},
    ),
    "control": Rule(
        "LOOP 5\nLD R, #1\nENDL\nHALT", 5, "five LD; LOOP, ENDL and HALT are free",
        {"igc.control_cycles=1": 5 + 1 + 5 + 1, "igc.fold_loops=false": 5 + 4,
         "igc.control_cycles=1 igc.fold_loops=false": 12},  # they are these cycles already
    ),
    "a loop of no round": Rule(
        "LOOP 0\nLD R, #1\nENDL\nLD S, #2\nHALT", 1, "one LD", {"igc.control_cycles=1": 3},  # LOOP, LD, HALT
    ),
    "a jump ends a loop": Rule(
        "LOOP 5\nLD R, #1\nJMP past\nENDL\npast:\nLOOP 2\nLD S, #2\nENDL\nHALT", 3, "LD, and LD twice",
        {"igc.control_cycles=1": 3 + 6},  # LOOP, JMP, LOOP, ENDL twice, HALT
    ),
    "a stage takes no cycle": Rule(
        "LD R, #1\nMARK \"a\"\nLD S, #2\nMARK \"b\"\nLD M, #3", 3, "three LD", {"igc.supply=200": 2 * 4},
    ),
    "a port after a store": Rule(
        "ST [0], R\nLD R, [1]\nLD S, [2]", 3, "a cycle each; the second begins directly after a store",
        {"extra.store_then_read=2": 3 + 2},
    ),
    "enables": Rule("EC\nENOT\nEMC_SetEnab", 3, "a cycle each", {"extra.enable=-1": 0, "extra.enable=1": 6}),
    "linear expression": Rule(
        "EMC_TreeIntoMem_Li [0], 4, 1, 0, 0", 5, "start-up and 4 bytes", {"extra.lee_start=-1": 4},
    ),
    "sum of a linear expression": Rule(
        "EMC_TreeAddMem_Li [0], 4, 1, 0, 0", 9, "start-up; a fetch and a store a byte", {"extra.lee_start=1": 10},
    ),
    "pixel copy": Rule(
        "EMC_PixCopy [0], [64], 3, 4", 17, "(4 + 1) 3 + 2: a fetch's hop, 3 hops and a store a byte; start-up, drain",
        {"extra.copy_start=-1": 16, "extra.copy_start=-2": 15},
    ),
    "pixel copy, twice as far": Rule("EMC_PixCopy [0], [64], 3, 8", 29, "(8 + 1) 3 + 2"),
    "extra cycles": Rule(
        "ADD.E R, [0]\nSHL R, [0]\nADD M, R\nSTI [0], #1\nSTE [1]\nSHLP\nMSTEP", 7, "a cycle each",
        {"extra.gated_write=3": 10, "extra.memory_shift=1": 8, "extra.other_result=4": 11, "extra.store_immediate=1": 8,
         "extra.store_enable=3": 10, "extra.pair_shift=1": 8, "extra.multiply_step=1": 8},
    ),
    "extra cycles add up": Rule(
        "ADD.E R, [0]", 1, "a cycle; it reads memory and writes where E is set",
        {"extra.gated_write=3 extra.memory_operand=2": 1 + 3 + 2},
    ),
    "a port after a store, in a loop": Rule(
        "LOOP 3\nLD R, [0]\nST [0], R\nENDL\nHALT", 6 + 2, "two cycles a round; the second and third begin after a "
        "store",
        {"extra.store_then_read=0": 6}, given="extra.store_then_read=1",
    ),
    "a cycle between frees the port": Rule(
        "ST [0], R\nLD S, #1\nLD R, [1]\nST [0], R\nST [1], R\nLD R, [2]", 6 + 1, "a cycle each; the last read waits",
        {"extra.store_then_read=3": 6 + 3}, given="extra.store_then_read=1",
    ),
    "a copy's last cycle frees the port": Rule(
        "EMC_PixCopy [0], [64], 3, 4\nLD R, [1]", 17 + 1, "it drains", {"extra.copy_start=1": 19},
        given="extra.store_then_read=3",
    ),
    "a start-up frees the port": Rule(
        "ST [0], R\nEMC_TreeAddMem_Li [0], 4, 1, 0, 0", 1 + 9, "the first fetch comes a cycle after the store",
        given="extra.store_then_read=3",
    ),
    "a wait frees the port": Rule(
        f"ST [0], R\nWAIT 0\nLD R, [1]\nHALT\n{TIGC}SIGNAL 0", 7, "ST 1; the signal in 5, wire 1, LD 1",
        {"igc.control_cycles=1": 7 + 3},  # SIGNAL, WAIT, HALT
        given="extra.store_then_read=3",
    ),
    "a sequencer falls behind": Rule(
        "LOOP 2\nLOOP 3\nLD R, #1\nENDL\nENDL\nHALT", 6 + 1 + 2 + 3 + 2,
        "six LD; ahead by 1, LOOP and ENDL take one each: late by 1 before the first and each of the next two, "
        "by 3 (ENDL, ENDL, LOOP) before the fourth, by 1 before each of the last two",
        {"igc.fold_loops=true": 6}, given="igc.fold_loops=false",
    ),
    "a wait for the sequencer frees the port": Rule(
        "LOOP 3\nLD R, [0]\nST [0], R\nENDL\nHALT", 6 + 2, "ahead by 1, LOOP and ENDL take one each: late by 1 before "
        "the second and the third read, which so is not directly after a store",
        {"igc.fold_loops=true": 6 + 2 * 3}, given="igc.fold_loops=false extra.store_then_read=3",
    ),
    "a sequencer gets ahead": Rule(
        "EMC_PixCopy [0], [64], 3, 4\nLOOP 1\nLOOP 1\nLOOP 1\nLD R, #1\nENDL\nENDL\nENDL\nLD R, #2\nHALT", 17 + 2 + 2,
        "ahead by 4 at most after 17 cycles, so by 1 at the first LD, and late by 2 before the second",
        {"igc.fold_loops=true": 19}, given="igc.fold_loops=false",
    ),
    "two cycles of a PE pay for an ENDL": Rule(
        "LOOP 5\nEMC_TreeIntoMem_Li [0], 1, 1, 0, 0\nENDL\nHALT", 10, "five of 2; none waits",
        {"extra.lee_start=-1": 5 + 4},
        given="igc.fold_loops=false",
    ),
    "calls do not fall behind": Rule(f"CALL f\nCALL f\nCALL f\nHALT\n{ROUTINES}", 33, "11 each",
        given="igc.fold_loops=false"),
    "what takes no cycle is no gain and no loss": Rule("EC\nENOT\nLD R, #1", 1, "LD",
        given="igc.fold_loops=false extra.enable=-1"),
    "what takes no cycle does not free the port": Rule(
        "ST [0], R\nCALL f\nHALT\nroutine f()\nLD R, [1]\nend", 2 + 3, "START takes none", {"extra.start=0": 3},
        given="extra.store_then_read=3 extra.start=-1",
    ),
    # Words on their way, at 200 MB/s and 100 MHz: a word of 4 bytes in two cycles.
    "words are there at once": Rule("LD R, #1\nLD S, #2\nLD M, #3", 3, "a cycle each", {"igc.supply=200": 4 * 2,
        "igc.supply=300": 6}),
    "a loop is sent once": Rule(
        "LOOP 10\nLD R, #1\nENDL\nHALT", 10, "a cycle each",
        {"igc.supply=200": 2 + 2 + 2 + 9,  # to LOOP, to LD, to ENDL; nine more rounds
         "igc.supply=200 igc.memory_words=0": 2 * (1 + 20 + 1)},  # each word each time
    ),
    "words are sent ahead": Rule(
        "LD R, #1\nLD S, #2\nLD M, #3", 2 * 4, "the word of HALT comes in 8", {"igc.prefetch=false": 3 * (2 + 1) + 2},
        given="igc.supply=200",
    ),
    "a stage has no word": Rule("LD R, #1\nMARK \"a\"\nLD S, #2", 2 * 3, "the word of HALT comes in 6",
        {"igc.supply=300": 4}, given="igc.supply=200"),  # 4 words of 4/3 cycles: 4 cycles for three
    "words wait in a FIFO": Rule(
        "EMC_PixCopy [0], [64], 3, 8\n" + TEN + TEN, 4 + 29 + 20,
        "the copy; the words of 14 LD come meanwhile, the others in time",
        {"igc.fifo_words=8": 4 + 29 + 2 * 13}, given="igc.supply=200",  # 8 come; the next 13 from the first LD on
    ),
    "an evicted piece is sent after its last use": Rule(
        f"CALL f\nCALL g\nCALL f\nHALT\n{ROUTINES}", 3 * (1 + 11),
        "8 words a cycle; a routine's first word comes 1 after the last use of the one that it evicts",
        {"igc.memory_words=24": 1 + 3 * 11},
        given="igc.supply=3200 igc.memory_words=12",
    ),
    "also where all of it was there": Rule(
        f"LD R, #1\nLD R, #1\nCALL f\nCALL g\nCALL f\nHALT\n{ROUTINES}", 1 + 2 + 11 + 2 * (1 + 11),
        "nineteen words up to the end of f come before its first cycle, in 3", {"igc.memory_words=24": 1 + 2 + 3 * 11},
        given="igc.supply=3200 igc.memory_words=12",
    ),
    "a piece leaves when its RET begins": Rule(
        f"CALL f\nCALL f\nCALL g\nHALT\n{ROUTINES}", 83,
        "CALL has 5 words, a routine 12: f comes in 10 to 34, CALL in 44; f again from 45 on, RET in 56; g in 56 to "
        "80, HALT in 82",
        {"igc.memory_words=24": 81}, given="igc.supply=200 igc.memory_words=12 igc.control_cycles=1",
    ),
    "a path of words for both": Rule(
        "LD R, #1\nLD S, #2\nLD M, #3\nHALT\nstream tigc\nTAS_SetOrder 0\nTAS_SetOrder 0\nTAS_SetOrder 0", 8, "2 each",
        {"igc.shared_supply=true": 16}, given="igc.supply=200",  # they take turns
    ),
    "a piece that is used again is kept": Rule(
        f"CALL f\nCALL f\nCALL g\nHALT\n{ROUTINES}", 1 + 2 * 11 + 1 + 11,
        "8 words a cycle; g comes 1 after the second f",
        {"igc.memory_words=24": 1 + 3 * 11}, given="igc.supply=3200 igc.memory_words=12",
    ),
    "the piece used longest ago is evicted": Rule(
        f"CALL f\nCALL g\nCALL f\nCALL h\nCALL f\nHALT\n{ROUTINES}\nroutine h()\n{TEN}end", 1 + 5 * 11,
        "8 words a cycle; h takes the place of g while f is executed; in the place of f it would come 1 after",
        {"igc.memory_words=12": 5 * (1 + 11)}, given="igc.supply=3200 igc.memory_words=24",
    ),
    "a large piece takes the place of two": Rule(
        f"CALL f\nCALL g\nCALL k\nHALT\n{ROUTINES}\nroutine k()\n{TEN}{TEN}end", 1 + 11 + 11 + 1 + 21,
        "8 words a cycle; the first word of k comes 1 after the last use of g, not of f",
        {"igc.memory_words=64": 1 + 11 + 11 + 21}, given="igc.supply=3200 igc.memory_words=24",
    ),
    "a path of words for both, a routine": Rule(
        f"CALL f\nCALL f\nHALT\nstream tigc\nTAS_SetOrder 0\nTAS_SetOrder 0\nTAS_SetOrder 0\n{ROUTINES}", 52 + 11,
        "four words in turns up to 16; the fifth of CALL in 18, RET in 42, the second CALL in 52; its routine is there",
        {"igc.memory_words=0": 52 + 2 * 13, "igc.shared_supply=false": 44 + 11},  # HALT; the second CALL in 44
        given="igc.supply=200 igc.shared_supply=true",
    ),
    "a path of words for unequal streams": Rule(
        "EMC_PixCopy [0], [64], 3, 8\n" + TEN + TEN + "HALT\nstream tigc\n" + "TAS_SetOrder 0\n" * 10, 44 + 2 * 12,
        "they take turns up to HALT of the second in 44, after 11 words of the first; 12 more with HALT",
        {"igc.shared_supply=false": 59}, given="igc.supply=200 igc.fifo_words=8 igc.shared_supply=true",  # as above
    ),
    # Two streams.
    "a signal": Rule(
        "WAIT 0\nLD R, #1\nHALT\nstream tigc\nTAS_SetCounter 9\nSIGNAL 0", 3, "set 1, wire 1, LD 1",
        {"igc.control_cycles=1": 6},  # and SIGNAL, WAIT, HALT
    ),
    "a signal is counted": Rule(
        "WAIT 0\nLD R, #1\nWAIT 0\nLD R, #1\nHALT\nstream tigc\nSIGNAL 0\nTAS_SetCounter 9\nTAS_SetCounter "
        "9\nTAS_SetCounter 9\nSIGNAL 0", 5,
        "wire 1, LD 1; the second in 3, wire 1, LD 1",
    ),
    "a wait in a routine": Rule(
        "CALL f\nHALT\nroutine f()\nWAIT 0\nLD R, #1\nend\nstream tigc\nTAS_SetCounter 9\nSIGNAL 0", 3,
        "set 1 beside START, wire 1, LD 1", {"igc.control_cycles=1": 7},  # SIGNAL, WAIT, RET, HALT
    ),
    "signals add up": Rule(
        f"{TEN}WAIT 0\nWAIT 0\nLD R, #1\nHALT\nstream tigc\nSIGNAL 0\nSIGNAL 0", 11, "both were there before",
    ),
    "both ways": Rule(
        f"{ONE_PE}EMC_MarkRead\nSIGNAL 0\nWAIT 1\nLD R, [320]\nHALT\nstream tigc\nWAIT 0\nTAS_MemRdBlock4 2\nSIGNAL "
        "1", 53,
        "51 of the read, wire 1, LD 1", {"tasic.read_overhead_cycles=0": 52},
    ),
    # Transfers. A round: an access for each EMC (11 cycles by table 2, and 1 of a read), then 32 bytes at one a cycle.
    "read by one PE": Rule(
        f"{ONE_READ}TAS_MemRdBlock4 2", 51, "4 to the mark, wire 1, command 1, 11 + 1 + 32, answer 1",
        {"tasic.read_overhead_cycles=0": 50, "tasic.port_bytes_per_cycle=4": 51 - 24,
         "array.emcs_per_module=2": 51 + 12,  # a slot for each EMC
        "tasic.port_bytes_per_cycle=3": 51 - 21,
         "sdram.trcd_cycles=4": 52, "sdram.cl_cycles=5": 53, "sdram.tras_cycles=10 sdram.trc_cycles=13": 53},
    ),
    "read by all PEs": Rule(
        f"{READ}TAS_MemRdBlock4 2", 11_268, "1 + 1 + 1, 256 rounds of 44, answer 1",
        {"array.emcs_per_module=2": 4 + 256 * (2 * 12 + 32), "array.panels_per_emc=4": 4 + 128 * 44,
         "sdram.trp_cycles=2": 4 + 256 * 43, "sdram.trc_cycles=12": 4 + 256 * 45},
    ),
    "read in alternate banks": Rule(
        f"{READ}{ALTERNATE}TAS_MemRdBlock4 2", 9_991,
        "1 + 1, three settings, command 1, 256 rounds of 6 (table 2) + 1 + 32, answer 1",
        {"tasic.read_overhead_cycles=0": 9_991 - 256, "sdram.trrd_cycles=9": 9_991 + 256 * 3},
    ),
    "results to a GP": Rule(
        f"{ONE_WRITE}TAS_GpWrite 1, 0, 24", 53,
        "4 to the mark, 24 bytes in, 3 cycles of 8 over the GNI, 12 of 2 into the GP's memory, ten wires",
        {"gni.mb_per_second=100": 53 + 24 - 3, "gni.gp_memory_mb_per_second=400": 53 - 6,
         "tasic.port_bytes_per_cycle=4": 53 - 18},
    ),
    "results of one EMC in eight": Rule(
        f"{ONE_WRITE}TAS_GpWrite 1, 0, 12", 34, "as above: 4, 12 in, 2 over the GNI, 6, ten wires",
        {"tasic.port_bytes_per_cycle=4": 34 - 9}, given="array.emcs_per_module=8",
    ),
    "read at addresses of PEs": Rule(
        f"{BOTH}TAS_MemRdBlock4 0", 11_302,
        "2 + 1 + 1, fetch 1 and the first 32 bytes of addresses, 256 rounds of 44 that hide the later ones, answer 1",
        {"tasic.port_bytes_per_cycle=4": 4 + 9 + 256 * 20 + 1},
    ),
    "a write waits for the inbound port": Rule(
        f"{WRITE}TAS_MemWrBlock4 2", 8_208,
        "1 + 1 + 1, fetch 1 and 32 bytes, a write of 11, 255 later rounds of 32 bytes that hide their writes, answer 1",
        {"tasic.port_bytes_per_cycle=4": 3 + 9 + 256 * 11 + 1,  # 8 cycles of a round's bytes are hidden by its write
         "sdram.trcd_cycles=4": 8_209, "array.emcs_per_module=2": 8_219,
         "array.emcs_per_module=8": 3 + 33 + 256 * 88 + 1},
    ),
    "loop back": Rule(
        f"{BOTH}TAS_LoopBack", 8_230, "2 + 1 + 1, 33, 256 times 32 bytes out, answer 1",
        {"tasic.port_bytes_per_cycle=4": 4 + 9 + 256 * 8 + 1},
    ),
    "nobody is marked": Rule(
        f"{ALONE}TAS_MemRdBlock4 2", 2, "command 1, answer 1", {"igc.control_cycles=1": 3},  # HALT
    ),
    "the last module ends a transfer": Rule(
        f"{ONE_READ}TAS_MemRdBlock4 2", 51, "the other module has no PE that is marked",
        {"tasic.read_overhead_cycles=3": 53},
        given="array.modules=2",
    ),
    "loop back needs no SDRAM": Rule(
        f"{BOTH}TAS_LoopBack", 8_230, "as before", {"tasic.port_bytes_per_cycle=4": 4 + 9 + 256 * 8 + 1},
        given="sdram.equal_slots=false",
    ),
    "loop back leaves the SDRAM free": Rule(
        f"{ONE_PE}{BOTH}{ALTERNATE}TAS_LoopBack\nTAS_MemRdBlock4 2", 27,
        "7 + 3 settings, fetch 1, 2 in, 2 out, answer 1, command 1, 6 + 1 + 2, answer 1",
        {"tasic.read_overhead_cycles=0": 26}, given="tasic.port_bytes_per_cycle=16",
    ),
    "read at held addresses": Rule(
        f"{BOTH}TAS_MemRdBlock4 0\nTAS_MemRdBlock4 3", 11_302 + 1 + 256 * 44 + 1,
        "the read above; command 1, no address, 256 rounds of 44, answer 1",
        {"tasic.read_overhead_cycles=0": 11_302 - 256 + 2 + 256 * 43},
    ),
    "read of 8 bytes": Rule(
        f"{READ}TAS_MemRdBlock8 2", 10_244, "3, 128 rounds of 15 + 1 + 64, answer 1",
        {"tasic.read_overhead_cycles=0": 10_244 - 128},
    ),
    "read of 8 bytes by an odd number": Rule(
        f"{ONE_PE}ENOT\n{READ}TAS_MemRdBlock8 2", 4 + 10_244, "255 PEs in 128 rounds",
        {"tasic.read_overhead_cycles=0": 4 + 10_244 - 128},
    ),
    "read sent to four PEs": Rule(
        f"{READ}TAS_MemRdRepeat4 4, 2", 8_964, "3, 64 rounds of 11 + 1 + 128, answer 1",
        {"tasic.read_overhead_cycles=0": 8_964 - 64},
    ),
    "read at bases of PEs": Rule(
        f"{READ}TAS_MemRdBlock4 1", 11_273, "3, fetch 1 and 4 bytes, 256 rounds of 44, answer 1",
        {"tasic.port_bytes_per_cycle=4": 3 + 2 + 256 * 20 + 1},
    ),
    "write after bases of PEs": Rule(
        f"{WRITE}TAS_MemWrBase4 3", 6_416,
        "3, fetch 1 and 36 bytes, a write of 11; later rounds: 63 of 36 bytes, 128 of 32, answer 1",
        {"tasic.port_bytes_per_cycle=4": 3 + 10 + 192 * 11 + 1,
        "tasic.port_bytes_per_cycle=3": 3 + 13 + 11 + 63 * 12 + 128 * 11 + 1},
    ),
    "the last base of a few": Rule(
        f"{ONE_PE}ENOT\n{WRITE}TAS_MemWrBase4 3", 4 + 6_416 - 32, "63 groups of four, one of three: a round less",
        {"tasic.port_bytes_per_cycle=4": 4 + 3 + 10 + 191 * 11 + 1},
    ),
    "write after bases of 8 bytes": Rule(
        f"{WRITE}TAS_MemWrBase8 3", 3 + 69 + 15 + 36 * 68 + 73 * 64 + 1,
        "36 groups of seven PEs in three rounds, one of four in two; fetch 1 and 68, a write of 15; 36 later bases",
        {"tasic.port_bytes_per_cycle=4": 3 + 18 + 15 + 36 * 17 + 73 * 16 + 1},
    ),
    "write of one half": Rule(
        f"{WRITE}TAS_MemWrHalf4 1", 8_208, "as a write of all", {"tasic.port_bytes_per_cycle=4": 3 + 9 + 256 * 11 + 1},
    ),
    "write of held data": Rule(
        f"{WRITE}TAS_MemWrBlock4 2\nTAS_MemWrHeld4 2", 8_208 + 1 + 256 * 11 + 1,
        "the write above; command 1, 256 writes, no byte from PEs, answer 1",
        {"sdram.twr_cycles=3": 8_209 + 1 + 256 * 12 + 1},
    ),
    "a write in another module": Rule(
        f"{ONE_WRITE}TAS_MemWrOver4 1, 0", 55, "6, fetch 1 and 32 bytes, which cross in 4; a write of 11, answer 1",
        {"tasic.path_bytes_per_cycle=1": 55 + 28, "tasic.path_bytes_per_cycle=5": 55 + 3,
         "tasic.port_bytes_per_cycle=4": 55 - 24, "sdram.trcd_cycles=4": 56,
         "array.emcs_per_module=8": 39 + 8 * 4 + 8 * 11 + 1}, given="array.modules=2",
    ),
    "a round crosses beside the writes of another": Rule(
        f"{WRITE}TAS_MemWrOver4 1, 0", 3 + 33 + 32 + 255 * 88 + 88 + 1,
        "as above with eight EMCs: 256 bytes cross in 32, a round is written in 88",
        {"tasic.path_bytes_per_cycle=1": 36 + 256 * 256 + 88 + 1,
         "tasic.path_bytes_per_cycle=2": 36 + 256 * 128 + 88 + 1},
        given="array.modules=2 array.emcs_per_module=8",
    ),
    "a module writes two further on": Rule(
        f"{ONE_WRITE}TAS_MemWrOver4 2, 1", 55, "no longer than to the next one", {"tasic.path_bytes_per_cycle=1": 83},
        given="array.modules=4",
    ),
    # Two transfers: the second command leaves as the first is answered.
    "read after a read": Rule(
        f"{ONE_READ}TAS_MemRdBlock4 2\nTAS_MemRdBlock4 2", 97, "51, command 1, 44, answer 1",
        {"tasic.read_overhead_cycles=0": 95},
    ),
    "read after a read, alternate": Rule(
        f"{ONE_READ}{ALTERNATE}TAS_MemRdBlock4 2\nTAS_MemRdBlock4 2", 90,
        "6 + 3 settings, 6 + 1 + 32, answer 1, command 1, 39, answer 1: banks have "
        "settled while the bytes were sent", {"tasic.read_overhead_cycles=0": 88},
    ),
    "read after a write, alternate": Rule(
        f"{ONE_PE}{BOTH}{ALTERNATE}TAS_MemWrBlock4 2\nTAS_MemRdBlock4 2", 94,
        "7 + 3 settings, fetch 1 and 32 bytes: written from 43 on, answered in 50 by a slot of 6; the banks settle 11 "
        "after 43, read from 54 on, 39, answer 1",
        {"sdram.trp_cycles=4": 95, "sdram.trc_cycles=12": 95},  # which then is 12 after 43
    ),
    "read after a write of 8 bytes, alternate": Rule(
        f"{ONE_PE}{BOTH}{ALTERNATE}TAS_MemWrBlock8 2\nTAS_MemRdBlock4 2", 130,
        "as before; 64 bytes, written from 75 on, settled 15 after that, 39, answer 1",
        {"sdram.twr_cycles=3": 131},
    ),
    "a read of 8 bytes settles with its overhead": Rule(
        f"{ONE_READ}{ALTERNATE}TAS_MemRdBlock8 2\nTAS_MemRdBlock4 2", 35,
        "6 + 3 settings, 8 + 1 + 4, answer in 23, command in 24; the precharge of slots of 9 is in 13 and needs 3, so "
        "read from 9 + 16 on, 6 + 1 + 2, answer 1",
        {"tasic.read_overhead_cycles=0": 33}, given="tasic.port_bytes_per_cycle=16",  # 12 and 3: from 9 + 15, 6 + 2
    ),
    # SDRAM, every access scheduled.
    "equal slots, scheduled": Rule(
        f"{ONE_PE}{BOTH}{ALTERNATE}TAS_MemWrBlock8 2\nTAS_MemRdBlock4 2", 130, "as above: a schedule that ends in "
        "another cycle is a fault", {"sdram.twr_cycles=3": 131}, given="sdram.check_commands=true",
    ),
    "equal slots of two EMCs and a load, scheduled": Rule(
        f"{READ}TAS_MemRdBlock4 2\nTAS_MemLoad 1, 2, 0", 4 + 256 * 56 + 3 + 32 + 8 + 22 + 1,
        "read as above; three wires, 32 out of the GP's memory, 8 over the GNI, two writes of 11, answer 1",
        {"sdram.trc_cycles=12": 4 + 256 * 58 + 3 + 32 + 8 + 24 + 1}, given="sdram.check_commands=true "
        "array.emcs_per_module=2",
    ),
    "greedy, addresses of each device": Rule(
        f"{BOTH}TAS_MemRdBlock4 0", 37 + 43 + 255 * 40 + 1,
        "4, fetch 1 and 32 bytes of addresses; ACT, 3, RD, 3, 4, 1, 32; later RD, 3, 4, 1, 32; answer 1",
        {"tasic.port_bytes_per_cycle=4": 13 + 19 + 255 * 16 + 1}, "sdram.equal_slots=false", needs_data=True,
    ),
    "greedy, the last device ends a round": Rule(
        f"EMC_TreeIntoMem_Li [381], 1, 1, 0, 0\n{BOTH}TAS_MemRdBlock4 0", 2 + 80 + 255 * 40 + 31 * 6 + 1,
        "as above; byte 1 of the address of the eighth is x, PE / 4: 32 rows of 512 bytes, so PRE, 3, ACT, 3 in 31",
        {"sdram.trp_cycles=4": 2 + 80 + 255 * 40 + 31 * 7 + 1}, "sdram.equal_slots=false", needs_data=True,
    ),
    "greedy, two banks": Rule(
        f"{READ}TAS_SetStep 1\nTAS_SetCrossbar 20, 0\nTAS_MemRdBlock4 2", 5 + 43 + 43 + 254 * 40 + 1,
        "two settings; the first access opens a row in each", {"sdram.trcd_cycles=4": 5 + 44 + 44 + 254 * 40 + 1},
        given="sdram.equal_slots=false",
    ),
    "greedy, row open": Rule(
        f"{READ}TAS_MemRdBlock4 2", 46 + 255 * 40 + 1, "ACT in 3, RD in 6, bytes 9 to 12, 1, 32 sent; later RD, 3, 4, "
        "1, 32; answer 1",
        {"sdram.equal_slots=true": 11_268, "sdram.cl_cycles=4": 47 + 255 * 41 + 1,
        "tasic.read_overhead_cycles=0": 45 + 255 * 39 + 1,
         "array.emcs_per_module=2": 50 + 255 * 44 + 1}, given="sdram.equal_slots=false",
    ),
    "greedy, another row": Rule(
        f"{READ}{ROWS}TAS_MemRdBlock4 2", 2 + 46 + 255 * 46 + 1,
        "two settings; PRE, 3, ACT, 3, RD, 3, 4, 1, 32; answer 1",
        {"sdram.trp_cycles=4": 2 + 46 + 255 * 47 + 1, "sdram.trcd_cycles=4": 2 + 47 + 255 * 47 + 1},
        given="sdram.equal_slots=false",
    ),
    "greedy writes": Rule(
        f"{WRITE}TAS_MemWrBlock4 2", 36 + 255 * 32 + 4 + 1, "3, fetch 1 and 32 bytes; a round each 32, WR and 4 bytes "
        "of the last; answer 1",
        {"tasic.port_bytes_per_cycle=4": 12 + 255 * 8 + 4 + 1, "tasic.port_bytes_per_cycle=16": 6 + 7 + 255 * 4 + 1},
        given="sdram.equal_slots=false",
    ),
    "greedy writes, another row": Rule(
        f"{WRITE}{ROWS}TAS_MemWrBlock4 2", 8 + 3 + 255 * 11 + 4 + 1,
        "3 and two settings, fetch 1 and 2 in; ACT, 3, WR; later PRE 5 after WR, 3, ACT, 3, WR; 4 bytes, answer 1",
        {"sdram.twr_cycles=3": 16 + 255 * 12, "sdram.trp_cycles=4": 16 + 255 * 12},
        given="sdram.equal_slots=false tasic.port_bytes_per_cycle=16",
    ),
    "refresh": Rule(
        f"{READ}TAS_MemRdRepeat4 16, 2", 3 + 16 * 524 + 9 + 14 * 2 + 1,
        "REF in 526 delays the second round of 12 + 512 from 527 to 536, later ones each by 2: 526 - 524",
        {"sdram.refresh=false": 3 + 16 * 524 + 1, "sdram.trfc_cycles=12": 3 + 16 * 524 + 11 + 14 * 2 + 1,
         "sdram.refresh_interval_cycles=525": 3 + 16 * 524 + 8 + 14 + 1,
         "sdram.refresh_interval_cycles=527": 3 + 16 * 524 + 10 + 14 * 3 + 1},
         given="sdram.refresh=true sdram.refresh_interval_cycles=526",
    ),
    "refreshes keep to their interval": Rule(
        f"{ALONE}TAS_MemLoad 1, 7, 0", 241, "writes from 143: 3, 112, 28; REF in 72; in 154 (due in 144) and 219 (due "
        "in 216, not 72 after 154) ACT waits 10; seven of 11 end in 143 + 77 + 20, answer 1",
        {"sdram.refresh=false": 221, "sdram.refresh_interval_cycles=78": 231},  # REF in 165 alone
        given="sdram.refresh=true sdram.refresh_interval_cycles=72",
    ),
    "greedy refresh closes rows": Rule(
        f"{READ}TAS_MemRdRepeat4 16, 2", 3 + 523 + 15 * 520 + 10 + 4 * 3 + 1,
        "rounds of 520, the first 523; PRE in 1560, REF in 1563, ACT in 1573, 10 late; at 3120, 4680, 6240, 7800 just "
        "ACT, 3",
        {"sdram.refresh=false": 3 + 523 + 15 * 520 + 1}, given="sdram.equal_slots=false sdram.refresh=true",
    ),
    # Paths to GPs and from them.
    "rounds for a GP": Rule(
        f"{WRITE}TAS_GpWrite 1, 0, 32", 63 + 255 * 33,
        "as above, 32 in, 4 and 16: 63 for the first; the next round comes in a wire after the last one, in 33",
        {"gni.port_buffers=1": 63 + 255 * 35},  # only when the GNI has taken it, 2 later
    ),
    "two modules for one GP": Rule(
        f"{WRITE}TAS_GpWrite 3, 0, 32", 63 + 16 + 255 * 33, "rounds of both come in 33; the last parcel of the second "
        "goes to the GP's memory 16 later",
        {"gni.gp_buffers=1": 63 + 22 + 255 * 44, "gni.gp_memory_mb_per_second=100": 63 + 16 + 511 * 32 ,
        "gni.mb_per_second=100": 63 - 4 + 512 * 32},
        given="array.modules=2",
    ),
    "a round holds its buffer until the GNI takes it": Rule(
        f"EMC_TreeEQZero_Li 0, 2, 1, 16, 0\nENOT\n{WRITE}TAS_GpWrite 3, 0, 32", 4 + 63 + 255 * 35 + 4,
        "four cycles, then as above with one buffer: the second module has a round more, waits 4 for the GNI in the "
        "first one, and keeps that distance",
        {"gni.port_buffers=2": 4 + 63 + 255 * 33}, given="array.modules=2 gni.port_buffers=1",
    ),
    "parcels of a full GP hold no others": Rule(
        f"{WRITE}TAS_SetGp 12, 0, 1\nTAS_GpWrite 15, 0, 32", 63 + 22 + 255 * 44 + 1 + 4,
        "as above with one buffer; a setting; the second GP's parcels come in between, 4 later",
        {"gni.gp_buffers=2": 63 + 16 + 255 * 33 + 1 + 4}, given="array.modules=4 gni.gp_buffers=1",
    ),
    "results beside a read share the pins": Rule(
        f"{ONE_PE}{BOTH}TAS_MemRdGp4 1, 1, 4, 28", 64,
        "TASICs in 7, pins in 8: a base to 12, 28 bytes to 40; two wires, 4, 14, four wires; the read ends in 56",
        {"tasic.port_bytes_per_cycle=4": 40},  # 9, 16; the same way
    ),
    "a block from a GP": Rule(
        f"{ALONE}TAS_MemLoad 1, 1, 0", 35, "three wires, 16 cycles out of the GP's memory, 4 over the GNI, a write of "
        "11, answer 1",
        {"gni.gp_memory_mb_per_second=400": 27, "gni.mb_per_second=400": 39, "sdram.trcd_cycles=4": 36},
    ),
    "parts from a GP": Rule(
        f"{ALONE}TAS_MemLoad 1, 40, 0", 844,
        "parts of 16, 16, 8 blocks leave the GP's memory in 3 to 259, 515, 643; the second comes in 579, takes 176; "
        "the third 88; answer 1",
        {"gni.load_parts=1": 1_248,  # the next one is asked for two wires after the last is written: 499 + 2, 997 + 2
         "gni.part_blocks=8": 764,  # five of 128: the last one leaves in 643, comes in 675, takes 88
         "gni.gp_memory_mb_per_second=400": 636,  # the first comes in 195, then 176, 176, 88
         "gni.mb_per_second=100": 1_628},  # in 771, 1283, 1539, then 88
    ),
    "a load for the other module": Rule(
        f"{ALONE}TAS_MemLoad 2, 1, 0", 35, "as for one alone", {"gni.mb_per_second=400": 39}, given="array.modules=2",
    ),
    "greedy load": Rule(
        f"{ALONE}TAS_MemLoad 1, 40, 384", 714,
        "as above, but a block in 4: the third part comes in 675: PRE, 3, ACT, 3, eight WR in 32, answer 1",
        {"gni.load_parts=1": 977},  # written by 390; asked for, 256, 64, written by 776; asked for, 128, 32, 38
        given="sdram.equal_slots=false",
    ),
    "greedy load of single blocks": Rule(
        f"{ALONE}TAS_MemLoad 1, 2, 0", 26, "7 cycles of at most 5 bytes each: 3 to 10 to 17, 4 over the GNI, WR and 4 "
        "bytes, answer 1",
        {"gni.mb_per_second=100": 3 + 7 + 32 + 32 + 4 + 1}, given="sdram.equal_slots=false "
        "gni.gp_memory_mb_per_second=500 gni.part_blocks=1",
    ),
    "two modules for two GPs": Rule(
        f"{WRITE}TAS_SetGp 2, 0, 1\nTAS_GpWrite 3, 0, 12", 30 + 255 * 13,
        "a round in 13; 1 + 12 in, two wires, 2 over the GNI, which takes the other 2 later, 2, four wires",
        {"gni.mb_per_second=400": 30 + 3 - 1 + 255 * 13}, given="array.modules=2 gni.gp_memory_mb_per_second=800",
    ),
    "a path takes whole cycles": Rule(
        f"{WRITE}TAS_GpWrite 3, 0, 12", 31 + 255 * 13, "as above, 3 cycles of at most 5 bytes; the other 3 later",
        {"gni.gp_memory_mb_per_second=300": 33 + 255 * 13},
        given="array.modules=2 gni.gp_memory_mb_per_second=500",
    ),
    "a load for two modules": Rule(
        f"{ALONE}TAS_MemLoad 3, 40, 0", 844, "once from the GP, to both at once", {"gni.load_parts=1": 1_248},
        given="array.modules=2",
    ),
    "two loads": Rule(f"{ALONE}TAS_MemLoad 1, 5, 0\nTAS_MemLoad 1, 5, 0", 2 * 159, "3, 80, 20, 55, answer 1",
    {"gni.gp_memory_mb_per_second=400": 2 * 119}),
}  # fmt: skip


def cycles(program: str, overrides: str, *, function: bool = True) -> int:
    node = Node(load_config(None, overrides.split(), "tiny"), "rows")
    return node.run(assemble(f"{program}\n"), function=function).total_cycles


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_time(name: str) -> None:
    rule = RULES[name]
    assert cycles(rule.program, rule.given) == rule.cycles, rule.derivation
    assert {each: cycles(rule.program, f"{rule.given} {each}") for each in rule.changed} == rule.changed
    assert rule.cycles not in rule.changed.values()
    assert rule.needs_data or cycles(rule.program, rule.given, function=False) == rule.cycles, "timing only"


def test_every_value_has_a_row() -> None:
    rows = " ".join(f"{rule.given} {' '.join(rule.changed)}" for rule in RULES.values())
    others = ("sdram.check_commands", "composition.")  # takes no time; how pictures travel is not part of a run
    values = {key for key, known, _, _ in leaves(TINY) if known.moved and not key.startswith(others)}
    assert not {key for key in values if f"{key}=" not in rows}


def test_results_travel_to_another_node() -> None:
    """As to an own GP, 32 bytes: in 47 at the GNI; the network 4, the other GNI 4, its GP 16, eight wires back."""
    machine = Machine(2, load_config(None, [], "tiny"), "rows")
    found = machine.run({0: assemble(f"{ONE_WRITE}TAS_SetGp 1, 1, 0\nTAS_GpWrite 1, 0, 32\n")})
    assert (found.cycles, found.network_bytes, found.network_busy_cycles) == (77, 32, 4)


def test_nodes_share_the_network() -> None:
    """Parcels of two nodes, for two GPs of a third, come to the network at once: the second waits 4 for the first."""
    machine = Machine(3, load_config(None, [], "tiny"), "rows")
    programs = (f"{ONE_WRITE}TAS_SetGp 1, {2 - node}, {node}\nTAS_GpWrite 1, 0, 32\n" for node in range(2))
    found = machine.run({node: assemble(each) for node, each in enumerate(programs)})
    assert (found.cycles, found.network_bytes, found.network_busy_cycles) == (77 + 4, 64, 8)
    assert [found.runs[node].total_cycles for node in range(2)] == [77, 77 + 4]


DEVICES = {
    # ACT 0, ACT 1 after tRRD; RD in 3, bytes in 6 to 9.
    "ACT of another bank": ("ACT 0 0", "ACT 1", 2),
    "RD": ("ACT 0 0", "RD 0", 3),
    "RD beside the bytes before": ("ACT 0 0; ACT 1 2; RD 0 3", "RD 1", 7),
    "WR turns the pins round": ("ACT 0 0; ACT 1 2; RD 0 3", "WR 1", 11),
    "RD after the bytes of WR": ("ACT 0 0; ACT 1 2; WR 0 3", "RD 1", 5),  # WR 3 to 6, RD gives 8 to 11
    "WR after the bytes of WR": ("ACT 0 0; ACT 1 2; WR 0 3", "WR 1", 7),
    "WR before bytes that come": ("ACT 0 0; ACT 1 2; RD 0 9", "WR 1", 5),  # 5 to 8; bytes in 12
    "PRE after RD": ("ACT 0 0; RD 0 4", "PRE 0", 9),
    "PRE after WR": ("ACT 0 0; WR 0 3", "PRE 0", 8),
    "PRE of an open row": ("ACT 0 0", "PRE 0", 6),
    "a command a clock": ("ACT 0 0; ACT 1 6", "PRE 0", 7),
    "ACT after PRE": ("ACT 0 0; PRE 0 8", "ACT 0", 11),
    "ACT after ACT": ("ACT 0 0; PRE 0 6", "ACT 0", 10),
    "REF after PRE": ("ACT 0 0; PRE 0 8", "REF 0", 11),
    "ACT after REF": ("REF 0 0", "ACT 1", 10),
    "REF after REF": ("REF 0 0", "REF 0", 10),
}
"""Commands with bank and clock, the next one, and its first clock; bursts have 4 bytes."""


@pytest.mark.parametrize("name", DEVICES)
def test_the_first_clock_of_a_command_is_that_by_hand(name: str) -> None:
    before, then, clock = DEVICES[name]
    kinds = dict(zip(("ACT", "RD", "WR", "PRE", "REF"), CommandKind, strict=True))
    bursts = {"RD": 4, "WR": 4}
    sdram = Sdram(load_config(None, [], "tiny").sdram)
    for kind, bank, at in map(str.split, before.split("; ")):
        sdram.issue(SdramCommand(Cycle(int(at)), kinds[kind], int(bank), burst=bursts.get(kind, 0)))
    kind, bank = then.split()
    assert sdram.earliest(kinds[kind], int(bank), bursts.get(kind, 0)) == clock


def test_cycles_in_use() -> None:
    """Of TASICs from the first access to the last byte; of the GNI's paths while they carry bytes."""
    run = Node(load_config(None, [], "tiny"), "rows").run(
        assemble(f"{ONE_READ}TAS_MemRdBlock4 2\nTAS_MemLoad 1, 40, 0\n")
    )
    assert run.tasic_cycles == (44 + 40 * 11,)
    assert run.gni_cycles == {"from_gni0": 40 * 4}


def test_cycles_of_routines() -> None:
    """START and ten loads each; the first call begins in cycle 1."""
    run = Node(load_config(None, [], "tiny"), "rows").run(assemble(f"LD R, #1\nCALL f\nCALL f\nHALT\n{ROUTINES}\n"))
    assert run.routine_cycles == {"f": (2, 2 * 11)}
