"""Transducer: a finite automaton over words that adds up what each step is worth; its table is filled as it goes.

What a step is worth may be slow to work out, and is asked for once for each state and word. All further steps are
look-ups, in native code where that works on this host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.native.plain import Longs, Words, executed, pays_natively

_CHUNK = 4
"""Sums are added four at a time: a row is a multiple."""
_EMPTY = (1 << 64) - 1
_STATES = 1 << 31
_SMALLEST = 1 << 10


class Transition(NamedTuple):
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
        starts, who = np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(who, np.int64)
        self._check(len(words), starts, who, states, sums)
        if self._goes_natively(len(words)):
            place = np.array([0, starts[0]], np.int64)
            streams = np.ascontiguousarray(words, np.uint32), starts, len(who), who, states, sums
            while executed(
                walk_streams,
                (*streams, self._slots, len(self._slots) - 1, self._rows, self._rows.shape[1], place),
                natively=True,
            ):
                stream, at = place.tolist()
                state = int(states[who[stream]])
                # A new step mostly has new ones after it: they are learned before all are walked.
                while at < starts[stream + 1] and (state << 32 | int(words[at])) not in self._known:
                    word = int(words[at])
                    self._learn(state, word)
                    state, _, counts = self._known[state << 32 | word]
                    at += 1 + word if counts else 1
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
        if self._native is None and pays_natively(self._walked):
            self._native = True
        if self._native and not len(self._slots):
            self._enlarge(_SMALLEST)
        return bool(self._native)

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
        slot = key * _FACTOR >> 32 & mask
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


# The walk over streams of words, up to the end or to a word that the table lacks; its text is compiled.
#
# The table is an open hash table: slots of two 64-bit words. The first is the key, the state in its upper half and the
# word in its lower one, or all ones in an empty slot. The second holds the number of the row of sums in its lower half,
# the next state above it, and in its sign whether the word counts words that are passed over.


_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64)
"""The hash of a key is the upper half of its product with this, 2^64 by the golden ratio."""
_LOW = (1 << 32) - 1
_STATE = _STATES - 1


def walk_streams(
    words: Words,
    starts: Longs,
    streams: int,
    who: Longs,
    states: Longs,
    sums: Longs,
    slots: Longs,
    mask: int,
    rows: Longs,
    width: int,
    place: Longs,
) -> int:
    """Walk streams from ``place`` (number of a stream, place of a word); return 0 at their ends.

    Else 1, and ``place`` says which word is not in the table. ``states`` and ``sums`` of those that ``who`` numbers
    continue; a row has ``width`` sums, ``mask`` is one less than there are slots.
    """
    stream, at = place[0], place[1]
    while stream < streams:
        past, one = starts[stream + 1], who[stream]
        state, total = states[one], one * width
        while at < past:
            word = words[at]
            key = state << 32 | word
            slot = key * _FACTOR >> 32 & mask
            while slots[2 * slot] != key:
                if slots[2 * slot] == -1:
                    states[one], place[0], place[1] = state, stream, at
                    return 1
                slot = slot + 1 & mask
            value = slots[2 * slot + 1]
            state, at = value >> 32 & _STATE, at + 1
            if value < 0:
                at += word
            row, end = (value & _LOW) * width, (value & _LOW) * width + width
            to = total
            while row < end:
                sums[to] += rows[row]
                sums[to + 1] += rows[row + 1]
                sums[to + 2] += rows[row + 2]
                sums[to + 3] += rows[row + 3]
                row, to = row + 4, to + 4
        states[one] = state
        stream, at = stream + 1, past
    return 0
