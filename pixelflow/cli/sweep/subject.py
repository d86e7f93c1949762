"""What a sweep measures: the command that its points are command lines of, and how one becomes a point."""

from __future__ import annotations

import argparse

from pixelflow.cli.run.attended import limit_of
from pixelflow.cli.run.tessellate import sample_counts
from pixelflow.cli.run.tessellate_method import method_of
from pixelflow.cli.shell.arguments import Parser, UsageError
from pixelflow.cli.shell.programs import read_program, target_on
from pixelflow.cli.shell.registry import COMMANDS
from pixelflow.cli.sweep.grid import Axis, Grid, axis_of, option_name
from pixelflow.cli.sweep.points import Point, Refused, RunPoint, TessellatePoint
from pixelflow.config import NodeConfig, load_config, override_faults
from pixelflow.simd.errors import SimulatorError
from tessellation import load

__all__ = ["SWEPT", "Subject"]

SWEPT = {
    "run": ("engine", "max-cycles"),
    "tessellate": (
        "samples", "library", "control-points", "schedule", "sends", "mantissa-bytes", "hybrid", "replication",
        "load", "results", "gps", "engine",
    ),
}  # fmt: skip
"""The options of each command that may be an axis: those that say what is measured."""

_MEMORY = ("array.main_bytes", "array.more_bytes")
"""Keys on which it depends whether a program assembles at all."""


class Subject:
    """A program or a model under many configurations; it is read once."""

    def __init__(self, args: argparse.Namespace) -> None:
        """Raises InputError where the input or the configuration is wrong in all points."""
        self._args = args
        self._parser = Parser(prog=f"pixelflow sweep {args.subject}")
        COMMANDS[args.subject].load().add_arguments(self._parser)
        self._programs: dict[tuple[tuple[str, ...], int, int], str] = {}
        self._config = load_config(args.config, args.overrides, args.preset)
        if args.subject == "tessellate":
            self._patches = load(args.source).patches

    def grid(self) -> Grid:
        """Return the grid of the axes; raises UsageError where one of them cannot be read."""
        options = [action for action in self._parser.declared if action.option_strings]
        swept = [action for action in options if option_name(action) in SWEPT[self._args.subject]]
        axes: list[Axis] = []
        for text in self._args.axes:
            axis = axis_of(text, swept, parameters=self._args.subject == "run")
            if axis.name in (each.name for each in axes):
                raise UsageError(f"--set {text}", f"{axis.name} is an axis already", "give all its values in one --set")
            axes.append(axis)
        return Grid(tuple(axes))

    def check(self, grid: Grid) -> None:
        """Refuse values that are wrong whatever the others are, and a program that is wrong in all points.

        Raises UsageError or InputError, or ends the program as its parser does.
        """
        for axis in grid.axes:
            for value in axis.values:
                chosen = self._parser.parse_args([self._args.source, *axis.words(value)])
                for fault in (fault for text in chosen.overrides for fault in override_faults(text)):
                    raise UsageError(f"--set {axis.name}", fault.message, fault.hint)
        differs = any(axis.is_parameter or axis.name in _MEMORY for axis in grid.axes)
        if self._args.subject == "run" and not differs:
            self._program((), self._config)

    def point(self, words: list[str]) -> Point:
        """Return the point of a command line; one whose options contradict each other is a point that fails."""
        chosen = self._parser.parse_args([self._args.source, *words])
        try:
            config = load_config(self._args.config, [*self._args.overrides, *chosen.overrides], self._args.preset)
            if self._args.subject == "run":
                return self._run_point(chosen, config)
            return self._tessellate_point(chosen, config)
        except SimulatorError as error:
            return Refused.by(error, self._args.subject)

    def _run_point(self, chosen: argparse.Namespace, config: NodeConfig) -> RunPoint:
        program = self._program(tuple(chosen.parameters), config)
        return RunPoint(program, config, chosen.engine, limit_of(chosen), not self._args.timing_only)

    def _tessellate_point(self, chosen: argparse.Namespace, config: NodeConfig) -> TessellatePoint:
        counts = tuple(sample_counts(chosen, len(self._patches)))
        return TessellatePoint(self._patches, counts, config, chosen.engine, chosen.library, method_of(chosen))

    def _program(self, parameters: tuple[str, ...], config: NodeConfig) -> str:
        """Return the object file of the program with these parameters."""
        target = target_on(config)
        key = (parameters, target.placed_bytes, target.memory_bytes)
        if key not in self._programs:
            program = read_program(self._args.source, [*self._args.parameters, *parameters], target)
            self._programs[key] = program.to_json()
        return self._programs[key]
