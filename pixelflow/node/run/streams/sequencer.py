"""What an instruction stream needs to know of a program before it runs: control instructions, cycles, loops."""

from __future__ import annotations

from pixelflow.config import ExtraConfig, IgcConfig
from pixelflow.isa import Family, Instruction, Program, Unit
from pixelflow.isa.control import SIGNAL, WAIT, takes_control
from pixelflow.node.run.costs.extra import cycles_of
from pixelflow.node.run.costs.words import ProgramWords, loops_of, words_of

__all__ = ["Sequencer"]


_USES = (SIGNAL, WAIT)


class Sequencer:
    """What a stream needs to know of a program: decoded once, shared by all runs of it."""

    def __init__(self, program: Program, config: IgcConfig, extra: ExtraConfig) -> None:
        self.program = program
        self.config = config
        by_kind = program.by_kind
        self.control = by_kind.each(lambda i: i if i.declaration.unit is Unit.SEQUENCER else None)
        self.cycles = by_kind.each(lambda each: self._cycles_of(each, extra))
        # Instructions that change the depth of a stack are rare; the stream looks only at these.
        self.watched = by_kind.each(lambda i: bool(i.declaration.pushes) or i.declaration.family is Family.STARTUP)
        self.loop_end = loops_of(program)
        self._names: dict[int, str] = {}
        self.semaphore_uses = [
            (index, i.declaration, i.operands[0])
            for index, i in enumerate(self.control)
            if i and i.declaration in _USES
        ]
        """Position, SIGNAL or WAIT, and the semaphore."""

    def _cycles_of(self, instruction: Instruction, extra: ExtraConfig) -> int:
        if takes_control(instruction.declaration):
            return self.config.control_cycles
        return cycles_of([instruction], [instruction.cycles], extra)[0]

    @property
    def words(self) -> ProgramWords:
        """The words of the program's instructions."""
        return words_of(self.program)

    def routine_name(self, target: int) -> str:
        """Return the name of the routine that holds a word address."""
        name = self._names.get(target)
        if name is None:
            routine = self.program.routine_at(target)
            name = self._names[target] = routine.name if routine else f"word {target}"
        return name
