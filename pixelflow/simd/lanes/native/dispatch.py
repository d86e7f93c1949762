"""The IR that does not depend on any meaning: the loop over a program, and the ways to continue elsewhere in it.

A program is a list of 64-bit words: the number of a function, its operands, the next number; a zero ends it. A program
may name another by its address, so that a long one need not be copied to be executed.

Every function has the type ``code' f(tile, lanes, code, table)``: it works on the first ``lanes`` lanes of a tile with
the operands that are at ``code``, and returns the address past them. ``table`` holds the addresses of all
functions by number, so that a function may call others; the loop over a program is one of them.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from time import perf_counter

from pixelflow.simd.lanes.native.toolchain import Toolchain

GO, GUARD, ELSEWHERE, WALK, DISPATCH = range(1, 6)
"""Numbers of functions: what continues elsewhere in a program, always, and where two rows are full; what executes
another program, by its address; the loop over a program, for functions that execute a nested one; the loop over
tiles. 0 ends a program."""

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
    row = f"<{width} x i8>"
    return f"""
define ptr @{name}(ptr %tile, i64 %lanes, ptr %code, ptr %table) nounwind {{
entry:
  %a.offset = load i64, ptr %code
  %a = getelementptr i8, ptr %tile, i64 %a.offset
  %b.place = getelementptr i64, ptr %code, i64 1
  %b.offset = load i64, ptr %b.place
  %b = getelementptr i8, ptr %tile, i64 %b.offset
  br label %strip
strip:
  %at = phi i64 [0, %entry], [%next, %strip]
  %all = phi {row} [splat (i8 -1), %entry], [%both, %strip]
  %a.at = getelementptr i8, ptr %a, i64 %at
  %b.at = getelementptr i8, ptr %b, i64 %at
  %a.row = load {row}, ptr %a.at, align 16
  %b.row = load {row}, ptr %b.at, align 16
  %one = and {row} %all, %a.row
  %both = and {row} %one, %b.row
  %next = add nuw nsw i64 %at, {width}
  %more = icmp ult i64 %next, %lanes
  br i1 %more, label %strip, label %end
end:
  %bits = bitcast {row} %both to i{8 * width}
  %full = icmp eq i{8 * width} %bits, -1
  %d.place = getelementptr i64, ptr %code, i64 2
  %d = load i64, ptr %d.place
  %on = getelementptr i64, ptr %code, i64 3
  %there = getelementptr i64, ptr %on, i64 %d
  %where = select i1 %full, ptr %there, ptr %on
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
    ELSEWHERE: _elsewhere,
    WALK: _walk,
    DISPATCH: _dispatch,
}
"""The text of each of these functions, from its name and the width of vectors in bytes."""


# How fast fused code could be at most: its vector instructions, counted, at the rate of this processor, measured.
#
# An estimate: every counted instruction is taken as one that any vector unit can execute, and that never waits.


_LABEL = re.compile(r"^\s*([.\w$]+):")
_VECTOR = re.compile(r"%[xyz]mm\d|\bv\d+\.\d+[bhsd]\b")
"""An operand that is a vector: of x86, of AArch64."""
_MOVES = ("vmov", "mov", "vbroadcast", "vpbroadcast", "ld", "st", "dup")

_SUMS = 16
"""Sums that do not wait for each other: more than any processor adds at once, times how long an addition takes."""
_ROUNDS = 200_000


def vector_operations(assembly: str) -> int:
    """Return how many vector instructions other than moves, loads and stores are in the loop of a function's text.

    A move that only some bytes take part in is one. The loop is what is between a label and the jump back to it; 0
    where there is none.
    """
    lines = assembly.splitlines()
    labels: dict[str, int] = {}
    for end, line in enumerate(lines):
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = end
            continue
        words = line.split("#")[0].split()
        target = words[-1] if len(words) >= 2 else ""
        if target in labels and not _VECTOR.search(line):
            return sum(_is_operation(each) for each in lines[labels[target] : end])
    return 0


def _is_operation(line: str) -> bool:
    words = line.split(maxsplit=1)
    if len(words) < 2 or words[0].startswith((".", "#")) or not _VECTOR.search(words[1]):
        return False
    return not words[0].startswith(_MOVES) or "{%k" in words[1]


def additions_per_second(tools: Toolchain) -> float:
    """Return how many vectors of bytes this processor adds in a second, on one thread; the best of several tries."""
    code = tools.compile([_additions(tools.vectors.width)])
    add = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(*tools.load(code, ["additions"]))
    memory = ctypes.create_string_buffer(2 * _SUMS * tools.vectors.width)
    times = []
    for _ in range(9):
        begin = perf_counter()
        add(memory, _ROUNDS)
        times.append(perf_counter() - begin)
    return _SUMS * _ROUNDS / min(times)


def _additions(width: int) -> str:
    """Return the text of a function that adds a vector from memory to each of the sums, round after round."""
    vector, each = f"<{width} x i8>", range(_SUMS)
    lines = [f"  %more{i} = add {vector} %sum{i}, %one" for i in each]
    first = [f"  %sum{i} = phi {vector} [%one, %entry], [%more{i}, %round]" for i in each]
    last = [
        f"  %at{i} = getelementptr i8, ptr %memory, i64 {width * (1 + i)}\n"
        f"  store {vector} %more{i}, ptr %at{i}, align 1"
        for i in range(_SUMS)
    ]
    return "\n".join(
        [
            "define void @additions(ptr %memory, i64 %rounds) {",
            "entry:",
            f"  %one = load {vector}, ptr %memory, align 1",
            "  br label %round",
            "round:",
            "  %n = phi i64 [0, %entry], [%next, %round]",
            *first,
            *lines,
            "  %next = add i64 %n, 1",
            "  %again = icmp ult i64 %next, %rounds",
            "  br i1 %again, label %round, label %end",
            "end:",
            *last,
            "  ret void",
            "}",
        ]
    )
