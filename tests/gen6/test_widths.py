"""Does a program mean the same at the other width, and is there a reason where it has none?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gen6_bridge.isa.declarations import EuInstruction
from gen6_bridge.isa.execution import spans_of
from gen6_bridge.program import assemble_eu
from gen6_bridge.unit import ExecutionUnit
from tests.gen6.test_records import written
from tests.recorded import gen6 as widths
from tests.recorded.gen6 import Entry, Narrowed, WidthUndefined, judge, narrowed, widened


def texts(code: Sequence[EuInstruction]) -> list[str]:
    return [each.text().split("{")[0].strip() + (" 2Q" if each.controls.quarter else "") for each in code]


@pytest.mark.parametrize(
    ("source", "halves"),
    [
        ("add (16) g20<1>F g10<8,8,1>F g12<8,8,1>F",
            ["g20<1>F g10<8,8,1>F g12<8,8,1>F", "g21<1>F g11<8,8,1>F g13<8,8,1>F"]),
        ("add (16) g20<1>F g10<8,8,1>F g12.3<0,1,0>F",
            ["g20<1>F g10<8,8,1>F g12.3<0,1,0>F", "g21<1>F g11<8,8,1>F g12.3<0,1,0>F"]),
        ("mov (16) g20<1>D g10<16,16,1>UW", ["g20<1>D g10<8,8,1>UW", "g21<1>D g10.8<8,8,1>UW"]),
        ("mov (16) g20<2>W g10<8,8,1>D", ["g20<2>W g10<8,8,1>D", "g21<2>W g11<8,8,1>D"]),
        ("mov (16) m4<1>F 1.0F", ["m4<1>F 1F", "m5<1>F 1F"]),
        ("pln (16) g20<1>F g6<0,1,0>F g2<8,8,1>F", ["g20<1>F g6<0,1,0>F g2<8,8,1>F", "g21<1>F g6<0,1,0>F g4<8,8,1>F"]),
    ],
)  # fmt: skip
def test_halves_of_an_instruction_by_hand(source: str, halves: list[str]) -> None:
    found = narrowed(assemble_eu(source).code)
    wanted = [f"{source.split()[0]}(8) {half}" for half in halves]
    assert texts(found.code) == [wanted[0], wanted[1] + " 2Q"] and found.parts == (2,)


LOOP = """
    cmp.g.f0.0 (16) null<1>D g10<8,8,1>D 3D
    (+f0.0) if (16) END
    add (16) g20<1>D g20<8,8,1>D 1D
    TOP:
    add (16) g20<1>D g20<8,8,1>D g10<8,8,1>D
    cmp.l.f0.0 (16) null<1>D g20<8,8,1>D 40D
    (+f0.0) while (16) TOP
    END:
    endif (16) OUT
    OUT:
    jmpi (1) LAST
    mov (16) g20<1>D 9D
    LAST:
    mov (8) g22<1>D 7D
