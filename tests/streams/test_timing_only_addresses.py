"""Does a timing-only run take the time of the full one where addresses and ports decide about it, or fail like it?"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import microcode
from pixelflow.config import load_config
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.simd.errors import InputError, MachineFault
from tests.streams.test_exchanges import SIZES, SMALL, account

ADDRESSED = """\
EMC_TreeEQZero_Li 0, 1, 0, 64, 0
EMC_MarkRead
EMC_MarkWrite
SIGNAL 0
stream tigc
TAS_SetStep 3
repeat bit in 3 .. 11
    TAS_SetCrossbar bit, bit - 3
end
WAIT 0
"""
GENERATED = "TAS_MemRdBlock8 2\nTAS_MemWrBlock4 3\nTAS_MemWrHeld4 2\nTAS_MemLoad 3, 40, 8\n"
GIVEN = "TAS_MemRdBlock4 1\n"


@pytest.mark.parametrize(
    "settings", [("refresh=true",), ("check_commands=true",), ("refresh=true", "check_commands=true")]
)
def test_scheduled_equal_slots_take_the_same_time_without_data(settings: tuple[str, ...]) -> None:
    config = load_config(None, [*SIZES, *(f"sdram.{each}" for each in settings)], "tiny")
    program = microcode.assemble(ADDRESSED + GENERATED + GIVEN)
    assert account(Node(config).run(program, function=False)) == account(Node(config).run(program))


@pytest.mark.parametrize("refresh", [False, True])
def test_a_greedy_controller_needs_no_data_where_the_generator_gives_the_addresses(refresh: bool) -> None:
    settings = ["sdram.equal_slots=false", "sdram.check_commands=true", f"sdram.refresh={str(refresh).lower()}"]
    config = load_config(None, [*SIZES, *settings], "tiny")
    program = microcode.assemble(ADDRESSED + GENERATED)
    whole = Node(config).run(program)
    assert account(Node(config).run(program, function=False)) == account(whole)
    assert max(whole.tasic_cycles) < max(Node(SMALL).run(program).tasic_cycles)


def test_a_greedy_controller_is_refused_where_pes_give_the_addresses() -> None:
    config = load_config(None, [*SIZES, "sdram.equal_slots=false"], "tiny")
    with pytest.raises(InputError) as caught:
        Node(config).run(microcode.assemble(ADDRESSED + GENERATED + GIVEN), function=False)
    text = re.sub(r"\s+", " ", str(caught.value))
    assert ":15: error: " in text
    assert "addresses" in text and "greedy" in text


@pytest.mark.parametrize("transfer", ["TAS_MemRdBlock4 2", "TAS_GpWrite 1, 0, 4"])
def test_copies_to_a_port_meet_a_transfer_in_the_same_cycle_with_and_without_data(transfer: str) -> None:
    """The transfer begins in any cycle before, between and after the instructions that use the ports."""
    copies = "\n".join(f"LD R, [{64 + i}]\nST [{352 + i}], R" for i in range(4))
    seen = set()
    for before in range(14):
        emcs = f"EMC_SetEnab\nSIGNAL 0\nADD R, #1\n{copies}\nLD S, [320]\nADD R, #2\nADD R, #2\nLD S, [321]\n"
        texture = "TAS_SetStep 1\n" * before + transfer
        program = microcode.assemble(f"{emcs}stream tigc\nWAIT 0\n{texture}\n")
        outcomes = [_outcome(program, function=function) for function in (True, False)]
        assert outcomes[0] == outcomes[1], before
        seen.add(type(outcomes[0]))
    assert seen == {str, tuple}


def _outcome(program: Program, *, function: bool) -> object:
    try:
        return account(Node(SMALL).run(program, function=function))
    except MachineFault as fault:
        return str(fault)


@pytest.mark.parametrize("work", [300, 700])
def test_a_transfer_may_come_and_go_between_two_uses_of_a_port(work: int) -> None:
    """Straight code between the uses is passed over as a whole; 700 cycles are enough for the transfer, 300 are not."""
    emcs = (
        "EMC_TreeLTZero_Li 0, 2, 1, 0, -2\nEMC_MarkRead\nEMC_SetEnab\nSIGNAL 0\n"
        f"ST [352], R\nrepeat i in 1 .. {work}\nADD R, #1\nend\nLD R, [320]\nLD R, [321]\n"
    )
    program = microcode.assemble(f"{emcs}stream tigc\nWAIT 0\nTAS_SetStep 1\nTAS_SetStep 1\nTAS_MemRdBlock4 2\n")
    whole, timed = (_outcome(program, function=function) for function in (True, False))
    assert timed == whole
    assert isinstance(whole, tuple) is (work == 700)


def test_what_a_run_has_found_out_misleads_no_other() -> None:
    """One program on nodes with other flags, other coordinates, and of another size and another kind of sequencer."""
    text = "EMC_TreeLTZero_Li 0, 2, 1, 0, -5\nEMC_MarkRead\nSIGNAL 0\nWAIT 1\nstream tigc\nWAIT 0\nTAS_MemRdBlock4 2\n"
    program = microcode.assemble(text + "SIGNAL 1\n")
    settings = microcode.assemble("repeat c in 0 .. 15\nEMC_SetLEE 0, 0, 2, c, 2\nend\n")
    enabled = np.random.default_rng(1).random((6, SMALL.lanes)) < 0.4
    seen = set()
    for config in (
        SMALL,
        load_config(None, SIZES[:2], "tiny"),
        replace(SMALL, igc=replace(SMALL.igc, control_cycles=1)),
    ):
        for arranged in (False, True):
            for flags in enabled:
                node = Node(config)
                if arranged:
                    node.run(settings)
                node.set_flag("E", np.resize(flags, config.lanes))
                timed = account(node.run(program, function=False))
                assert timed == account(node.run(program))
                seen.add(str(timed))
    assert len(seen) > 12
