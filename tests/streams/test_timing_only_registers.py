"""Does a timing-only run begin with the TASIC registers that are there, and refuse what a full run refuses?"""

from __future__ import annotations

import numpy as np
import pytest

import microcode
from pixelflow.isa import Program
from pixelflow.node import Machine, Node, Run
from pixelflow.node.run import marks as values
from pixelflow.simd.errors import MachineFault
from tests.streams.test_exchanges import SMALL

MARKS = "EMC_TreeEQZero_Li 0, 1, 0, 64, 0\nEMC_MarkRead\nEMC_MarkWrite\nEMC_SetEnab\nSIGNAL 0\n"

ALTERNATE = "TAS_SetBanks 1\nTAS_SetCrossbar 20, 0\nTAS_SetStep 1\n"
"""The bank is bit 0 of the counter, which grows after each round: the EMCs of a round are in the same one."""

BEFORE = {
    "order": ("TAS_SetOrder 1", "TAS_MemRdBlock4 2"),
    "banks": ("TAS_SetBanks 1", "TAS_MemRdBlock4 1"),
    "counter": ("TAS_SetCounter 1\nTAS_SetCrossbar 0, 0", "TAS_MemRdBlock4 2"),
    "counter after a transfer": ("TAS_SetCrossbar 0, 0\nTAS_SetStep 1\nTAS_MemWrBlock4 3", "TAS_MemWrBlock4 2"),
    "gp": ("TAS_SetGp 1, 0, 1\nTAS_SetGpAddress 1, 5", "TAS_GpWrite 3, 0, 24"),
    "gp address": ("TAS_SetGpAddress 3, 268435455", "TAS_GpWrite 3, 0, 24"),
    "held addresses": ("TAS_MemRdBlock4 2", "TAS_MemWrHeld4 2\nTAS_MemRdBlock4 3\nTAS_MemWrBlock4 3"),
    "nothing held": ("TAS_SetStep 0", "TAS_MemRdBlock4 3"),
    "no data held": ("TAS_SetStep 0", "TAS_MemWrHeld4 2"),
    "everything": (
        "TAS_SetOrder 1\nTAS_SetBanks 1\nTAS_SetCounter 8\nTAS_AddCounter -3\nTAS_SetStep 1\nTAS_SetCrossbar 5, 2\n"
        "TAS_SetGp 2, 0, 1\nTAS_SetGpAddress 3, 1000",
        "TAS_GpWrite 3, 4, 8\nTAS_MemRdRepeat4 2, 1\nTAS_MemWrBase4 3\nTAS_MemLoad 2, 3, 0\nTAS_LoopBack",
    ),
}


def _program(text: str) -> Program:
    return microcode.assemble(f"{MARKS}WAIT 1\nstream tigc\nWAIT 0\n{text}\nSIGNAL 1\n")


def _outcome(node: Node, program: Program, *, function: bool) -> object:
    try:
        run: Run = node.run(program, function=function)
    except MachineFault as fault:
        return str(fault)
    return (run.cycles, run.beside.cycles, run.waits, run.tasic_cycles, run.gni_cycles, run.ledger)


