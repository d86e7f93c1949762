"""What an instruction stream needs to know of a program before it runs: control instructions, cycles, loops."""

from __future__ import annotations

from weakref import ref

from pixelflow.config import ExtraConfig, IgcConfig
from pixelflow.isa import Family, Program, Unit
from pixelflow.isa.control import SIGNAL, WAIT, takes_control
from pixelflow.node.run.costs.extra import cycles_of
from pixelflow.node.run.costs.words import loops_of
from pixelflow.simd.errors import InternalError

__all__ = ["Sequencer"]


_USES = (SIGNAL, WAIT)


class Sequencer:
    """What a stream needs to know of a program: decoded once, shared by all runs of it."""

    def __init__(self, program: Program, config: IgcConfig, extra: ExtraConfig) -> None:
        # Not held: the program holds what is known of it, and a cycle of both would stay until somebody looks for one.
        self._program = ref(program)
        self.config = config
        by_kind = program.by_kind
        self.control = by_kind.each(lambda i: i if i.declaration.unit is Unit.SEQUENCER else None)
        takes = cycles_of(by_kind.kinds, [each.cycles for each in by_kind.kinds], extra)
        control = [takes_control(each.declaration) for each in by_kind.kinds]
        cycles = [config.control_cycles if each else own for each, own in zip(control, takes, strict=True)]
        self.cycles = by_kind.spread(cycles)
        # Instructions that change the depth of a stack are rare; the stream looks only at these.
        self.watched = by_kind.each(lambda i: bool(i.declaration.pushes) or i.declaration.family is Family.STARTUP)
        self.loop_end = loops_of(program)
        self._names: dict[int, str] = {}
        self.semaphore_uses = [
            (index, declaration, by_kind[index].operands[0]) for index, declaration in by_kind.places_of(*_USES)
        ]
        """Position, SIGNAL or WAIT, and the semaphore."""

    @property
    def program(self) -> Program:
        """The program, which whoever walks it holds."""
        found = self._program()
        if found is None:
            raise InternalError("a program has gone before those who walk it")
        return found

    def routine_name(self, target: int) -> str:
        """Return the name of the routine that holds a word address."""
        name = self._names.get(target)
        if name is None:
            routine = self.program.routine_at(target)
            name = self._names[target] = routine.name if routine else f"word {target}"
        return name
