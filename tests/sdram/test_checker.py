"""The checker's verdicts: legal or not, the first bad cycle, and every rule broken in it."""

import ast
import csv
from pathlib import Path

import pytest

from pixelflow.config import SdramConfig
from pixelflow.node import sdram_checker as checker
from pixelflow.node.sdram_checker import SdramChecker, Verdict
from pixelflow.node.sdram_commands import CommandKind, SdramCommand
from pixelflow.simd.errors import InputError
from pixelflow.simd.units import Cycle
from tests.sdram.timeline import commands

THESIS = SdramConfig()

# fmt: off
VERDICTS = [
    # commands                                             first bad cycle, rules broken in it
    ("",                                                    None, ""),
    ("0:ACT0 3:RD0 8:PRE0 11:REF 21:ACT1 24:WR1 29:PRE1",   None, ""),
    ("0:ACT0 2:ACT1 5:RD0 9:RD1 10:PRE0 14:PRE1",           None, ""),
    ("0:PRE0 1:PRE1 4:REF 14:REF",                          None, ""),
    ("0:ACT0.2047 3:RD0.2047@508 8:PRE0",                   None, ""),
    ("0:RD0",                                                  0, "RD or WR to closed bank"),
    ("0:ACT0 6:PRE0 9:WR0",                                    9, "RD or WR to closed bank"),
    ("0:ACT0 12:ACT0",                                        12, "ACT to open bank"),
    ("0:ACT0 9:ACT0",                                          9, "ACT to open bank|tRC"),
    ("0:ACT0.7 3:RD0.8",                                       3, "wrong row"),
    ("0:ACT0.7 2:RD0.8",                                       2, "tRCD|wrong row"),
    ("0:ACT0 1:REF",                                           1, "REF with open bank"),
    ("0:ACT0 6:PRE0 7:REF",                                    7, "tRP"),
    ("0:REF 5:REF",                                            5, "tRFC"),
    ("0:REF 5:PRE0 7:ACT0",                                    7, "tRFC|tRP"),
    ("0:ACT0 3:RD0*16",                                        3, "burst length"),
    ("0:ACT0 3:RD0*3",                                         3, "burst length"),
    ("0:ACT0 3:RD0@510",                                       3, "column range"),
    ("0:ACT0 3:WR0@512*1",                                     3, "column range"),
    ("0:ACT0.2048",                                            0, "row range"),
    ("0:ACT2",                                                 0, "bank range"),
    ("0:ACT0 3:RD0 9:WR0",                                     9, "data bus overlap|data bus turnaround"),
    ("0:ACT0 2:ACT1 9:RD0 10:WR1*2",                         None, ""),
    ("0:ACT0 2:ACT1 9:RD0 11:WR1*2",                          11, "data bus overlap"),
    ("0:ACT0 2:ACT1 9:RD0 10:WR1*4",                          10, "data bus overlap|data bus turnaround"),
    ("0:ACT0 0:ACT1",                                          0, "one command per cycle|tRRD"),
    ("0:ACT0 3:RD0 5:PRE0 5:ACT1 5:REF",                       5, "REF with open bank|one command per cycle|read to "
                                                                  "precharge|tRAS|tRP"),
    ("0:ACT0 1:RD0 2:RD0 3:PRE0",                              1, "tRCD"),
]
# fmt: on


@pytest.mark.parametrize(("text", "first_bad_cycle", "rules"), VERDICTS, ids=[row[0] or "nothing" for row in VERDICTS])
def test_a_verdict(text: str, first_bad_cycle: int | None, rules: str) -> None:
    verdict = SdramChecker(THESIS).check(commands(text))
    assert (verdict.first_bad_cycle, "|".join(verdict.rules)) == (first_bad_cycle, rules)
    assert verdict.legal == (first_bad_cycle is None)


def test_a_verdict_in_words() -> None:
    checker = SdramChecker(THESIS)
    assert str(checker.check(commands("0:ACT0 3:RD0"))) == "legal: 2 commands"
    assert checker.check(commands("0:ACT0 2:RD0 99:RD1")).rules == ("tRCD",)


def test_a_checker_starts_anew() -> None:
    checker = SdramChecker(THESIS)
    assert not checker.check(commands("5:ACT0 6:RD0")).legal
    assert checker.check(commands("0:ACT0")) == Verdict(1)


def test_time_does_not_go_back() -> None:
    with pytest.raises(InputError, match="out of order: cycle 3 after cycle 5"):
        SdramChecker(THESIS).check(commands("5:ACT0 3:ACT1"))


def test_the_checker_shares_no_code_with_the_scheduler() -> None:
    tree = ast.parse(Path(checker.__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in imported if name.startswith("pixelflow.node")} == {"pixelflow.node.sdram_commands"}


def test_the_reference_verdicts(shared: Path) -> None:
    """All of the given traces: legal or not, first bad cycle, rules broken at it."""
    folder = shared / "data" / "sdram"
    traces: dict[int, list[SdramCommand]] = {}
    with (folder / "dev_traces.csv").open(encoding="utf-8", newline="") as stream:
        for trace, cycle, kind, *rest in list(csv.reader(stream))[1:]:
            command = SdramCommand(Cycle(int(cycle)), CommandKind(kind), *map(int, rest))
            traces.setdefault(int(trace), []).append(command)
    with (folder / "dev_verdicts.csv").open(encoding="utf-8", newline="") as stream:
        expected = {int(row["trace"]): row for row in csv.DictReader(stream)}
    assert set(traces) == set(expected)
    for number, row in expected.items():
        verdict = SdramChecker(THESIS).check(traces[number])
        found = ("legal" if verdict.legal else "illegal", str(verdict.first_bad_cycle or ""), "|".join(verdict.rules))
        assert found == (row["verdict"], row["first_bad_cycle"], row["rules_at_that_cycle"]), f"trace {number}"
