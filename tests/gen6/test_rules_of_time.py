"""Does the machine keep every rule of time, does each value matter, and would a broken rule be noticed?"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from gen6_bridge.time import EuConfig
from tests.gen6.rules_of_time import ONLY_BITS, RULES, Rule
from tests.sabotage.broken_rules import noticed, stands_once


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_cycles_are_those_by_hand(rule: Rule) -> None:
    assert rule.measured() == rule.cycles, rule.why
    assert rule.after().measured() == rule.then != rule.cycles


def test_every_value_of_the_configuration_has_a_rule() -> None:
    changed = {key for rule in RULES for key in rule.changed} - {"source", "steps", "priorities"}
    assert changed == {each.name for each in fields(EuConfig)} - ONLY_BITS


ISSUE, NEEDS = "gen6_bridge/time/schedule.py", "gen6_bridge/time/dependences.py"
SABOTAGES = {
    "flags are ready as other results": (ISSUE, 'known.flag_latency, "flag"', 'known.latency, "flag"'),
    "the accumulator is ready as other results": (
        ISSUE, 'self._config.accumulator_cycles, "accumulator"', 'known.latency, "accumulator"'
    ),
    "registers chosen by an address cause no wait": (ISSUE, "(*known.awaited, *step.reads, *step.writes)",
                                                     "known.awaited"),
    "registers chosen by an address are ready at once": (ISSUE, "(*known.writes, *step.writes)", "known.writes"),
    "a message does not wait for registers of its answer": (NEEDS, "reads | writes | answers", "reads | writes"),
    "a line in the first level is there at once": (ISSUE, "max(start + 1, self._coming", "max(start, self._coming"),
    "every instruction waits for the accumulator": (NEEDS, "if declaration.mnemonic in _IMPLICIT:", "if 1:"),
    "NoDDChk has no effect": (NEEDS, "reads if controls.dependency & 2 else reads", "reads"),
    "NoDDClr is taken for NoDDChk": (NEEDS, "controls.dependency & 2", "controls.dependency & 1"),
    "lines leave caches first in, first out": (ISSUE, "            held.move_to_end(line)\n", ""),
    "the line that was used last leaves": (ISSUE, "held.popitem(last=False)", "held.popitem(last=True)"),
    "a set holds a line less": (ISSUE, "if len(held) > self._ways:", "if len(held) >= self._ways:"),
    "the second result of math is ready at once": (NEEDS, "_TWO_RESULTS = (8, 11)", "_TWO_RESULTS = ()"),
    "sincos has one result": (NEEDS, "_TWO_RESULTS = (8, 11)", "_TWO_RESULTS = (11,)"),
    "divisions of integers keep the pace of other functions": (NEEDS, "_DIVISIONS = 10, (11, 12, 13)",
                                                               "_DIVISIONS = 10, ()"),
    "powers of sixteen channels are as fast as of eight": (NEEDS, "config.power_issue * passes", "config.power_issue"),
    "divisions of sixteen channels are too": (NEEDS, "config.division_issue * passes", "config.division_issue"),
    "powers keep the pace of other functions": (NEEDS, "config.power_issue", "config.issue_cycles"),
    "a plane waits for one register of its pairs": (NEEDS, "(4 if size == 16 else 2)", "1"),
    "a wide plane waits for one pair": (NEEDS, "(4 if size == 16 else 2)", "2"),
    "the port of a cache serves all at once": (ISSUE, "self._ports[row] = start + 1", "pass"),
    "a send does not wait for its payload": (
        NEEDS, "{FLAG} & reads | {MRF + first + each for each in range(message.length)}", "{FLAG} & reads"
    ),
    "a send waits for the first register of its payload": (NEEDS, "for each in range(message.length)}",
                                                           "for each in range(1)}"),
    "a send does not wait for its flag": (NEEDS, "{FLAG} & reads | {MRF", "{MRF"),
    "an answer is one register": (NEEDS, "for each in range(message.response)}", "for each in range(1)}"),
    "a branch costs 1": (NEEDS, '"front", config.branch_cycles', '"front", 1'),
    "a send costs what a branch does": (NEEDS, "config.send_cycles", "config.branch_cycles"),
    "the front end is not held": (ISSUE, "            slot.after = end\n", "            slot.after = cycle + 1\n"),
    "pipe and math unit are one": (NEEDS, 'return "math", config.issue_cycles', 'return "fpu", config.issue_cycles'),
    "targets of messages are never held": (ISSUE, "= start + known.target_busy", "= start"),
    "a selection sets the flag": (NEEDS, 'and declaration.mnemonic != "sel"', ""),
    "implied writes of the accumulator are not seen": (NEEDS, "        writes.add(ACCUMULATOR)", "        pass"),
    "implied reads of the accumulator are not seen": (NEEDS, "        reads.add(ACCUMULATOR)", "        pass"),
    "predicates are not waited for": (NEEDS, "    if controls.predicate:\n        reads.add(FLAG)\n", ""),
    "a source is one register": (NEEDS, "for each in range(size)]", "for each in range(1)]"),
    "a destination is one register": (NEEDS, "last = base + (size - 1)", "last = base + 0"),
    "three sources are as fast as two": (NEEDS, "config.three_source_cycles if", "config.dependent_cycles if"),
    "banks of three sources never conflict": (NEEDS, "(declaration.three or config.banks)", "config.banks"),
    "banks of two sources always conflict": (NEEDS, "(declaration.three or config.banks)", "True"),
    "banks of functions never conflict": (NEEDS, 'if banked and part != "front":', 'if banked and part == "fpu":'),
    "the pipe is held for one pass": (NEEDS, '"fpu", config.issue_cycles * passes', '"fpu", config.issue_cycles'),
    "atomic threads do not go first": (ISSUE, "if last is not None and unit.atomic:", "if False:"),
    "a switch is not forced": (ISSUE, "not known.switches, known.atomic", "True, known.atomic"),
    "a thread does not continue": (ISSUE, "last in ready and (stays or len(ready) == 1)",
                                   "last in ready and len(ready) == 1"),
    "priorities are turned round": (ISSUE, "(-slot.priority, slot.since, slot.number)",
                                    "(slot.priority, slot.since, slot.number)"),
    "of equals the first thread goes first": (ISSUE, "(-slot.priority, slot.since, slot.number)",
                                              "(-slot.priority, slot.number)"),
    "the next thread begins when all have ended": (ISSUE, "while unit.queue and len(unit.slots) <",
                                                   "while unit.queue and not unit.slots and len(unit.slots) <"),
    "a line is two instructions": (ISSUE, "LINE_INSTRUCTIONS = 4", "LINE_INSTRUCTIONS = 2"),
    "each instruction is fetched": (ISSUE, "self._caches is None or line == slot.line", "self._caches is None"),
    "a line that is on its way is there": (ISSUE, "max(start + 1, self._coming.get((row, line), 0))", "start + 1"),
    "the second level is as slow as memory": (ISSUE, "l1_miss_cycles, self._coming", "l2_miss_cycles, self._coming"),
    "a line on its way to the second level is there": (ISSUE, "l1_miss_cycles, self._coming[-1, line])",
                                                       "l1_miss_cycles, 0)"),
    "units take turns whatever the time": (ISSUE, "(each.next, each.number)", "(each.now, each.number)"),
    "a thread that was held has waited less": (ISSUE, "(-slot.priority, slot.since, slot.number)",
                                               "(-slot.priority, slot.after, slot.number)"),
    "the unit waits for the last message of a thread": (ISSUE, "            self._dispatch(unit, slot.after)",
                                                        "            unit.now = slot.after; self._dispatch(unit, end)"),
}  # fmt: skip
"""Broken rules: file, text, and what it becomes."""


@pytest.mark.parametrize("change", SABOTAGES.values(), ids=SABOTAGES)
def test_the_text_of_a_sabotage_is_there_once(change: tuple[str, str, str]) -> None:
    assert stands_once(*change)


@pytest.mark.slow
@pytest.mark.parametrize("change", SABOTAGES.values(), ids=SABOTAGES)
def test_a_broken_rule_is_noticed_by_the_table(change: tuple[str, str, str], tmp_path: Path) -> None:
    assert noticed("tests.gen6.rules_of_time", *change, tmp_path)
