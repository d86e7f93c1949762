"""`pixelflow run --machine NAME`: a program on another machine than PixelFlow."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from pixelflow.cli.run.attended import NO_LIMIT, Attended, explained, limit_of
from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.machine_values import configured
from pixelflow.cli.shell.output import STANDARD_STREAM
from pixelflow.cli.shell.programs import read_program
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.simd.errors import CycleLimitError
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.machine import Code, Configuration, MachineRecord, ProgramRun, machine_named
from pixelflow.simd.observe import Bus
from pixelflow.simd.report import Report
from pixelflow.simd.telling import Attendance

__all__ = ["code_for", "config_for", "run_on_machine"]

_OF_NODES = (
    "max_cycles", "timing_only", "function_only", "expect_cycles", "memory", "profile", "save_at", "load", "stats",
    "record", "check_memory", "config", "dump", "ranges", "show_map", "pe", "output",
    "energy", "price",
)  # fmt: skip
"""What a PixelFlow node alone can be told; the first also any machine whose runs are attended."""


def run_on_machine(args: argparse.Namespace, screen: Screen) -> Report:
    """Run the program on the machine that was named, write the traces that were asked for, and report."""
    machine = machine_named(args.machine)
    for name in _OF_NODES[machine.attended :]:
        if getattr(args, name) not in (None, False, []):
            option = {"ranges": "range"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{option}", f"is PixelFlow's; this is {machine.title}")
    config = config_for(machine, args)
    program = code_for(machine, args.program, args.parameters)
    _check_display(args, screen)
    if args.trace:
        return _traced(machine, config, program, args, screen)
    if args.window is not None or args.only:
        raise UsageError("--window" if args.window is not None else "--only", "there is no --trace to cut")
    return _run(machine, args, screen, program, config, None)


def config_for(machine: MachineRecord[Code, Configuration], args: argparse.Namespace) -> Configuration:
    """Return the configuration of ``--preset`` and ``-D``; raises UsageError for a preset that the machine has not."""
    if args.preset is not None and args.preset not in machine.presets:
        raise UsageError(f"--preset {args.preset}", f"{machine.title} has no such preset")
    return configured(machine.configuration, "-D", args.overrides, machine.presets.get(args.preset))


def code_for(machine: MachineRecord[Code, Configuration], path: str, parameters: Sequence[str]) -> Code:
    """Return what is to be run; raises UsageError for parameters where the machine's files have none."""
    if machine.read is None:
        return read_program(path, parameters, machine.target)
    if parameters:
        raise UsageError(f"-P {parameters[0]}", f"{machine.title} runs files without parameters")
    if path == STANDARD_STREAM:
        raise UsageError("-", f"{machine.title} takes no standard input", "name a file")
    return machine.read(Path(path))


def _runner(machine: MachineRecord[Code, Configuration], args: argparse.Namespace) -> Callable[..., ProgramRun]:
    """Return what runs a program as it was asked for; raises UsageError for an engine, or draws, that it has not."""
    if args.from_draw is not None:
        if machine.read is None:
            raise UsageError("--from-draw", f"{machine.title} runs programs, which have no draws")
        return partial(cast("Callable[..., ProgramRun]", machine.run), from_draw=args.from_draw)
    if args.engine == AUTO:
        return machine.run
    drawing = machine.commands.drawing if machine.commands is not None else None
    engines = drawing.engines if drawing is not None else ()
    if args.engine not in engines:
        found = f"has {', '.join((AUTO, *engines))}" if engines else "has no engine to choose"
        raise UsageError(f"--engine {args.engine}", f"{machine.title} {found}")
    return partial(cast("Callable[..., ProgramRun]", machine.run), engine=args.engine)


def _check_display(args: argparse.Namespace, screen: Screen) -> None:
    """Raise UsageError where a dashboard cannot be shown."""
    if args.live and args.frame:
        raise UsageError("--frame", "--live shows the last frame already")
    for option in ("live", "frame"):
        if getattr(args, option) and (screen.json or screen.quiet):
            raise UsageError(f"--{option}", "a dashboard goes to standard output, which --json and --quiet keep")


def _run(
    machine: MachineRecord[Code, Configuration],
    args: argparse.Namespace,
    screen: Screen,
    program: Code,
    config: Configuration,
    bus: Bus | None,
) -> Report:
    """Run a program, with a dashboard where one was asked for; return its account."""
    runner = _runner(machine, args)
    if not args.live and not args.frame:
        if machine.attended:
            return _attended(runner, args, screen, program, config, bus)
        if machine.read is None:
            return runner(program, config=config, bus=bus).report()
        with Progress(screen, counts=False) as progress:
            tell = progress.tell if progress.shown else None
            return runner(program, config=config, bus=bus, progress=tell).report()
    if args.max_cycles is not None:
        raise UsageError("--max-cycles", "a dashboard has no limit", "leave out one of the two")
    from pixelflow.cli.dashboard.watched import opener_of, run_live, run_to_frame  # rich, for those who look

    opener = opener_of(machine, "--live" if args.live else "--frame")
    watched = opener(program, config=config, bus=bus, from_draw=args.from_draw or 0)
    if args.live:
        run_live(watched, screen)
    else:
        run_to_frame(watched, screen)
    return watched.finish()


def _attended(
    runner: Callable[..., ProgramRun],
    args: argparse.Namespace,
    screen: Screen,
    program: Code,
    config: Configuration,
    bus: Bus | None,
) -> Report:
    """Run a program that says how far it has come, up to the limit that was named or the machine's own."""
    named = limit_of(args) if args.max_cycles is not None else None
    attendance = Attendance(sys.maxsize if args.max_cycles == NO_LIMIT else named)
    try:
        with Attended(lambda: attendance, screen, named):
            return runner(program, config=config, bus=bus, attendance=attendance).report()
    except CycleLimitError as limit:
        raise explained(limit, args) from None


def _traced(
    machine: MachineRecord[Code, Configuration],
    config: Configuration,
    program: Code,
    args: argparse.Namespace,
    screen: Screen,
) -> Report:
    # Who wants no trace does not wait for the formats.
    from pixelflow.cli.watch.trace_files import TraceSubject, open_traces
    from pixelflow.simd.trace import tracks_of_streams

    streams = machine.target.streams
    subject = TraceSubject(
        machine.clock_mhz(config),
        {"machine": machine.name},
        tracks_of_streams(streams),
        f"examples: {streams[0]}, '{streams[0]} *', 'wire *'",
    )
    cut = {"window": args.window, "only": args.only}
    files, bus = open_traces(args.trace, args.program, subject, **cut, note=screen.note), Bus()
    files.attach(bus)
    try:
        return _run(machine, args, screen, program, config, bus)
    finally:
        files.close()  # also where the run was stopped
