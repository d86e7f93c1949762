"""Score of a run: the record of its side effects, replayable without simulating time.

When things happen follows from the program and from the commands that the TASICs get, and from nothing else: control
flow knows no PE data, and commands tell how many PEs take part. So a program that is run again does the same, in the
same cycles, as long as every transfer gives the commands that it gave before. That is looked at, transfer by transfer;
where one differs, the run continues in full from there (`From`).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Protocol

from pixelflow.isa import Instruction, Program
from pixelflow.isa.declarations import INPUT_PORT, OUTPUT_PORT
from pixelflow.node.pe_array import PeArray
from pixelflow.node.texture_unit import KeptRead, LastRound, Rereading, TextureState, TextureUnit
from pixelflow.node.transfer import Transfer, TransferCommand
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.engine import Action, OnePiece, RepeatedRows, Repeats
from pixelflow.simd.report import Shown

# Effects of a run on a node: what is done to lanes, LEE, texture and GP memory, in order; nothing says when.


class SideEffects(Protocol):
    """Takes the side effects of a run."""

    def lanes(self, actions: Sequence[Action]) -> None:
        """Execute actions of the PEs."""

    def configure(self, instruction: Instruction) -> None:
        """Execute an instruction of the LEE; raises MachineFault."""

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Execute an instruction of the TASICs, number ``index`` of its program; return the transfer it asks for."""

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer; return what the TASICs of each module are told. Raises MachineFault."""

    def end(self) -> None:
        """End the transfer."""


class Direct:
    """Effects on an array and a texture unit, at once."""

    def __init__(self, array: PeArray, texture: TextureUnit) -> None:
        self._array = array
        self._texture = texture

    def lanes(self, actions: Sequence[Action]) -> None:
        """Execute actions of the PEs."""
        self._array.run(actions)

    def configure(self, instruction: Instruction) -> None:
        """Execute an instruction of the LEE."""
        self._array.configure(instruction)

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Execute an instruction of the TASICs."""
        return self._texture.tell(instruction)

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer."""
        self._texture.begin(transfer)
        return self._texture.commands(transfer)

    def end(self) -> None:
        """End the transfer."""
        self._texture.end()


class AtOnce(Direct):
    """Effects of a run without time: a transfer is over as soon as it is asked for, and faults are told by place."""

    def __init__(self, array: PeArray, texture: TextureUnit, program: Program) -> None:
        super().__init__(array, texture)
        self._program = program

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Execute an instruction of the TASICs and the transfer that it asks for: none is left to be made."""
        try:
            transfer = super().tell(instruction, index)
            if transfer is not None:
                self._texture.begin(transfer)
                self._texture.end()
        except MachineFault as error:
            where = self._program.where(index)
            if str(error).startswith(where):
                raise
            raise MachineFault(f"{where}: {error}") from None
        return None


_LONGEST = 100_000
"""Actions and other steps that a score keeps; longer runs are not worth the memory."""


@dataclass(slots=True)
class Lanes:
    """Actions of the PEs."""

    actions: list[Action]


@dataclass(slots=True)
class Settings:
    """An instruction of the LEE."""

    instruction: Instruction


@dataclass(slots=True)
class Told:
    """An instruction of the TASICs, its position in the program, and the transfer that it asked for."""

    instruction: Instruction
    index: int
    transfer: Transfer | None


@dataclass(slots=True)
class Begin:
    """The first half of a transfer, and what the TASICs of each module were told."""

    transfer: Transfer
    commands: tuple[TransferCommand, ...]


@dataclass(slots=True)
class End:
    """Its second half."""


Step = Lanes | Settings | Told | Begin | End


@dataclass(slots=True)
class Score:
    """The steps of a run, with the answers that it got."""

    steps: list[Step] = field(default_factory=list)
    size: int = 0
    run: Shown | None = None
    """The account of the run, once it has ended; without its program, which is not kept alive by it."""
    moved: dict[str, int] = field(default_factory=dict)
    """Bytes that went each way in it."""

    @property
    def complete(self) -> bool:
        """True if the run can be repeated from the steps: it has ended, and is not too long to be kept."""
        return self.run is not None and self.size <= _LONGEST

    def note(self, step: Step) -> None:
        """Add a step, unless there are too many; actions of the PEs that follow each other are one step."""
        self.size += len(step.actions) if isinstance(step, Lanes) else 1
        if self.size > _LONGEST:
            return
        if isinstance(step, Lanes) and self.steps and isinstance(self.steps[-1], Lanes):
            self.steps[-1].actions += step.actions
        else:
            self.steps.append(step)


class Noting:
    """Effects that are noted in a score besides."""

    def __init__(self, inner: SideEffects, score: Score) -> None:
        self._inner = inner
        self._note = score.note

    def lanes(self, actions: Sequence[Action]) -> None:
        """Execute actions of the PEs."""
        self._note(Lanes(list(actions)))
        self._inner.lanes(actions)

    def configure(self, instruction: Instruction) -> None:
        """Execute an instruction of the LEE."""
        self._inner.configure(instruction)
        self._note(Settings(instruction))

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Execute an instruction of the TASICs."""
        transfer = self._inner.tell(instruction, index)
        self._note(Told(instruction, index, transfer))
        return transfer

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer."""
        commands = self._inner.begin(transfer)
        self._note(Begin(transfer, commands))
        return commands

    def end(self) -> None:
        """End the transfer."""
        self._inner.end()
        self._note(End())


