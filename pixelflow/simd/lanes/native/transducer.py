"""Transducer: a finite automaton over words that adds up what each step is worth; its table is filled as it goes.

What a step is worth may be slow to work out, and is asked for once for each state and word. All further steps are
look-ups, in native code where that works on this host.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.native.plain import functions, works_natively

_CHUNK = 8
_EMPTY = (1 << 64) - 1
_STATES = 1 << 31
_SMALLEST = 1 << 10

_NATIVE_AFTER = 20_000
"""Words that are walked in Python before native code pays: it takes some tens of milliseconds to get ready."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A step of the automaton."""

    state: int
    """The state after it: 0 up to 2^31 - 1."""
    sums: Sequence[int]
    """Amounts added by a step."""
    counts: bool = False
    """True if the word says how many words are passed over next."""


Learned = tuple[dict[int, tuple[int, int, bool]], Sequence[tuple[int, ...]]]
"""For each key (state, word) the next state, the number of the row of sums, and whether the word counts; the rows."""


class Transducer:
    """Steps from states by words, and what each adds to ``width`` sums."""

    def __init__(
        self,
        width: int,
        find: Callable[[int, int], Transition],
        learned: Learned = ({}, ()),
        *,
        native: bool | None = None,
    ) -> None:
        """``find`` works out a step from a state by a word; it is asked once for each that is not ``learned`` before.

        ``native`` says whether native code walks; None, where it works, once there is much to walk.
        """
        self.width = width
        self._find = find
        self._known, rows = dict(learned[0]), learned[1]
        self._row_of = {row: number for number, row in enumerate(rows)}
        self._rows = self.sums(width, max(64, len(rows)))
        self._rows[: len(rows), :width] = np.array(rows, np.int64).reshape(len(rows), width)
        self._slots = np.zeros((0, 2), np.uint64)
        self._native = native
        self._walked = 0

    @property
    def known(self) -> int:
        """How many steps are in the table."""
        return len(self._known)

    @property
    def learned(self) -> Learned:
        """The steps in the table, for another transducer of the same automaton."""
        return self._known, [*self._row_of]

    @staticmethod
    def sums(width: int, count: int) -> NDArray[np.int64]:
        """Return sums of nothing, int64[count, ``width`` or more], as `run` takes them."""
        return np.zeros((count, -(-width // _CHUNK) * _CHUNK), np.int64)

    def run(
        self,
        words: NDArray[np.uint32],
        starts: NDArray[np.int64],
        who: NDArray[np.int64],
        states: NDArray[np.int64],
        sums: NDArray[np.int64],
    ) -> None:
        """Walk streams of words, one after the other in ``words``, beginning at ``starts`` (int64[streams + 1]).

        ``who`` says for each stream whose it is: that one's state and sums continue. ``states`` is int64[count],
        ``sums`` as `sums` makes them. One thread of the host at a time may walk.

        Raises IndexError where ``who`` or ``starts`` leave these arrays, ValueError for arrays of another kind; what
        ``find`` raises is raised.
        """
        starts, who = np.asarray(starts, np.int64), np.asarray(who, np.int64)
        self._check(len(words), starts, who, states, sums)
        if self._goes_natively(len(words)):
            self._walk(
                np.ascontiguousarray(words, np.uint32),
                np.ascontiguousarray(starts),
                np.ascontiguousarray(who),
                states,
                sums,
            )
            return
        known, get = self._known, self._known.get
        every = words.tolist()
        bounds = starts.tolist()
        for one, at, past in zip(who.tolist(), bounds, bounds[1:], strict=False):
            state, rows = int(states[one]), []
            while at < past:
                word = every[at]
                found = get(state << 32 | word)
                if found is None:
                    self._learn(state, word)
                    found = known[state << 32 | word]
                state, row, counts = found
                rows.append(row)
                at += 1 + word if counts else 1
            states[one] = state
            sums[one] += self._rows[rows].sum(axis=0)

    def _check(
        self,
        words: int,
        starts: NDArray[np.int64],
        who: NDArray[np.int64],
        states: NDArray[np.int64],
        sums: NDArray[np.int64],
    ) -> None:
        """Refuse what native code would read or write past the end of an array."""
        width = self._rows.shape[1]
        for name, array, inner in (("states", states, ()), ("sums", sums, (width,))):
            kind = f"int64{['count', *inner]}".replace("'", "")
            if array.dtype != np.int64 or array.ndim != 1 + len(inner) or array.shape[1:] != inner:
                raise ValueError(f"{name}: {array.dtype}{list(array.shape)}, not {kind}")
            if not array.flags.carray:
                raise ValueError(f"{name}: an array in one piece that may be written is needed")
        if who.ndim != 1 or starts.shape != (len(who) + 1,):
            raise ValueError(f"starts: {list(starts.shape)} for streams {list(who.shape)}, not [streams + 1]")
        if (np.diff(starts) < 0).any():
            raise ValueError("starts: a stream ends before it begins")
        if starts[0] < 0 or starts[-1] > words:
            raise IndexError(f"starts: {starts[0]} to {starts[-1]}, there are {words} words")
        count = min(len(states), len(sums))
        if who.size and not 0 <= who.min() <= who.max() < count:
            raise IndexError(f"streams of {who.min()} to {who.max()}, there are states and sums of {count}")

    def _goes_natively(self, words: int) -> bool:
        self._walked += words
        if self._native is None and self._walked > _NATIVE_AFTER:
            self._native = works_natively()
        if self._native and not len(self._slots):
            self._enlarge(_SMALLEST)
        return bool(self._native)

    def _walk(
        self,
        words: NDArray[np.uint32],
        starts: NDArray[np.int64],
        who: NDArray[np.int64],
        states: NDArray[np.int64],
        sums: NDArray[np.int64],
    ) -> None:
        # Only who has native code imports what makes it.

        place = np.array([0, starts[0]], np.int64)
        while not walk(words, starts, who, states, sums, self._slots, self._rows, place):
            stream, at = place.tolist()
            self._learn(int(states[who[stream]]), int(words[at]))

    def _learn(self, state: int, word: int) -> None:
        found = self._find(state, word)
        if not 0 <= found.state < _STATES:
            raise ValueError(f"state {found.state}: 0 to {_STATES - 1}")
        key, sums = state << 32 | word, tuple(found.sums)
        row = self._row_of.setdefault(sums, len(self._row_of))
        if row == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[row, : self.width] = sums
        self._known[key] = found.state, row, found.counts
        if not len(self._slots):
            return
        if 2 * len(self._known) > len(self._slots):
            self._enlarge(2 * len(self._slots))
        else:
            self._enter(key)

    def _enter(self, key: int) -> None:

        slots, mask = self._slots, len(self._slots) - 1
        slot = (key * FACTOR & _EMPTY) >> 32 & mask
        while slots[slot, 0] != _EMPTY:
            slot = slot + 1 & mask
        state, row, counts = self._known[key]
        slots[slot] = key, counts << 63 | state << 32 | row

    def _enlarge(self, size: int) -> None:
        while size < 2 * len(self._known):
            size *= 2
        self._slots = np.full((size, 2), _EMPTY, np.uint64)
        for key in self._known:
            self._enter(key)


# Native walk of a transducer: the loop over streams of words, up to the end or to a word that its table lacks.
#
# The table is an open hash table: slots of two 64-bit words. The first is the key, the state in its upper half and the
# word in its lower one, or all ones in an empty slot. The second holds the number of the row of sums in its lower half,
# the next state above it, and in its sign whether the word counts words that are passed over.


CHUNK = 8
"""Sums are added in batches of this size: a row is a multiple."""
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

    Else ``place`` says which word is not in the table. ``states`` and ``sums`` of those that ``who`` numbers continue.
    All arrays are contiguous. Raises what LLVM raises.
    """
    return not _function()(
        *(words.ctypes.data, starts.ctypes.data, len(who), who.ctypes.data, states.ctypes.data, sums.ctypes.data),
        *(slots.ctypes.data, len(slots) - 1, rows.ctypes.data, rows.shape[1], place.ctypes.data),
    )
