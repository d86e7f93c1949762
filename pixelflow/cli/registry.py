"""The commands: name, one line of help, and the file that implements each.

A command's file is imported when the command is used, never to show ``pixelflow --help``. It offers
``add_arguments(parser: argparse.ArgumentParser) -> None`` and ``run(args: argparse.Namespace) -> int`` (the exit
code; errors are raised, see :mod:`pixelflow.errors`).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

__all__ = ["COMMANDS", "Command"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command of ``pixelflow``."""

    name: str
    summary: str
    file: str

    def load(self) -> ModuleType:
        """Import the file of the command and return it."""
        return importlib.import_module(f"pixelflow.cli.{self.file}")


_ALL = (
    Command("tessellate", "tessellate Bezier patches; write points, normals, triangles", "tessellate"),
    Command("run", "run a microcode program; report cycles, show PE state", "run"),
    Command("asm", "assemble a microcode source; listing, symbols, static checks", "asm"),
    Command("dis", "disassemble an object file", "dis"),
    Command("isa", "instruction reference", "isa"),
    Command("stats", "the dictionary of statistics", "stats"),
    Command("bench", "measure the speed of the engines", "bench"),
    Command("config", "show or check a configuration", "config"),
    Command("about", "what is modelled, and how well founded each rule is", "about"),
)

COMMANDS = {command.name: command for command in _ALL}
"""Every command by name, in the order of ``pixelflow --help``."""
