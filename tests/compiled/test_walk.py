"""Can a native function execute a program by the loop at its number, on 64 lanes of its tile at a time?"""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from pixelflow.simd.lanes import Shape
from pixelflow.simd.lanes.native.compiled_engine import CompiledAction, Foreign
from pixelflow.simd.lanes.native.dispatch import WALK

BODY = f"""
entry:
  %row.offset = load i64, ptr %code
  %place = getelementptr i64, ptr %code, i64 1
  %program = load ptr, ptr %place
  %walk.at = getelementptr ptr, ptr %table, i64 {WALK}
  %walk = load ptr, ptr %walk.at
  br label %strip
strip:
  %at = phi i64 [0, %entry], [%next, %on]
  %here = getelementptr i8, ptr %tile, i64 %at
  %row = getelementptr i8, ptr %here, i64 %row.offset
  %first = load i8, ptr %row
  %asked = icmp ne i8 %first, 0
  br i1 %asked, label %do, label %on
do:
  %end = call ptr %walk(ptr %here, i64 64, ptr %program, ptr %table)
  br label %on
on:
  %next = add i64 %at, 64
  %more = icmp ult i64 %next, %lanes
  br i1 %more, label %strip, label %end.of.lanes
end.of.lanes:
  %past = getelementptr i64, ptr %code, i64 2
  ret ptr %past
"""
"""Operands: a row, the address of a program, which is executed where the first of 64 lanes is not 0 in the row."""


@pytest.mark.parametrize("care", [False, True])
@pytest.mark.parametrize("lanes", [64, 192, 4096])
def test_a_program_on_64_lanes_of_a_tile(make, lanes: int, care: bool) -> None:
    """Row 2 becomes row 0 + row 1, in two instructions, in every other 64 lanes; then row 0 becomes 7 everywhere."""
    engine = make(Shape(lanes, 32, 4, (), (), ("E",)))
    rng = np.random.default_rng(lanes)
    rows = rng.integers(0, 256, (4, lanes), np.uint8)
    asked = np.arange(lanes) // 64 % 2 == 0
    rows[3] = asked
    engine.set_rows(0, rows)

    def add(pe) -> None:
        pe.store(2, pe.add(pe.load(0), pe.load(1), pe.bit(False))[0])

    def copy(pe) -> None:
        pe.store(1, pe.load(2))

    plain = [engine.prepare(each) for each in (add, copy)]
    last = engine.prepare(lambda pe: pe.store(0, pe.word(7)))
    program = array("q", b"".join(each.code for each in plain) + bytes(8))
    native, function = make.native(), Foreign(BODY)
    native.compile([function])
    if care:
        engine.run(plain)
        engine.take_care()
        engine.set_rows(0, rows)
    code = array("q", [native.number(function), 3 * engine._stride, program.buffer_info()[0]])
    engine.run([CompiledAction([], code.tobytes()), last])
    total = rows[0] + rows[1]
    expected = [np.full(lanes, 7), np.where(asked, total, rows[1]), np.where(asked, total, rows[2]), asked]
    assert np.array_equal(engine.get_rows(0, 4), np.array(expected, np.uint8))


def test_a_program_inside_a_program(make) -> None:
    """The loop is a function like others: a program follows its number, and another action behind its zero."""
    engine = make(Shape(64, 32, 2, (), (), ("E",)))
    one, two = (engine.prepare(lambda pe, row=row: pe.store(row, pe.word(5 + row))) for row in (0, 1))
    inner = CompiledAction([], array("q", [WALK]).tobytes() + one.code + bytes(8))
    engine.run([inner, two])
    assert engine.get_rows(0, 2).tolist() == [[5] * 64, [6] * 64]