def _addressed(node: Node) -> None:
    """Put base addresses into the output ports that are in another bank for each EMC."""
    lanes = np.arange(node.lanes)
    node.write_word(352, 4, ((lanes // 64 % 2) << 20).astype(np.uint64))


@pytest.mark.parametrize("name", BEFORE)
def test_registers_of_the_run_before(name: str) -> None:
    before, after = BEFORE[name]
    node = Node(SMALL)
    _addressed(node)
    if "MemWrBlock4 3" in before:
        node.run(_program("TAS_MemRdBlock4 2"))
    node.run(_program(before))
    registers = repr(node.texture.snapshot())
    timed = _outcome(node, _program(after), function=False)
    assert repr(node.texture.snapshot()) == registers
    assert timed == _outcome(node, _program(after), function=True)


def test_promised_banks_are_faster_in_the_run_after() -> None:
    cycles = set()
    for promise in (0, 1):
        node = Node(SMALL)
        _addressed(node)
        node.run(_program(f"TAS_SetBanks {promise}"))
        cycles.add(node.run(_program("TAS_MemRdBlock4 1"), function=False).tasic_cycles)
    assert len(cycles) == 2


REFUSED = {
    "banks": (f"{ALTERNATE}TAS_MemRdBlock4 2", "alternate banks were promised"),
    "banks of a write": (f"{ALTERNATE}TAS_MemWrBlock4 2", "alternate banks were promised"),
    "banks of held addresses": ("TAS_MemRdBlock4 2\nTAS_SetBanks 1\nTAS_MemRdBlock4 3", "alternate banks"),
    "address": ("TAS_SetCounter 1\nTAS_SetCrossbar 0, 0\nTAS_MemRdBlock4 2", "address 0x1 is not a multiple of 4"),
    "nothing held": ("TAS_MemRdBlock4 3", "holds no addresses"),
    "addresses of a half": ("TAS_MemWrHalf4 0\nTAS_MemRdBlock4 3", "holds no addresses"),
    "no data": ("TAS_MemWrHeld4 2", "corner turners hold no 4 bytes"),
    "no such module": ("TAS_MemWrOver4 7, 0", "no module is 7 further on: the node has 2 modules"),
    "GP memory": ("TAS_SetGpAddress 1, 268435455\nTAS_GpWrite 1, 0, 4", "GP memory: bytes 268435455"),
    "no part of a port": ("TAS_GpWrite 1, 31, 2", "outside a port"),
    "load from afar": ("TAS_SetGpAddress 1, 268435455\nTAS_MemLoad 1, 1, 0", "GP memory: bytes 268435455"),
    "load beyond the memory": ("TAS_MemLoad 1, 2, 2097148", "texture address 0x200000"),
    "no such GP": ("TAS_SetGp 1, 0, 7", "there is no GP 7"),
}


@pytest.mark.parametrize("function", [True, False])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_whether_data_are_there_or_not(name: str, function: bool) -> None:
    text, message = REFUSED[name]
    with pytest.raises(MachineFault, match=message):
        Node(SMALL).run(_program(text), function=function)


def test_loop_back_counts_marks_without_data() -> None:
    text = MARKS.replace("EMC_MarkWrite\nEMC_SetEnab\n", "EMC_SetEnab\nEMC_MarkWrite\n")
    program = microcode.assemble(f"{text}stream tigc\nWAIT 0\nTAS_LoopBack\n")
    for function in (True, False):
        with pytest.raises(MachineFault, match="not as many PEs marked for writing as for reading"):
            Node(SMALL).run(program, function=function)


def test_addresses_of_pes_are_not_checked_without_data() -> None:
    """The one thing that a timing-only run lets pass: here all EMCs ask for bank 0."""
    program = _program("TAS_SetBanks 1\nTAS_MemRdBlock4 1")
    with pytest.raises(MachineFault, match="alternate banks were promised"):
        Node(SMALL).run(program)
    assert Node(SMALL).run(program, function=False).cycles


def test_nodes_of_a_machine_keep_their_registers() -> None:
    machine = Machine(2, SMALL)
    machine.run({0: _program("TAS_SetGp 3, 1, 0")})
    timed = machine.run({0: _program("TAS_GpWrite 3, 0, 24")}, function=False)
    full = machine.run({0: _program("TAS_GpWrite 3, 0, 24")})
    assert timed.network_bytes == full.network_bytes > 0
    assert (timed.cycles, timed.stored_bytes) == (full.cycles, full.stored_bytes)


def test_values_of_flags_are_the_same_where_few_are_kept_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(values, "_UNPACKED", 3)
    known = values.FlagValues(lanes=20)
    flags = np.arange(10)[:, None] >> np.arange(20)[None] % 4 & 1 == 1
    numbers = [known.number(each) for each in flags]
    assert numbers == list(range(10)) and known.number(flags[4]) == 4
    for _ in range(2):
        assert all((known.value(number) == each).all() for number, each in zip(numbers, flags, strict=True))
