"""Look into a run: step and go back, stop at places, cycles and changes, show code and PE state.

Commands come from the keyboard, from a file (--cmd) or from standard input. `help` lists them. A script ends with the
exit code of what stopped the program, 0 where nothing did; a command that fails ends it with 3.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import cast

from microcode.reader import shipped_beside
from pixelflow.cli.arguments import add_config_options, add_engine_option, count
from pixelflow.cli.machine_values import PIXELFLOW, add_machine_option, configuration, configured, engine_of
from pixelflow.cli.programs import add_parameter_option, read_program, target_on
from pixelflow.cli.run import read_memory_file
from pixelflow.cli.screen import STANDARD_STREAM, Screen, check_writable, output_file
from pixelflow.debugger import Debugger, DebugSession
from pixelflow.node import Node, Replay, SavedRun
from pixelflow.simd.dialogue import SomeDialogue
from pixelflow.simd.errors import (
    Fault,
    InputError,
    Place,
    SimulatorError,
    UsageError,
    format_error,
)
from pixelflow.simd.files import SCRIPT, read_text, too_large
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Fact

# The command `pixelflow debug`.


EXAMPLES = (
    "pixelflow run mandelbrot --record mandelbrot.npz",
    "pixelflow debug mandelbrot.npz --cmd mandelbrot.look",
)

_PROMPT = "(pixelflow) "
_OF_NODES = ("engine", "max_cycles", "memory", "config", "preset")
"""Options that only a PixelFlow node takes."""
_FROM_FILE = ("config", "preset", "overrides", "parameters", "memory", "max_cycles")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the program or saved run, the machine, and where commands come from."""
    add = parser.add_argument
    add("program", metavar="PROG|FILE.npz", help="source (.mc), object file (.mco), or a run saved with --record")
    add_machine_option(parser)
    add("--cmd", metavar="FILE", help="commands, one on a line; # begins a remark (default: standard input)")
    add("--record", metavar="FILE.npz", help="write the run with its pokes when you leave; `debug` takes it")
    add_engine_option(parser)
    add("--max-cycles", type=count, metavar="N", help="a cycle limit, as of a run")
    add("--memory", metavar="F.npz", help="initial PE memory: array `memory`, or arrays named as ranges")
    add_config_options(parser)
    add_parameter_option(parser)


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Take commands until they end; returns the exit code of what has stopped the program, if a script ends there."""
    if screen.json:
        raise UsageError("--json", "a conversation is not a JSON object", "pixelflow run --json reports a run")
    if args.record is not None:
        _check_record(args)
    script = _script(args)
    if args.machine != PIXELFLOW:
        return _talk(_of_another(args, screen), script, args, screen)
    replay, saved = _replay(args, screen)
    debugger = Debugger(DebugSession(replay), screen, saved)
    with _recorded(args, replay, saved):
        return _talk(debugger, script, args, screen)


def _talk(debugger: SomeDialogue, script: list[str] | None, args: argparse.Namespace, screen: Screen) -> int:
    """Execute a script, or what a person types."""
    if script is None:
        _converse(debugger, screen)
        return 0
    _follow(debugger, script, args.cmd or "standard input", screen)
    return debugger.exit_code


def _check_record(args: argparse.Namespace) -> None:
    """Refuse a file that could not be written, and runs of machines that have no form for it."""
    if args.machine != PIXELFLOW:
        raise UsageError("--record", "is of PixelFlow's runs")
    if args.record == STANDARD_STREAM:
        raise UsageError("--record -", "standard output has the conversation", "name a file")
    check_writable(args.record)


@contextlib.contextmanager
def _recorded(args: argparse.Namespace, replay: Replay, saved: SavedRun | None) -> Iterator[None]:
    """Write the run with its pokes at the end, also where a command of a script went wrong."""
    try:
        yield
    finally:
        if args.record is not None:
            command = args.command_line if saved is None else saved.command
            with output_file(args.record, binary=True) as stream:
                stream.write(SavedRun.of(replay, command).to_bytes())


def _of_another(args: argparse.Namespace, screen: Screen) -> SomeDialogue:
    """Return the dialogue with a run on the machine that was named; raises InputError where it has no debugger."""
    machine = machine_named(args.machine)
    if not machine.debug:
        raise UsageError("debug", f"runs of {machine.title} cannot be looked into", "pixelflow run --trace shows them")
    for name in _OF_NODES:
        if getattr(args, name) not in (None, AUTO):
            raise UsageError(f"--{name.replace('_', '-')}", f"is PixelFlow's; this is {machine.title}")
    config = configured(machine.configuration, "-D", args.overrides)
    program = read_program(args.program, args.parameters, machine.target)
    opened = resolve_name(machine.debug)(program, config, screen)
    return cast("SomeDialogue", opened)


def _replay(args: argparse.Namespace, screen: Screen) -> tuple[Replay, SavedRun | None]:
    """Return the run at cycle 0, and the file that it is from."""
    if Path(args.program).suffix == ".npz":
        for name in _FROM_FILE:
            if getattr(args, name):
                raise UsageError(args.program, f"a saved run has its own {name.replace('_', ' ')}")
        saved = SavedRun.load(args.program)
        return saved.replay(engine_of(args, screen)), saved
    effective = configuration(args)
    program = read_program(args.program, args.parameters, target_on(effective.config))
    node = Node(effective.config, engine=engine_of(args, screen))
    node.load(program)
    if args.memory is not None:
        read_memory_file(args.memory, node, program)
    return Replay(node, program, max_cycles=args.max_cycles), None


def _script(args: argparse.Namespace) -> list[str] | None:
    """Return the commands of a script, None where a person types them."""
    if args.cmd is None and sys.stdin is not None and sys.stdin.isatty():
        return None
    if args.cmd in (None, STANDARD_STREAM):
        if args.program == STANDARD_STREAM:
            raise UsageError("-", "standard input cannot be the program and the commands", "use --cmd FILE")
        return [] if sys.stdin is None else _typed().splitlines()
    return read_text(shipped_beside(args.cmd), SCRIPT, args.cmd).splitlines()


def _typed() -> str:
    """Return what is on standard input."""
    text = sys.stdin.read(SCRIPT.limit + 1)
    if len(text) > SCRIPT.limit:
        raise too_large("standard input", SCRIPT)
    return text


def _follow(debugger: SomeDialogue, script: list[str], file: str, screen: Screen) -> None:
    """Execute a script, showing each command before what it does; raises InputError with the line of a bad one."""
    for number, text in enumerate(script, start=1):
        if debugger.ended:
            return
        text = text.strip()
        if not text:
            continue
        screen.print(Fact(_PROMPT + text, wrap=False))
        if text.startswith("#"):
            continue
        try:
            debugger.carry_out(text)
        except InputError as error:
            faults = [Fault(each.message, Place(file, number), each.hint) for each in error.faults]
            raise InputError(faults) from None


def _converse(debugger: SomeDialogue, screen: Screen) -> None:
    """Take commands from the keyboard; an empty line is the last one again, and Ctrl-C ends what takes long."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (input() then has a history and can be edited)

    debugger.greet()
    screen.print("help lists the commands, Ctrl-C stops a long one")
    last = ""
    while not debugger.ended:
        try:
            text = input(_PROMPT).strip() or last
        except EOFError:
            screen.print("")
            return
        except KeyboardInterrupt:
            screen.print("")
            continue
        last = text
        if text:
            _attempt(debugger, text, screen)


def _attempt(debugger: SomeDialogue, text: str, screen: Screen) -> None:
    with _interruptible(debugger):
        try:
            debugger.carry_out(text)
        except SimulatorError as error:
            screen.print(Fact(format_error(error), wrap=False))


@contextlib.contextmanager
def _interruptible(debugger: SomeDialogue) -> Iterator[None]:
    """Let Ctrl-C ask a long movement to end."""

    def ask(number: int, frame: object) -> None:
        debugger.interrupt()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
