"""The commands: name, which is that of the file that implements it, and one line of help.

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


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One command of ``pixelflow``."""

    name: str
    summary: str
    report: bool = True
    """True if it makes a report, which has forms to choose from."""

    def load(self) -> ModuleType:
        """Import the file of the command and return it."""
        return importlib.import_module(f"pixelflow.cli.{self.name}")


_ALL = (
    CommandEntry("demo", "a minute in the terminal: what the machine does, to look at"),
    CommandEntry("verify", "reproduce the thesis's tables: published, formula, measured"),
    CommandEntry("study", "what guesses, schedules and instruction supply are worth"),
    CommandEntry("tessellate", "tessellate Bezier patches; write points, normals, triangles"),
    CommandEntry("serve", "tessellate on one node for others on the network"),
    CommandEntry("render", "draw a scene, a mesh or patches on a machine; write a picture"),
    CommandEntry("animate", "draw the frames of a scene whose camera moves; an animated picture"),
    CommandEntry("compare", "the same scene on several machines, side by side"),
    CommandEntry("run", "run a microcode program; report cycles, show PE state"),
    CommandEntry("dash", "show the dashboard of a saved run at any cycle"),
    CommandEntry("view", "a page in the browser: patches drawn as they turn, runs explored", report=False),
    CommandEntry("debug", "look into a run: step, back, stops, PE state", report=False),
    CommandEntry("diff", "what differs between two runs"),
    CommandEntry("asm", "assemble a microcode source; listing, symbols, static checks"),
    CommandEntry("dis", "disassemble an object file"),
    CommandEntry("examples", "examples and exercises: list, show, copy"),
    CommandEntry("grade", "grade solutions of the course's exercises"),
    CommandEntry("isa", "instruction reference"),
    CommandEntry("trace", "check a trace, the opcodes for viewers"),
    CommandEntry("stats", "the dictionary of statistics"),
    CommandEntry("sweep", "measure a grid of configurations; one row per point"),
    CommandEntry("kernels", "kernels of processing in memory, and those of other machines"),
    CommandEntry("config", "show or check a configuration"),
    CommandEntry("completion", "a script that completes command lines in a shell", report=False),
    CommandEntry("cache", "what is kept between processes: native code, programs, models"),
    CommandEntry("about", "what is modelled, and how well founded each rule is"),
)

COMMANDS = {command.name: command for command in _ALL}
"""Every command by name, in the order of ``pixelflow --help``."""
