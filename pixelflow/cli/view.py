"""Open a page in the browser: turn patches that the simulated machines draw, and look into runs.

SUBJECT is a run that was saved with --record (.npz), a program (.mc, .mco or the name of an example), a patch file
(.bpt), the name of a model that ships, or a trace of any machine (.pftrace); scenes and meshes are what `render`
draws. With --machine it is a program or a scene file of another machine: it is run to its end and looked into by its
trace. The page is served to this host alone, at an address with a token that is printed; Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from pixelflow.cli.arguments import add_config_options, count
from pixelflow.cli.machine_values import PIXELFLOW, add_machine_option, configuration, examples_for
from pixelflow.cli.programs import (
    add_parameter_option,
    example_files,
    read_program,
    shipped_files,
    shipped_with,
    target_on,
)
from pixelflow.cli.run import code_for, config_for, read_memory_file
from pixelflow.cli.screen import STANDARD_STREAM, Progress, Screen
from pixelflow.cli.tessellate import load_patches
from pixelflow.cli.trace_files import known_of, reading
from pixelflow.isa import Program
from pixelflow.node import Node, Replay, SavedRun
from pixelflow.simd.attendance import Telling
from pixelflow.simd.errors import Fault, InputError, Place, UsageError, must_be, nearest
from pixelflow.simd.files import MESH, read_bytes
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.machine import Code, Configuration, MachineRecord, machine_named, machine_names, machines
from pixelflow.simd.observe import AccountView, Bus, RunView
from pixelflow.simd.report import Fact
from pixelflow.simd.trace import Selection, Trace, TraceClock, Tracer, tracks_of_streams
from pixelflow.simd.trace.formats import FORMATS
from pixelflow.simd.trace.perfetto import read_perfetto
from pixelflow.simd.workers import kept_processes, usable_threads
from pixelflow.view import (
    Desks,
    DrawingRoom,
    ExplorerRoom,
    PageRoom,
    TracedRun,
    TraceRoom,
    require_server,
    run_explorer,
    serve,
)
from pixelflow.view import Telling as PageTelling
from tessellation import BUILT_IN, Patch
from tessellation.picture import MESH_SUFFIXES
from tessellation.scenes import MESHES, SCENES, frames_of
from tessellation.surface.bpt import is_patches

if TYPE_CHECKING:
    from pixelflow.view.widget import RunExplorer

# Runs that are known by their trace alone: of a program on another machine, or read from a trace file.


_SHOWN = Selection(only=("*", "queue *"))
"""Everything but the single items of wires, which are more than all the rest."""
_ZIPPED = ".gz"


def is_trace_file(name: str) -> bool:
    """Return whether a name has the suffix of a trace, compressed or not."""
    return PurePath(name.removesuffix(_ZIPPED)).suffix in {each.suffix for each in FORMATS.values()}


def trace_run(
    machine: MachineRecord[Code, Configuration],
    code: Code,
    file: str,
    *,
    config: Configuration | None = None,
    progress: Telling | None = None,
) -> TracedRun:
    """Run a program, or a scene, on a machine to its end, and return its trace.

    Raises SimulatorError for what the machine cannot run; ``progress`` hears of scenes how far they have come.
    """
    clock = machine.clock_mhz(machine.configuration() if config is None else config)
    tracer: Tracer[RunView, AccountView] = Tracer(Trace(TraceClock(clock), {"machine": machine.name}), _SHOWN)
    bus = Bus()
    tracer.attach(bus, tracks_of_streams(machine.target.streams))
    if progress is not None:
        progress(f"{machine.title} runs {file}")
    machine.run(code, config=config, bus=bus)
    program = code if isinstance(code, AssembledProgram) else None
    return traced_run(tracer.trace, file, machine.title, program)


def traced_file(file: str) -> TracedRun:
    """Return the run of a Perfetto trace; raises InputError for other formats, and for a trace with faults."""
    with reading(file) as (format, stream):
        if format is not FORMATS["perfetto"]:
            message = f"a {format.name} trace lacks what the timeline needs: {format.loses}"
            raise InputError(Fault(message, Place(file), "give the Perfetto trace of the run"))
        trace = read_perfetto(stream, file)
    name = trace.header.get("machine", "")
    title = machine_named(name).title if name in machine_names() else name
    return traced_run(trace, PurePath(file).name, title)


def traced_run(trace: Trace, file: str, machine: str = "", program: AssembledProgram | None = None) -> TracedRun:
    """Return a trace as a run to look into; raises InputError where nothing is in it."""
    if not trace.end > trace.begin or not trace.events:
        raise InputError(Fault("the trace is empty: no cycle of a run is in it", Place(file) if file else None))
    return TracedRun(trace.header.get("program") or "program", file, machine, trace, program)


def machine_of(program: AssembledProgram) -> MachineRecord[AssembledProgram, Configuration]:
    """Return the machine whose programs are of this class; raises InputError where none is registered."""
    for machine in machines():
        if machine.read is None and machine.target.program is type(program):
            return machine
    raise InputError(
        Fault(f"no machine runs a {type(program).__name__}", hint=f"machines: {', '.join(machine_names())}")
    )


# The run explorer in a notebook: what a page of `pixelflow view` shows of a run, below a cell.


def explore(
    run: SavedRun | AssembledProgram | Trace | str | Path, node: Node | None = None, *, height: int = 760
) -> RunExplorer:
    """Return a widget in which a run is looked into: timeline, program with heat, PEs, the debugger.

    ``run`` is one that was saved (or its file), or a program. A program runs on a copy of ``node`` as it is now, or on
    a fresh one with its initial memory. A trace (or its Perfetto file), and a program of another machine, which runs on
    that machine's defaults, have timeline and listing, and a cursor in the place of the debugger. Needs the extra
    `notebook`. Raises MissingPackageError without it, InputError for anything else.
    """
    known = (SavedRun, AssembledProgram, Trace, str, os.PathLike)
    must_be(run, known, "a trace, a saved run, its file, or a program")
    traced = _traced(run)
    if traced is not None:
        if node is not None:
            raise InputError(Fault("a node runs PixelFlow's programs", hint="leave it out"))
        return run_explorer(lambda tell: (TraceRoom(traced),), height)
    if isinstance(run, Program):
        beginning = Node() if node is None else Node(node.config)
        if node is not None:
            beginning.restore(node.snapshot())
        saved = SavedRun.of(Replay(beginning, run), "pf.explore")
    elif isinstance(run, SavedRun):
        saved = run
    else:
        assert not isinstance(run, (AssembledProgram, Trace))
        saved = SavedRun.load(run)

    def furnish(tell: PageTelling) -> Iterable[PageRoom]:
        return (ExplorerRoom(saved, lambda each: known_of(each.config), tell),)

    return run_explorer(furnish, height)


def _traced(run: SavedRun | AssembledProgram | Trace | str | Path) -> TracedRun | None:
    """Return a run that is known by its trace alone, None where a node executes it."""
    if isinstance(run, (SavedRun, Program)):
        return None
    if isinstance(run, Trace):
        return traced_run(run, "")
    if isinstance(run, AssembledProgram):
        return trace_run(machine_of(run), run, run.name or "program")
    return traced_file(os.fspath(run)) if is_trace_file(os.fspath(run)) else None


# The command `pixelflow view`.


EXAMPLES = (
    "pixelflow view",
    "pixelflow view enneper",
    "pixelflow view triangle",
    "pixelflow run triangle --record triangle.npz",
    "pixelflow view triangle.npz",
    "pixelflow run triangle --trace triangle.pftrace",
    "pixelflow view triangle.pftrace",
    *examples_for("view", PIXELFLOW),
)

_FIRST = next(iter(BUILT_IN))
_DRAWN = (".toml", *MESH_SUFFIXES)
"""Suffixes of files that commands draw."""
_PORTS = range(65536)
_MOST_JOBS = 4
"""Processes by default: more would make more pictures than one can see."""
_OF_PROGRAMS = ("config", "preset", "overrides", "parameters", "memory", "max_cycles")
"""Options for a program alone."""
_SHORT = {"overrides": "-D", "parameters": "-P"}
_OF_NODES = ("config", "memory", "max_cycles")
"""Options that only a PixelFlow node takes."""


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
    add("--jobs", type=count, metavar="N", help="processes of this machine, each making whole pictures, while "
        f"PixelFlow's are turned (default: one a processor, at most {_MOST_JOBS})")  # fmt: skip
    add("--max-cycles", type=count, metavar="N", help="a cycle limit for a program")
    add("--memory", metavar="F.npz", help="initial PE memory of a program: array `memory`, or arrays named as ranges")
    add_config_options(parser)
    add_parameter_option(parser)


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Serve the page until Ctrl-C."""
    if screen.json:
        raise UsageError("--json", "a page is not a JSON object", "pixelflow run --json reports a run")
    require_server()
    _check_name(args)
    traced = _trace_of(args, screen)
    saved = _run_of(args, screen) if traced is None else None
    named: tuple[str, Sequence[Patch]] | None = None
    if traced is None and saved is None and args.subject is not None:
        named = PurePath(args.subject).stem, load_patches(args.subject, screen).patches

    def furnish(tell: PageTelling) -> Iterable[PageRoom]:
        if traced is not None:
            return (TraceRoom(traced),)
        explorer = ExplorerRoom(saved, lambda each: known_of(each.config), tell)
        return explorer, DrawingRoom(named, explorer.explore, processes if jobs > 1 else None, tell)

    def ready(address: str) -> None:
        where = address if saved is None and traced is None else f"{address}#run"
        screen.print(Fact(where, wrap=False))
        if sys.stdout is not None:
            sys.stdout.flush()
        screen.note("Ctrl-C ends it")
        # A browser that would take over the terminal is not started.
        display = (
            os.name == "nt" or sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
        )
        if not args.no_open and display:
            webbrowser.open(where)

    jobs = 1 if traced is not None else args.jobs or min(_MOST_JOBS, usable_threads())
    with kept_processes(jobs) as processes:
        serve(Desks(furnish), args.port, ready)
    return 0


