"""The IR that does not depend on any meaning: the loop over a program, and the two ways to go on elsewhere in it.

A program is a list of 64-bit words: the number of a function, its operands, the next number; a zero ends it. A program
may name another by its address, so that what is long need not be copied to be carried out.
"""

from __future__ import annotations

import ctypes

__all__ = ["Dispatch", "dispatch", "go", "guard"]

Dispatch = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 3, ctypes.c_char_p, ctypes.c_void_p)
"""``dispatch(state, tiles, bytes of a tile, lanes of a tile, program, addresses of the functions)``"""

_DISPATCH = """
define void @dispatch(ptr %state, i64 %tiles, i64 %size, i64 %lanes, ptr %program, ptr %table) {
entry:
  br label %tile
tile:
  %t = phi i64 [0, %entry], [%t.next, %tile]
  %t.at = mul i64 %t, %size
  %here = getelementptr i8, ptr %state, i64 %t.at
  %behind = call ptr @walk(ptr %here, i64 %lanes, ptr %program, ptr %table)
  %t.next = add nuw nsw i64 %t, 1
  %t.more = icmp slt i64 %t.next, %tiles
  br i1 %t.more, label %tile, label %end
end:
  ret void
}
"""
"""For each tile: the program."""

_WALK = """
define internal ptr @walk(ptr %tile, i64 %lanes, ptr %program, ptr %table) {{
entry:
  br label %word
word:
  %at = phi ptr [%program, %entry], [%at.next, %call], [%at.behind, %elsewhere]
  %number = load i64, ptr %at
  %operands = getelementptr i64, ptr %at, i64 1
  switch i64 %number, label %call [i64 0, label %end i64 {elsewhere}, label %elsewhere]
call:
  %f.at = getelementptr ptr, ptr %table, i64 %number
  %f = load ptr, ptr %f.at
  %at.next = call ptr %f(ptr %tile, i64 %lanes, ptr %operands)
  br label %word
elsewhere:
  %there = load ptr, ptr %operands
  %end.there = call ptr @walk(ptr %tile, i64 %lanes, ptr %there, ptr %table)
  %at.behind = getelementptr i64, ptr %operands, i64 1
  br label %word
end:
  ret ptr %operands
}}
"""
"""For each function of the program: call it with its operands; return the address behind the zero that ends it. Behind
one number stand no operands of a function but the address of another program, which is carried out first."""

_GO = """
define ptr @go(ptr %tile, i64 %lanes, ptr %code) {
  %distance = load i64, ptr %code
  %behind = getelementptr i64, ptr %code, i64 1
  %there = getelementptr i64, ptr %behind, i64 %distance
  ret ptr %there
}
"""
"""Operand: how many words behind it the program goes on."""

_GUARD = """
define ptr @guard(ptr %tile, i64 %lanes, ptr %code) {{
entry:
  %a.offset = load i64, ptr %code
  %a = getelementptr i8, ptr %tile, i64 %a.offset
  %b.place = getelementptr i64, ptr %code, i64 1
  %b.offset = load i64, ptr %b.place
  %b = getelementptr i8, ptr %tile, i64 %b.offset
  br label %strip
strip:
  %at = phi i64 [0, %entry], [%next, %strip]
  %all = phi <{width} x i8> [splat (i8 -1), %entry], [%both, %strip]
  %a.at = getelementptr i8, ptr %a, i64 %at
  %b.at = getelementptr i8, ptr %b, i64 %at
  %a.row = load <{width} x i8>, ptr %a.at, align 16
  %b.row = load <{width} x i8>, ptr %b.at, align 16
  %one = and <{width} x i8> %all, %a.row
  %both = and <{width} x i8> %one, %b.row
  %next = add nuw nsw i64 %at, {width}
  %more = icmp ult i64 %next, %lanes
  br i1 %more, label %strip, label %end
end:
  %bits = bitcast <{width} x i8> %both to i{bits}
  %full = icmp eq i{bits} %bits, -1
  %d.place = getelementptr i64, ptr %code, i64 2
  %d = load i64, ptr %d.place
  %on = getelementptr i64, ptr %code, i64 3
  %there = getelementptr i64, ptr %on, i64 %d
  %where = select i1 %full, ptr %there, ptr %on
  ret ptr %where
}}
"""
"""Operands: two rows, a distance. Goes on that many words behind the last operand where both rows hold 255 in every
lane of the tile, else with the next word."""


def guard(width: int) -> str:
    """Return the text of the guard for vectors of ``width`` lanes."""
    return _GUARD.format(width=width, bits=8 * width)


def dispatch(elsewhere: int) -> str:
    """Return the text of the loop over a program; ``elsewhere`` is the number before the address of another one."""
    return _DISPATCH + _WALK.format(elsewhere=elsewhere)


def go() -> str:
    """Return the text of the function that goes on elsewhere."""
    return _GO
