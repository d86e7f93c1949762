"""Does table 2 come out of the bank states: 11, 6, 15 and 8 clocks, for reads and for writes?"""

from dataclasses import replace
from itertools import islice, product

import pytest

from pixelflow.config import SdramConfig
from pixelflow.node.sdram import EqualSlots, Greedy, Pattern, Slot, access_commands, equal_slot
from pixelflow.node.sdram_checker import SdramChecker
from pixelflow.node.sdram_commands import Access
from pixelflow.simd.errors import MachineFault
from tests.sdram.timeline import commands, text

THESIS = SdramConfig()
TABLE_2 = [(4, Pattern.RANDOM, 11), (4, Pattern.ALTERNATE, 6), (8, Pattern.RANDOM, 15), (8, Pattern.ALTERNATE, 8)]
DIRECTIONS = pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
ROWS = pytest.mark.parametrize(("burst", "pattern", "cycles"), TABLE_2, ids=[f"{b} B {p.value}" for b, p, _ in TABLE_2])


def accesses(count: int, burst: int, pattern: Pattern, *, write: bool) -> list[Access]:
    """The worst that the pattern allows: another row of the same bank, or of the other one."""
    step = 1 if pattern is Pattern.ALTERNATE else 0
    return [Access(index * step % 2, index % 2048, 0, burst, write) for index in range(count)]


@DIRECTIONS
@ROWS
def test_the_slots_of_table_2(burst: int, pattern: Pattern, cycles: int, write: bool) -> None:
    assert equal_slot(THESIS, burst, write=write, pattern=pattern).cycles == cycles
    scheduler = EqualSlots(THESIS, pattern)
    placed = [scheduler.place(access) for access in accesses(100, burst, pattern, write=write)]
    assert [each.start for each in placed] == [index * cycles for index in range(100)]
    delay = 3 if write else 6  # tRCD, and CAS latency for a read
    assert all(
        (each.first_byte, each.last_byte) == (each.start + delay, each.start + delay + burst - 1) for each in placed
    )
    assert SdramChecker(THESIS).check(scheduler.drain() + scheduler.finish()).legal


@DIRECTIONS
@ROWS
def test_no_shorter_slot_exists(burst: int, pattern: Pattern, cycles: int, write: bool) -> None:
    """Wherever the commands are put in slots one clock shorter, the checker finds some order of banks illegal."""
    checker = SdramChecker(THESIS)
    shorter = cycles - 1
    orders = [(0,) * 6, (0, 1) * 3] if pattern is Pattern.RANDOM else [(0, 1) * 3]
    for column, precharge in product(range(25), range(45)):
        slot = Slot(shorter, column, precharge)
        verdicts = []
        for order in orders:
            sequence = []
            for index, bank in enumerate(order):
                sequence += access_commands(slot, index * shorter, bank, 0, 0, burst, write=write)
            verdicts.append(checker.check(sorted(sequence, key=lambda command: command.cycle)).legal)
        assert not all(verdicts), (column, precharge)


TIMELINES = {
    (4, Pattern.RANDOM): "0:ACT0 3:RD0 8:PRE0 11:ACT0 14:RD0 19:PRE0 22:ACT0",
    (4, Pattern.ALTERNATE): "0:ACT0 3:RD0 6:ACT1 8:PRE0 9:RD1 12:ACT0 14:PRE1 15:RD0",
    (8, Pattern.RANDOM): "0:ACT0 3:RD0 12:PRE0 15:ACT0 18:RD0 27:PRE0",
    (8, Pattern.ALTERNATE): "0:ACT0 3:RD0 8:ACT1 11:RD1 12:PRE0 16:ACT0 19:RD0 20:PRE1",
}


@pytest.mark.parametrize(("row", "timeline"), TIMELINES.items(), ids=[f"{b} B {p.value}" for b, p in TIMELINES])
def test_the_commands_of_a_steady_state(row: tuple[int, Pattern], timeline: str) -> None:
    burst, pattern = row
    schedule = EqualSlots(THESIS, pattern).schedule(accesses(5, burst, pattern, write=False))
    assert text(list(islice(schedule, len(timeline.split())))) == timeline


@pytest.mark.parametrize(
    ("timeline", "rule"),
    [
        ("0:ACT0 3:RD0 8:PRE0 10:ACT0", "tRP"),
        ("0:ACT0 3:RD0 5:ACT1 8:PRE0 8:RD1", "one command per cycle"),
        ("0:ACT0 3:RD0*8 12:PRE0 14:ACT0", "tRP"),
        ("0:ACT0 3:RD0*8 7:ACT1 10:RD1*8", "data bus overlap"),
    ],
)
def test_why_one_clock_less_fails(timeline: str, rule: str) -> None:
    assert SdramChecker(THESIS).check(commands(timeline)).rules == (rule,)


