"""Is every rule tight: the earliest legal clock accepted, the one before refused, by the checker and by the states?"""

import random

import pytest

from pixelflow.config import SdramConfig
from pixelflow.node import sdram_distances
from pixelflow.node.sdram import BURSTS, Sdram
from pixelflow.node.sdram_checker import SdramChecker
from pixelflow.node.sdram_commands import CommandKind, SdramCommand
from pixelflow.simd.errors import MachineFault
from tests.sdram.timeline import commands

THESIS = SdramConfig()

# fmt: off
TIGHT = [
    # before                                   command   earliest  what one clock less breaks
    ("0:ACT0",                                 "RD0",     3, "tRCD"),
    ("0:ACT0",                                 "WR0",     3, "tRCD"),
    ("0:ACT0 8:PRE0",                          "ACT0",   11, "tRP"),
    ("0:ACT0 8:PRE0",                          "REF",    11, "tRP"),
    ("0:ACT0 2:ACT1 6:PRE0 9:PRE1",            "REF",    12, "tRP"),
    ("0:ACT0",                                 "PRE0",    6, "tRAS"),
    ("0:ACT0 6:PRE0",                          "ACT0",   10, "tRC"),
    ("0:ACT0",                                 "ACT1",    2, "tRRD"),
    ("0:REF",                                  "ACT1",   10, "tRFC"),
    ("0:REF",                                  "REF",    10, "tRFC"),
    *((f"0:ACT0 10:RD0*{n}",                   "PRE0",   10 + 3 + n - 2, "read to precharge") for n in BURSTS),
    *((f"0:ACT0 10:WR0*{n}",                   "PRE0",   10 + n - 1 + 2, "write to precharge") for n in BURSTS),
    ("0:ACT0 10:RD0*4 14:RD0*1",               "PRE0",   16, "read to precharge"),
    ("0:ACT0 2:ACT1 9:RD0*8",                  "RD1",    17, "data bus overlap"),
    ("0:ACT0 2:ACT1 9:RD0*1 10:RD1*4",         "RD0*2",  14, "data bus overlap"),
    ("0:ACT0 2:ACT1 9:WR0*8",                  "WR1",    17, "data bus overlap"),
    ("0:ACT0 2:ACT1 9:WR0*8",                  "RD1",    14, "data bus overlap"),
    ("0:ACT0 2:ACT1 9:RD0*4",                  "WR1",    17, "data bus turnaround"),
    ("0:ACT0 2:ACT1 9:RD0*4 10:WR1*1",         "WR1",    17, "data bus turnaround"),
]
# fmt: on


def at(cycle: int, step: str) -> SdramCommand:
    return commands(f"{cycle}:{step}")[0]


@pytest.mark.parametrize(("before", "step", "earliest", "rule"), TIGHT, ids=[f"{r[0]} {r[1]}" for r in TIGHT])
def test_a_rule_is_tight(before: str, step: str, earliest: int, rule: str) -> None:
    checker, sequence = SdramChecker(THESIS), commands(before)
    assert checker.check([*sequence, at(earliest, step)]).legal
    early = checker.check([*sequence, at(earliest - 1, step)])
    assert (early.first_bad_cycle, early.rules, early.culprits) == (earliest - 1, (rule,), (at(earliest - 1, step),))
    probe = at(earliest, step)
    sdram = Sdram(THESIS)
    for command in sequence:
        sdram.issue(command)
    assert sdram.earliest(probe.kind, probe.bank, probe.burst, not_before=earliest - 1) == earliest
    with pytest.raises(MachineFault, match=f"in clock {earliest - 1}; the earliest is {earliest}"):
        sdram.issue(at(earliest - 1, step))
    sdram.issue(probe)


def test_one_command_a_clock() -> None:
    assert SdramChecker(THESIS).check(commands("0:ACT0 6:PRE0 7:PRE1")).legal
    twice = SdramChecker(THESIS).check(commands("0:ACT0 6:PRE0 6:PRE1"))
    assert (twice.first_bad_cycle, twice.rules) == (6, ("one command per cycle",))
    sdram = Sdram(THESIS)
    for command in commands("0:ACT0 6:PRE0"):
        sdram.issue(command)
    assert sdram.earliest(CommandKind.PRECHARGE, 1, not_before=6) == 7


