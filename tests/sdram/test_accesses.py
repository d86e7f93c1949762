"""A million accesses from the schedulers through the checker: none breaks a rule."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from pixelflow.config import SdramConfig
from pixelflow.node.sdram import EqualSlots, Greedy, Pattern, Scheduler
from pixelflow.node.sdram_checker import SdramChecker
from pixelflow.node.sdram_commands import Access

THESIS = SdramConfig()
REFRESHED = replace(THESIS, refresh=True)

MIXES = {
    # name: scheduler, bursts, writes, alternate banks, rows
    "4 B reads": (lambda: EqualSlots(THESIS), (4,), (False,), False, 2048),
    "8 B writes": (lambda: EqualSlots(THESIS), (8,), (True,), False, 2048),
    "4 B reads, alternate": (lambda: EqualSlots(THESIS, Pattern.ALTERNATE), (4,), (False,), True, 2048),
    "all kinds": (lambda: EqualSlots(REFRESHED), (1, 2, 4, 8), (False, True), False, 2048),
    "all kinds, alternate": (lambda: EqualSlots(REFRESHED, Pattern.ALTERNATE), (4, 8), (False, True), True, 2048),
    "greedy": (lambda: Greedy(THESIS), (4,), (False,), False, 2048),
    "greedy, all kinds": (lambda: Greedy(THESIS), (1, 2, 4, 8), (False, True), False, 2048),
    "greedy, few rows": (lambda: Greedy(REFRESHED), (4, 8), (False, True), False, 3),
}


def accesses(rng: random.Random, count: int, bursts, writes, alternate: bool, rows: int) -> Iterator[Access]:
    bank = 0
    for _ in range(count):
        bank = 1 - bank if alternate else rng.randrange(2)
        burst = rng.choice(bursts)
        yield Access(bank, rng.randrange(rows), rng.randrange(0, 512, burst), burst, rng.choice(writes))


def check(name: str, count: int) -> None:
    make, *mix = MIXES[name]
    scheduler: Scheduler = make()
    asked: list[Access] = []

    def noted() -> Iterator[Access]:
        for access in accesses(random.Random(name), count, *mix):
            asked.append(access)
            yield access

    carried_out = []

    def commands():
        for command in scheduler.schedule(noted()):
            if command.burst:
                carried_out.append(
                    Access(command.bank, command.row, command.column, command.burst, command.kind == "WR")
                )
            yield command

    verdict = SdramChecker(scheduler.config).check(commands())
    assert verdict.legal, f"{name}: {verdict}"
    assert carried_out == asked


@pytest.mark.parametrize("name", MIXES)
def test_schedules_are_legal(name: str) -> None:
    check(name, 20_000 // len(MIXES))


@pytest.mark.slow
@pytest.mark.parametrize("name", MIXES)
def test_a_million_accesses_are_legal(name: str) -> None:
    check(name, 1_000_000 // len(MIXES))


@pytest.mark.parametrize("seed", [pytest.param(each, marks=[pytest.mark.slow] * (each > 9)) for each in range(30)])
def test_schedules_are_legal_on_any_machine(seed: int) -> None:
    rng = random.Random(seed)
    times = {f"{name}_cycles": rng.randint(1, 7) for name in ("trcd", "trp", "cl", "trrd", "tras", "trfc")}
    trc = times["tras_cycles"] + times["trp_cycles"] + rng.randint(0, 5)
    config = SdramConfig(
        twr_cycles=rng.randint(0, 4),
        trc_cycles=trc,
        refresh=True,
        refresh_interval_cycles=rng.randint(64, 300),
        **times,
    )
    for scheduler, alternate in (
        (EqualSlots(config), False),
        (EqualSlots(config, Pattern.ALTERNATE), True),
        (Greedy(config), False),
    ):
        mix = accesses(rng, 300, (4, 8), (False, True), alternate, 8)
        verdict = SdramChecker(config).check(scheduler.schedule(mix))
        assert verdict.legal, f"seed {seed}: {scheduler}: {verdict}"
