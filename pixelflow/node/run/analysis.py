"""Analysis of a program before it runs: made once, kept with the program, shared by all its runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from weakref import ref

from pixelflow.config import ExtraConfig, IgcConfig, NodeConfig
from pixelflow.isa import Instruction, Mem, Program, Unit
from pixelflow.isa.control import RET, SIGNAL, START, WAIT, takes_control
from pixelflow.isa.declarations import ENABLE_STACK, LATCH_STACK
from pixelflow.node.pe_array import influences
from pixelflow.node.run.semaphores import remote_semaphores
from pixelflow.node.run.stalls import Stalls
from pixelflow.node.run.straight_code import (
    CallFrame,
    PortUse,
    RoutineBody,
    StraightCode,
    StraightCodes,
    changes_depth,
    meets_ports,
)
from pixelflow.node.run.supply import cycles_of, loops_of
from pixelflow.simd.configuration import Value
from pixelflow.simd.errors import Fault, InputError, InternalError, suggestion

_USES = (SIGNAL, WAIT)


class Sequencer:
    """Control instructions, cycles and loops of a program, decoded once and shared by all its runs."""

    def __init__(self, program: Program, config: IgcConfig, extra: ExtraConfig) -> None:
        # A weak reference: the program holds its analyses, and a reference cycle would delay its release.
        self._program = ref(program)
        self.config = config
        by_kind = program.by_kind
        self.control = by_kind.each(lambda i: i if i.declaration.unit is Unit.SEQUENCER else None)
        takes = cycles_of(by_kind.kinds, [each.cycles for each in by_kind.kinds], extra)
        control = [takes_control(each.declaration) for each in by_kind.kinds]
        cycles = [config.control_cycles if each else own for each, own in zip(control, takes, strict=True)]
        self.cycles = by_kind.spread(cycles)
        self.cycles_of_kinds = cycles
        waits = extra.store_then_read or not (config.fold_loops or config.control_cycles)
        self.stalls = Stalls(by_kind, self.cycles, config, extra) if waits else None
        """Waits of one instruction for the one before it; None where the configuration excludes them."""
        # Instructions that change the depth of a stack are rare; the stream checks only these.
        self.watched = by_kind.each(lambda i: changes_depth(i.declaration))
        self.loop_end = loops_of(program)
        self._names: dict[int, str] = {}
        self.semaphore_uses = [
            (index, declaration, by_kind[index].operands[0]) for index, declaration in by_kind.places_of(*_USES)
        ]
        """Position, SIGNAL or WAIT, and the semaphore."""

    @property
    def program(self) -> Program:
        """The program; whatever runs it holds it."""
        program = self._program()
        if program is None:
            raise InternalError("a program was released while it is running")
        return program

    def routine_name(self, target: int) -> str:
        """Return the name of the routine that holds a word address."""
        name = self._names.get(target)
        if name is None:
            routine = self.program.routine_at(target)
            name = self._names[target] = routine.name if routine else f"word {target}"
        return name


# Calls of routines of straight code, skipped as a whole: from CALL to after RET.
#
# Such a routine takes the same cycles whenever it is called, never waits, and cannot be seen by the texture side unless
# an operand is in a port. Its cycles are the sum of its instructions', which is computed once.


@dataclass(slots=True)
class WholeCall(StraightCode):
    """A call, the routine's instructions and its return. ``relative`` is empty: addresses depend on the call."""

    body: RoutineBody = field(kw_only=True)
    sequencer: Sequencer = field(kw_only=True)
    arguments: tuple[tuple[int, int | None], ...] = ()
    parameters: tuple[int, ...] = ()
    """Those of the current pass."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        return ((self.first, self.end), (self.body.first, self.body.end + 1))

    @property
    def length(self) -> int:
        return self.body.end - self.body.first

    def fits(self, frames: Sequence[CallFrame]) -> bool:
        """Return whether the call can be skipped: no fault, no access to a port. Sets ``parameters``."""
        if not self._has_room(frames):
            return False
        parameters = self._evaluated(frames[-1].parameters)
        if parameters is None or not self._is_unseen(parameters):
            return False
        self.parameters = parameters
        return True

    def _has_room(self, frames: Sequence[CallFrame]) -> bool:
        """Return whether the stacks of calls, latches and enables have room; else an instruction will fault."""
        if len(frames) > self.sequencer.config.call_depth:
            return False
        body = self.body
        if body.started and sum(frame.started for frame in frames) >= len(LATCH_STACK):
            return False
        return not body.saves or sum(frame.saved_enables for frame in frames) + body.saves <= len(ENABLE_STACK)

    def _evaluated(self, callers: Sequence[int]) -> tuple[int, ...] | None:
        """Return the parameters of the call; None where one of the caller's is missing."""
        try:
            return tuple([value if base is None else value + callers[base] for value, base in self.arguments])
        except IndexError:
            return None

    def _is_unseen(self, parameters: tuple[int, ...]) -> bool:
        known = self.body.unseen.get(parameters)
        if known is None:
            known = self.body.unseen[parameters] = all(
                base < len(parameters) and not meets_ports(parameters[base] + low, high - low)
                for base, low, high in self.body.reach
            )
        return known


