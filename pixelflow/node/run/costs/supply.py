"""Supply of instruction words to one IGC: a path of a rate, a FIFO, and a memory for routines and loops.

The sender knows the order of execution, which depends on no data, and sends the words in that order, as early as there
is room; nothing is there when a run begins. A word that passes through the FIFO leaves it when its instruction begins,
and the word that takes its place is sent after that. A piece (`words.py`) that the memory can hold is sent as a whole
when it comes first, and stays until room is wanted: the pieces used longest ago then go, after the begin of their last
instruction. A piece that is larger than the memory passes through the FIFO each time. Without prefetch, nothing is sent
before the IGC comes to the instruction that wants it. Each IGC has a path of its own, or
both have one (`path.py`); the sender then must know what comes after what an IGC executes (`WordsAhead`).
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.node.run.costs.path import SupplyPath
from pixelflow.node.run.costs.words import ProgramWords, words_of
from pixelflow.simd.errors import InternalError, MachineFault
from pixelflow.simd.snapshot import Snapshot

__all__ = ["Supply", "WordTimes", "WordsAhead", "supplies"]


class WordsAhead(Protocol):
    """The order of execution beyond what an IGC has come to."""

    def more(self) -> bool:
        """Go on by at least an instruction, each of which is ordered; return False where there is none."""

    def snapshot(self) -> Snapshot:
        """Return how far it has come."""

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot."""