"""


def test_branches_lead_where_they_did() -> None:
    program = assemble_eu(LOOP)
    found = narrowed(program.code)
    assert found.parts == (2, 1, 2, 2, 2, 1, 1, 1, 2, 1)
    results = []
    for code in (program.code, found.code):
        unit = ExecutionUnit(code)
        unit.set_register(10, np.arange(16, dtype=np.int32))
        unit.run(limit=1000)
        results.append(unit.general[0].copy())
    assert (results[0] == results[1]).all() and results[0][20:22].any()


@pytest.mark.parametrize(
    ("source", "spans"),
    [
        ("mov (16) g20<1>D g18<8,8,1>D", 1),  # the second half reads g19
        ("mov (16) g20<1>D g19<8,8,1>D", 2),  # g20, which the first half writes
        ("mov (16) g20<1>D g20<8,8,1>D", 1),  # g21
        ("mov (16) g20<1>D g20.4<8,8,1>D", 1),  # 16 bytes of g21 and of g22
        ("mov (16) g20<1>D g19.31<8,8,1>UB", 2),  # from byte 7 of g20 on
        ("mov (16) g20<1>D g19.16<8,8,1>UB", 1),  # from byte 24 of g19 on, up to its end
        ("mov (16) g20<1>D g19.17<8,8,1>UB", 2),  # and the first of g20
    ],
)
def test_halves_are_apart_where_the_second_reads_what_the_first_writes(source: str, spans: int) -> None:
    (each,) = assemble_eu(source).code
    found = spans_of(each.controls, each.destination, each.sources, pairs=False, beyond=False)
    assert len(found) == spans


def test_overlapping_halves_are_executed_in_order() -> None:
    """In two registers the unit does the same; in one it reads all sixteen first, so halves are not equal to it."""
    two = assemble_eu("mov (16) g11<1>D g10<8,8,1>D").code
    unit, halves = ExecutionUnit(two), ExecutionUnit(narrowed(two).code)
    for each in (unit, halves):
        each.set_register(10, np.arange(16, dtype=np.int32))
        each.run()
    assert (unit.general == halves.general).all() and unit.general[0, 12].view(np.int32).tolist() == list(range(8))
    with pytest.raises(WidthUndefined, match="first half overwrites"):
        narrowed(assemble_eu("mov (16) g10<1>UW g10<16,16,1>UB").code)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("mov (8) g20<1>D 1D", "no instruction of sixteen"),
        ("mov (16) g20<1>D 1D\njmpi (1) g10<0,1,0>D\nnop", "a jump by a register"),
        ("mov (16) g20<1>D 1D\nret (2) null g40<2,2,1>D\nnop", "an address"),
        ("(+f0.0.any16h) cmp.g.f0.0 (16) null<1>D g10<8,8,1>D 3D", "sixteen flags"),
    ],
)
def test_programs_without_halves_have_a_reason(source: str, reason: str) -> None:
    with pytest.raises(WidthUndefined, match=reason):
        narrowed(assemble_eu(source).code)


@pytest.mark.parametrize(
    ("source", "wide", "taken"),
    [
        ("add (8) g20<1>F g10<8,8,1>F g12.3<0,1,0>F", "add(16) g40<1>F g20<8,8,1>F g24.3<0,1,0>F",
            {20: 32, 10: 32, 12: 0}),
        ("mov (8) g20<1>D g10<8,8,1>UW", "mov(16) g40<1>D g20<8,8,1>UW", {20: 32, 10: 16}),
        ("mov (8) g20<2>B g10<0,8,1>D", "mov(16) g40<2>B g20<8,8,1>D", {20: 16, 10: 32}),
        ("mov (8) g20<1>F g10<4,4,1>.wzyxF {align16}", "mov(16) g40<1>F g20<4,4,1>.wzyxF", {20: 32, 10: 32}),
    ],
)  # fmt: skip
def test_wide_forms_by_hand(source: str, wide: str, taken: dict[int, int]) -> None:
    found = widened(assemble_eu(source).code)
    assert texts(found.code) == [wide] and found.bytes == taken


def test_extended_math_becomes_two_of_eight() -> None:
    found = widened(assemble_eu("math (8) g20<1>F g10<8,8,1>F g12.3<0,1,0>F pow").code)
    assert texts(found.code) == [
        "math pow(8) g40<1>F g20<8,8,1>F g24.3<0,1,0>F", "math pow(8) g41<1>F g21<8,8,1>F g24.3<0,1,0>F 2Q"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("mov (16) g20<1>D g10<8,8,1>D", "sixteen channels already"),
        ("mov (4) g20<1>D g10<4,4,1>D", "one, two, four"),
        ("math (8) g20<1>D g10<8,8,1>D g11<8,8,1>D intdivmod", "quotient and remainder"),
        ("TOP:\nmath (8) g20<1>F g10<8,8,1>F null<8,8,1>F sqrt\n(+f0.0) while (8) TOP", "distances would grow"),
        ("mov (8) g20<1>D g10<8,8,1>W\nmov (8) g21<1>D g10<8,8,1>D", "different parts"),
        ("mov (8) g20<1>D g10<8,8,1>D\nmov (8) g22<1>D g20<0,1,0>D", "different parts"),
        ("(+f0.0.any16h) mov (8) g20<1>D g10<8,8,1>D", "sixteen flags"),
        ("(+f0.0.all16h) mov (8) g20<1>D g10<8,8,1>D", "sixteen flags"),
        ("mov (8) g20<1>D g70<8,8,1>D", "more registers"),
        ("mov (8) g20<1>D g10.1<8,8,1>D", "no row"),
        ("mov (8) g20<1>D g[a0.0]<8,8,1>D", "indirect"),
        ("jmpi (1) END\nEND:\nmov (8) g20<1>D g10<8,8,1>D", "jmpi"),
    ],
)
def test_programs_without_a_wide_form_have_a_reason(source: str, reason: str) -> None:
    with pytest.raises(WidthUndefined, match=reason):
        widened(assemble_eu(source).code)


def kernel(source: str) -> Entry:
    words = [f"{each.whole:032x}" for each in assemble_eu(source).code]
    data = np.arange(16, dtype=np.int32).view(np.uint8).reshape(2, 32)
    init: Entry = {f"r{10 + at}": row.tobytes().hex() for at, row in enumerate(data)}
    return {"name": "own", "words": list(words), "init": init, "dispatch_mask": "ffff", "flags_in": "00000005"}


def test_a_wrong_half_and_a_wrong_whole_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(code: Sequence[EuInstruction]) -> Narrowed:
        found = narrowed(code)
        return replace(found, code=(found.code[0], *found.code[:1], *found.code[2:]))  # the first half twice

    def both(code: Sequence[EuInstruction]) -> object:
        found = widened(code)
        first = found.code[0]
        return replace(
            found, code=(replace(first, operands=(replace(first.controls, size_code=3), *first.operands[1:])),)
        )

    sources = ("add (16) g20<1>D g10<8,8,1>D 1D", "(+f0.0) add (8) g20<1>D g10<8,8,1>D 1D")
    for source, name, change in zip(sources, ("narrowed", "widened"), (wrong, both), strict=True):
        path = written(tmp_path, kernel(source))
        kind = {"narrowed": "kernels: SIMD16 as SIMD8", "widened": "kernels: SIMD8 as SIMD16"}[name]
        assert judge(path).counts()[kind] == (1, 1)
        with monkeypatch.context() as patched:
            patched.setattr(widths, name, change)
            assert judge(path).counts()[kind] == (0, 1)
