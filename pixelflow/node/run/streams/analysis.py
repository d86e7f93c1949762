"""What is known of a program before it runs: found once, kept with the program, shared by all its runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from pixelflow.config import NodeConfig
from pixelflow.isa import Instruction, Program, Unit
from pixelflow.node.parts.array.influence import influences
from pixelflow.node.run.streams.calls import WholeCalls
from pixelflow.node.run.streams.ports import PortUse
from pixelflow.node.run.streams.semaphores import remote_semaphores
from pixelflow.node.run.streams.sequencer import Sequencer
from pixelflow.node.run.streams.straight_code import StraightCode, StraightCodes
from pixelflow.simd.config.param import Value
from pixelflow.simd.errors import Fault, InputError, nearest

__all__ = ["Analysis", "analysis_of"]


class Analysis:
    """The tables of one program for sequencers of one kind. Some fill when a run first comes to an instruction."""

    def __init__(self, program: Program, config: NodeConfig) -> None:
        """Raises MachineFault for a program that no sequencer can walk."""
        self.sequencer = Sequencer(program, config.igc, config.extra)
        self.port_use = PortUse(program.by_kind)
        self._calls = WholeCalls(self.sequencer)
        self._straight_codes: dict[bool, dict[int, StraightCode | None]] = {False: {}, True: {}}

    @property
    def program(self) -> Program:
        """The program, which whoever runs it holds: it holds this."""
        return self.sequencer.program

    def straight_codes(self, *, timed: bool = False, stages: bool = False) -> StraightCodes:
        """Return the straight code for one run; ``timed`` where only time passes, and nothing of it waits for words.

        With ``stages`` they may begin in it, where nothing waits for words either.
        """
        sequencer = self.sequencer
        return StraightCodes(
            self.program.by_kind,
            sequencer.cycles,
            sequencer.watched,
            self.port_use,
            names=len(self.program.names) if stages else 0,
            known=self._straight_codes[stages],
            timed=timed,
            call=self._calls.at,
        )

    @cached_property
    def remote_semaphores(self) -> dict[str, frozenset[int]]:
        """For each stream the semaphores that the other waits for; raises MachineFault where both wait for one."""
        return remote_semaphores(self.program)

    @cached_property
    def enabling(self) -> frozenset[int]:
        """The instructions that write enables, or the latch: whoever is told of enables may look at both."""
        writes = self.program.by_kind.each(_writes_enables)
        return frozenset(index for index, each in enumerate(writes) if each)


def analysis_of(program: Program, config: NodeConfig) -> Analysis:
    """Return the analysis of a program on a node: it depends on the node's sequencers and costs alone.

    Every run asks for it, so here a configuration is refused that lacks what the program needs: raises InputError.
    """
    if program.needs:
        _must_have(program, config)
    key = (config.igc, config.extra)
    found = program.analyses.get(key)
    if found is None:
        found = program.analyses[key] = Analysis(program, config)
    return found


def _writes_enables(instruction: Instruction) -> bool:
    return instruction.declaration.unit is Unit.PE and not influences(instruction).keys().isdisjoint(("E", "L"))


def _must_have(program: Program, config: NodeConfig) -> None:
    """Raise InputError where a configuration lacks what a program needs, with a fault for each value."""
    faults = list(_unmet(program, config))
    if faults:
        raise InputError(faults)


def _unmet(program: Program, config: NodeConfig) -> Iterator[Fault]:
    values, name = config.values, program.name or "the program"
    for need in program.needs:
        if need.key not in values:
            near = nearest(need.key, values)
            hint = f"did you mean {near}?" if near else "pixelflow config show lists all"
            yield Fault(f"{name} needs {need.key} = {need.value}, which no configuration has", hint=hint)
        elif values[need.key] != need.value:
            has, why = values[need.key], f": {need.why}" if need.why else ""
            wanted = bool(need.value) if isinstance(has, bool) and need.value in (0, 1) else need.value
            message = f"{name} needs {need.key} = {_shown(wanted)}{why}; the configuration has {_shown(has)}"
            yield Fault(message, hint=f"-D {need.key}={_shown(wanted)}, or a program for this machine")


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
