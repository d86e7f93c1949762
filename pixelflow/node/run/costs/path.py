"""A path of instruction words, from where they are sent to the IGCs that it feeds: one each, or one for both.

Words go one after the other. The next is that of the IGC that has room for its own first; where both have had room
since the path was free, they take turns, and the EIGC has the first turn. What an IGC has room for is known up to the
present alone where there are two, since what one of them gets decides when the other goes on: a word whose turn comes
in the present or later is not sent yet.

Time on the path is counted in shares of a cycle, so that a rate need not be a whole number of cycles a word: a cycle
has as many shares as the rate has MB/s.
"""

from __future__ import annotations

from typing import Protocol

from pixelflow.config import NodeConfig
from pixelflow.node.run.costs.words import WORD_BYTES
from pixelflow.simd.snapshot import Snapshot

__all__ = ["SupplyPath", "WordSink"]


class WordSink(Protocol):
    """An IGC as its path sees it."""

    def ready_from(self) -> int | None:
        """Return the cycle from which on there is room for its next word; None where that is not known."""

    def receive(self, end: int) -> None:
        """Get the next word, all of which is there at ``end``, in shares of a cycle."""


class SupplyPath:
    """A path of a rate, and the IGCs that it feeds."""

    def __init__(self, config: NodeConfig, present: int | None = None) -> None:
        """``present`` is the cycle before which all is known; None where one IGC alone is fed, which needs none."""
        self.rate = config.igc.supply
        self._word = WORD_BYTES * config.clock_mhz
        """Shares of a cycle that a word takes."""
        self._present = present
        self._sinks: list[WordSink] = []
        self._free = 0
        """When the last word had been sent, in shares."""
        self._served = -1
        """Which IGC got it."""

    def feed(self, sink: WordSink) -> None:
        """Feed one more IGC."""
        self._sinks.append(sink)

    @property
    def joint(self) -> bool:
        """Whether it is one path for several IGCs."""
        return self._present is not None

    def advance(self, cycle: int) -> None:
        """Note that whatever begins before a cycle has begun."""
        if self._present is not None:
            self._present = max(self._present, cycle)

    def catch_up(self) -> None:
        """Send all words whose turn has come before the present; for two IGCs."""
        while self.joint and self.send():
            pass

    def send(self) -> bool:
        """Send the next word; return whether it is known which that is."""
        count, chosen, start = len(self._sinks), -1, 0
        for turn in range(1, count + 1):
            number = (self._served + turn) % count
            ready = self._sinks[number].ready_from()
            if ready is not None:
                ready = max(self._free, ready * self.rate)
                if chosen < 0 or ready < start:
                    chosen, start = number, ready
        if chosen < 0 or (self._present is not None and start >= self._present * self.rate):
            return False
        self._served, self._free = chosen, start + self._word
        self._sinks[chosen].receive(self._free)
        return True

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return all that changes."""
        return {"free": self._free, "served": self._served, "present": self._present}

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of a path of the same kind."""
        self._free, self._served, self._present = snapshot["free"], snapshot["served"], snapshot["present"]