class WholeCalls:
    """The calls of a program that can be skipped."""

    def __init__(self, sequencer: Sequencer, ports: PortUse) -> None:
        self._sequencer = sequencer
        self._ports = ports
        self._returns = [index for index, _ in sequencer.program.by_kind.places_of(RET)]
        self._bodies: dict[int, RoutineBody | None] = {}
        self._arguments: dict[int, tuple[tuple[int, int | None], ...]] = {}
        """Of calls, by their kind."""

    def at(self, index: int) -> WholeCall | None:
        """Return the call at a CALL instruction; None where the routine is not straight code."""
        sequencer, code = self._sequencer, self._sequencer.program.by_kind
        kind = code.kind_list[index]
        target, arguments = code.kinds[kind].operands
        if target not in self._bodies:
            self._bodies[target] = self._look(target)
        body = self._bodies[target]
        if body is None:
            return None
        if kind not in self._arguments:
            values = [(each.offset if isinstance(each, Mem) else each.value, each.base) for each in arguments]
            self._arguments[kind] = tuple(values)
        cycles = sequencer.cycles[index] + body.cycles
        return WholeCall(index, index + 1, cycles, (), body=body, arguments=self._arguments[kind], sequencer=sequencer)

    def _look(self, target: int) -> RoutineBody | None:
        """Return the routine at a word address; None where it is not straight code or certainly accesses a port."""
        sequencer, ports = self._sequencer, self._ports
        instructions = sequencer.program.by_kind
        first = instructions.position(target)
        end = None if first is None else next((index for index in self._returns if index >= first), None)
        if first is None or end is None or end == first:
            return None
        code = instructions.kind_list[first:end]
        kinds = dict.fromkeys(code)
        declared = {kind: instructions.kinds[kind].declaration for kind in kinds}
        if any(each.unit is not Unit.PE for each in declared.values()) or any(map(ports.certain, kinds)):
            return None
        if any(declared[kind] is START for kind in code[1:]):
            return None
        depths = [*accumulate(declared[kind].pushes for kind in code)]
        if min(depths) < 0 or depths[-1]:
            return None
        stalls = sequencer.stalls
        if stalls is not None and (stalls.reads[first] or stalls.up_to_read(first, end) < end):
            return None
        return RoutineBody(
            first,
            end,
            target,
            sequencer.routine_name(target),
            sum(sequencer.cycles[first : end + 1]),
            declared[code[0]] is START,
            max(depths),
            ports.reach(kinds),
            {},
        )


class Analysis:
    """The tables of one program for sequencers of one configuration; some are filled lazily."""

    def __init__(self, program: Program, config: NodeConfig) -> None:
        """Raises MachineFault for a program that no sequencer can walk."""
        self.sequencer = Sequencer(program, config.igc, config.extra)
        self.port_use = PortUse(program.by_kind)
        self._calls = WholeCalls(self.sequencer, self.port_use)
        self._straight_codes: dict[bool, dict[int, StraightCode | None]] = {False: {}, True: {}}

    @property
    def program(self) -> Program:
        """The program, which holds this analysis."""
        return self.sequencer.program

    def straight_codes(self, *, timed: bool = False, stages: bool = False) -> StraightCodes:
        """Return the straight code for one run: ``timed`` for one without data, with ``stages`` beginning in it.

        Both need words that are there at once.
        """
        sequencer = self.sequencer
        return StraightCodes(
            self.program.by_kind,
            sequencer.cycles_of_kinds,
            self.port_use,
            names=len(self.program.names) if stages else 0,
            known=self._straight_codes[stages],
            stalls=sequencer.stalls,
            timed=timed,
            call=self._calls.at,
        )

    @cached_property
    def remote_semaphores(self) -> dict[str, frozenset[int]]:
        """For each stream the semaphores that the other waits for; raises MachineFault where both wait for one."""
        return remote_semaphores(self.program)

    @cached_property
    def enabling(self) -> list[bool]:
        """True for each instruction that writes enables or the latch."""
        return self.program.by_kind.each(_writes_enables)


def analysis_of(program: Program, config: NodeConfig) -> Analysis:
    """Return the analysis of a program on a node; it depends on the node's sequencers and costs alone.

    Raises InputError for a configuration that lacks what the program needs: every run begins here.
    """
    if program.needs:
        _must_have(program, config)
    key = (config.igc, config.extra)
    if key not in program.analyses:
        program.analyses[key] = Analysis(program, config)
    return program.analyses[key]


def _writes_enables(instruction: Instruction) -> bool:
    return instruction.declaration.unit is Unit.PE and not influences(instruction).keys().isdisjoint(("E", "L"))


def _must_have(program: Program, config: NodeConfig) -> None:
    """Raise InputError where a configuration lacks what a program needs, with a fault for each value."""
    values, name, faults = config.values, program.name or "the program", []
    for need in program.needs:
        if need.key not in values:
            hint = suggestion(need.key, values, "pixelflow config show lists all")
            faults.append(Fault(f"{name} needs {need.key} = {need.value}, which no configuration has", hint=hint))
        elif values[need.key] != need.value:
            has, why = values[need.key], f": {need.why}" if need.why else ""
            wanted = bool(need.value) if isinstance(has, bool) and need.value in (0, 1) else need.value
            message = f"{name} needs {need.key} = {_shown(wanted)}{why}; the configuration has {_shown(has)}"
            faults.append(Fault(message, hint=f"-D {need.key}={_shown(wanted)}, or a program for this machine"))
    if faults:
        raise InputError(faults)


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
