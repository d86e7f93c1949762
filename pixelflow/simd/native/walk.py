"""Native walk of a transducer: the loop over streams of words, up to the end or to a word that its table lacks.

The table is an open hash table: slots of two 64-bit words. The first is the key, the state in its upper half and the
word in its lower one, or all ones in an empty slot. The second holds the number of the row of sums in its lower half,
the next state above it, and in its sign whether the word counts words that are passed over.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.native.functions import functions

__all__ = ["CHUNK", "FACTOR", "walk"]

CHUNK = 8
"""Sums are added so many at a time: a row is a multiple."""
FACTOR = 0x9E3779B97F4A7C15
"""The hash of a key is the upper half of its product with this, 2^64 by the golden ratio."""

_SIGNED = FACTOR - (1 << 64)

_TEXT = f"""
define i64 @walk_streams(ptr %words, ptr %starts, i64 %streams, ptr %who, ptr %states, ptr %sums, ptr %slots, i64 %mask,
                         ptr %rows, i64 %width, ptr %place) nounwind {{
entry:
  %first = load i64, ptr %place
  %resume.at = getelementptr i64, ptr %place, i64 1
  %resume = load i64, ptr %resume.at
  %any = icmp slt i64 %first, %streams
  br i1 %any, label %stream, label %end
stream:
  %t = phi i64 [%first, %entry], [%t.next, %done]
  %begin = phi i64 [%resume, %entry], [%past, %done]
  %t.next = add nuw nsw i64 %t, 1
  %past.at = getelementptr i64, ptr %starts, i64 %t.next
  %past = load i64, ptr %past.at
  %one.at = getelementptr i64, ptr %who, i64 %t
  %one = load i64, ptr %one.at
  %state.at = getelementptr i64, ptr %states, i64 %one
  %before = load i64, ptr %state.at
  %sum.place = mul i64 %one, %width
  %sum = getelementptr i64, ptr %sums, i64 %sum.place
  br label %word
word:
  %at = phi i64 [%begin, %stream], [%at.next, %add]
  %state = phi i64 [%before, %stream], [%state.next, %add]
  %more = icmp slt i64 %at, %past
  br i1 %more, label %look, label %done
look:
  %word.at = getelementptr i32, ptr %words, i64 %at
  %short = load i32, ptr %word.at
  %given = zext i32 %short to i64
  %upper = shl i64 %state, 32
  %key = or i64 %upper, %given
  %product = mul i64 %key, {_SIGNED}
  %hash = lshr i64 %product, 32
  %slot.first = and i64 %hash, %mask
  br label %probe
probe:
  %slot = phi i64 [%slot.first, %look], [%slot.next, %again]
  %slot.place = shl i64 %slot, 1
  %slot.at = getelementptr i64, ptr %slots, i64 %slot.place
  %there = load i64, ptr %slot.at
  %hit = icmp eq i64 %there, %key
  br i1 %hit, label %found, label %other
other:
  %empty = icmp eq i64 %there, -1
  br i1 %empty, label %unknown, label %again
again:
  %slot.after = add i64 %slot, 1
  %slot.next = and i64 %slot.after, %mask
  br label %probe
found:
  %value.at = getelementptr i64, ptr %slot.at, i64 1
  %value = load i64, ptr %value.at
  %row = and i64 %value, 4294967295
  %shifted = lshr i64 %value, 32
  %state.next = and i64 %shifted, 2147483647
  %counts = icmp slt i64 %value, 0
  %passed = select i1 %counts, i64 %given, i64 0
  %at.one = add i64 %at, 1
  %at.next = add i64 %at.one, %passed
  %row.place = mul i64 %row, %width
  %row.at = getelementptr i64, ptr %rows, i64 %row.place
  br label %add
add:
  %i = phi i64 [0, %found], [%i.next, %add.more]
  %from.at = getelementptr i64, ptr %row.at, i64 %i
  %to.at = getelementptr i64, ptr %sum, i64 %i
  %from = load <{CHUNK} x i64>, ptr %from.at, align 8
  %to = load <{CHUNK} x i64>, ptr %to.at, align 8
  %total = add <{CHUNK} x i64> %from, %to
  store <{CHUNK} x i64> %total, ptr %to.at, align 8
  %i.next = add nuw nsw i64 %i, {CHUNK}
  %i.more = icmp slt i64 %i.next, %width
  br i1 %i.more, label %add.more, label %word
add.more:
  br label %add
done:
  store i64 %state, ptr %state.at
  %t.more = icmp slt i64 %t.next, %streams
  br i1 %t.more, label %stream, label %end
unknown:
  store i64 %state, ptr %state.at
  store i64 %t, ptr %place
  store i64 %at, ptr %resume.at
  ret i64 1
end:
  ret i64 0
}}"""


@cache
def _function() -> Callable[..., int]:
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    kinds = (pointer, pointer, number, pointer, pointer, pointer, pointer, number, pointer, number, pointer)
    (address,) = functions(("walk_streams",), _TEXT)
    return ctypes.CFUNCTYPE(number, *kinds)(address)


def walk(
    words: NDArray[np.uint32],
    starts: NDArray[np.int64],
    who: NDArray[np.int64],
    states: NDArray[np.int64],
    sums: NDArray[np.int64],
    slots: NDArray[np.uint64],
    rows: NDArray[np.int64],
    place: NDArray[np.int64],
) -> bool:
    """Walk streams from ``place`` (number of a stream, place of a word) on; return whether they are at their ends.

    Else ``place`` says which word is not in the table. ``states`` and ``sums`` of those that ``who`` numbers go on.
    All arrays are contiguous. Raises what LLVM raises.
    """
    return not _function()(
        *(words.ctypes.data, starts.ctypes.data, len(who), who.ctypes.data, states.ctypes.data, sums.ctypes.data),
        *(slots.ctypes.data, len(slots) - 1, rows.ctypes.data, rows.shape[1], place.ctypes.data),
    )
