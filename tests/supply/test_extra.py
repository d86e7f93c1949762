"""Does each ability that a machine lacks cost its cycles, for the instructions that use it and for no other?"""

from __future__ import annotations

from dataclasses import fields

import pytest

from microcode import assemble
from pixelflow.config import ExtraConfig, NodeConfig, load_config
from pixelflow.node import Node
from pixelflow.node.run.supply import EXTRA_RULES

PLAIN = "LD R, [0]\nLD R, S\nADD R, #1\nCMP S, #1\nSHL R\nST [0], R\nSTA [0], R\n"
USES = {
    "memory_operand": ("ADD R, [0]", "CMP S, [0]", "AND R, [3]"),
    "memory_shift": ("SHL R, [0]", "ROR R, [1]"),
    "gated_write": ("ADD.E R, #1", "LD.E R, [0]"),
    "other_result": ("ADD S, #1", "XOR M, R", "SHR S"),
    "store_immediate": ("STI [0], #1",),
    "store_enable": ("STE [0]",),
    "pair_shift": ("SHLP", "SHRP"),
    "multiply_step": ("MSTEP",),
    "enable": ("EC", "EMC_SetEnab", "EPUSH\nEPOP"),
    "start": (),
    "lee_start": ("EMC_TreeIntoMem_Li [0], 2, 0, 0, 5", "EMC_TreeLTZero_Li 0, 2, 1, 0, -7"),
    "copy_start": ("EMC_PixCopy [0], [1], 2, 4",),
}
"""For each value, instructions that it is added to, and to which none of the others is."""


def machine(**extra: int) -> NodeConfig:
    return load_config(None, [f"extra.{name}={cycles}" for name, cycles in extra.items()], "tiny")


def cycles(source: str, config: NodeConfig) -> int:
    return Node(config, "rows").run(assemble(source), function=False).cycles


def test_every_value_has_a_rule_and_every_rule_a_value() -> None:
    names = [each.name for each in fields(ExtraConfig)]
    assert [*(rule.name for rule in EXTRA_RULES), "store_then_read"] == names == [*USES, "store_then_read"]  # of two


@pytest.mark.parametrize("name", USES)
def test_plain_instructions_cost_the_same(name: str) -> None:
    assert cycles(PLAIN, machine(**{name: 3})) == cycles(PLAIN, machine())


@pytest.mark.parametrize(("name", "use"), [(name, use) for name, uses in USES.items() for use in uses])
def test_each_use_costs_what_the_value_says_and_no_other_value(name: str, use: str) -> None:
    plain, times = cycles(use, machine()), len(use.split("\n"))
    for other in USES:
        assert cycles(use, machine(**{other: 3})) - plain == (3 * times if other == name else 0), other


def test_a_start_up_can_be_free_and_can_cost_more() -> None:
    source = "CALL step, [0]\nCALL step, [1]\nroutine step(d)\nLD R, d\nend\n"
    assert [cycles(source, machine(start=extra)) for extra in (-1, 0, 2)] == [2, 4, 8]


def test_abilities_add_up() -> None:
    """A gated sum from memory into S: one cycle, and 1 + 3 + 4."""
    extra = {"memory_operand": 1, "gated_write": 3, "other_result": 4}
    assert cycles("ADD.E S, [0]", machine(**extra)) == 9


def test_bits_do_not_depend_on_it() -> None:
    source = "range x[2]\ndata x: lane\n" + "\n".join(use for uses in USES.values() for use in uses)
    digests = set()
    for name in (None, *USES):
        node, program = Node(machine(**({name: 2} if name else {})), "rows"), assemble(source)
        node.load(program)
        node.run(program)
        digests.add(node.digest())
    assert len(digests) == 1
