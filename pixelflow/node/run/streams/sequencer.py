"""What an instruction stream needs to know of a program before it runs: control instructions, cycles, loops."""

from __future__ import annotations

from pixelflow.config import IgcConfig
from pixelflow.isa import Family, Program, Unit
from pixelflow.isa.control import ENDL, LOOP, SIGNAL, WAIT
from pixelflow.simd.errors import MachineFault

__all__ = ["Sequencer"]


_USES = (SIGNAL, WAIT)


class Sequencer:
    """What a stream needs to know of a program: decoded once, shared by all runs of it."""

    def __init__(self, program: Program, config: IgcConfig) -> None:
        self.program = program
        self.config = config
        instructions = program.instructions
        self.control = [i if i.declaration.unit is Unit.SEQUENCER else None for i in instructions]
        self.cycles = [
            config.control_cycles if c else cycles for c, cycles in zip(self.control, program.cycles, strict=True)
        ]
        # Instructions that change the depth of a stack are rare; the stream looks only at these.
        self.watched = [i.declaration.pushes or i.declaration.family is Family.STARTUP for i in instructions]
        self.loop_end = self._match_loops()
        self._names: dict[int, str] = {}
        self.semaphore_uses = [
            (index, i.declaration, i.operands[0])
            for index, i in enumerate(self.control)
            if i and i.declaration in _USES
        ]
        """Position, SIGNAL or WAIT, and the semaphore."""

    def routine_name(self, target: int) -> str:
        """Return the name of the routine that holds a word address."""
        name = self._names.get(target)
        if name is None:
            routine = self.program.routine_at(target)
            name = self._names[target] = routine.name if routine else f"word {target}"
        return name

    def _match_loops(self) -> dict[int, int]:
        """Return the position of the ENDL of every LOOP; raises MachineFault where one is missing."""
        open_loops: list[int] = []
        ends: dict[int, int] = {}
        for index, instruction in enumerate(self.program.instructions):
            if instruction.declaration is LOOP:
                open_loops.append(index)
            elif instruction.declaration is ENDL:
                if not open_loops:
                    raise MachineFault(f"{self.program.where(index)}: ENDL without LOOP")
                ends[open_loops.pop()] = index
        if open_loops:
            raise MachineFault(f"{self.program.where(open_loops[-1])}: LOOP without ENDL")
        return ends
