"""The IR that does not depend on any meaning: the loop over a program, and the ways to continue elsewhere in it.

A program is a list of 64-bit words: the number of a function, its operands, the next number; a zero ends it. A program
may name another by its address, so that a long one need not be copied to be executed.

Every function has the type ``code' f(tile, lanes, code, table)``: it works on the first ``lanes`` lanes of a tile with
the operands that are at ``code``, and returns the address past them. ``table`` holds the addresses of all
functions by number, so that a function may call others; the loop over a program is one of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

GO, GUARD, EMPTY, ELSEWHERE, WALK, DISPATCH = range(1, 7)
"""Numbers of functions: what continues elsewhere in a program, always, where two rows are full, and where a row is
empty; what executes another program, by its address; the loop over a program, for functions that execute a nested one;
the loop over tiles. 0 ends a program."""

Dispatch = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 3, ctypes.c_char_p, ctypes.c_void_p)
"""``dispatch(state, tiles, bytes of a tile, lanes of a tile, program, addresses of the functions)``"""


def _walk(name: str, _: int) -> str:
    """Operands: a program. Each of its functions is called with its operands, up to the zero that ends it."""
    return f"""
define ptr @{name}(ptr %tile, i64 %lanes, ptr %code, ptr %table) nounwind {{
entry:
  br label %word
word:
  %at = phi ptr [%code, %entry], [%past, %call]
  %number = load i64, ptr %at
  %operands = getelementptr i64, ptr %at, i64 1
  %last = icmp eq i64 %number, 0
  br i1 %last, label %end, label %call
call:
  %f.at = getelementptr ptr, ptr %table, i64 %number
  %f = load ptr, ptr %f.at
  %past = call ptr %f(ptr %tile, i64 %lanes, ptr %operands, ptr %table)
  br label %word
end:
  ret ptr %operands
}}"""


def _go(name: str, _: int) -> str:
    """Operand: how many words past it the program continues."""
    return f"""
define ptr @{name}(ptr %tile, i64 %lanes, ptr %code, ptr %table) nounwind {{
  %distance = load i64, ptr %code
  %past = getelementptr i64, ptr %code, i64 1
  %there = getelementptr i64, ptr %past, i64 %distance
  ret ptr %there
}}"""


def _elsewhere(name: str, _: int) -> str:
    """Operand: the address of a program, which is executed first."""
    return f"""
define ptr @{name}(ptr %tile, i64 %lanes, ptr %code, ptr %table) nounwind {{
  %there = load ptr, ptr %code
  %walk.at = getelementptr ptr, ptr %table, i64 {WALK}
  %walk = load ptr, ptr %walk.at
  %end.there = call ptr %walk(ptr %tile, i64 %lanes, ptr %there, ptr %table)
  %past = getelementptr i64, ptr %code, i64 1
  ret ptr %past
}}"""


def _guard(name: str, width: int) -> str:
    """Operands: two rows, a distance. Continues that many words past the last operand where both rows hold 255 in every
    lane of the tile, else with the next word."""
    return _looking(name, width, 2, "and", -1)


def _empty(name: str, width: int) -> str:
    """Operands: a row, a distance. Continues that many words past the last operand where the row holds 0 in every lane
    of the tile, else with the next word."""
    return _looking(name, width, 1, "or", 0)


def _looking(name: str, width: int, rows: int, join: str, wanted: int) -> str:
    """Operands: rows, a distance; continues that far on where all that the rows hold, joined, is the byte wanted."""
    row, all_rows = f"<{width} x i8>", range(rows)
    places = [
        f"""
  %place{each} = getelementptr i64, ptr %code, i64 {each}
  %offset{each} = load i64, ptr %place{each}
  %row{each} = getelementptr i8, ptr %tile, i64 %offset{each}"""
        for each in all_rows
    ]
    looks = [
        f"""
  %at{each} = getelementptr i8, ptr %row{each}, i64 %at
  %bytes{each} = load {row}, ptr %at{each}, align 16
  %seen{each + 1} = {join} {row} %seen{each}, %bytes{each}"""
        for each in all_rows
    ]
    return f"""
define ptr @{name}(ptr %tile, i64 %lanes, ptr %code, ptr %table) nounwind {{
entry:{"".join(places)}
  br label %strip
strip:
  %at = phi i64 [0, %entry], [%next, %strip]
  %seen0 = phi {row} [splat (i8 {wanted}), %entry], [%seen{rows}, %strip]{"".join(looks)}
  %next = add nuw nsw i64 %at, {width}
  %more = icmp ult i64 %next, %lanes
  br i1 %more, label %strip, label %end
end:
  %bits = bitcast {row} %seen{rows} to i{8 * width}
  %all = icmp eq i{8 * width} %bits, {wanted}
  %d.place = getelementptr i64, ptr %code, i64 {rows}
  %d = load i64, ptr %d.place
  %on = getelementptr i64, ptr %code, i64 {rows + 1}
  %there = getelementptr i64, ptr %on, i64 %d
  %where = select i1 %all, ptr %there, ptr %on
  ret ptr %where
}}"""


def _dispatch(name: str, _: int) -> str:
    """For each tile: the program."""
    return f"""
define void @{name}(ptr %state, i64 %tiles, i64 %size, i64 %lanes, ptr %program, ptr %table) nounwind {{
entry:
  %walk.at = getelementptr ptr, ptr %table, i64 {WALK}
  %walk = load ptr, ptr %walk.at
  br label %tile
tile:
  %t = phi i64 [0, %entry], [%t.next, %tile]
  %t.at = mul i64 %t, %size
  %here = getelementptr i8, ptr %state, i64 %t.at
  %past = call ptr %walk(ptr %here, i64 %lanes, ptr %program, ptr %table)
  %t.next = add nuw nsw i64 %t, 1
  %t.more = icmp slt i64 %t.next, %tiles
  br i1 %t.more, label %tile, label %end
end:
  ret void
}}"""


FIXED: dict[int, Callable[[str, int], str]] = {
    GO: _go,
    GUARD: _guard,
    EMPTY: _empty,
    ELSEWHERE: _elsewhere,
    WALK: _walk,
    DISPATCH: _dispatch,
}
"""The text of each of these functions, from its name and the width of vectors in bytes."""