@pytest.mark.parametrize("sequence", ["0:ACT0 20:ACT0", "0:RD0", "0:WR1", "0:ACT0.5 9:RD0.6", "0:ACT1 20:REF"])
def test_no_waiting_helps_against_a_wrong_state(sequence: str) -> None:
    sdram = Sdram(THESIS)
    *before, last = commands(sequence)
    for command in before:
        sdram.issue(command)
    with pytest.raises(MachineFault, match="SDRAM: "):
        sdram.issue(last)
    if sdram.open_row[last.bank] is None or last.kind in (CommandKind.ACTIVATE, CommandKind.REFRESH):
        with pytest.raises(MachineFault, match=f"SDRAM: {last.kind} "):
            sdram.earliest(last.kind, last.bank, last.burst)
    assert not SdramChecker(THESIS).check([*before, last]).legal


def machine(rng: random.Random) -> SdramConfig:
    """Times that are possible together, most of them small, so that several rules bind at once."""
    times = {f"{name}_cycles": rng.randint(1, 6) for name in ("trcd", "trp", "cl", "trrd")}
    tras, twr, trfc = rng.randint(1, 9), rng.randint(0, 4), rng.randint(1, 12)
    trc = tras + times["trp_cycles"] + rng.randint(0, 4)
    banks = rng.choice((2, 4))
    return SdramConfig(banks=banks, tras_cycles=tras, twr_cycles=twr, trfc_cycles=trfc, trc_cycles=trc, **times)


def next_command(rng: random.Random, config: SdramConfig, sdram: Sdram, last: int) -> SdramCommand:
    """A random command that the states allow, as early as they allow it."""
    bank = rng.randrange(config.banks)
    row = sdram.open_row[bank]
    if row is None:
        all_closed = all(each is None for each in sdram.open_row)
        kind = CommandKind.REFRESH if all_closed and rng.random() < 0.3 else CommandKind.ACTIVATE
        row = rng.randrange(config.rows)
    else:
        kind = rng.choice((CommandKind.READ, CommandKind.WRITE, CommandKind.PRECHARGE))
    burst = rng.choice(BURSTS) if kind in (CommandKind.READ, CommandKind.WRITE) else 0
    cycle = sdram.earliest(kind, bank, burst, not_before=last + 1)
    return SdramCommand(cycle, kind, bank, row, 0, burst)


@pytest.mark.parametrize("seed", range(150))
def test_states_and_checker_agree_on_any_machine(seed: int) -> None:
    """A random walk as early as the states allow is legal, and no command of it could come one clock earlier."""
    rng = random.Random(seed)
    config = machine(rng)
    checker, sdram = SdramChecker(config), Sdram(config)
    walk: list[SdramCommand] = []
    for _ in range(40):
        last = walk[-1].cycle if walk else -1
        command = next_command(rng, config, sdram, last)
        if command.cycle > last + 1:
            early = checker.check([*walk, command._replace(cycle=command.cycle - 1)])
            assert early.first_bad_cycle == command.cycle - 1, f"seed {seed}: {walk} {command}"
        sdram.issue(command)
        walk.append(command)
    verdict = checker.check(walk)
    assert verdict.legal, f"seed {seed}: {verdict}"


def test_distances_are_those_that_a_device_takes() -> None:
    """By hand from the defaults, and from others: tRC of 12 is later than tRAS of 7 and tRP of 4."""
    assert sdram_distances(SdramConfig()) == {"tRCD": 3, "tRRD": 2, "tRAS": 6, "tRC": 10, "tRP": 3}
    other = SdramConfig(trcd_cycles=4, trp_cycles=4, tras_cycles=7, trc_cycles=12, trrd_cycles=5)
    assert sdram_distances(other) == {"tRCD": 4, "tRRD": 5, "tRAS": 7, "tRC": 12, "tRP": 4}
