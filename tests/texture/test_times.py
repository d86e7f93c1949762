"""Do transfers take the cycles that tables 2 and 6 print, and does every SDRAM command of a run keep the rules?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import microcode
from pixelflow.config import THESIS, TINY, NodeConfig, SdramConfig, TasicConfig
from pixelflow.isa.tas import Addressing
from pixelflow.node import Node
from pixelflow.node.sdram import Pattern, SdramUse, settle_cycles
from pixelflow.node.transfer import Direction, Transfer
from pixelflow.simd.errors import InternalError, MachineFault
from tests.texture.bench import BANK, EMC, IN_EMC, LANES, boxes_of, prepare, run, sdram

TABLE_2 = {(4, 0): 11, (4, 1): 6, (8, 0): 15, (8, 1): 8}
"""Cycles of an access by its bytes and whether banks alternate (thesis table 2)."""


@pytest.mark.parametrize(("size", "alternate"), TABLE_2)
@pytest.mark.parametrize("overhead", [0, 1])
def test_table_2_reads(size: int, alternate: int, overhead: int) -> None:
    config = replace(sdram(check_commands=True), tasic=TasicConfig(read_overhead_cycles=overhead))
    node = Node(config)
    marked = IN_EMC < 16
    prepare(node, read=marked, words=[BANK * (EMC % 2) + 512 * (LANES % 512)])
    found = run(node, f"TAS_SetBanks {alternate}\nTAS_MemRdBlock{size} 1")
    rounds = 16 * 4 // size
    ports = rounds * 32 * size // 4
    assert found.tasic_cycles == (rounds * 8 * (TABLE_2[size, alternate] + overhead) + ports,) * 4


@pytest.mark.parametrize(("size", "alternate"), TABLE_2)
def test_table_2_writes(size: int, alternate: int) -> None:
    node = Node(sdram(check_commands=True))
    rounds = 15
    marked = 1 + rounds * size // 4 > IN_EMC
    prepare(node, write=marked, words=[BANK * (EMC % 2) + 16384 * EMC])
    crossbar = "\n".join(f"TAS_SetCrossbar {bit + 3}, {bit}" for bit in range(4))
    found = run(node, f"{crossbar}\nTAS_SetStep 1\nTAS_SetBanks {alternate}\nTAS_MemWrBase{size} {rounds}")
    assert found.tasic_cycles == (rounds * 8 * TABLE_2[size, alternate],) * 4


TABLE_6 = {16: 9_728, 8: 5_632, 4: 3_584, 2: 2_560, 1: 2_048}


@pytest.mark.parametrize("sends", TABLE_6)
@pytest.mark.parametrize("check", [False, True])
def test_table_6(sends: int, check: bool) -> None:
    """Sixteen blocks of every EMC get 32 bytes each, sent to 1 to 16 of the block's PEs."""
    node = Node(sdram(check_commands=check))
    prepare(node, read=IN_EMC % (16 // sends) == 0, words=[4 * (LANES // 16)])
    assert run(node, f"TAS_MemRdRepeat4 {sends}, 1").tasic_cycles == (TABLE_6[sends],) * 4


def test_bandwidths() -> None:
    """Bytes a cycle of the whole node, measured: 32 where ports alone count (3.2 GB/s, thesis 2.2.4), 26.9 with 16
    sends of every block, 8 with one, and 11.6 where random accesses of 4 bytes alone count."""
    crossbar = "\n".join(f"TAS_SetCrossbar {bit + 2}, {bit}" for bit in range(8))
    for text, expected in (
        ("TAS_LoopBack", 32),
        ("TAS_MemRdRepeat4 16, 1", 26.9),
        ("TAS_MemRdBlock4 1", 8192 * 32 / (256 * 128)),
        (f"{crossbar}\nTAS_SetStep 1\nTAS_MemWrBlock4 2", 11.6),
    ):
        node = Node(THESIS)
        prepare(node, read=LANES >= 0, write=LANES >= 0, words=[4 * (LANES // 16)])
        found = run(node, text)
        assert round(32 * 8192 / max(found.tasic_cycles), 1) == expected


# --- the command checker over real transfers -------------------------------------------------------------------------

MIX = """
TAS_SetCrossbar 3, 0
TAS_SetCrossbar 4, 1
TAS_SetStep 1
TAS_MemRdBlock4 0
TAS_MemRdBlock4 1
TAS_MemWrHeld4 1
TAS_MemWrHalf4 0
TAS_MemWrHalf4 1
TAS_MemWrOver4 3, 1
TAS_MemWrBase4 3
TAS_MemRdBlock8 1
TAS_MemLoad 5, 40, 4096
TAS_MemRdRepeat4 8, 1
TAS_MemWrBlock4 2
TAS_MemRdBlock4 3
TAS_LoopBack
TAS_MemWrBlock4 3
"""


def mixed(config: NodeConfig) -> tuple[Node, int, tuple[int, ...]]:
    """Run many kinds of transfers at random addresses; return the node, its SDRAM commands and its busy cycles."""
    node = Node(config)
    random = np.random.default_rng(3)
    marked = random.random(node.lanes) < 0.03
    prepare(node, read=marked, write=marked, words=random.integers(0, 1 << 18, (8, node.lanes)) * 8)
    both = boxes_of(node, MIX)
    seen = sum(tasic.sdrams.verify() for tasic in both.boxes.tasics) if both.boxes.tasics[0].sdrams else 0
    return node, seen, tuple(tasic.state.busy_cycles for tasic in both.boxes.tasics)


def test_no_command_of_real_transfers_breaks_a_rule() -> None:
    plain, _, cycles = mixed(THESIS)
    checked, seen, checked_cycles = mixed(sdram(check_commands=True))
    assert checked_cycles == cycles
    assert checked.digest() == plain.digest()
    assert seen > 50_000


@pytest.mark.parametrize("refresh", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_greedy_controller_changes_the_times_and_nothing_else(refresh: bool) -> None:
    plain, _, cycles = mixed(THESIS)
    greedy, seen, greedy_cycles = mixed(sdram(check_commands=True, equal_slots=False, refresh=refresh))
    assert all(fast < slow for fast, slow in zip(greedy_cycles, cycles, strict=True))
    assert greedy.digest() == plain.digest()
    assert [m.digest() for m in greedy.texture_memory] == [m.digest() for m in plain.texture_memory]
    assert seen > 20_000


def test_greedy_times_depend_on_addresses() -> None:
    """One open row, then a row of the same bank for each access: 4 bytes a burst against a whole row cycle."""
    times = {}
    for name, addresses in (
        ("one row", 0 * EMC),
        ("one bank", 512 * LANES % BANK),
        ("banks", BANK * (EMC % 2) + 512 * EMC),
    ):
        node = Node(sdram(equal_slots=False))
        prepare(node, read=IN_EMC < 16, words=[addresses])
        times[name] = max(run(node, "TAS_MemRdBlock4 1").tasic_cycles)
    assert times["one row"] < times["banks"] < times["one bank"] < 16 * (8 * 12 + 32)


def test_refresh_takes_time() -> None:
    """A row every 1,560 cycles: about 0.7 % of the time that the SDRAMs are busy."""
    times = {}
    for refresh in (False, True):
        node = Node(sdram(refresh=refresh, check_commands=True))
        prepare(node, read=LANES >= 0, words=[4 * IN_EMC])
        times[refresh] = max(run(node, "TAS_MemRdBlock4 1").tasic_cycles)
    assert times[False] == 256 * (8 * 12 + 32)
    assert 0 < times[True] - times[False] < 0.02 * times[False]


@pytest.mark.parametrize(("words", "commands"), [((0,), 3), ((0, 0), 4), ((0, 512), 6)])
def test_the_last_row_of_each_sdram_is_closed(words: tuple[int, ...], commands: int) -> None:
    """ACT, RD, PRE; a second RD where the row is the same, all three again where it is another."""
    use = SdramUse("tasic[0]", SdramConfig(check_commands=True, equal_slots=False))
    use.round(0, tuple((word,) for word in words), 4, write=False, pattern=Pattern.RANDOM, overhead=0)
    assert use.verify() == 8 * commands


def test_a_violation_is_an_internal_error() -> None:
    """The scheduler is asked for too little; the checker, which shares no code with it, must see that."""
    config = SdramConfig(check_commands=True)
    use = SdramUse("tasic[0]", config)
    where = tuple((512 * index,) for index in range(8))
    use.round(0, where, 4, write=False, pattern=Pattern.RANDOM, overhead=0)
    *settled, late = use.parts[0].scheduler.finish()
    use.parts[0].show([*settled, late._replace(cycle=late.cycle - 1)])
    with pytest.raises(InternalError, match=r"tasic\[0\], SDRAMs \(0, 1, 2, 3, 4, 5, 6, 7\): illegal in cycle"):
        use.verify()


def test_banks_settle_between_patterns() -> None:
    config = SdramConfig()
    for size, write in ((4, False), (4, True), (8, False), (8, True)):
        for pattern in Pattern:
            assert settle_cycles(config, size, write=write, pattern=pattern) >= TABLE_2[size, 0]


def test_a_broken_promise_is_a_fault() -> None:
    node = Node(THESIS)
    prepare(node, read=IN_EMC < 2, words=[0 * LANES])
    with pytest.raises(
        MachineFault, match="alternate banks were promised, but module 0, EMC 1 accesses bank 0 in round 0"
    ):
        run(node, "TAS_SetBanks 1\nTAS_MemRdBlock4 1")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_of_ticks_does_not_matter(seed: int) -> None:
    accounts = []
    for shuffle in (None, seed):
        node = Node(THESIS)
        random = np.random.default_rng(3)
        marked = random.random(node.lanes) < 0.03
        prepare(node, read=marked, write=marked, words=random.integers(0, 1 << 18, (8, node.lanes)) * 8)
        found = run(node, MIX, shuffle_seed=shuffle)
        accounts.append((found.tasic_cycles, found.beside.cycles, found.gni_cycles, node.digest()))
    assert accounts[0] == accounts[1]


def test_refresh_without_data_takes_the_same_time() -> None:
    """Equal slots do not ask which bank is meant, so that a timing-only run needs no addresses."""
    source = microcode.assemble(
        "EMC_MarkRead\nSIGNAL 0\nstream tigc\nWAIT 0\nTAS_MemRdBlock4 1\nTAS_MemRdRepeat4 4, 1\n"
    )
    config = replace(TINY, sdram=SdramConfig(refresh=True))
    whole, timing = Node(config).run(source), Node(config).run(source, function=False)
    assert timing.tasic_cycles == whole.tasic_cycles > Node(TINY).run(source).tasic_cycles


@pytest.mark.parametrize("group", [0, 1, 2, 3, 4])
def test_what_an_emc_sends_is_the_sum_of_its_rounds(group: int) -> None:
    """Of a write by base addresses, 4 bytes of a base with the first access of each group; the data are 32 a PE."""
    write = Transfer(Direction.WRITE, size=4, sends=2, addressing=Addressing.BASE, group=group)
    for rounds in range(10):
        bases = -(-rounds // group) if group else rounds
        assert write.inbound_total(rounds) == 32 * 2 * rounds + 4 * bases
