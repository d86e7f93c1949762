"""Do timing-only runs, shuffled ticks and other engines give what the full run gives, where streams exchange data?"""

from __future__ import annotations

import re

import numpy as np
import pytest

import microcode
from pixelflow.config import NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.node import Node, Run
from pixelflow.node.account import LedgerFlow
from pixelflow.node.texture_unit import TextureUnit
from pixelflow.node.transfer import Transfer
from pixelflow.simd.errors import InputError, InternalError, MachineFault
from tests.streams import exchanges

PROGRAMS = 30
"""The seed of a program is its number."""

SIZES = ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=2"]
SMALL = load_config(None, SIZES, "tiny")
"""Several modules and EMCs, of 128 PEs each."""


def account(run: Run) -> tuple:
    """Everything of a run that time decides."""
    both = [run, run.beside]
    each = [(r.cycles, r.waits, r.stages, r.stage_waits, r.executed, r.routine_cycles) for r in both if r]
    return each, run.tasic_cycles, run.ledger


def _full(program: Program, config: NodeConfig = SMALL, **options) -> tuple[Run, Node]:
    node = Node(config, engine=options.pop("engine", "rows"))
    node.load(program)
    return node.run(program, **options), node


def test_timing_only_is_exact_where_marks_follow_from_the_program() -> None:
    waited = 0
    for seed in range(PROGRAMS):
        program = microcode.assemble(exchanges.program(seed))
        run, _ = _full(program)
        timed = Node(SMALL).run(program, function=False, shuffle_seed=seed)
        assert account(timed) == account(run), seed
        waited += sum(run.waits.values())
    assert waited > 10_000


@pytest.mark.slow
def test_the_order_of_ticks_changes_nothing() -> None:
    for seed in range(PROGRAMS):
        program = microcode.assemble(exchanges.program(seed))
        run, node = _full(program)
        shuffled, other = _full(program, shuffle_seed=seed)
        assert account(shuffled) == account(run), seed
        assert other.digest() == node.digest(), seed
        pairs = zip(node.texture_memory, other.texture_memory, strict=True)
        assert all(a.digest() == b.digest() for a, b in pairs), seed


def test_engines_agree() -> None:
    for seed in range(6):
        program = microcode.assemble(exchanges.program(seed))
        run, node = _full(program)
        slow, other = _full(program, engine="bit-serial")
        assert account(slow) == account(run) and other.digest() == node.digest(), seed


def test_timing_only_changes_no_data() -> None:
    program = microcode.assemble(exchanges.program(3))
    node = Node(SMALL)
    node.set_register("R", np.arange(256).astype(np.uint8))
    before = node.digest()
    node.run(program, function=False)
    assert node.digest() == before
    assert not any(memory.pages for memory in node.texture_memory)


def test_marks_from_a_run_before_are_known() -> None:
    node = Node(SMALL)
    node.run(
        microcode.assemble("LD R, #9\nCMP R, #3\nEC\nEMC_TreeEQZero_Li 0, 1, 0, 64, 0\nEMC_MarkRead\nEMC_SetEnab\n")
    )
    program = microcode.assemble("SIGNAL 0\nstream tigc\nWAIT 0\nTAS_MemRdBlock4 2\n")
    timed = node.run(program, function=False)
    assert account(timed) == account(node.run(program))
    assert timed.ledger.outbound.asked == 32 * 64


UNKNOWN = """\
range t[4]
LD R, t
CMP R, #3
EC
EPUSH
EMC_TreeEQZero_Li 0, 1, 0, 64, 0
EPOP
EMC_MarkRead
EMC_SetEnab
SIGNAL 0
stream tigc
WAIT 0
TAS_MemRdBlock4 2
"""


def test_marks_that_depend_on_data_are_refused() -> None:
    node = Node(SMALL)
    program = microcode.assemble(UNKNOWN)
    assert node.run(program).beside.cycles
    with pytest.raises(InputError) as caught:
        node.run(program, function=False)
    text = re.sub(r"\s+", " ", str(caught.value))
    assert ":13: error: " in text
    assert "marks MR" in text and ":4" in text


def test_marks_that_no_transfer_reads_may_depend_on_data() -> None:
    text = UNKNOWN.replace("SIGNAL 0\n", "EMC_TreeEQZero_Li 0, 1, 0, 64, 0\nEMC_MarkRead\nSIGNAL 0\n")
    program = microcode.assemble(text)
    assert account(Node(SMALL).run(program, function=False)) == account(Node(SMALL).run(program))


def test_the_lee_of_a_timing_only_run_is_its_own() -> None:
    text = """\
repeat emc in 0 .. 1
    repeat index in 0 .. 7
        EMC_SetLEE 0, emc, 3, index, index * 3
    end
end
EMC_TreeLTZero_Li 0, 2, 0, 1, -9
EMC_MarkRead
EMC_SetEnab
SIGNAL 0
stream tigc
WAIT 0
TAS_MemRdBlock4 2
"""
    program = microcode.assemble(text)
    node = Node(SMALL)
    before = node.array.lee.version
    timed = node.run(program, function=False)
    assert node.array.lee.version == before
    assert account(timed) == account(node.run(program))


@pytest.mark.parametrize("function", [True, False])
def test_a_port_conflict_is_found_in_both(function: bool) -> None:
    text = (
        "EMC_MarkRead\nSIGNAL 0\nLD R, #1\nLD R, #1\nLD R, #1\nCALL f, [320]\nstream tigc\nWAIT 0\nTAS_MemRdBlock4 2\n"
    )
    text += "proc f(d)\nLD R, d\nLD S, d[1]\nend\n"
    with pytest.raises(MachineFault, match=r"port conflict in cycle 4: LD R, \[P0\] at .*:11"):
        Node(SMALL).run(microcode.assemble(text), function=function)


