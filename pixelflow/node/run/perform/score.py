"""Score of a run: the record of its side effects, replayable without simulating time.

When things happen follows from the program and from the commands that the TASICs get, and from nothing else: control
flow knows no PE data, and commands tell how many PEs take part. So a program that is run again does the same, in the
same cycles, as long as every transfer gives the commands that it gave before. That is looked at, transfer by transfer;
where one differs, the run goes on in full from there (`From`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pixelflow.isa import Instruction
from pixelflow.node.parts.texture.transfer import Transfer, TransferCommand
from pixelflow.node.run.perform.effects import SideEffects
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.engine import Action

__all__ = ["Begin", "End", "From", "Lanes", "Noting", "Score", "Settings", "Step", "Told", "play"]

_LONGEST = 100_000
"""Actions and other steps that a score keeps; longer runs are not worth the memory."""

Account = TypeVar("Account")


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
class Score(Generic[Account]):
    """The steps of a run, with the answers that it got."""

    steps: list[Step] = field(default_factory=list)
    size: int = 0
    run: Account | None = None
    """The account of the run, once it has ended; without its program, which is not kept alive by it."""
    moved: dict[str, int] = field(default_factory=dict)
    """Bytes that went each way in it."""

    @property
    def complete(self) -> bool:
        """Whether the run can be repeated from the steps: it has ended, and is not too long to be kept."""
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
        self._score = score

    def lanes(self, actions: Sequence[Action]) -> None:
        """Carry out actions of the PEs."""
        self._score.note(Lanes(list(actions)))
        self._inner.lanes(actions)

    def configure(self, instruction: Instruction) -> None:
        """Carry out an instruction of the LEE."""
        self._inner.configure(instruction)
        self._score.note(Settings(instruction))

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Carry out an instruction of the TASICs."""
        transfer = self._inner.tell(instruction, index)
        self._score.note(Told(instruction, index, transfer))
        return transfer

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer."""
        commands = self._inner.begin(transfer)
        self._score.note(Begin(transfer, commands))
        return commands

    def end(self) -> None:
        """End the transfer."""
        self._inner.end()
        self._score.note(End())


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
        """Carry out actions of the PEs, if need be."""
        if not self._in_lanes:
            self._lanes, self._in_lanes = self._next(), True
        if self._lanes is None:
            self._inner.lanes(actions)

    def configure(self, instruction: Instruction) -> None:
        """Carry out an instruction of the LEE, if need be."""
        if self._next() is None:
            self._inner.configure(instruction)

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Carry out an instruction of the TASICs, if need be."""
        step = self._next()
        return self._inner.tell(instruction, index) if step is None else step.transfer

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer, if need be."""
        step = self._next()
        return self._inner.begin(transfer) if step is None else step.commands

    def end(self) -> None:
        """End a transfer, if need be."""
        if self._next() is None:
            self._inner.end()


def play(score: Score, effects: SideEffects) -> int | None:
    """Make the steps of an earlier run.

    Returns None where every answer was as before, so that the account is the same. Else returns how many steps were
    made when another transfer was asked for, when one gave other commands, or could not be made; the score then holds
    the new answer, and the run must go on in full from there.
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
