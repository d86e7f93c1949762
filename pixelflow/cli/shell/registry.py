"""The commands: name, one line of help, and the file that implements each.

A command's file is imported when the command is used, never to show ``pixelflow --help``. It offers
``add_arguments(parser: Parser) -> None``, ``run(args: argparse.Namespace, screen: Screen) -> Report | int`` (an exit
code where it has shown everything itself; errors are raised, see :mod:`pixelflow.simd.errors`), and ``EXAMPLES``:
command lines for the end of its help, which the tests execute in order, in a folder that holds the repository's
``microcode/``.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

__all__ = ["COMMANDS", "CommandEntry"]


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command of ``pixelflow``."""

    name: str
    summary: str
    file: str
    report: bool = True
    """Whether it makes a report, which has forms to choose from."""

    def load(self) -> ModuleType:
        """Import the file of the command and return it."""
        return importlib.import_module(f"pixelflow.cli.{self.file}")


_ALL = (
    CommandEntry("verify", "reproduce the thesis's tables: published, formula, measured", "evidence.verify"),
    CommandEntry("study", "what guesses, schedules and instruction supply are worth", "study.command"),
    CommandEntry("tessellate", "tessellate Bezier patches; write points, normals, triangles", "run.tessellate"),
    CommandEntry("serve", "tessellate on one node for others on the network", "run.serve"),
    CommandEntry("render", "draw a scene, a mesh or patches on a machine; write a picture", "draw.render"),
    CommandEntry("animate", "draw the frames of a scene whose camera moves; an animated picture", "draw.animate"),
    CommandEntry("compare", "the same scene on several machines, side by side", "draw.compare"),
    CommandEntry("larrabee", "Larrabee: run programs, show instructions, check claims", "evidence.larrabee"),
    CommandEntry("run", "run a microcode program; report cycles, show PE state", "run.command"),
    CommandEntry("dash", "show the dashboard of a saved run at any cycle", "dashboard.dash"),
    CommandEntry(
        "view", "a page in the browser: patches drawn as they turn, runs explored", "debug.page", report=False
    ),
    CommandEntry("debug", "look into a run: step, back, stops, PE state", "debug.command", report=False),
    CommandEntry("diff", "what differs between two runs", "debug.diff"),
    CommandEntry("asm", "assemble a microcode source; listing, symbols, static checks", "run.asm"),
    CommandEntry("dis", "disassemble an object file", "run.dis"),
    CommandEntry("examples", "examples and exercises: list, show, copy, run by name", "course.examples"),
    CommandEntry("grade", "grade solutions of the course's exercises", "course.grade"),
    CommandEntry("isa", "instruction reference", "model.isa"),
    CommandEntry("trace", "check a trace, convert it to another format", "watch.trace"),
    CommandEntry("stats", "the dictionary of statistics", "watch.stats"),
    CommandEntry("sweep", "measure a grid of configurations; one row per point", "sweep.command"),
    CommandEntry("bench", "measure the speed of the engines", "bench.command"),
    CommandEntry("kernels", "kernels of processing in memory: numpy's results, cycles, bytes", "bench.kernels"),
    CommandEntry("config", "show or check a configuration", "model.config"),
    CommandEntry("completion", "a script that completes command lines in a shell", "model.completion", report=False),
    CommandEntry("about", "what is modelled, and how well founded each rule is", "model.about"),
)

COMMANDS = {command.name: command for command in _ALL}
"""Every command by name, in the order of ``pixelflow --help``."""
