"""What is known of a program before it runs: found once, kept with the program, shared by all its runs."""

from __future__ import annotations

from functools import cached_property

from pixelflow.config import IgcConfig
from pixelflow.isa import Program
from pixelflow.node.marks.values import FlagValues
from pixelflow.node.marks.writes import FlagWrites
from pixelflow.node.order.igc_box import IgcSpec
from pixelflow.node.streams.calls import WholeCalls
from pixelflow.node.streams.ports import PortUse
from pixelflow.node.streams.semaphore_use import specs_of
from pixelflow.node.streams.sequencer import Sequencer
from pixelflow.node.streams.straight_code import Stretch, Stretches

__all__ = ["Analysis", "analysis_of"]


class Analysis:
    """The tables of one program for sequencers of one kind. Some fill when a run first comes to an instruction."""

    def __init__(self, program: Program, config: IgcConfig) -> None:
        """Raises MachineFault for a program that no sequencer can walk."""
        self._program = program
        self.sequencer = Sequencer(program, config)
        self.port_use = PortUse(program.instructions)
        self.flag_writes = FlagWrites(program.instructions)
        self._calls = WholeCalls(self.sequencer)
        self._stretches: dict[int, Stretch | None] = {}
        self._flag_values: dict[int, FlagValues] = {}

    def stretches(self, *, timed: bool = False) -> Stretches:
        """Return the stretches for one run; ``timed`` where only time passes."""
        sequencer, instructions = self.sequencer, self._program.instructions
        return Stretches(
            instructions,
            sequencer.cycles,
            sequencer.watched,
            self.port_use,
            known=self._stretches,
            timed=timed,
            call=self._calls.at,
        )

    def flag_values(self, lanes: int) -> FlagValues:
        """Return what earlier runs on arrays of so many PEs have found out about flags."""
        found = self._flag_values.get(lanes)
        if found is None or found.full:
            found = self._flag_values[lanes] = FlagValues(lanes)
        return found

    @cached_property
    def specs(self) -> dict[str, IgcSpec]:
        """What each sequencer must know of the semaphores; raises MachineFault where both streams wait for one."""
        return specs_of(self._program)


def analysis_of(program: Program, config: IgcConfig) -> Analysis:
    """Return the analysis of a program."""
    found = program.analyses.get(config)
    if found is None:
        found = program.analyses[config] = Analysis(program, config)
    return found
