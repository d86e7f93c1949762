"""Supply of instruction words to one IGC: a path of a rate, a FIFO, and a memory for routines and loops.

The sender knows the order of execution, which depends on no data, and sends the words in that order, as early as there
is room; nothing is there when a run begins. A word that passes through the FIFO leaves it when its instruction begins,
and the word that takes its place is sent after that. A piece (`words.py`) that the memory can hold is sent as a whole
when it comes first, and stays until room is wanted: the pieces used longest ago then go, after the begin of their last
instruction. A piece that is larger than the memory passes through the FIFO each time. Each IGC has a path of its own.

Time on the path is counted in shares of a cycle, so that a rate need not be a whole number of cycles a word.
"""

from __future__ import annotations

from collections import deque

from pixelflow.config import NodeConfig
from pixelflow.node.run.costs.words import WORD_BYTES, ProgramWords
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.snapshot import Snapshot

__all__ = ["Supply"]


class _Held:
    """A piece in the memory: when its first word was sent, and when its last instruction began."""

    __slots__ = ("last", "sent", "settled")

    def __init__(self, sent: int, settled: int, last: int) -> None:
        self.sent = sent
        """In shares of a cycle."""
        self.settled = settled
        """The cycle in which all of it is there."""
        self.last = last


class Supply:
    """What has been sent to an IGC, and what it holds."""

    def __init__(self, words: ProgramWords, config: NodeConfig) -> None:
        """Raises MachineFault where the FIFO is too small for an instruction, which begins when all of it is there."""
        longest = max(words.each, default=0)
        if longest > config.igc.fifo_words:
            raise MachineFault(
                f"an instruction of {longest} words needs a FIFO of as many: igc.fifo_words is {config.igc.fifo_words}"
            )
        self._words = words
        self._config = config
        self._rate = config.igc.supply
        self._word = WORD_BYTES * config.clock_mhz
        """Shares of a cycle that a word takes, where a cycle has as many shares as the rate has MB/s."""
        self._fifo = config.igc.fifo_words
        self._memory = config.igc.memory_words
        self._path = 0
        """When the last word had been sent, in shares."""
        self._left: deque[int] = deque()
        """The cycles in which the last words left the FIFO, at most as many as it holds."""
        self._held: dict[int, _Held] = {}
        """Pieces in the memory, that used longest ago first."""
        self._room = config.igc.memory_words
        self.delivered = 0
        """Words sent so far."""
        self.ready = False
        """Whether the words of the next instruction were taken already, for one that must wait to begin."""

    def take(self, index: int, cycle: int) -> int:
        """Return the cycle in which an instruction that could begin in ``cycle`` does begin; its words are used."""
        words = self._words.each[index]
        if not words:
            return cycle
        number = self._words.piece_of[index]
        if number < 0 or self._words.pieces[number].words > self._memory:
            return self._through_fifo(words, cycle)
        held = self._use(number)
        if held.settled > cycle:
            begins = -(-(held.sent + self._words.within[index] * self._word) // self._rate)
            cycle = max(cycle, begins)
        held.last = cycle
        return cycle

    def has(self, first: int, end: int, cycle: int) -> bool:
        """Return whether instructions ``first`` to ``end - 1`` are all there."""
        number = self._words.piece_of[first]
        held = self._held.get(number)
        return held is not None and held.settled <= cycle and self._words.piece_of[end - 1] == number

    def pass_over(self, index: int, cycle: int) -> None:
        """Note that instructions which are all there were executed, the last of which began in ``cycle``."""
        self._use(self._words.piece_of[index]).last = cycle

    def _through_fifo(self, words: int, cycle: int) -> int:
        left = self._left
        for sent in range(words):
            # Words of this instruction that were sent before lie in the FIFO too, until it begins.
            room = left.popleft() * self._rate if len(left) + sent >= self._fifo else 0
            self._path = max(self._path, room) + self._word
        self.delivered += words
        cycle = max(cycle, -(-self._path // self._rate))
        left.extend([cycle] * words)
        return cycle

    def _use(self, number: int) -> _Held:
        """Return a piece, which was used last from now on; it is sent where it is not there."""
        held = self._held.pop(number, None)
        if held is None:
            words, free = self._words.pieces[number].words, 0
            while self._room < words:
                gone = next(iter(self._held))
                free = max(free, self._held.pop(gone).last)
                self._room += self._words.pieces[gone].words
            self._room -= words
            sent = max(self._path, free * self._rate)
            self._path = sent + words * self._word
            self.delivered += words
            held = _Held(sent, -(-self._path // self._rate), 0)
        self._held[number] = held
        return held

    def another(self) -> Supply:
        """Return the supply of another run of the program on the same node."""
        return Supply(self._words, self._config)

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return all that changes, as numbers, lists and dicts."""
        return {
            "path": self._path,
            "left": list(self._left),
            "held": [[number, held.sent, held.settled, held.last] for number, held in self._held.items()],
            "delivered": self.delivered,
            "ready": self.ready,
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of the supply of the same program."""
        self._path, self._left = snapshot["path"], deque(snapshot["left"])
        self._held = {number: _Held(*times) for number, *times in snapshot["held"]}
        self._room = self._memory - sum(self._words.pieces[number].words for number in self._held)
        self.delivered, self.ready = snapshot["delivered"], snapshot["ready"]