@pytest.mark.parametrize("function", [True, False])
def test_an_instruction_that_is_still_using_a_port_conflicts(function: bool) -> None:
    text = "EMC_MarkRead\nSIGNAL 0\nEMC_TreeIntoMem_Li [352], 4, 0, 0, 0\n"
    text += "stream tigc\nWAIT 0\nTAS_SetStep 1\nTAS_MemRdBlock4 2\n"
    with pytest.raises(MachineFault, match=r"port conflict in cycle 3: EMC_TreeIntoMem_Li .*:3"):
        Node(SMALL).run(microcode.assemble(text), function=function)


@pytest.mark.parametrize("later", ["", "LD R, #1\n" * 40 + "LD R, [320]\n"], ids=["last", "others"])
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("function", [True, False])
def test_a_port_behind_a_parameter_is_taken_too(function: bool, seed: int | None, later: str) -> None:
    """The transfer begins in cycle 2, the very cycle of the LD, whichever of the two is looked at first."""
    text = f"LD S, #1\nCALL f, [352]\n{later}routine f(d)\nLD R, d\nend\n"
    text += "stream tigc\nTAS_SetStep 1\nTAS_SetStep 1\nTAS_MemRdBlock4 2\n"
    with pytest.raises(MachineFault, match=r"port conflict in cycle 2: LD R, \[P0\] at "):
        Node(SMALL).run(microcode.assemble(text), function=function, shuffle_seed=seed)


def test_the_ledger_of_a_transfer() -> None:
    text = "EMC_MarkWrite\nEMC_MarkRead\nSIGNAL 0\nWAIT 1\n"
    text += "stream tigc\nWAIT 0\nTAS_MemWrBlock4 2\nTAS_MemRdBlock4 2\nSIGNAL 1\n"
    run = Node(SMALL).run(microcode.assemble(text))
    assert run.ledger.commands == run.ledger.dones == 2 * SMALL.array.modules
    data = 32 * SMALL.lanes
    assert run.ledger.inbound.asked == run.ledger.inbound.carried == run.ledger.inbound.counted == data
    assert run.ledger.outbound.counted == data
    assert run.ledger.inbound.moved == run.ledger.outbound.moved == data
    assert [run.ledger.signals[n].taken for n in (0, 1)] == [1, 1]


def test_what_moved_is_part_of_what_the_wires_carried() -> None:
    """PEs of one EMC of each module are served, the places of the other stay empty; nothing but data goes to GPs."""
    text = "EMC_TreeLTZero_Li 0, 2, 1, 0, -1\nEMC_MarkWrite\nEMC_MarkRead\nSIGNAL 0\nWAIT 1\n"
    text += "stream tigc\nWAIT 0\nTAS_MemRdBlock4 1\nTAS_GpWrite 3, 0, 5\nTAS_MemLoad 3, 7, 0\nSIGNAL 1\n"
    node = Node(SMALL)
    program = microcode.assemble(text)
    for _ in range(2):
        for function in (True, False):
            ledger = node.run(program, function=function).ledger
            assert 0 < ledger.outbound.moved == ledger.outbound.used < ledger.outbound.carried
            assert ledger.to_gps == LedgerFlow(*[ledger.outbound.moved // 32 * 5] * 5)
            assert ledger.from_gps == LedgerFlow(*[7 * 32] * 5)


def test_moved_bytes_that_no_wire_carried_are_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = TextureUnit.begin

    def cheat(unit: TextureUnit, transfer: Transfer) -> None:
        begin(unit, transfer)
        unit.moved["PEs to GPs"] += 1

    monkeypatch.setattr(TextureUnit, "begin", cheat)
    text = "EMC_MarkWrite\nSIGNAL 0\nstream tigc\nWAIT 0\nTAS_GpWrite 3, 0, 24\n"
    with pytest.raises(InternalError, match="does not balance: bytes for GPs: LedgerFlow"):
        Node(SMALL).run(microcode.assemble(text))


@pytest.mark.parametrize("timing", [True, False])
def test_an_imbalance_is_an_internal_error(monkeypatch: pytest.MonkeyPatch, timing: bool) -> None:
    from pixelflow.node.run.semaphores import Semaphores

    program = microcode.assemble("SIGNAL 0\nSIGNAL 0\nstream tigc\nWAIT 0\nTAS_SetStep 1\n")
    monkeypatch.setattr(Semaphores, "take", lambda self, semaphore: True)
    with pytest.raises(InternalError, match="the ledger of the run does not balance: semaphore 0"):
        Node(SMALL).run(program, timing=timing)


def test_cycles_that_are_neither_busy_nor_waited_are_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from pixelflow.node.run.stream import Stream

    monkeypatch.setattr(Stream, "busy", property(lambda self: 7))
    with pytest.raises(InternalError, match=r"EIGC: 7 cycles busy \+ 0 waiting are not 1"):
        Node(SMALL).run(microcode.assemble("LD R, #1\n"))


def test_waits_of_stages() -> None:
    text = 'MARK "a"\nLD R, #1\nWAIT 0\nMARK "b"\nLD R, #1\nMARK "a"\nWAIT 0\n'
    text += "stream tigc\nTAS_SetStep 1\nTAS_SetStep 1\nTAS_SetStep 1\nSIGNAL 0\nloop 6\nTAS_SetStep 1\nend\nSIGNAL 0\n"
    run = Node(SMALL).run(microcode.assemble(text))
    assert run.waits_by_stage == {"a": {"sem 0": 3 + 5}}
    assert run.by_stage == {"a": 4 + 5, "b": 1}
    assert run.busy + sum(run.waits.values()) == run.cycles == 10
