"""Do bytes, accesses and energy count what moves, and the slots of EMCs without a PE left stand apart?"""

from __future__ import annotations

import json

import numpy as np
import pytest

from microcode import assemble
from pixelflow.cli.main import main
from pixelflow.config import load_config
from pixelflow.node import EnergyMeter, Node, Run
from pixelflow.observe import Accessed
from pixelflow.observe.node_statistics import Collector

CONFIG = load_config(None, ["array.modules=2", "array.emcs_per_module=4"], "tiny")
EMCS, SEED = 8, 1995

MARKED = (3, 0, 1, 0, 2, 2, 0, 0)
"""PEs of each EMC that take part: rounds are 3 in the first module and 2 in the second, of 4 slots each."""

BY_HAND = {
    # (given, taken, slots, used slots, bytes of the SDRAMs)
    "TAS_MemRdBlock4 0": (8 * 32, 8 * 32, 20, 8, 8 * 32),
    "TAS_MemRdBlock4 1": (8 * 4, 8 * 32, 20, 8, 8 * 32),
    "TAS_MemRdBlock4 2": (0, 8 * 32, 20, 8, 8 * 32),
    "TAS_MemRdRepeat4 2, 2": (0, 8 * 32, 12, 5, 5 * 32),
    "TAS_MemWrBlock4 2": (8 * 32, 0, 20, 8, 8 * 32),
    "TAS_MemWrHalf4 0": (8 * 32, 0, 20, 8, 8 * 16),
    "TAS_MemWrOver4 1, 0": (8 * 32, 0, 20, 8, 8 * 16),
    # The first PE of the EMC gives a base, the next two the data; alone it has nobody to give it for.
    "TAS_MemWrBase4 2": (2 * 32 + 4 + 2 * (32 + 4), 0, 12, 4, 4 * 32),
    "TAS_LoopBack": (8 * 32, 8 * 32, 20, 8, 0),
}


def run(text: str, *, function: bool = True) -> tuple[Run, dict[str, int], list[Accessed], dict[str, object]]:
    node, meter, told, statistics = Node(CONFIG), EnergyMeter(CONFIG), [], Collector()
    marks = np.zeros((EMCS, 256), bool)
    rng = np.random.default_rng(SEED)
    for emc, count in enumerate(MARKED):
        marks[emc, rng.choice(256, count, replace=False)] = True
    for name in ("MR", "MW"):
        node.set_flag(name, marks.ravel())
    meter.attach(node.bus)
    node.bus.subscribe(told.append, Accessed)
    statistics.attach(node.bus)
    found = node.run(assemble(f"HALT\nstream tigc\n{text}\n"), function=function)
    return found, dict(meter.runs[0].counts), told, dict(statistics.runs[0].values)


@pytest.mark.parametrize("function", [True, False])
@pytest.mark.parametrize("text", BY_HAND)
def test_what_moves_by_hand(text: str, function: bool) -> None:
    given, taken, slots, used, accessed = BY_HAND[text]
    found, energy, told, values = run(text, function=function)
    ledger = found.ledger
    assert (ledger.inbound.used, ledger.outbound.used) == (given, taken)
    assert (ledger.slots, ledger.slots_used) == (slots, used)
    assert energy["port_byte"] == given + taken
    assert energy["sdram_read"] + energy["sdram_write"] == accessed
    loops = text == "TAS_LoopBack"
    assert sum(each.accesses for each in told) == (0 if loops else used)
    assert sum(each.slots for each in told) == (0 if loops else slots)
    assert sum(values[f"tasic{module}.accesses"] for module in range(2)) == (0 if loops else used)
    assert sum(values[f"tasic{module}.slots"] for module in range(2)) == (0 if loops else slots)
    assert values["bytes.to_tasics.used"] == given and values["bytes.to_emcs.used"] == taken
    assert ledger.outbound.moved == taken, "nothing but data goes to PEs"
    over = given if "Over" in text else 0
    assert (ledger.over.used, ledger.over.moved) == (over, over // 2)
    assert energy["network_byte"] == values["bytes.between_tasics.used"] == over


def test_a_machine_full_of_marks_has_no_idle_slot() -> None:
    program = assemble("EMC_MarkRead\nSIGNAL 0\nstream tigc\nWAIT 0\nTAS_MemRdBlock4 0\n")
    ledger = Node(CONFIG).run(program).ledger
    assert ledger.slots == ledger.slots_used == CONFIG.lanes
    assert ledger.inbound.used == ledger.inbound.counted == ledger.outbound.used == ledger.outbound.counted


def test_the_report_has_both(capsys: pytest.CaptureFixture[str]) -> None:
    """In `texture_copy` an EMC of each module writes 32 PEs, then all PEs read, four at a time, by a base."""
    assert main(["run", "texture_copy", "--width", "200", "-v"]) == 0
    text = capsys.readouterr().out
    assert main(["run", "texture_copy", "--json"]) == 0
    ledger = json.loads(capsys.readouterr().out)["ledger"]
    out, into = (ledger["bytes"][way]["used"] for way in ("to_tasics", "to_emcs"))
    assert (ledger["slots"], ledger["slots_used"]) == (3072, 2176)
    assert f"{out:,} bytes" in text and f"{into:,} into PEs" in text and "3,072 slots, 896 " in text
    assert out == ledger["bytes"]["to_tasics"]["counted"] - 896 * 32