def _check_name(args: argparse.Namespace) -> None:
    """Raise InputError for a name that is not a file and nothing to look at, with what there is, and what draws
    scenes.
    """
    name, words = args.subject, "" if args.machine == PIXELFLOW else f" --machine {args.machine}"
    suffix, folder = PurePath(name or "").suffix.lower(), os.path.isdir(name or "")
    if name in (None, STANDARD_STREAM) or (os.path.lexists(name) and suffix not in _DRAWN and not folder):
        return
    models, programs, files = list(BUILT_IN), list(example_files()), "files: .npz, .mc, .mco, .bpt, .pftrace"
    if words:
        machine = machine_named(args.machine)
        models, programs = [], sorted(shipped_with(machine.target))
        files = "files: .mc, .mco" if machine.read is None else f"files: scenes in {machine.title}'s own form"
    if folder and name not in (*models, *programs):
        raise InputError(Fault("is a folder; a page shows a file", Place(name), files))
    if os.path.lexists(name):  # what nothing can draw is refused as such
        _ = read_bytes(name, MESH) if suffix in MESH_SUFFIXES else frames_of(name)
    drawn = (*SCENES, *MESHES, *(BUILT_IN if words else ()))
    is_drawn = (name in drawn and name not in programs) or suffix in _DRAWN
    if not is_drawn and (suffix or name in (*models, *programs, *shipped_files())):
        return  # of a file of its kind that is missing the reader says so
    near = name if is_drawn else nearest(name, (*models, *programs, *drawn))
    hints = [f"{what}: {', '.join(names)}" for what, names in (("models", models), ("programs", programs)) if names]
    if near is not None:
        to_do = f"pixelflow view {near}{words}"
        if near in BUILT_IN and near in drawn:
            to_do = f"pixelflow view {near}, and choose {args.machine} there"
        elif near in drawn or is_drawn:
            to_do = f"it is drawn by: pixelflow render {near}{words} -o {PurePath(near).stem}.png"
        hints.insert(0, to_do if is_drawn else f"did you mean {near}? {to_do}")
    message = "is a scene or a mesh; a page turns patches, or looks into a run" if is_drawn else "there is no such file"
    raise InputError(Fault(message, Place(name), "; ".join((*hints, files))))


def _trace_of(args: argparse.Namespace, screen: Screen) -> TracedRun | None:
    """Return the run that is known by its trace alone: of another machine, or from a file; None for any other."""
    subject = args.subject
    if args.machine == PIXELFLOW and (subject is None or not is_trace_file(subject)):
        return None
    if args.jobs is not None:
        raise UsageError("--jobs", "nothing is drawn there: the page has the trace of this run alone")
    if args.machine == PIXELFLOW:
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
    """Return the run to look into, None where patches are to be drawn."""
    subject = args.subject
    saved = subject is not None and PurePath(subject).suffix == ".npz"
    if subject is None or saved or is_patches(subject):
        _refuse(args, _OF_PROGRAMS, "a saved run has its own" if saved else "patches have no")
        return SavedRun.load(subject) if saved else None
    if subject == STANDARD_STREAM:
        raise UsageError("-", "a page takes no standard input", "name a file")
    effective = configuration(args)
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
