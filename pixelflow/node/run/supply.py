"""Costs of instructions beyond their declared steps: abilities that a machine lacks, and words on their way."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import mul
from typing import NamedTuple, Protocol

from pixelflow.config import ExtraConfig, NodeConfig
from pixelflow.isa import Family, Instruction, Mem, Program, Register
from pixelflow.isa.control import ENDL, LOOP, MARK
from pixelflow.simd.errors import InternalError, MachineFault
from pixelflow.simd.units import Snapshot

# Words of a program as an IGC receives them: the number of each instruction, and the pieces that its memory can hold.
#
# A *piece* is a unit of an IGC's memory: a routine, or the outermost loop of code outside of routines. Everything else
# passes through the FIFO each time it is executed. MARK, which is for reports alone, has no words.


WORD_BYTES = 4


class Piece(NamedTuple):
    """Instructions ``first`` to ``end - 1``, which an IGC's memory holds together."""

    first: int
    end: int
    words: int


class ProgramWords:
    """The words of a program's instructions, and its pieces."""

    def __init__(self, program: Program) -> None:
        """Raises MachineFault where a LOOP has no end."""
        by_kind = program.by_kind
        self.of_kinds = [0 if each.declaration is MARK else each.words for each in by_kind.kinds]
        """Words of an instruction of each kind."""
        self.each = array("I", by_kind.spread(self.of_kinds))
        """Words of each instruction."""
        self.pieces: list[Piece] = []
        self.piece_of = array("i", [-1]) * len(self.each)
        """The piece of each instruction, -1 for none."""
        self.within = array("I", [0]) * len(self.each)
        """Words of its piece up to the end of each instruction."""
        for routine in program.routines:
            first, end = by_kind.position(routine.entry), by_kind.position(routine.end)
            end = len(by_kind) if routine.end == len(program.words) else end
            if first is not None and end is not None and first < end:
                self._add(first, end)
        for first, last in sorted(loops_of(program).items()):
            if self.piece_of[first] < 0:
                self._add(first, last + 1)

    def _add(self, first: int, end: int) -> None:
        total = 0
        for index in range(first, end):
            total += self.each[index]
            self.piece_of[index], self.within[index] = len(self.pieces), total
        self.pieces.append(Piece(first, end, total))

    def executed(self, times: Sequence[int]) -> int:
        """Return the words of all executed instructions, repeats included, from the executions of each kind."""
        return sum(map(mul, times, self.of_kinds))

    def repeated(self, executed: Sequence[int]) -> int:
        """Return how many of them are not delivered where every piece is delivered once, with unlimited memory."""
        inside = [slice(piece.first, piece.end) for piece in self.pieces if any(executed[piece.first : piece.end])]
        return sum(sum(map(mul, executed[part], self.each[part])) - sum(self.each[part]) for part in inside)


def words_of(program: Program) -> ProgramWords:
    """Return the words of a program, counted once and kept with it."""
    if "words" not in program.analyses:
        program.analyses["words"] = ProgramWords(program)
    words: ProgramWords = program.analyses["words"]
    return words


def loops_of(program: Program) -> dict[int, int]:
    """Return the position of the ENDL of every LOOP; raises MachineFault where one is missing."""
    open_loops: list[int] = []
    ends: dict[int, int] = {}
    for index, declaration in program.by_kind.places_of(LOOP, ENDL):
        if declaration is LOOP:
            open_loops.append(index)
        else:
            if not open_loops:
                raise MachineFault(f"{program.where(index)}: ENDL without LOOP")
            ends[open_loops.pop()] = index
    if open_loops:
        raise MachineFault(f"{program.where(open_loops[-1])}: LOOP without ENDL")
    return ends


# A path of instruction words from their sender to the IGCs: one for each IGC, or one for both.
#
# Words are sent one after the other. The next one is for the IGC that first has room; where both have had room since
# the path was free, they alternate, beginning with the EIGC. With two IGCs, room is known up to the present only, since
# the words of one determine when the other continues: a word whose turn is in the present or later is not sent yet.
#
# Time on the path is counted in shares of a cycle, so that a rate need not be a whole number of cycles a word: a cycle
# has as many shares as the rate has MB/s.


