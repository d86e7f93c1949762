"""Is each rule broken by its case, and by no other one?"""

from __future__ import annotations

import pytest

from gen6_bridge.isa.legality import RULES, broken_rules
from gen6_bridge.program import assemble_eu

CASES = (
    ("mov (8) g20<1>F g10<8,8,1>F", ()),
    ("add (16) g20<1>F g10<8,8,1>F g12<8,8,1>F", ()),
    ("mov (16) g20<1>F g10<16,16,1>UW", ()),  # packed words to packed floats
    ("mov (8) g20<1>UB g10<8,8,1>UB", ()),  # bytes as they are
    ("mov (8) g20.4<1>F g10<0,1,0>F", ()),  # half of the elements in each register, of a scalar
    ("mov (1) g20.1<1>W g10.3<0,1,0>D", ()),  # one channel goes anywhere
    ("mov (4) g20<1>F g10<8,8,1>F", ("S1",)),
    ("mov (8) g20<1>F g10<16,8,1>F", ("S2",)),
    ("mov (8) g20<1>F g10<1,1,1>F", ("S3",)),
    ("mov (1) g20<1>F g10<1,1,0>F", ("S4",)),
    ("mov (8) g20<1>F g10<0,4,0>F", ("S5",)),
    ("mov (8) g20<1>F g10.1<8,8,1>F", ("S6",)),
    ("mov (16) g20<1>W g10<32,8,1>W", ("S7",)),  # its second row begins 64 bytes on
    ("mov (8) g20<0>F g10<8,8,1>F", ("D1",)),
    ("add (8) g20<1>UB g10<8,8,1>UB g11<8,8,1>UB", ("D2",)),
    ("mov.sat (8) g20<1>UB g10<8,8,1>UB", ("D2",)),
    ("mov (8) g20<1>W g10<8,8,1>D", ("D3",)),
    ("mov (8) g20.1<2>W g10<8,8,1>D", ("D4",)),
    ("mov (16) g20<2>F g10<8,8,1>F", ("D5",)),
    ("mov (8) g20.2<1>W g10<4,1,0>W", ("X1",)),  # bytes 4 to 19: six of eight elements in the lower half
    ("mov (8) g20.2<1>F g10<0,1,0>F", ("X2",)),
    ("mov (8) g20.4<1>F g10.6<2,2,1>F", ("X3",)),  # two elements of four from the first register
    ("add (16) g20<2>W g10.8<8,8,1>W g12.8<8,8,1>W", ("X4",)),  # begin at byte 16, and at 0 of the second register
    ("mov (16) g20<1>UD g10<16,16,1>UB", ("X5",)),
    ("add (16) g20<1>F g10<16,16,1>W g12<16,16,1>W", ("X5",)),  # packed words as the second source
    ("add (8) g20<1>F g10<8,8,1>F g11<8,8,1>D", ("E1",)),
    ("add (8) g20<1>D null<8,8,1>D g11<8,8,1>D", ("N1",)),
    ("mov (8) g20<2>F g10<4,4,1>F {align16}", ("A1",)),
    ("mov (8) g20<1>F g10<2,4,1>F {align16}", ("A2",)),
    ("mov (8) g20.4<1>W 0x12345678V", ("V1",)),
    ("mov (4) g20<2>F 0x12345678VF", ("V2",)),
    ("mov (8) g20<1>D 0x12345678V", ("V3",)),
    ("math (16) g20<1>F g10<8,8,1>F inv", ("M1",)),
    ("math (8) g20<1>F g10<4,4,1>F inv {align16}", ("M2",)),
    ("math (8) g20<1>F 1.0F inv", ("M3",)),
    ("math (8) g20<1>F -g10<8,8,1>F inv", ("M4",)),
    ("math (8) g20<1>F g10<8,4,2>F inv", ("M5",)),
    ("math (4) g20<2>F g10<4,4,1>F inv", ("M6",)),
    ("mad (8) g20<1>F g10<4,4,1>F g11<4,4,1>F g12<4,4,1>F {align1}", ("T1",)),
    ("send (8) 1 null<1>UW null gateway mlen 1 rlen 0", ()),
)


@pytest.mark.parametrize(("source", "rules"), CASES, ids=[source[:50] for source, _ in CASES])
def test_rules(source: str, rules: tuple[str, ...]) -> None:
    (instruction,) = assemble_eu(source).code
    assert broken_rules(instruction) == rules


def test_every_rule_has_a_case() -> None:
    assert set(RULES) == {rule for _, rules in CASES for rule in rules}