class From:
    """Effects of which the first ``done`` steps of a score have been made already, with the answers that it holds."""

    def __init__(self, score: Score, done: int, inner: SideEffects) -> None:
        self._done = iter(score.steps[:done])
        self._inner = inner
        self._lanes: Step | None = None
        """The step of which actions are being made."""
        self._in_lanes = False

    def _next(self) -> Step | None:
        """Return the next step as it was made before, None where it is to be made."""
        self._in_lanes = False
        return next(self._done, None)

    def lanes(self, actions: Sequence[Action]) -> None:
        """Execute actions of the PEs, if need be."""
        if not self._in_lanes:
            self._lanes, self._in_lanes = self._next(), True
        if self._lanes is None:
            self._inner.lanes(actions)

    def configure(self, instruction: Instruction) -> None:
        """Execute an instruction of the LEE, if need be."""
        if self._next() is None:
            self._inner.configure(instruction)

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Execute an instruction of the TASICs, if need be."""
        step = self._next()
        if step is None:
            return self._inner.tell(instruction, index)
        assert isinstance(step, Told), "a score is gone through in its own order"
        return step.transfer

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer, if need be."""
        step = self._next()
        if step is None:
            return self._inner.begin(transfer)
        assert isinstance(step, Begin), "a score is gone through in its own order"
        return step.commands

    def end(self) -> None:
        """End a transfer, if need be."""
        if self._next() is None:
            self._inner.end()


def play(score: Score, effects: SideEffects) -> int | None:
    """Make the steps of an earlier run.

    Returns None where every answer was as before, so that the account is the same. Else returns how many steps were
    made when another transfer was asked for, when one gave other commands, or could not be made; the score then holds
    the new answer, and the run must continue in full from there.
    """
    for at, step in enumerate(score.steps):
        match step:
            case Lanes(actions):
                effects.lanes(actions)
            case Told(instruction, index, transfer):
                # What it asks for also follows from what earlier runs have told the TASICs.
                step.transfer = effects.tell(instruction, index)
                if step.transfer != transfer:
                    return at + 1
            case Begin(transfer, commands):
                try:
                    step.commands = effects.begin(transfer)
                except MachineFault:
                    return at  # it comes again, in its cycle
                if step.commands != commands:
                    return at + 1
            case End():
                effects.end()
            case Settings(instruction):
                effects.configure(instruction)
    return None


# Repeated runs: a program that was run before on the same node is done again from its score.
#
# Each transfer's commands are compared with those of before; where one differs, the run continues in full from there.
# What
# the engine offers for runs that come again (`Repeats`) makes reads that ask for the same cheap, and whole runs in
# which
# nobody need ask one piece of native code.


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
        """Actions that are not executed yet: few long programs are executed faster than many short ones."""
        self._given: Again | None = None
        """The read under way whose bytes wait to be given."""

    def flush(self) -> None:
        """Execute what waits."""
        if self._waiting:
            self._array.run(self._waiting)
            self._waiting = []

    def lanes(self, actions: Sequence[Action]) -> None:
        """Put actions of the PEs off."""
        self._waiting += actions

    def configure(self, instruction: Instruction) -> None:
        """Execute an instruction of the LEE."""
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
        alike = again if again is not None and again.rows.is_asked() else None
        if alike is not None and alike.is_of(unit):
            self._known[number] = self._given = alike
            unit.begin_again(transfer, alike.read)
            return alike.commands
        before, moved = deepcopy(unit.registers), dict(unit.moved)
        try:
            commands = super().begin(transfer)
        except MachineFault:
            unit.moved.update(moved)
            raise
        read = unit.cached_read(transfer, new=alike is not None)
        if read is not None:
            rows = None if alike is None else self._renewed(alike, read, before)
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
        assert read.given is not None, "the read is kept"
        asked = (("MR", read.marks_row), (OUTPUT_PORT, read.given))
        return self._repeats.rows(asked, INPUT_PORT, read.blocks, read.source_of(lanes))


@dataclass(slots=True, eq=False)
class InOnePiece:
    """A run in one piece, and what it makes of the texture unit."""

    piece: OnePiece
    before: TextureState
    fills: bool
    """True if the last read fills all data corner turners, so that what they held before makes no difference."""
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
        """Have the ports get what is in texture memory now; return whether that could be done."""
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
        assert array.repeats is not None, "only what the engine repeats is kept to be made again"
        effects = _Quick(array, unit, array.repeats, self.again)
        done = play(self.score, effects)
        effects.flush()
        if done is None and before is not None:
            self.whole = self._in_one_piece(array.repeats, array, unit, before)
            self.look_at *= 2
        return done

    def _in_one_piece(
        self, repeats: Repeats, array: PeArray, unit: TextureUnit, before: TextureState
    ) -> InOnePiece | None:
        """Return the run in one piece, just after it has been made; None where a transfer is not known beforehand.

        ``before`` is the state of the texture unit from before.
        """
        piece = repeats.one_piece()
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
