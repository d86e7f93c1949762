"""Score of a run: the record of its side effects, replayable without simulating time.

When things happen follows from the program and from the commands that the TASICs get, and from nothing else: control
flow knows no PE data, and commands say how many PEs take part. So a program that is run again does the same, in the
same cycles, as long as every transfer gives the commands that it gave before. Each transfer is compared; where one
differs, the run continues in full from there (`From`).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pixelflow.isa import Instruction, Program
from pixelflow.isa.declarations import INPUT_PORT, OUTPUT_PORT
from pixelflow.node.pe_array import PeArray
from pixelflow.node.texture_unit import KeptRead, LastRound, Rereading, TextureState, TextureUnit
from pixelflow.node.transfer import Transfer, TransferCommand
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.engine import Action
from pixelflow.simd.report import Shown

if TYPE_CHECKING:
    from pixelflow.node.kernels.macro_engine import MacroEngine, OnePiece, RepeatedRows

# Steps of a run: what is done to lanes, LEE, texture and GP memory, in order, with the answers; nothing says when.


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
    transfer: Transfer | None = None


@dataclass(slots=True)
class Begin:
    """The first half of a transfer, and the command for each module."""

    transfer: Transfer
    commands: tuple[TransferCommand, ...] = ()


@dataclass(slots=True)
class End:
    """The second half of a transfer."""


Step = Lanes | Settings | Told | Begin | End


class SideEffects(Protocol):
    """Takes the steps of a run."""

    def make(self, step: Step) -> None:
        """Make a step and put the answer into it; raises MachineFault."""


class Direct:
    """Steps made at once, on an array and a texture unit."""

    def __init__(self, array: PeArray, texture: TextureUnit) -> None:
        self._array = array
        self._texture = texture

    def make(self, step: Step) -> None:
        match step:
            case Lanes(actions):
                self._array.run(actions)
            case Told(instruction):
                step.transfer = self._texture.tell(instruction)
            case Begin(transfer):
                self._texture.begin(transfer)
                step.commands = self._texture.commands(transfer)
            case End():
                self._texture.end()
            case Settings(instruction):
                self._array.configure(instruction)


class AtOnce(Direct):
    """Steps of a run without time: a transfer is made as soon as it is asked for; faults name their place."""

    def __init__(self, array: PeArray, texture: TextureUnit, program: Program) -> None:
        super().__init__(array, texture)
        self._program = program

    def make(self, step: Step) -> None:
        if not isinstance(step, Told):
            super().make(step)
            return
        try:
            transfer = self._texture.tell(step.instruction)
            if transfer is not None:
                self._texture.begin(transfer)
                self._texture.end()
        except MachineFault as error:
            where = self._program.where(step.index)
            if str(error).startswith(where):
                raise
            raise MachineFault(f"{where}: {error}") from None


class Noting:
    """Steps that are also noted in a score."""

    def __init__(self, inner: SideEffects, score: Score) -> None:
        self._inner = inner
        self._score = score

    def make(self, step: Step) -> None:
        self._inner.make(step)
        self._score.note(step)


class From:
    """Steps of which the first ``done`` of a score have been made already; the score holds their answers."""

    def __init__(self, score: Score, done: int, inner: SideEffects) -> None:
        self._done = iter(score.steps[:done])
        self._inner = inner
        self._made: Step | None = None
        """The step of the score that the current one is part of; None once those are used up."""
        self._in_lanes = False

    def make(self, step: Step) -> None:
        continues = self._in_lanes and isinstance(step, Lanes)
        self._in_lanes = isinstance(step, Lanes)
        if not continues:
            self._made = next(self._done, None)
        match self._made:
            case None:
                self._inner.make(step)
            case Told(transfer=transfer):
                assert isinstance(step, Told), "a score is replayed in its own order"
                step.transfer = transfer
            case Begin(commands=commands):
                assert isinstance(step, Begin), "a score is replayed in its own order"
                step.commands = commands


def play(score: Score, effects: SideEffects) -> int | None:
    """Make the steps of an earlier run.

    Returns None where every answer was as before, so that the account is the same. Else returns how many steps were
    made when another transfer was asked for, when one gave other commands, or could not be made; the score then holds
    the new answer, and the run must continue in full from there.
    """
    for at, step in enumerate(score.steps):
        match step:
            case Told(transfer=transfer):
                # The transfer also depends on TASIC registers, which earlier runs may have set.
                effects.make(step)
                if step.transfer != transfer:
                    return at + 1
            case Begin(commands=commands):
                try:
                    effects.make(step)
                except MachineFault:
                    return at  # raised again in its cycle
                if step.commands != commands:
                    return at + 1
            case _:
                effects.make(step)
    return None


# Repeated runs. The macro engine makes reads cheap that ask for the same as before, and runs in which nothing
# needs to be asked one piece of native code.


_LONGEST = 100_000
"""Actions and other steps that a score keeps; longer runs are not worth the memory."""

_WORTH_ONE_PIECE = 1000
"""Repeated runs before it pays to check whether a run can be made in one piece."""


class Again(NamedTuple):
    """A read of texture memory that was made before, and the rows to give where PEs ask for the same."""

    read: KeptRead
    registers: tuple[object, ...]
    """Of the TASICs, before it began."""
    versions: tuple[int, ...]
    """Of texture memory."""
    commands: tuple[TransferCommand, ...]
    rows: RepeatedRows

    def is_of(self, unit: TextureUnit) -> bool:
        """Return whether all but marks and ports is unchanged."""
        return unit.registers == self.registers and unit.versions == self.versions


class _Quick(Direct):
    """Steps that put actions off, and reuse reads that ask for what they asked before."""

    def __init__(self, array: PeArray, unit: TextureUnit, engine: MacroEngine, known: dict[int, Again]) -> None:
        super().__init__(array, unit)
        self._engine = engine
        self._known = known
        """By the number of the transfer."""
        self._transfers = 0
        self._waiting: list[Action] = []
        """Actions not executed yet: few long programs are faster than many short ones."""
        self._given: Again | None = None
        """The read under way whose bytes wait to be given."""

    def flush(self) -> None:
        """Execute the actions that wait."""
        if self._waiting:
            self._array.run(self._waiting)
            self._waiting = []

    def make(self, step: Step) -> None:
        match step:
            case Lanes(actions):
                self._waiting += actions
                return
            case Begin():
                self._begin(step)
                return
            case End() if self._given is not None:
                self._waiting.append(self._given.rows.place)
                self._given = None
            case End() | Settings():
                self.flush()
        super().make(step)

    def _begin(self, step: Begin) -> None:
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
            unit.begin_again(step.transfer, alike.read)
            step.commands = alike.commands
            return
        before, moved = deepcopy(unit.registers), dict(unit.moved)
        try:
            super().make(step)
        except MachineFault:
            unit.moved.update(moved)
            raise
        read = unit.cached_read(step.transfer, new=alike is not None)
        if read is not None:
            # A run in one piece may share the bytes of rows, which must stay those of these addresses.
            same = alike is not None and alike.registers == before and alike.rows.renew(read.blocks)
            rows = alike.rows if alike is not None and same else self._rows(read)
            if rows is not None:
                self._known[number] = Again(read, before, unit.versions, step.commands, rows)

    def _rows(self, read: KeptRead) -> RepeatedRows | None:
        lanes = self._array.engine.shape.lanes
        assert read.given is not None, "the read is kept"
        asked = (("MR", read.marks_row), (OUTPUT_PORT, read.given))
        return self._engine.repeated_rows(asked, INPUT_PORT, read.blocks, read.source_of(lanes))


@dataclass(slots=True, eq=False)
class InOnePiece:
    """A run in one piece, and its effect on the texture unit."""

    piece: OnePiece
    before: TextureState
    fills: bool
    """True if the last read fills all data corner turners, so that their earlier contents make no difference."""
    after: TextureState
    moved: dict[str, int]
    """Bytes that go each way in it."""
    versions: tuple[int, ...]
    """Of texture memory."""
    lee: int
    """Of the registers of the LEE."""
    reads: tuple[Again, ...]
    anew: Rereading | None
    """The reads of current contents; None where they cannot be repeated so."""

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
class Score:
    """The steps of a run on one node with their answers, and how the run is repeated quickly."""

    steps: list[Step] = field(default_factory=list)
    size: int = 0
    run: Shown | None = None
    """The account of the run, once it has ended; without its program, which must not be kept alive."""
    moved: dict[str, int] = field(default_factory=dict)
    """Bytes that went each way in it."""
    times: int = 0
    """Number of repeats."""
    look_at: int = _WORTH_ONE_PIECE
    """Repeats before the next check whether the run can be made in one piece."""
    again: dict[int, Again] = field(default_factory=dict)
    """Reads that can be begun again, by the number of their transfer."""
    whole: InOnePiece | None = None

    def note(self, step: Step) -> None:
        """Add a step, unless there are too many; consecutive actions of the PEs become one step."""
        self.size += len(step.actions) if isinstance(step, Lanes) else 1
        if self.size > _LONGEST:
            return
        if isinstance(step, Lanes) and self.steps and isinstance(self.steps[-1], Lanes):
            self.steps[-1].actions += step.actions
        else:
            self.steps.append(step)

    def complete(self, array: PeArray) -> bool:
        """Make the score of a run that has ended ready to be repeated; return False where it is too long."""
        if self.size > _LONGEST:
            return False
        if array.macro is not None:
            for step in self.steps:
                if isinstance(step, Lanes):
                    step.actions = [array.engine.chain(step.actions)]
        return True

    def fuse(self, engine: MacroEngine) -> None:
        """Compile all actions of the lanes to native code."""
        for step in self.steps:
            if isinstance(step, Lanes):
                for action in step.actions:
                    engine.fuse(action)
        self.look_at = self.times + 1

    def repeat(self, array: PeArray, unit: TextureUnit) -> int | None:
        """Repeat the run; return what `play` does."""
        self.times += 1
        if self.whole is not None and self.whole.run(array, unit):
            return None
        before = unit.snapshot() if self.times >= self.look_at else None
        assert array.macro is not None, "only what the engine repeats is kept to be repeated"
        effects = _Quick(array, unit, array.macro, self.again)
        done = play(self, effects)
        effects.flush()
        if done is None and before is not None:
            self.whole = self._in_one_piece(array.macro, array, unit, before)
            self.look_at *= 2
        return done

    def _in_one_piece(
        self, engine: MacroEngine, array: PeArray, unit: TextureUnit, before: TextureState
    ) -> InOnePiece | None:
        """Return the run in one piece, just after it has been made; None where a transfer is not known beforehand.

        ``before`` is the state of the texture unit before the run.
        """
        piece = engine.one_piece()
        if piece is None:
            return None
        reads: list[Again] = []
        for step in self.steps:
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