# fmt: off
CHANGES = [
    # 4 B random, 4 B alternate, 8 B random, 8 B alternate, reads
    ({"trp_cycles": 4},                         (12, 6, 16, 8)),
    ({"trp_cycles": 5, "trc_cycles": 11},       (13, 7, 17, 9)),
    ({"trcd_cycles": 5},                        (13, 7, 17, 9)),
    ({"cl_cycles": 2},                          (10, 5, 14, 8)),
    ({"tras_cycles": 9, "trc_cycles": 12},      (12, 6, 15, 8)),
    ({"trc_cycles": 20},                        (20, 10, 20, 10)),
    ({"trrd_cycles": 9},                        (11, 9, 15, 9)),
    ({"banks": 4},                              (11, 6, 15, 8)),
]
# fmt: on


@pytest.mark.parametrize(("change", "expected"), CHANGES, ids=str)
def test_slots_follow_the_times(change: dict, expected: tuple[int, ...]) -> None:
    config = replace(THESIS, **change)
    assert tuple(equal_slot(config, b, write=False, pattern=p).cycles for b, p, _ in TABLE_2) == expected


def test_odd_machines_have_slots_too() -> None:
    slow = {f"{name}_cycles": 255 for name in ("trcd", "trp", "cl", "twr", "trrd", "trfc")}
    config = SdramConfig(banks=4, tras_cycles=255, trc_cycles=255, **slow)
    assert equal_slot(config, 8, write=False, pattern=Pattern.RANDOM).cycles == 255 + 255 + 8 - 2 + 255
    fast = {f"{name}_cycles": 1 for name in ("trcd", "trp", "cl", "tras", "trrd", "trfc")}
    config = SdramConfig(trc_cycles=2, twr_cycles=0, **fast)
    for burst, pattern, write in product((1, 2, 4, 8), Pattern, (False, True)):
        assert equal_slot(config, burst, write=write, pattern=pattern).cycles >= max(burst, 3)


def test_alternate_banks_are_a_promise() -> None:
    scheduler = EqualSlots(THESIS, Pattern.ALTERNATE)
    for bank in (0, 1, 0):
        scheduler.place(Access(bank, 17, 0))
    with pytest.raises(MachineFault) as caught:
        scheduler.place(Access(0, 18, 0))
    assert "clock 18: " in str(caught.value)
    assert scheduler.place(Access(0, 18, 0), not_before=12 + 11).start == 12 + 11


@DIRECTIONS
def test_a_greedy_controller_is_faster(write: bool) -> None:
    """It reaches 5.5 clocks where equal slots take 6, which is why table 2 means equal slots."""
    scheduler = Greedy(THESIS)
    placed = [scheduler.place(each) for each in accesses(1001, 4, Pattern.ALTERNATE, write=write)]
    assert placed[1000].start - placed[800].start == 200 * 5.5
    assert SdramChecker(THESIS).check(scheduler.drain() + scheduler.finish()).legal


def test_a_greedy_controller_uses_an_open_row() -> None:
    scheduler = Greedy(THESIS)
    schedule = list(scheduler.schedule([Access(0, 5, column, 4) for column in (0, 4, 8)]))
    assert text(schedule) == "0:ACT0 3:RD0 7:RD0 11:RD0 16:PRE0"


def test_a_greedy_access_starts_with_its_first_command() -> None:
    scheduler = Greedy(THESIS)
    opened, hit, other = (scheduler.place(Access(0, row, 0)) for row in (5, 5, 6))
    assert (opened.start, opened.column, opened.first_byte, opened.last_byte) == (0, 3, 6, 9)
    assert (hit.start, hit.column) == (7, 7)
    assert (other.start, other.column) == (12, 18)
    assert text(scheduler.finish()) == "0:ACT0 3:RD0 7:RD0 12:PRE0 15:ACT0 18:RD0 23:PRE0"


@pytest.mark.parametrize("kind", [EqualSlots, Greedy])
def test_refresh_costs_less_than_a_hundredth(kind: type) -> None:
    def end(config: SdramConfig) -> int:
        scheduler = kind(config)
        sequence = list(scheduler.schedule(accesses(5_000, 4, Pattern.RANDOM, write=False)))
        assert SdramChecker(config).check(sequence).legal
        refreshes = [each.cycle for each in sequence if each.kind == "REF"]
        assert len(refreshes) == (sequence[-1].cycle // 1560 if config.refresh else 0)
        return sequence[-1].cycle

    assert 0.004 < end(replace(THESIS, refresh=True)) / end(THESIS) - 1 < 0.01


@pytest.mark.parametrize("kind", [EqualSlots, Greedy])
def test_an_access_can_come_late(kind: type) -> None:
    scheduler = kind(replace(THESIS, refresh=True))
    starts = [scheduler.place(Access(0, 1, 0), not_before=at).start for at in (0, 100, 10_000, 10_001)]
    assert starts[1] == 100
    assert starts[2] >= 10_000
    assert SdramChecker(THESIS).check(scheduler.drain() + scheduler.finish()).legal


@pytest.mark.parametrize("kind", [EqualSlots, Greedy])
@pytest.mark.parametrize("wrong", [(2, 0, 0), (0, 2048, 0), (0, -1, 0), (0, 0, 510), (0, 0, -4), (0, 0, 0, 3)], ids=str)
def test_an_access_outside_the_memory_is_refused(kind: type, wrong: tuple[int, ...]) -> None:
    with pytest.raises(MachineFault, match="SDRAM: "):
        kind(THESIS).place(Access(*wrong))
