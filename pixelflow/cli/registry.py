"""The commands: name, one line of help, and the file that implements each.

A command's file is imported when the command is used, never to show ``pixelflow --help``. It offers
``add_arguments(parser: argparse.ArgumentParser) -> None`` and ``run(args: argparse.Namespace) -> int`` (the exit
code; errors are raised, see :mod:`pixelflow.simd.errors`), and ``EXAMPLES``: command lines for the end of its help,
which the tests execute in order, in a folder that holds the repository's ``microcode/``.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from pixelflow.simd.records import record

__all__ = ["COMMANDS", "Command"]


@record
class Command:
    """One command of ``pixelflow``."""

    name: str
    summary: str
    file: str

    def load(self) -> ModuleType:
        """Import the file of the command and return it."""
        return importlib.import_module(f"pixelflow.cli.{self.file}")


_ALL = (
    Command("verify", "reproduce the thesis's tables: published, formula, measured", "verify"),
    Command("tessellate", "tessellate Bezier patches; write points, normals, triangles", "tessellate"),
    Command("serve", "tessellate on one node for others on the network", "serve"),
    Command("render", "draw a scene, a mesh or patches on a machine; write a picture", "render"),
    Command("compare", "the same scene on PixelFlow and on Larrabee, side by side", "compare"),
    Command("larrabee", "Larrabee: run programs, show instructions, check claims", "larrabee"),
    Command("run", "run a microcode program; report cycles, show PE state", "run"),
    Command("dash", "show the dashboard of a saved run at any cycle", "dash"),
    Command("debug", "look into a run: step, back, stops, PE state", "debug"),
    Command("diff", "what differs between two runs", "diff"),
    Command("asm", "assemble a microcode source; listing, symbols, static checks", "asm"),
    Command("dis", "disassemble an object file", "dis"),
    Command("isa", "instruction reference", "isa"),
    Command("trace", "check a trace, convert it to another format", "trace"),
    Command("stats", "the dictionary of statistics", "stats"),
    Command("sweep", "measure a grid of configurations; one row per point", "sweep"),
    Command("bench", "measure the speed of the engines", "bench"),
    Command("config", "show or check a configuration", "config"),
    Command("completion", "a script that completes command lines in a shell", "completion"),
    Command("about", "what is modelled, and how well founded each rule is", "about"),
)

COMMANDS = {command.name: command for command in _ALL}
"""Every command by name, in the order of ``pixelflow --help``."""
