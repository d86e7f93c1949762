"""Every rule of time of a node: a program, its cycles derived by hand, and those with the rule's value changed.

A row shows that a rule holds and that its value matters. Machine: one EMC of 256 PEs, in eight panels. Wires take a
cycle; so a signal reaches the other stream, a command the TASICs, and their answer the stream in the next cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from microcode import assemble
from pixelflow.config import load_config
from pixelflow.node import Node

ASK = "\nSIGNAL 0\nHALT\nstream tigc\nWAIT 0\n"
"""Ends the EMC stream; the texture stream follows, once the signal is there."""
ONE_PE = "EMC_TreeEQZero_Li 0, 2, 1, 16, 0\n"
"""Enables the PE whose x and y are 0, in three cycles."""


class Rule(NamedTuple):
    """A program and its cycles; the derivation; for changed values their cycles."""

    program: str
    cycles: int
    derivation: str
    changed: dict[str, int] = {}  # noqa: RUF012  (nobody writes to it)


RULES = {
    # The EMC stream.
    "issue": Rule("LD R, #1\nADD R, [0]\nST [0], R", 3, "a cycle each", {"extra.memory_operand=1": 4}),
    "start-up of a routine": Rule(
        "CALL f, [0]\nHALT\nroutine f(d)\nLD R, d\nST d, R\nend", 3, "START, LD, ST; CALL and RET are free",
        {"extra.start=-1": 2, "extra.start=1": 4},
    ),
    "control": Rule(
        "LOOP 5\nLD R, #1\nENDL\nHALT", 5, "five LD; LOOP, ENDL and HALT are free",
        {"igc.control_cycles=1": 5 + 1 + 5 + 1, "igc.fold_loops=false": 5 + 4},
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
    # Words on their way, at 200 MB/s and 100 MHz: a word of 4 bytes in two cycles.
    "words are there at once": Rule("LD R, #1\nLD S, #2\nLD M, #3", 3, "a cycle each", {"igc.supply=200": 4 * 2}),
    "a loop is sent once": Rule(
        "LOOP 10\nLD R, #1\nENDL\nHALT", 10, "a cycle each",
        {"igc.supply=200": 2 + 2 + 2 + 9,  # to LOOP, to LD, to ENDL; nine more rounds
         "igc.supply=200 igc.memory_words=0": 2 * (1 + 20 + 1)},  # each word each time
    ),
    # Two streams.
    "a signal": Rule(
        "WAIT 0\nLD R, #1\nHALT\nstream tigc\nTAS_SetCounter 9\nSIGNAL 0", 3, "set 1, wire 1, LD 1",
        {"igc.control_cycles=1": 6},  # and SIGNAL, WAIT, HALT
    ),
    # Transfers. A round: an access for each EMC (11 cycles by table 2, and 1 of a read), then 32 bytes at one a cycle.
    "read by one PE": Rule(
        f"{ONE_PE}EMC_MarkRead{ASK}TAS_MemRdBlock4 2", 51, "4 to the mark, wire 1, command 1, 11 + 1 + 32, answer 1",
        {"tasic.read_overhead_cycles=0": 50, "tasic.port_bytes_per_cycle=4": 51 - 24, "sdram.trcd_cycles=4": 52},
    ),
    "read by all PEs": Rule(
        f"EMC_MarkRead{ASK}TAS_MemRdBlock4 2", 11_268, "1 + 1 + 1, 256 rounds of 44, answer 1",
        {"array.emcs_per_module=2": 4 + 256 * (2 * 12 + 32), "array.panels_per_emc=4": 4 + 128 * 44,
         "sdram.trp_cycles=2": 4 + 256 * 43, "sdram.trc_cycles=12": 4 + 256 * 45},
    ),
    "read in alternate banks": Rule(
        f"EMC_MarkRead{ASK}TAS_SetBanks 1\nTAS_SetStep 1\nTAS_SetCrossbar 2, 0\nTAS_MemRdBlock4 2", 9_991,
        "1 + 1, three settings, command 1, 256 rounds of 6 (table 2) + 1 + 32, answer 1",
        {"tasic.read_overhead_cycles=0": 9_991 - 256},
    ),
    "results to a GP": Rule(
        f"{ONE_PE}EMC_MarkWrite{ASK}TAS_GpWrite 1, 0, 24", 53,
        "4 to the mark, 24 bytes in, 3 cycles of 8 over the GNI, 12 of 2 into the GP's memory, ten wires",
        {"gni.mb_per_second=100": 53 + 24 - 3, "gni.gp_memory_mb_per_second=400": 53 - 6,
         "tasic.port_bytes_per_cycle=4": 53 - 18},
    ),
    "read at addresses of PEs": Rule(
        f"EMC_MarkRead\nEMC_MarkWrite{ASK}TAS_MemRdBlock4 0", 11_302,
        "2 + 1 + 1, fetch 1 and the first 32 bytes of addresses, 256 rounds of 44 that hide the later ones, answer 1",
        {"tasic.port_bytes_per_cycle=4": 4 + 9 + 256 * 20 + 1},
    ),
    "a write waits for the inbound port": Rule(
        f"EMC_MarkWrite{ASK}TAS_MemWrBlock4 2", 8_208,
        "1 + 1 + 1, fetch 1 and 32 bytes, a write of 11, 255 later rounds of 32 bytes that hide their writes, answer 1",
        {"tasic.port_bytes_per_cycle=4": 3 + 9 + 256 * 11 + 1,  # 8 cycles of a round's bytes are hidden by its write
         "sdram.trcd_cycles=4": 8_209, "array.emcs_per_module=2": 8_219,
         "array.emcs_per_module=8": 3 + 33 + 256 * 88 + 1},
    ),
    "loop back": Rule(
        f"EMC_MarkRead\nEMC_MarkWrite{ASK}TAS_LoopBack", 8_230, "2 + 1 + 1, 33, 256 times 32 bytes out, answer 1",
        {"tasic.port_bytes_per_cycle=4": 4 + 9 + 256 * 8 + 1},
    ),
}  # fmt: skip


def cycles(program: str, overrides: str = "") -> int:
    return Node(load_config(None, overrides.split(), "tiny"), "rows").run(assemble(f"{program}\n")).total_cycles


@pytest.mark.parametrize("name", RULES)
def test_a_rule_of_time(name: str) -> None:
    rule = RULES[name]
    assert cycles(rule.program) == rule.cycles, rule.derivation
    assert {each: cycles(rule.program, each) for each in rule.changed} == rule.changed
    assert rule.cycles not in rule.changed.values()