class WordSink(Protocol):
    """An IGC as its path sees it."""

    def ready_from(self) -> int | None:
        """Return the first cycle with room for its next word; None where that is not known."""

    def receive(self, end: int) -> None:
        """Take the next word, complete at ``end``, in shares of a cycle."""


class SupplyPath:
    """A path of a rate, and the IGCs that it feeds."""

    def __init__(self, config: NodeConfig, present: int | None = None) -> None:
        """``present`` is the cycle before which everything is known; None where only one IGC is fed."""
        self.rate = config.igc.supply
        self._word = WORD_BYTES * config.clock_mhz
        """Shares of a cycle that a word takes."""
        self._present = present
        self._sinks: list[WordSink] = []
        self._free = 0
        """The time at which the last word was sent, in shares."""
        self._served = -1
        """The IGC that received it."""

    def feed(self, sink: WordSink) -> None:
        """Add an IGC."""
        self._sinks.append(sink)

    @property
    def joint(self) -> bool:
        """True if the path feeds several IGCs."""
        return self._present is not None

    def advance(self, cycle: int) -> None:
        """Move the present to a cycle."""
        if self._present is not None:
            self._present = max(self._present, cycle)

    def catch_up(self) -> None:
        """Send all words whose turn is before the present; for two IGCs."""
        while self.joint and self.send():
            pass

    def send(self) -> bool:
        """Send the next word; return False where it is not known yet."""
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
        return {"free": self._free, "served": self._served, "present": self._present}

    def restore(self, snapshot: Snapshot) -> None:
        self._free, self._served, self._present = snapshot["free"], snapshot["served"], snapshot["present"]


# Supply of instruction words to one IGC: a path of a rate, a FIFO, and a memory for routines and loops.
#
# The sender knows the order of execution, which does not depend on data, and sends the words in that order as early as
# there is room; FIFO and memory are empty when a run begins. A word that passes through the FIFO leaves it when its
# instruction begins, and the word that takes its place is sent after that. A piece that fits the memory is sent as a
# whole before its first execution, and stays until its room is needed: the least recently used pieces are evicted,
# after the begin of their last instruction. A larger piece passes through the FIFO each time. Without prefetch, nothing
# is sent before the IGC reaches the instruction that needs it. Each IGC has a separate path, or both share one; the
# sender then must know the instructions after the current one (`WordsAhead`).


