"""Repeated runs: a program that was run before on the same node is done again from its score.

Each transfer's commands are compared with those of before; where one differs, the run goes on in full from there. What
the engine offers for runs that come again (`Repeats`) makes reads that ask for the same cheap, and whole runs in which
nobody need ask one piece of native code.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from pixelflow.isa import Instruction
from pixelflow.isa.registers import INPUT_PORT, OUTPUT_PORT
from pixelflow.node.parts.array.pe_array import PeArray
from pixelflow.node.parts.texture.read_cache import KeptRead, LastRound
from pixelflow.node.parts.texture.rereading import Rereading
from pixelflow.node.parts.texture.state import TextureState
from pixelflow.node.parts.texture.transfer import Transfer, TransferCommand
from pixelflow.node.parts.texture.unit import TextureUnit
from pixelflow.node.run.perform.effects import Direct
from pixelflow.node.run.perform.score import Begin, End, Lanes, Score, Settings, play
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.engine import Action, OnePiece, RepeatedRows, Repeats

__all__ = ["Again", "InOnePiece", "Repeated"]

_WORTH_ONE_PIECE = 1000
"""Repeated runs after which it pays to find out whether a run can be made in one piece."""


@dataclass(frozen=True, slots=True)
class Again:
    """A read of texture memory that was made before, and rows that are given where PEs ask for the same."""

    read: KeptRead
    registers: tuple[object, ...]
    """Of the TASICs, before it began."""
    versions: tuple[int, ...]
    """Of texture memory."""
    commands: tuple[TransferCommand, ...]
    """What the TASICs are told."""
    rows: RepeatedRows

    def is_of(self, unit: TextureUnit) -> bool:
        """Return whether all but marks and ports is as it was."""
        return unit.registers == self.registers and unit.versions == self.versions


class _Quick(Direct):
    """Effects that put actions off, and begin reads again that ask for what they asked before."""

    def __init__(self, array: PeArray, unit: TextureUnit, repeats: Repeats, known: dict[int, Again]) -> None:
        super().__init__(array, unit)
        self._repeats = repeats
        self._known = known
        """By the number of the transfer."""
        self._transfers = 0
        self._waiting: list[Action] = []
        """Actions that are not carried out yet: few long programs are carried out faster than many short ones."""
        self._given: Again | None = None
        """The read under way whose bytes wait to be given."""

    def flush(self) -> None:
        """Carry out what waits."""
        if self._waiting:
            self._array.run(self._waiting)
            self._waiting = []

    def lanes(self, actions: Sequence[Action]) -> None:
        """Put actions of the PEs off."""
        self._waiting += actions

    def configure(self, instruction: Instruction) -> None:
        """Carry out an instruction of the LEE."""
        self.flush()
        super().configure(instruction)

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer; raises MachineFault, with nothing moved."""
        unit, number = self._texture, self._transfers
        self._transfers += 1
        again = self._known.pop(number, None)
        if again is not None:
            self._waiting += again.rows.compare
        self.flush()
        alike = again is not None and again.rows.is_asked()
        if alike and again.is_of(unit):
            self._known[number] = self._given = again
            unit.begin_again(transfer, again.read)
            return again.commands
        before, moved = deepcopy(unit.registers), dict(unit.moved)
        try:
            commands = super().begin(transfer)
        except MachineFault:
            unit.moved.update(moved)
            raise
        read = unit.cached_read(transfer, new=alike)
        if read is not None:
            rows = self._renewed(again, read, before) if alike else None
            rows = rows or self._rows(read)
            if rows is not None:
                self._known[number] = Again(read, before, unit.versions, commands, rows)
        return commands

    def end(self) -> None:
        """End the transfer."""
        if self._given is not None:
            self._waiting.append(self._given.rows.place)
            self._given = None
        else:
            self.flush()
        super().end()

    @staticmethod
    def _renewed(again: Again, read: KeptRead, registers: tuple[object, ...]) -> RepeatedRows | None:
        """Return the rows of a read for other contents; None where it is another one.

        A run in one piece may have the same bytes: they must stay those of these addresses.
        """
        same = registers == again.registers
        return again.rows if same and again.rows.renew(read.blocks) else None

    def _rows(self, read: KeptRead) -> RepeatedRows | None:
        lanes = self._array.engine.shape.lanes
        asked = (("MR", read.marks_row), (OUTPUT_PORT, read.given))
        return self._repeats.rows(asked, INPUT_PORT, read.blocks, read.source_of(lanes))


