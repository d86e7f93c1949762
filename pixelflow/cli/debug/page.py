"""Open a page in the browser: turn patches that the simulated machines draw, and look into runs.

SUBJECT is a run that was saved with --record (.npz), a program (.mc, .mco or the name of an example), a patch file
(.bpt), the name of a model that ships, or a trace of any machine (.pftrace). With --machine it is what another machine
runs, a program of its own or a scene: it is traced to its end, and looked into by its trace. The page is served to this
host alone, at an address with a token that is printed; Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

from pixelflow.cli.debug.page_dialogue import PageDialogue
from pixelflow.cli.debug.page_traces import is_trace_file, trace_run, traced_file
from pixelflow.cli.run.any_machine import code_for, config_for
from pixelflow.cli.run.pe_files import read_memory_file
from pixelflow.cli.shell.arguments import UsageError, add_config_options, count
from pixelflow.cli.shell.machine import configuration
from pixelflow.cli.shell.machine_values import PIXELFLOW, add_machine_option
from pixelflow.cli.shell.output import STANDARD_STREAM
from pixelflow.cli.shell.programs import add_parameter_option, read_program, target_on
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.watch.trace_files import known_of
from pixelflow.node import Node, Replay, SavedRun
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Fact
from pixelflow.view import (
    Desks,
    DrawingRoom,
    ExplorerRoom,
    PageRoom,
    Telling,
    TracedRun,
    TraceRoom,
    require_server,
    serve,
)
from tessellation import BUILT_IN, Patch, load
from tessellation.surface.bpt import is_patches

EXAMPLES = (
    "pixelflow run triangle --record triangle.npz",
    "pixelflow run triangle --trace perfetto",
    "pixelflow view --help",
)

_FIRST = next(iter(BUILT_IN))
_PORTS = range(65536)
_OF_PROGRAMS = ("config", "preset", "overrides", "parameters", "memory", "max_cycles")
"""Options for a program alone."""
_SHORT = {"overrides": "-D", "parameters": "-P"}
_OF_NODES = ("config", "memory", "max_cycles")
"""What a PixelFlow node alone can be told."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is shown, the port, and what a program runs with."""
    add = parser.add_argument
    patches = f"patches (.bpt, or {', '.join(BUILT_IN)})"
    add("subject", metavar="SUBJECT", nargs="?", default=None,
        help=f"saved run (.npz), program (.mc, .mco, example), trace (.pftrace) or {patches} "
        f"(default: {_FIRST})")  # fmt: skip
    add_machine_option(parser)
    add("--port", type=_port, default=0, metavar="N", help="port of this host (default: any that is free)")
    add("--no-open", action="store_true", help="print the address, and open no browser")
    add("--max-cycles", type=count, metavar="N", help="a cycle limit for a program")
    add("--memory", metavar="F.npz", help="initial PE memory of a program: array `memory`, or arrays named as ranges")
    add_config_options(parser)
    add_parameter_option(parser)


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Serve the page until Ctrl-C."""
    if screen.json:
        raise UsageError("--json", "a page is no JSON object", "pixelflow run --json reports a run")
    require_server()
    traced = _trace_of(args, screen)
    saved = _run_of(args, screen) if traced is None else None
    named = _patches_of(args, screen) if traced is None and saved is None else None

    def furnish(tell: Telling) -> Iterable[PageRoom]:
        if traced is not None:
            return (TraceRoom(traced),)
        explorer = ExplorerRoom(saved, PageDialogue, lambda each: known_of(each.config), tell)
        return explorer, DrawingRoom(named, explorer.explore)

    def ready(address: str) -> None:
        where = address if saved is None and traced is None else f"{address}#run"
        screen.print(Fact(where, wrap=False))
        if sys.stdout is not None:
            sys.stdout.flush()
        screen.note("Ctrl-C ends it")
        if not args.no_open and _has_display():
            webbrowser.open(where)

    try:
        serve(Desks(furnish), args.port, ready)
    except KeyboardInterrupt:
        screen.note("ended")
    return 0


def _patches_of(args: argparse.Namespace, screen: Screen) -> tuple[str, Sequence[Patch]] | None:
    """Return the patches that are to be drawn at first, by their name; None where none are named."""
    if args.subject is None:
        return None
    file = load(args.subject)
    for note in file.notes:
        screen.note(f"note: {file.name}: {note}")
    return PurePath(args.subject).stem, file.patches


def _trace_of(args: argparse.Namespace, screen: Screen) -> TracedRun | None:
    """Return the run that only its trace tells of: of another machine, or from a file; None where it is neither."""
    subject = args.subject
    if args.machine == PIXELFLOW:
        if subject is None or not is_trace_file(subject):
            return None
        _refuse(args, _OF_PROGRAMS, "a trace is of a run with its own")
        return traced_file(subject)
    machine = machine_named(args.machine)
    if subject is None:
        wanted = "a program" if machine.read is None else "a scene"
        raise UsageError(f"--machine {args.machine}", f"{wanted} is missing", "a page without one draws: choose there")
    if is_trace_file(subject):
        raise UsageError(f"--machine {args.machine}", "a trace says itself which machine it is of")
    for name in _OF_NODES:
        if getattr(args, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')}", f"is PixelFlow's; this is {machine.title}")
    config = config_for(machine, args)
    code = code_for(machine, subject, args.parameters)
    with Progress(screen, counts=False) as progress:
        return trace_run(machine, code, PurePath(subject).name, config=config, progress=progress.tell)


def _refuse(args: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """Raise UsageError for options that mean nothing here."""
    for name in names:
        if getattr(args, name):
            option = _SHORT.get(name, f"--{name.replace('_', '-')}")
            raise UsageError(option, f"{why} {name.replace('_', ' ')}")


def _run_of(args: argparse.Namespace, screen: Screen) -> SavedRun | None:
    """Return the run that is to be looked into, None where patches are to be drawn."""
    subject = args.subject
    saved = subject is not None and PurePath(subject).suffix == ".npz"
    if subject is None or saved or is_patches(subject):
        _refuse(args, _OF_PROGRAMS, "a saved run has its own" if saved else "patches have no")
        return SavedRun.load(subject) if saved else None
    if subject == STANDARD_STREAM:
        raise UsageError("-", "a page takes no standard input", "name a file")
    effective = configuration(args, screen)
    program = read_program(subject, args.parameters, target_on(effective.config))
    node = Node(effective.config)
    node.load(program)
    if args.memory is not None:
        read_memory_file(args.memory, node, program)
    begun = SavedRun.of(Replay(node, program, max_cycles=args.max_cycles), args.command_line)
    return replace(begun, file=PurePath(subject).name)


def _port(text: str) -> int:
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1
    if value not in _PORTS:
        raise argparse.ArgumentTypeError(f"expected a port, 0 to {_PORTS[-1]}, found {text[:40]!r}")
    return value


def _has_display() -> bool:
    """Whether a browser would open a window: none that takes over the terminal is started."""
    return os.name == "nt" or sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