class WordsAhead(Protocol):
    """The order of execution beyond the position of an IGC."""

    def more(self) -> bool:
        """Order the words of at least one more instruction; return False where there is none."""

    def snapshot(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> None: ...


class WordTimes(Protocol):
    """A supply of words as a stream sees it; `Supply` has the contract of each method."""

    ready: bool

    @property
    def joint(self) -> bool: ...
    @property
    def delivered(self) -> int: ...
    def advance(self, cycle: int) -> None: ...
    def take(self, index: int, cycle: int) -> int | None: ...
    def has(self, first: int, end: int, cycle: int) -> bool: ...
    def pass_over(self, first: int, end: int, cycle: int) -> None: ...
    def another(self) -> WordTimes: ...
    def snapshot(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> None: ...


@dataclass(slots=True, eq=False)
class _Held:
    """A piece in the memory, or on its way there."""

    number: int
    begun: int
    """The position of its first instruction in the order of execution."""
    used: int
    """The position of its last instruction so far."""
    ends: list[int] = field(default_factory=list)
    """The arrival of each of its words that were sent, in shares of a cycle."""
    last: int = 0
    """The cycle in which its last instruction began."""


@dataclass(slots=True, eq=False)
class _Sending:
    """A unit to be sent: the words of an instruction, or a piece."""

    position: int
    """The position in the order of execution of the instruction that needs it."""
    words: int
    """Words not sent yet."""
    held: _Held | None = None
    victims: tuple[_Held, ...] = ()
    """Pieces evicted for it."""
    begun: bool = False
    """True if a word was sent."""


class Supply:
    """The words sent to an IGC, and its FIFO and memory."""

    def __init__(self, words: ProgramWords, config: NodeConfig, path: SupplyPath | None = None) -> None:
        """Without ``path`` it has a separate one.
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
        """The order of execution for the sender; without it, words are ordered as they are executed."""
        self._rate = config.igc.supply
        self._fifo = config.igc.fifo_words
        self._memory = config.igc.memory_words
        self._prefetch = config.igc.prefetch
        self._asking, self._asked = -1, 0
        """The last instruction requested by the IGC, and the cycle in which it could begin."""
        self._ordered = self._taken = 0
        """The number of instructions known to the sender, and of those that have begun."""
        self._sending: deque[_Sending] = deque()
        self._arrived: deque[int] = deque()
        """The arrival of the last word of each instruction in the FIFO, in shares of a cycle."""
        self._inside = 0
        """Places of the FIFO used so far."""
        self._left: deque[int] = deque()
        """The cycles in which words left the FIFO, whose places are free again."""
        self._kept: dict[int, _Held] = {}
        """Pieces in the memory as the sender sees it, least recently used first."""
        self._there: dict[int, deque[_Held]] = {}
        """The same as the IGC sees it: an evicted piece that was sent again is listed more than once."""
        self._room = config.igc.memory_words
        self.delivered = 0
        """Words ordered so far."""
        self.ready = False
        """True if the words of the next instruction were taken already, and it waits for something else."""

    @property
    def joint(self) -> bool:
        """True if its path feeds another IGC too, so that the arrival of words may not be known yet."""
        return self.path.joint

    def advance(self, cycle: int) -> None:
        """Note that everything before a cycle has begun, in all streams that the path feeds."""
        self.path.advance(cycle)

    def settle(self, cycle: int) -> None:
        """Send all words due before a cycle, so that the state does not depend on how the cycle was reached."""
        self.path.advance(cycle)
        self.path.catch_up()

    # --- the sender's end ----------------------------------------------------------------------------------------

    def order(self, index: int) -> None:
        """Order the words of the next instruction in the order of execution, unless they are there."""
        words, number = self._words.each[index], self._words.piece_of[index]
        if words and (number < 0 or self._words.pieces[number].words > self._memory):
            self._sending.append(_Sending(self._ordered, words))
            self.delivered += words
        elif words:
            self._keep(number).used = self._ordered
        self._ordered += 1

    def holds(self, first: int, end: int) -> bool:
        """Return whether instructions ``first`` to ``end - 1`` are in one piece in the memory."""
        number = self._words.piece_of[first]
        return number in self._kept and self._words.piece_of[end - 1] == number

    def order_held(self, first: int, end: int) -> None:
        """Order instructions of one piece in the memory."""
        self._ordered += end - first
        self._keep(self._words.piece_of[first]).used = self._ordered - 1

    def _keep(self, number: int) -> _Held:
        """Return a piece as the most recently used one; order it where it is not there."""
        held = self._kept.pop(number, None)
        if held is None:
            words, victims = self._words.pieces[number].words, []
            while self._room < words:
                gone = next(iter(self._kept))
                victims.append(self._kept.pop(gone))
                self._room += self._words.pieces[gone].words
            self._room -= words
            held = _Held(number, self._ordered, self._ordered)
            self._sending.append(_Sending(self._ordered, words, held, tuple(victims)))
            self._there.setdefault(number, deque()).append(held)
            self.delivered += words
        self._kept[number] = held
        return held

    def ready_from(self) -> int | None:
        """Return the first cycle with room for the next word; None where that is not known."""
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
        """Take the next word, complete at ``end``, in shares of a cycle."""
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
        """Use the words of an instruction that could begin in ``cycle``; return the cycle in which it begins.

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
        """Send the next word; return False where it is not known yet, which only happens on a joint path."""
        known = self.path.send()
        if not known and not self.joint:
            raise InternalError(f"instruction {self._taken} in the order of execution: its words are never sent")
        return known

    def has(self, first: int, end: int, cycle: int) -> bool:
        """Return whether the next instructions, ``first`` to ``end - 1``, are all there, in one piece."""
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
        """Note the execution of instructions that were all there; the last one began in ``cycle``."""
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
        """Return an empty supply for a copy of the stream."""
        path = SupplyPath(self._config, 0) if self.path.joint else None
        return Supply(self._words, self._config, path)

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the mutable state, as numbers, lists and dicts."""
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
        """Continue from a snapshot of the supply of the same program."""
        pieces = [_Held(n, begun, used, list(ends), last) for n, begun, used, ends, last in snapshot["pieces"]]
        self.path.restore(snapshot["path"])
        self._kept = {pieces[at].number: pieces[at] for at in snapshot["kept"]}
        self._there = {pieces[queue[0]].number: deque(pieces[at] for at in queue) for queue in snapshot["there"]}
        self._sending = deque()
        for position, words, begun, *held in snapshot["sending"]:
            piece, *victims = [pieces[at] for at in held] or [None]
            self._sending.append(_Sending(position, words, piece, tuple(victims), begun))
        self._ordered, self._taken, self._asking, self._asked, self._inside, self.delivered = snapshot["counts"]
        self._room = self._memory - sum(self._words.pieces[number].words for number in self._kept)
        self._arrived, self._left = deque(snapshot["arrived"]), deque(snapshot["left"])
        self.ready = snapshot["ready"]
        if self.ahead is not None:
            self.ahead.restore(snapshot["ahead"])


def supplies(program: Program, config: NodeConfig, count: int) -> list[Supply] | list[None]:
    """Return the supply of each of ``count`` IGCs of a program; None each where words are there at once."""
    if not config.igc.supply:
        return [None] * count
    shared = SupplyPath(config, 0) if config.igc.shared_supply and count > 1 else None
    return [Supply(words_of(program), config, shared) for _ in range(count)]


# Cycles of an instruction beyond its declared steps, on a machine that lacks an ability (`config.extra`).
#
# Each rule is the lowering of a fused instruction into the shortest sequence without the ability that has the same
# meaning, so only the time differs. A library rewritten for such a machine might avoid part of it; the count is for the
# unchanged program.


_COMPARES = ("CMP", "CMPC")
_OPERATIONS = (Family.ARITHMETIC, Family.LOGIC)


class ExtraRule(NamedTuple):
    """The instructions to which a value of `config.extra` is added."""

    name: str
    """The name of the value in the section."""
    holds: Callable[[Instruction], bool]


def _from_memory(instruction: Instruction) -> bool:
    return any(isinstance(operand, Mem) for operand in instruction.operands)


def _in_family(*families: Family) -> Callable[[Instruction], bool]:
    return lambda instruction: instruction.declaration.family in families


def _called(*mnemonics: str) -> Callable[[Instruction], bool]:
    return lambda instruction: instruction.declaration.mnemonic in mnemonics


def _memory_operand(instruction: Instruction) -> bool:
    return instruction.declaration.family in _OPERATIONS and _from_memory(instruction)


def _memory_shift(instruction: Instruction) -> bool:
    return instruction.declaration.family is Family.SHIFT and _from_memory(instruction)


def _other_result(instruction: Instruction) -> bool:
    declaration = instruction.declaration
    if declaration.family not in (*_OPERATIONS, Family.SHIFT) or declaration.mnemonic in _COMPARES:
        return False
    return bool(instruction.operands) and instruction.operands[0] in (Register.S, Register.M)


EXTRA_RULES = (
    ExtraRule("memory_operand", _memory_operand),
    ExtraRule("memory_shift", _memory_shift),
    ExtraRule("gated_write", lambda instruction: instruction.gated),
    ExtraRule("other_result", _other_result),
    ExtraRule("store_immediate", _called("STI")),
    ExtraRule("store_enable", _called("STE")),
    ExtraRule("pair_shift", _called("SHLP", "SHRP")),
    ExtraRule("multiply_step", _in_family(Family.MULTIPLY)),
    ExtraRule("enable", lambda instruction: instruction.declaration.family is Family.ENABLE),
    ExtraRule("start", _in_family(Family.STARTUP)),
    ExtraRule("lee_start", _in_family(Family.LEE)),
    ExtraRule("copy_start", _in_family(Family.PIXEL_COPY)),
)
"""The rules, in the order of the section."""


def cycles_of(instructions: Sequence[Instruction], declared: Sequence[int], extra: ExtraConfig) -> Sequence[int]:
    """Return the cycles of each instruction: the declared ones, and those of every rule that holds, never below 0."""
    used = [(rule.holds, cycles) for rule in EXTRA_RULES if (cycles := getattr(extra, rule.name))]
    if not used:
        return declared
    more = {id(each): sum(cycles for holds, cycles in used if holds(each)) for each in instructions}
    return [max(0, cycles + more[id(each)]) for each, cycles in zip(instructions, declared, strict=True)]