@dataclass(slots=True, eq=False)
class InOnePiece:
    """A run in one piece, and what it makes of the texture unit."""

    piece: OnePiece
    before: TextureState
    fills: bool
    """Whether the last read fills all data corner turners, so that what they held before makes no difference."""
    after: TextureState
    moved: dict[str, int]
    """Bytes that go each way in it."""
    versions: tuple[int, ...]
    """Of texture memory."""
    lee: int
    """Of the registers of the LEE."""
    reads: tuple[Again, ...]
    anew: Rereading | None
    """How they are made anew, where that can be."""

    def run(self, array: PeArray, unit: TextureUnit) -> bool:
        """Make the run, where it asks for the same; else do nothing. Return whether it was made."""
        if array.lee.version != self.lee or not unit.is_as(self.before, dct=not self.fills):
            return False
        if unit.versions != self.versions and not self._read_anew(unit):
            return False
        if not self.piece.run():
            return False
        moved = {way: count + self.moved[way] for way, count in unit.moved.items()}
        unit.restore(self.after)
        unit.moved = moved
        return True

    def _read_anew(self, unit: TextureUnit) -> bool:
        """Have the ports get what stands in texture memory now; return whether that could be done."""
        if self.anew is None:
            return False
        for again, blocks in zip(self.reads, self.anew.blocks(), strict=True):
            again.rows.renew(blocks)
        read = self.reads[-1].read
        self.after.dct = LastRound.of(read.addresses, read.valid, read.data_of(blocks)).data
        self.versions = unit.versions
        return True


@dataclass(slots=True)
class Repeated:
    """A score on one node, and how it is made again quickly."""

    score: Score
    times: int = 0
    """How often it has been made again."""
    look_at: int = _WORTH_ONE_PIECE
    """How often it must have been, to look (again) whether it can be made in one piece."""
    again: dict[int, Again] = field(default_factory=dict)
    """Reads that can be begun again, by the number of their transfer."""
    whole: InOnePiece | None = None
    """How it is made in one piece, once that has been found out."""

    @classmethod
    def of(cls, score: Score, array: PeArray) -> Repeated:
        """Return a score that is ready to be made again: actions joined where the engine knows that they come again."""
        if array.repeats is not None:
            for step in score.steps:
                if isinstance(step, Lanes):
                    step.actions = [array.engine.chain(step.actions)]
        return cls(score)

    def fuse(self, repeats: Repeats) -> None:
        """Have native code made of all that is done to the lanes."""
        for step in self.score.steps:
            if isinstance(step, Lanes):
                for action in step.actions:
                    repeats.fuse(action)
        self.look_at = self.times + 1

    def play(self, array: PeArray, unit: TextureUnit) -> int | None:
        """Make the run again; return what `score.play` does."""
        self.times += 1
        if self.whole is not None and self.whole.run(array, unit):
            return None
        before = unit.snapshot() if self.times >= self.look_at else None
        effects = _Quick(array, unit, array.repeats, self.again)
        done = play(self.score, effects)
        effects.flush()
        if done is None and before is not None:
            self.whole = self._in_one_piece(array, unit, before)
            self.look_at *= 2
        return done

    def _in_one_piece(self, array: PeArray, unit: TextureUnit, before: TextureState) -> InOnePiece | None:
        """Return the run in one piece, just after it has been made; None where a transfer is not known beforehand.

        ``before`` is the state of the texture unit from before.
        """
        piece = array.repeats.one_piece()
        if piece is None:
            return None
        reads: list[Again] = []
        for step in self.score.steps:
            match step:
                case Lanes(actions):
                    piece.follow(actions)
                case Begin():
                    again = self.again.get(len(reads))
                    if again is None or not piece.asks(again.rows):
                        return None
                    reads.append(again)
                case End():
                    piece.give(reads[-1].rows)
                case Settings():
                    return None
        after = unit.snapshot()
        moved = {way: count - before.moved[way] for way, count in after.moved.items()}
        fills = bool(reads) and isinstance(reads[-1].read.last.emcs, slice)
        renewable = fills and all(again.rows.is_renewable for again in reads)
        anew = unit.rereading([again.read for again in reads]) if renewable else None
        return InOnePiece(piece, before, fills, after, moved, unit.versions, array.lee.version, tuple(reads), anew)
