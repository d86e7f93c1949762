"""The action ``pixelflow larrabee run``: one program on the vector unit, its cycles, registers and memory."""

from __future__ import annotations

import argparse
from importlib import resources
from pathlib import Path
from typing import Any

from larrabee_bridge.core import Core, CoreConfig
from larrabee_bridge.isa import NAMES
from larrabee_bridge.program import TARGET
from larrabee_bridge.run_report import Executed, run_report
from larrabee_bridge.threads import Recording, Shared, take_turns
from larrabee_bridge.vector_unit import VectorUnit
from pixelflow.cli.model.core_values import core_config
from pixelflow.cli.shell.arguments import UsageError, count
from pixelflow.cli.shell.output import STANDARD_STREAM
from pixelflow.cli.shell.programs import add_parameter_option, read_program
from pixelflow.cli.shell.screen import Screen
from pixelflow.isa import Program
from pixelflow.report import Report

LARGEST = 4096
"""Most bytes of memory that are shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the program and what to show of its end."""
    add = parser.add_argument
    add("program", metavar="PROG.mc", help="source or object file; - is standard input; or a shipped one: blocks.mc")
    add_parameter_option(parser)
    add("--threads", type=count, default=1, metavar="N", help="threads side by side, r0 holds each one's number")
    add("--per-core", type=count, metavar="N", help="also time cores on which N threads take turns")
    add("--show", action="append", default=[], metavar="REGISTERS", help="v1,k1,r1 of thread 0 at the end (repeatable)")
    add("--memory", action="append", default=[], metavar="RANGE", help="a range, or START:BYTES, as words (repeatable)")
    add("--as", dest="form", choices=("hex", "int", "float"), default="int", help="how words are shown (default: int)")
    add("-D", dest="overrides", action="append", default=[], metavar="KEY=VALUE", help="a value of the core model")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Run the program and report."""
    config = core_config("-D", args.overrides)
    if config.caches and args.per_core is None:
        raise UsageError("-D caches=true", "caches belong to cores that threads share", "add --per-core 4")
    program = read_program(_path(args.program), args.parameters, TARGET)
    unit = VectorUnit(program, args.threads)
    registers = [name for names in args.show for name in _registers(names)]
    memory = {text: _span(text, unit) for text in args.memory}
    unit.set_scalar(0, list(range(args.threads)))
    core = Core(program, args.threads, config)
    recording = Recording(args.threads)

    def listen(*step: Any) -> None:
        core(*step)
        if args.per_core is not None:
            recording(*step)

    unit.run(listen)
    shown = {name: _register(unit, name) for name in registers}
    words = {text: _words(unit, *span) for text, span in memory.items()}
    cores = _cores(program, recording, args.per_core, config)
    done = Executed(unit, core, cores, args.per_core, shown, words)
    return run_report(Path(args.program).name, done, args.form)


def _path(given: str) -> str:
    """Return the path of a program; a bare name that is no file here may be that of a shipped one."""
    if given == STANDARD_STREAM or Path(given).name != given or Path(given).exists():
        return given
    shipped = resources.files("larrabee_bridge").joinpath("programs", given)
    return str(shipped) if shipped.is_file() else given


def _registers(names: str) -> list[str]:
    found = [name.strip() for name in names.split(",")]
    for name in found:
        if name not in NAMES:
            raise UsageError(f"--show {names}", f"there is no register {name}", "v0..v31, k0..k7, r0..r15")
    return found


def _register(unit: VectorUnit, name: str) -> list[int]:
    """Return a register of thread 0: sixteen words of a vector, or one number."""
    place = int(name[1:])
    if name[0] == "v":
        return unit.vector(place)[0].tolist()
    return [int((unit.mask if name[0] == "k" else unit.scalar)(place)[0])]


def _span(text: str, unit: VectorUnit) -> tuple[int, int]:
    """Return first byte and size of a range of the program, or of START:BYTES."""
    ranges = {each.name: (each.start, each.size) for each in unit.program.ranges}
    start, colon, size = text.partition(":")
    if text in ranges:
        start, size = ranges[text]
    elif colon and start.isdigit() and size.isdigit():
        start, size = int(start), int(size)
    else:
        hint = f"ranges: {', '.join(ranges)}; or START:BYTES" if ranges else "write START:BYTES"
        raise UsageError(f"--memory {text}", "is no range of the program", hint)
    if start % 4 or size % 4 or not 0 < size <= LARGEST or start + size > unit.memory.size:
        raise UsageError(f"--memory {text}", f"whole words inside the memory are shown, {LARGEST} bytes at most")
    return start, size


def _words(unit: VectorUnit, start: int, size: int) -> list[int]:
    return [int.from_bytes(bytes(unit.memory.data[0, at : at + 4]), "little") for at in range(start, start + size, 4)]


def _cores(program: Program, recording: Recording, threads: int | None, config: CoreConfig) -> list[Shared]:
    """Return what cores with so many threads each did; none where nobody asked."""
    if threads is None:
        return []
    return [
        take_turns(program, recording.steps[first : first + threads], config)
        for first in range(0, recording.threads, threads)
    ]
