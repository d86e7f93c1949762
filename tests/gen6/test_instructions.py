"""Rows worked by hand: what each instruction gives for a few values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from gen6_bridge.isa.declarations import INSTRUCTIONS, EuFamily
from gen6_bridge.isa.execution import FloatRules
from gen6_bridge.program import assemble_eu
from gen6_bridge.unit import ExecutionUnit
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes import AUTO

KINDS = {"D": np.int32, "UD": np.uint32, "W": np.int16, "UW": np.uint16, "UB": np.uint8, "B": np.int8, "F": np.float32}
Number = int | float
BIG = 0x7FFFFFFF

ROWS: tuple[tuple[str, str, Sequence[Number], Sequence[Number], Sequence[Number]], ...] = (
    # source (of g10 and g11 into g20), type, g10, g11, g20
    ("mov (8) g20<1>D -(abs)g10<8,8,1>D", "D", (3, -4, -BIG), (), (-3, -4, -BIG)),
    ("sel.ge (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (3, -4), (5, -9), (5, -4)),
    ("sel.l (8) g20<1>F g10<8,8,1>F g11<8,8,1>F", "F", (3.5, -4.0, math.nan), (5.0, -9.0, 2.0), (3.5, -9.0, 2.0)),
    ("not (8) g20<1>D g10<8,8,1>D", "D", (0, -1, 5), (), (-1, 0, -6)),
    ("and (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (12, -1), (10, 7), (8, 7)),
    ("or (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (12, -8), (10, 7), (14, -1)),
    ("xor (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (12, -1), (10, 7), (6, -8)),
    ("shr (8) g20<1>UD g10<8,8,1>UD g11<8,8,1>UD", "UD", (0x80000000, 5), (31, 33), (1, 2)),
    ("shl (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (3, -1), (4, 31), (48, -(1 << 31))),
    ("asr (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (-5, 5), (1, 1), (-3, 2)),
    ("cmp.l.f0.0 (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (-BIG, BIG, 1), (BIG, -BIG, 1), (-1, 0, 0)),
    ("cmpn.ge.f0.0 (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (-BIG, BIG, 1), (BIG, -BIG, 1), (0, -1, -1)),
    ("add.sat (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (BIG, -BIG, 1), (5, -5, 2), (BIG, -BIG - 1, 3)),
    ("add (8) g20<1>F g10<8,8,1>F g11<8,8,1>F", "F", (1.5, 16777216.0), (2.0, 1.0), (3.5, 16777216.0)),
    ("mul (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (0x10003, -1), (5, 2), (15, 0x1FFFE)),
    ("mul (8) g20<1>F g10<8,8,1>F g11<8,8,1>F", "F", (1.5, -2.0), (2.0, 0.25), (3.0, -0.5)),
    ("avg (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (BIG, -3, 1), (BIG, -4, 2), (BIG, -3, 2)),
    ("frc (8) g20<1>F g10<8,8,1>F", "F", (2.75, -0.25, 5.0), (), (0.75, 0.75, 0.0)),
    ("rndu (8) g20<1>F g10<8,8,1>F", "F", (2.25, -0.5, 1e10), (), (3.0, -0.0, 1e10)),
    ("rndd (8) g20<1>F g10<8,8,1>F", "F", (2.75, -0.5), (), (2.0, -1.0)),
    ("rnde (8) g20<1>F g10<8,8,1>F", "F", (2.5, 3.5, -0.5), (), (2.0, 4.0, -0.0)),
    ("rndz (8) g20<1>F g10<8,8,1>F", "F", (2.75, -2.75), (), (2.0, -2.0)),
    ("mov (8) acc0<1>F g11<8,8,1>F; mac (8) g20<1>F g10<8,8,1>F g11<8,8,1>F", "F", (2.0, 3.0), (5.0, -1.0),
     (15.0, -4.0)),
    (
        "mul (8) acc0<1>D g10<8,8,1>D g11<8,8,1>D; mach (8) g20<1>D g10<8,8,1>D g11<8,8,1>D {align1 accwrctrl}",
        "D", (BIG, -1, 1 << 20), (BIG, 7, 1 << 20), (0x3FFFFFFF, -1, 1 << 8),
    ),
    ("lzd (8) g20<1>UD g10<8,8,1>UD", "UD", (0, 1, 0x80000000, 0xFFFF), (), (32, 31, 0, 16)),
    ("sad2 (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (9, 1, 5, 5), (3, 4, 5, 0), (9, 9, 5, 5)),
    ("mov (8) acc0<1>D 100D; sada2 (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (9, 1), (3, 4), (109, 109)),
    ("dp4 (8) g20<1>F g10<4,4,1>F g11<4,4,1>F {align16}", "F", (1, 2, 3, 4), (5, 6, 7, 8), (70, 70, 70, 70)),
    ("dph (8) g20<1>F g10<4,4,1>F g11<4,4,1>F {align16}", "F", (1, 2, 3, 4), (5, 6, 7, 8), (46, 46, 46, 46)),
    ("dp3 (8) g20<1>F g10<4,4,1>F g11<4,4,1>F {align16}", "F", (1, 2, 3, 4), (5, 6, 7, 8), (38, 38, 38, 38)),
    ("dp2 (8) g20<1>F g10<4,4,1>F g11<4,4,1>F {align16}", "F", (1, 2, 3, 4), (5, 6, 7, 8), (17, 17, 17, 17)),
    ("line (8) g20<1>F g10<0,1,0>F g11<8,8,1>F", "F", (2, 9, 9, 1), (5, -1), (11, -1)),
    ("pln (8) g20<1>F g10<0,1,0>F g11<8,8,1>F", "F", (2, 3, 9, 1), (5, -1), (11, -1)),
    ("mad (8) g20<1>F g10<4,4,1>F g11<4,4,1>F g11<4,4,1>F {align16}", "F", (1, 2), (3, -4), (10, 18)),
    ("lrp (8) g20<1>F g10<4,4,1>F g11<4,4,1>F g10<4,4,1>F {align16}", "F", (0.5, 0.25), (4, 8), (2.25, 2.1875)),
    ("math (8) g20<1>F g10<8,8,1>F g11<8,8,1>F pow", "F", (2, 9), (10, 0.5), (1024, 3)),
    ("math (8) g20<1>F g10<8,8,1>F rsq", "F", (4, 0.25), (), (0.5, 2)),
    ("math (8) g20<1>F g10<8,8,1>F log", "F", (8, 0.5), (), (3, -1)),
    ("math (8) g20<1>F g10<8,8,1>F exp", "F", (3, -1), (), (8, 0.5)),
    ("math (8) g20<1>F g10<8,8,1>F cos", "F", (0,), (), (1,)),
    ("math (8) g20<1>F g10<8,8,1>F g11<8,8,1>F fdiv", "F", (1, -6), (4, 2), (0.25, -3)),
    ("math (8) g20<1>D g10<8,8,1>D g11<8,8,1>D intdiv", "D", (-7, 7, -(1 << 31)), (2, -2, 1), (-3, -3, -(1 << 31))),
    ("math (8) g20<1>D g10<8,8,1>D g11<8,8,1>D intmod", "D", (-7, 7, 9), (2, -2, 5), (-1, 1, 4)),
    ("math (8) g19<1>UD g10<8,8,1>UD g11<8,8,1>UD intdivmod", "UD", (17, 0xFFFFFFFF), (5, 16), (2, 15)),
)  # fmt: skip


def unit_after(
    source: str,
    kind: str,
    first: Sequence[Number],
    second: Sequence[Number],
    engine: str = AUTO,
    **given: bool,
) -> ExecutionUnit:
    code = assemble_eu(source.replace("; ", ";\n") + ";").code
    unit = ExecutionUnit(code, arithmetic=FloatRules(**given), engine=engine)
    for register, values in ((10, first), (11, second)):
        full = np.zeros(32 // np.dtype(KINDS[kind]).itemsize, KINDS[kind])
        full[: len(values)] = np.array(values, np.float64 if kind == "F" else np.int64).astype(KINDS[kind])
        unit.set_register(register, full)
    unit.run()
    return unit


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50])
def test_rows(row: tuple[str, str, Sequence[Number], Sequence[Number], Sequence[Number]]) -> None:
    source, kind, first, second, wanted = row
    found = unit_after(source, kind, first, second).general[0, 20].view(KINDS[kind])[: len(wanted)]
    assert found.tobytes() == np.array(wanted, KINDS[kind]).tobytes(), found


def test_every_instruction_that_computes_has_a_row() -> None:
    written = {row[0].split("; ")[-1].split(" ")[0].partition(".")[0] for row in ROWS}
    computing = {
        each.mnemonic for each in INSTRUCTIONS.values() if each.family not in (EuFamily.FLOW, EuFamily.MESSAGE)
    }
    assert computing == written


def test_products_are_rounded_before_they_are_added_unless_asked() -> None:
    source = "mov (8) acc0<1>F -1.0F; mac (8) g20<1>F g10<8,8,1>F g11<8,8,1>F"
    value = 1 + 2.0**-12
    apart = unit_after(source, "F", (value,), (value,)).floats(20)[0, 0]
    fused = unit_after(source, "F", (value,), (value,), fused=True).floats(20)[0, 0]
    # (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24: the last term is half of a last place.
    assert apart == np.float32(2.0**-11) and fused == np.float32(2.0**-11 + 2.0**-24)


ACCUMULATES = "{align1 accwrctrl}"
IMPLIED: tuple[tuple[str, str, Sequence[Number], Sequence[Number]], ...] = (
    # source (of g10 and g11 into g20), type, g10, g20: where the implied accumulator is not that of channel 0
    ("mov (1) acc0.2<1>F g10<0,1,0>F; mac (1) acc0.2<1>F g10.1<0,1,0>F 8.0F; mac (1) g20.2<1>F g10.2<0,1,0>F 28.0F",
     "F", (100, 2, 0.5), (0, 0, 130)),
    ("mov (8) acc0<1>F g10<8,8,1>F; mac (4) g20.4<1>F g11<4,4,1>F 0.0F", "F", range(1, 9), (0, 0, 0, 0, 5, 6, 7, 8)),
    ("mov (8) acc1<1>F g10<8,8,1>F; mac (4) g20.4<1>F g11<4,4,1>F 0.0F {sechalf}", "F", range(1, 9),
     (0, 0, 0, 0, 5, 6, 7, 8)),
    ("mov (8) acc0<1>F g10<8,8,1>F; mac (4) g20.1<2>F g11<4,4,1>F 0.0F", "F", range(1, 9), (0, 2, 0, 4, 0, 6, 0, 8)),
    ("mov (8) acc0<1>F g10<8,8,1>F; mac.sat (8) g20.1<4>UB g11<8,8,1>F 0.0F; mov (8) g20<1>D g20.1<32,8,4>UB", "D",
     np.array(range(1, 9), np.float32).view(np.int32).tolist(), range(1, 9)),
    ("mov (16) acc0<1>W g10<16,16,1>W; mac (8) g20.8<1>W g11<8,8,1>W 0W", "W", range(1, 17),
     (*[0] * 8, *range(9, 17))),
    ("mov (16) acc0<1>W g10<16,16,1>W; mac (4) g20<1>D g11<4,4,1>W 0W; mac (4) g20.4<1>D g11<4,4,1>W 0W", "D",
     (0x20001, 0x40003, 0x60005, 0x80007), range(1, 9)),
    ("mov (8) acc0<1>D g10<8,8,1>D; sada2 (4) g20.4<1>D g11<4,4,1>D g11<4,4,1>D", "D", range(1, 9),
     (0, 0, 0, 0, 5, 6, 7, 8)),
    (f"add (2) g21.2<1>F g10<2,2,1>F 1.0F {ACCUMULATES}; mov (8) g20<1>F acc0<8,8,1>F", "F", (4, 5), (0, 0, 5, 6)),
    (f"add (2) g21.3<1>D g10<2,2,1>D 1D {ACCUMULATES}; mov (8) g20<1>D acc0<8,8,1>D", "D", (4, 5), (0, 0, 0, 5, 6)),
    (f"add (4) g21.2<2>W g10<4,4,1>W 1W {ACCUMULATES}; mov (16) g20<1>W acc0<16,16,1>W", "W", (4, 5, 6, 7),
     (0, 0, 5, 0, 6, 0, 7, 0, 8)),
    ("add (2) g21.6<1>F g10<2,2,1>F 1.0F {align1 accwrctrl sechalf}; mov (8) g20<1>F acc1<8,8,1>F", "F", (4, 5),
     (0, 0, 0, 0, 0, 0, 5, 6)),
    (f"mul (4) acc0.4<1>D g10<4,4,1>D g10<4,4,1>D; mach (4) g21.4<1>D g10<4,4,1>D g10<4,4,1>D {ACCUMULATES};"
     " mov (4) g20<1>D g21.4<4,4,1>D; mov (4) g20.4<1>D acc0.4<4,4,1>D", "D", (BIG, -1, 1 << 20, 3),
     (0x3FFFFFFF, 0, 1 << 8, 0, 1, 1, 0, 9)),
)  # fmt: skip


@pytest.mark.parametrize("row", IMPLIED, ids=lambda row: row[0][-60:])
@pytest.mark.parametrize("engine", ["rows", "compiled"])
def test_an_implied_accumulator_has_the_sub_register_and_the_stride_of_the_destination(
    row: tuple[str, str, Sequence[Number], Sequence[Number]], engine: str
) -> None:
    source, kind, first, wanted = row
    found = unit_after(source, kind, first, (), engine=engine).general[0, 20].view(KINDS[kind])
    full = np.zeros_like(found)
    full[: len(wanted)] = wanted
    assert found.tobytes() == full.tobytes(), found


def test_an_implied_element_past_the_accumulator_is_a_fault() -> None:
    for source in (
        "mac (16) g20<2>W g10<16,16,1>W g11<16,16,1>W",
        "add (8) g20.4<1>F g10<8,8,1>F 1.0F {accwrctrl sechalf}",
    ):
        with pytest.raises(MachineFault, match=r"channel \d+ of the accumulator, there are 16"):
            unit_after(source, "F", (), ())


def test_denormals_are_zeros_unless_asked() -> None:
    tiny = float(np.float32(1e-40))
    source = "add (8) g20<1>F g10<8,8,1>F g10<8,8,1>F"
    assert unit_after(source, "F", (-tiny,), ()).general[0, 20].view(np.uint32)[0] == 0x80000000
    assert unit_after(source, "F", (tiny,), (), flushes=False).floats(20)[0, 0] == np.float32(2 * tiny)
    assert unit_after("mov (8) g20<1>F g10<8,8,1>F", "F", (tiny,), ()).floats(20)[0, 0] == np.float32(tiny)


@pytest.mark.parametrize(
    ("value", "byte", "word"), [(300.7, 255, 300), (-3.0, 0, -3), (math.nan, 0, 0), (1e20, 255, 32767)]
)
def test_floats_become_integers_toward_zero_and_clamped(value: float, byte: int, word: int) -> None:
    unit = unit_after("mov.sat (8) g20<4>UB g10<8,8,1>F; mov.sat (8) g21<2>W g10<8,8,1>F", "F", (value,), ())
    assert unit.general[0, 20, 0] == byte and unit.general[0, 21].view(np.int16)[0] == word


@pytest.mark.parametrize(("a", "b"), [(257, 4278255361), (0xFFFF, 0xFFFFFFFF), (3, 0x80000001), (0x8001, 0xFFFF)])
def test_a_wide_product_becomes_the_nearest_float(a: int, b: int) -> None:
    """Of 48 bits, rounded once."""
    unit = ExecutionUnit(assemble_eu("mul (8) g20<1>F g10<8,8,1>UW g11<8,8,1>UD").code)
    unit.set_register(10, np.full(16, a, np.uint16))
    unit.set_register(11, np.full(8, b, np.uint32))
    unit.run()
    assert unit.floats(20)[0, 0] == np.float32(a * b)


def test_an_integer_next_to_a_float_is_its_value() -> None:
    """The rules forbid it (E1); it is executed all the same."""
    unit = ExecutionUnit(assemble_eu("mov (8) g11<1>D -3D\nadd (8) g20<1>F g10<8,8,1>F g11<8,8,1>D").code)
    unit.set_register(10, np.full(8, 0.5, np.float32))
    unit.run()
    assert (unit.floats(20) == -2.5).all()


FLAGS = (
    # source, type, g10, g11, channels of f0.0 that are set
    ("add.o.f0.0 (8) g20<1>D g10<8,8,1>D g11<8,8,1>D", "D", (BIG, -BIG, 1), (1, -2, 1), 0b011),
    ("add.o.f0.0 (8) g20<2>W g10<8,8,1>D g11<8,8,1>D", "D", (32767, 32767, -32768), (0, 1, -1), 0b110),
    ("add.sat.o.f0.0 (8) g20<4>UB g10<8,8,1>D g11<8,8,1>D", "D", (255, 256, -1), (0, 0, 0), 0b110),
    ("mov.o.f0.0 (8) g20<2>W g10<8,8,1>F", "F", (32767.75, 32768.0, -32768.75, -32769.0, math.nan), (), 0b11010),
    ("mov.o.f0.0 (8) g20<1>D g10<8,8,1>F", "F", (-(2.0**31), -(2.0**31) - 256, 2.0**31), (), 0b110),
    ("mul.o.f0.0 (8) g20<1>F g10<8,8,1>F g10<8,8,1>F", "F", (1e20, 1e19), (), 0b01),
    ("cmp.o.f0.0 (8) null<1>D g10<8,8,1>D g11<8,8,1>D", "D", (BIG, -BIG), (-BIG, BIG), 0),
    ("rnde.r.f0.0 (8) g20<1>F g10<8,8,1>F", "F", (1.5, 2.5, 2.75, -2.5, 3.0), (), 0b01101),
    ("rndd.r.f0.0 (8) g20<1>F g10<8,8,1>F", "F", (1.5, -1.5), (), 0),
    ("rndz.r.f0.0 (8) g20<1>F g10<8,8,1>F", "F", (1.5, -1.5), (), 0b10),
)  # fmt: skip


@pytest.mark.parametrize("row", FLAGS, ids=lambda row: row[0][:50])
def test_overflow_and_increment(row: tuple[str, str, Sequence[Number], Sequence[Number], int]) -> None:
    """By the exact result before it is converted; an increment is a rounding up from the next whole number below."""
    source, kind, first, second, wanted = row
    found = int(unit_after(source, kind, first, second).flags[0])
    assert found & (1 << len(first)) - 1 == wanted


def test_sine_and_cosine_go_to_two_registers() -> None:
    unit = unit_after("math (8) g20<1>F g10<8,8,1>F sincos", "F", (0.0, 1.0), ())
    wanted = np.array([[math.sin(1.0)], [math.cos(1.0)]], np.float32)
    assert (unit.floats(20)[0, 1], unit.floats(21)[0, 1]) == (wanted[0, 0], wanted[1, 0])
    assert unit.floats(21)[0, 0] == 1.0


@pytest.mark.parametrize(("option", "elements"), [("", 16), (" {mask_disable}", 32)])
def test_thirty_two_elements_are_written_where_no_mask_counts(option: str, elements: int) -> None:
    unit = ExecutionUnit(assemble_eu(f"add (32) g20<1>UB g10<16,16,1>UB 1UW{option}").code)
    unit.set_register(10, np.arange(32, dtype=np.uint8))
    unit.run()
    assert unit.general[0, 20].tolist() == [*range(1, elements + 1), *[0] * (32 - elements)]


def test_sixteen_channels_are_two_eights() -> None:
    values = np.linspace(-3, 5, 16, dtype=np.float32)
    both = ExecutionUnit(assemble_eu("mul (16) g20<1>F g10<8,8,1>F g10<8,8,1>F").code)
    halves = ExecutionUnit(
        assemble_eu(
            "mul (8) g20<1>F g10<8,8,1>F g10<8,8,1>F\nmul (8) g21<1>F g11<8,8,1>F g11<8,8,1>F {align1 sechalf}"
        ).code
    )
    for unit in (both, halves):
        unit.set_register(10, values)
        unit.run()
    assert (both.general == halves.general).all()


def test_the_second_half_reads_results_of_the_first() -> None:
    unit = ExecutionUnit(assemble_eu("add (16) g11<1>D g10<8,8,1>D 1D").code)
    unit.set_register(10, np.arange(24, dtype=np.int32))
    unit.run()
    assert unit.general[0, 11:13].reshape(-1).view(np.int32).tolist() == [*range(1, 9), *range(2, 10)]