class WordTimes(Protocol):
    """What a stream asks of whatever brings its words."""

    ready: bool

    @property
    def joint(self) -> bool:
        """Whether it may not be known yet when words come."""

    @property
    def delivered(self) -> int:
        """Words ordered so far."""

    def advance(self, cycle: int) -> None:
        """Note that whatever begins before a cycle has begun."""

    def take(self, index: int, cycle: int) -> int | None:
        """Return when an instruction that could begin in ``cycle`` does begin, None where that is not known yet."""

    def has(self, first: int, end: int, cycle: int) -> bool:
        """Return whether instructions ``first`` to ``end - 1``, the next ones, are all there."""

    def pass_over(self, first: int, end: int, cycle: int) -> None:
        """Note that they were executed, the last of which began in ``cycle``."""

    def another(self) -> WordTimes:
        """Return one for a copy of the stream."""

    def snapshot(self) -> Snapshot:
        """Return all that changes."""

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot."""


class _Held:
    """A piece in the memory, or on its way there."""

    __slots__ = ("begun", "ends", "last", "number", "used")

    def __init__(self, number: int, begun: int) -> None:
        self.number = number
        self.begun = begun
        """Which instruction in the order of execution was its first."""
        self.used = begun
        """Which was its last so far."""
        self.ends: list[int] = []
        """When each of its words that were sent is there, in shares of a cycle."""
        self.last = 0
        """The cycle in which its last instruction began."""


class _Sending:
    """What is to be sent next as a whole: the words of an instruction, or a piece."""

    __slots__ = ("begun", "held", "position", "victims", "words")

    def __init__(self, position: int, words: int, held: _Held | None = None, victims: tuple[_Held, ...] = ()) -> None:
        self.position = position
        """Of the instruction that wants it, in the order of execution."""
        self.words = words
        """That have not been sent yet."""
        self.begun = False
        """Whether one has been."""
        self.held = held
        self.victims = victims
        """Pieces that go before it comes."""


class Supply:
    """What has been sent to an IGC, and what it holds."""

    def __init__(self, words: ProgramWords, config: NodeConfig, path: SupplyPath | None = None) -> None:
        """Without a path it has one of its own.

        Raises MachineFault where the FIFO is too small for an instruction, which begins when all of it is there.
        """
        longest = max(words.each, default=0)
        if longest > config.igc.fifo_words:
            raise MachineFault(
                f"an instruction of {longest} words needs a FIFO of as many: igc.fifo_words is {config.igc.fifo_words}"
            )
        self._words = words
        self._config = config
        self.path = SupplyPath(config) if path is None else path
        self.path.feed(self)
        self.ahead: WordsAhead | None = None
        """What tells the sender the order of execution; without it, the order comes as it is executed."""
        self._rate = config.igc.supply
        self._fifo = config.igc.fifo_words
        self._memory = config.igc.memory_words
        self._prefetch = config.igc.prefetch
        self._asking, self._asked = -1, 0
        """The instruction that the IGC asked for last, and the cycle in which it could begin."""
        self._ordered = self._taken = 0
        """How many instructions the sender knows of, and how many have begun."""
        self._sending: deque[_Sending] = deque()
        self._arrived: deque[int] = deque()
        """When the words of instructions in the FIFO are all there, in shares of a cycle."""
        self._inside = 0
        """Places of the FIFO that have been taken so far."""
        self._left: deque[int] = deque()
        """The cycles in which words left the FIFO whose places have not been taken again, once all have been."""
        self._kept: dict[int, _Held] = {}
        """Pieces in the memory as the sender sees it, that used longest ago first."""
        self._there: dict[int, deque[_Held]] = {}
        """The same as the IGC sees it: a piece that goes and comes again is there more than once."""
        self._room = config.igc.memory_words
        self.delivered = 0
        """Words ordered so far."""
        self.ready = False
        """Whether the words of the next instruction were taken already, for one that must wait to begin."""

    @property
    def joint(self) -> bool:
        """Whether its path feeds another IGC too, so that it may not be known yet when words come."""
        return self.path.joint

    def advance(self, cycle: int) -> None:
        """Note that whatever begins before a cycle, in all streams that the path feeds, has begun."""
        self.path.advance(cycle)

    def settle(self, cycle: int) -> None:
        """Send what is to be sent before a cycle, so that a state depends on no way on which it was reached."""
        self.path.advance(cycle)
        self.path.catch_up()

    # --- the sender's end ----------------------------------------------------------------------------------------

    def order(self, index: int) -> None:
        """Have the words of the next instruction in the order of execution sent, where they are not there."""
        words, number = self._words.each[index], self._words.piece_of[index]
        if words and (number < 0 or self._words.pieces[number].words > self._memory):
            self._sending.append(_Sending(self._ordered, words))
            self.delivered += words
        elif words:
            self._keep(number).used = self._ordered
        self._ordered += 1

    def holds(self, first: int, end: int) -> bool:
        """Return whether instructions ``first`` to ``end - 1`` are in one piece that the sender need not send."""
        number = self._words.piece_of[first]
        return number in self._kept and self._words.piece_of[end - 1] == number

    def order_held(self, first: int, end: int) -> None:
        """Note that instructions of one piece that need not be sent come next."""
        self._ordered += end - first
        self._keep(self._words.piece_of[first]).used = self._ordered - 1

    def _keep(self, number: int) -> _Held:
        """Return a piece, which was used last from now on; it is sent where it is not there."""
        held = self._kept.pop(number, None)
        if held is None:
            words, victims = self._words.pieces[number].words, []
            while self._room < words:
                gone = next(iter(self._kept))
                victims.append(self._kept.pop(gone))
                self._room += self._words.pieces[gone].words
            self._room -= words
            held = _Held(number, self._ordered)
            self._sending.append(_Sending(self._ordered, words, held, tuple(victims)))
            self._there.setdefault(number, deque()).append(held)
            self.delivered += words
        self._kept[number] = held
        return held

    def ready_from(self) -> int | None:
        """Return the cycle from which on there is room for the next word; None where that is not known."""
        while not self._sending:
            if self.ahead is None or not self.ahead.more():
                return None
        following = self._sending[0]
        if not self._prefetch:
            if following.position > self._asking:
                return None
            return 0 if following.begun else self._asked
        if following.held is None:
            if self._inside < self._fifo:
                return 0
            return self._left[0] if self._left else None
        if any(each.used >= self._taken for each in following.victims):
            return None
        return max((each.last for each in following.victims), default=0)

    def receive(self, end: int) -> None:
        """Get the next word, all of which is there at ``end``, in shares of a cycle."""
        following = self._sending[0]
        following.words -= 1
        following.begun = True
        if following.held is not None:
            following.held.ends.append(end)
        elif self._inside < self._fifo:
            self._inside += 1
        elif self._left:
            self._left.popleft()
        if not following.words:
            self._sending.popleft()
            if following.held is None:
                self._arrived.append(end)

    # --- the IGC's end -------------------------------------------------------------------------------------------

    def take(self, index: int, cycle: int) -> int | None:
        """Return the cycle in which an instruction that could begin in ``cycle`` does begin; its words are used.

        None where that is not known yet: ask again later.
        """
        self._asking, self._asked = self._taken, cycle
        while self._taken == self._ordered and self.ahead is not None and self.ahead.more():
            pass
        if self._taken == self._ordered:
            self.order(index)
        words, number = self._words.each[index], self._words.piece_of[index]
        if words and (number < 0 or self._words.pieces[number].words > self._memory):
            while not self._arrived:
                if not self._send():
                    return None
            cycle = max(cycle, -(-self._arrived.popleft() // self._rate))
            self._left.extend([cycle] * words)
        elif words:
            held, within = self._here(number), self._words.within[index]
            while len(held.ends) < within:
                if not self._send():
                    return None
            cycle = held.last = max(cycle, -(-held.ends[within - 1] // self._rate))
        self._taken += 1
        return cycle

    def _send(self) -> bool:
        """Send the next word, where it is known which that is; always, on a path for this IGC alone."""
        known = self.path.send()
        if not known and not self.joint:
            raise InternalError(f"instruction {self._taken} in the order of execution: its words are never sent")
        return known

    def has(self, first: int, end: int, cycle: int) -> bool:
        """Return whether instructions ``first`` to ``end - 1``, the next ones, are all there, in one piece."""
        number = self._words.piece_of[first]
        if number < 0 or self._words.piece_of[end - 1] != number:
            return False
        while self.ahead is not None and self._ordered < self._taken + end - first:
            if not self.ahead.more():
                return False
        if self._taken == self._ordered:
            held = self._kept.get(number)
        elif self._ordered < self._taken + end - first or number not in self._there:
            return False
        else:
            held = self._here(number)
        if held is None or len(held.ends) < self._words.pieces[number].words:
            return False
        return held.ends[-1] <= cycle * self._rate

    def pass_over(self, first: int, end: int, cycle: int) -> None:
        """Note that instructions which are all there were executed, the last of which began in ``cycle``."""
        if self._taken == self._ordered:
            self.order_held(first, end)
        self._here(self._words.piece_of[first]).last = cycle
        self._taken += end - first

    def _here(self, number: int) -> _Held:
        there = self._there[number]
        while len(there) > 1 and there[1].begun <= self._taken:
            there.popleft()
        return there[0]

    def another(self) -> Supply:
        """Return the supply of a run of the same program that begins alone; one of two knows what it has got alone."""
        path = SupplyPath(self._config, 0) if self.path.joint else None
        return Supply(self._words, self._config, path)

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return all that changes, as numbers, lists and dicts."""
        pieces: list[_Held] = []
        for each in (*self._kept.values(), *(held for queue in self._there.values() for held in queue)):
            if each not in pieces:
                pieces.append(each)
        for sending in self._sending:
            pieces += [each for each in sending.victims if each not in pieces]
        at = {id(each): number for number, each in enumerate(pieces)}
        return {
            "path": self.path.snapshot(),
            "pieces": [[each.number, each.begun, each.used, list(each.ends), each.last] for each in pieces],
            "kept": [at[id(each)] for each in self._kept.values()],
            "there": [[at[id(each)] for each in queue] for queue in self._there.values()],
            "sending": [
                [one.position, one.words, one.begun, *(at[id(each)] for each in (one.held, *one.victims) if each)]
                for one in self._sending
            ],
            "counts": [self._ordered, self._taken, self._asking, self._asked, self._inside, self.delivered],
            "arrived": list(self._arrived),
            "left": list(self._left),
            "ready": self.ready,
            **({} if self.ahead is None else {"ahead": self.ahead.snapshot()}),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of the supply of the same program."""
        pieces: list[_Held] = []
        for number, begun, used, ends, last in snapshot["pieces"]:
            held = _Held(number, begun)
            held.used, held.ends, held.last = used, list(ends), last
            pieces.append(held)
        self.path.restore(snapshot["path"])
        self._kept = {pieces[at].number: pieces[at] for at in snapshot["kept"]}
        self._there = {pieces[queue[0]].number: deque(pieces[at] for at in queue) for queue in snapshot["there"]}
        self._sending = deque()
        for position, words, begun, *held in snapshot["sending"]:
            piece, *victims = [pieces[at] for at in held] or [None]
            self._sending.append(_Sending(position, words, piece, tuple(victims)))
            self._sending[-1].begun = begun
        self._ordered, self._taken, self._asking, self._asked, self._inside, self.delivered = snapshot["counts"]
        self._room = self._memory - sum(self._words.pieces[number].words for number in self._kept)
        self._arrived, self._left = deque(snapshot["arrived"]), deque(snapshot["left"])
        self.ready = snapshot["ready"]
        if self.ahead is not None:
            self.ahead.restore(snapshot["ahead"])


def supplies(program: Program, config: NodeConfig, count: int) -> list[Supply] | list[None]:
    """Return the supply of each of ``count`` IGCs that run a program; None each where the words are there at once."""
    if not config.igc.supply:
        return [None] * count
    shared = SupplyPath(config, 0) if config.igc.shared_supply and count > 1 else None
    return [Supply(words_of(program), config, shared) for _ in range(count)]
