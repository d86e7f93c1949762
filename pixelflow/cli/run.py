"""Run a microcode program; report its cycles, show or save PE state.

Ctrl-C ends a run between two instructions, so that its state can be reported and saved; a second one ends it at once.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from pixelflow import node as nodes
from pixelflow.cli import programs
from pixelflow.cli.arguments import add_config_options, add_engine_option, count, count_or_zero
from pixelflow.cli.machine_values import PIXELFLOW, add_machine_option, configuration, configured, engine_of
from pixelflow.cli.screen import (
    QUIET_SECONDS,
    STANDARD_STREAM,
    Progress,
    Screen,
    check_writable,
    clear_lines,
    output_file,
    refuse_overwrite,
)
from pixelflow.cli.watching import Watching, add_observer_options, check_display
from pixelflow.config import NodeConfig
from pixelflow.isa import MemoryRange, Program
from pixelflow.node import Node, Run, UntimedRun
from pixelflow.node.pe_map import MAP_FLAGS, REGISTERS, MapView, first_map
from pixelflow.node.pe_report import FLAGS, RangeView, dump_parts, json_value, map_parts, no_map, ranges_table
from pixelflow.simd.arrays import parse_arrays
from pixelflow.simd.attendance import Attendance, Going
from pixelflow.simd.configuration import Effective
from pixelflow.simd.errors import CycleLimitError, Fault, InputError, Place, UsageError, suggestion
from pixelflow.simd.files import ARRAYS, read_bytes
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.observe import Bus
from pixelflow.simd.report import Json, Part, RasterImage, Report, counted, number

if TYPE_CHECKING:  # a run of a node that reports nothing needs none of them
    from pixelflow.cli.trace_files import TraceFiles
    from pixelflow.simd.machine import Code, Configuration, MachineRecord, ProgramRun
    from pixelflow.simd.report import Made

DEFAULT_LIMIT = 100_000_000
"""Cycles after which a run is stopped unless another limit is named: one second of the machine at 100 MHz."""
NO_LIMIT = 0
"""Value of ``--max-cycles none``."""

_BEAT_SECONDS = 0.5


def cycle_limit(text: str) -> int:
    """Parse a limit for argparse: a positive whole number, or ``none``."""
    return NO_LIMIT if text == "none" else count(text)


def limit_of(args: argparse.Namespace) -> int | None:
    """Return the cycle limit of ``--max-cycles``: the default where it is absent, None for ``none``."""
    if args.max_cycles is None:
        return DEFAULT_LIMIT
    return None if args.max_cycles == NO_LIMIT else args.max_cycles


def explained(error: CycleLimitError, args: argparse.Namespace) -> CycleLimitError:
    """Return the error, with a word on the default where no limit was given."""
    if args.max_cycles is not None:
        return error
    return CycleLimitError(f"{error}\n    this is the limit where none is named; --max-cycles N or none sets another")


class Attended:
    """A context around runs."""

    def __init__(
        self, running: Callable[[], Going | None], screen: Screen, limit: int | None, *, line: bool = True
    ) -> None:
        """``running`` returns the present run; ``line`` is false where the terminal shows something else."""
        self._running, self._screen, self._limit, self._line = running, screen, limit, line
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._handles = False
        self.torn = False
        """True if a run was ended in the middle of an instruction."""

    def __enter__(self) -> Attended:
        if threading.current_thread() is threading.main_thread():
            # A handler that is already there, or SIG_IGN, is kept.
            self._handles = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._handles:
            signal.signal(signal.SIGINT, self._interrupt)
        clear_lines()
        if self._line and self._screen.tells:
            self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _interrupt(self, signalled: int, frame: FrameType | None) -> None:
        running = self._running()
        if running is None or running.interrupted:
            self.torn = True
            raise KeyboardInterrupt
        running.interrupt()

    def _beat(self) -> None:
        if self._over.wait(QUIET_SECONDS):
            return
        with Progress(self._screen, counts=False) as progress:
            before, since = 0, time.monotonic()
            while not self._over.wait(_BEAT_SECONDS):
                running, now = self._running(), time.monotonic()
                if running is None:
                    continue
                cycle = running.cycle
                rate = (cycle - before) / (now - since)
                before, since = cycle, now
                progress.doing(self._text(running, cycle, rate))

    def _text(self, running: Going, cycle: int, rate: float) -> str:
        most = "" if self._limit is None else f" of at most {number(self._limit)}"
        return f"{running.counted} {number(cycle)}{most}, {number(round(rate))} a second, at {running.places}"


# PE state in files: ``.npz`` in and out, ``.json`` out.


_WRITTEN_BESIDE_MEMORY = {*REGISTERS, *FLAGS, "header", "lanes"}


def read_memory_file(path: str, node: Node, program: Program) -> None:
    """Write the arrays of an ``.npz`` archive into PE memory.

    ``memory`` is uint8[bytes, lanes] starting at address 0. Any other key names a range of the program: uint8[size,
    lanes], or one number per PE (integer or float32 of the range's size), low byte first. Raises InputError with all
    faults.
    """
    faults = []
    arrays = parse_arrays(read_bytes(path, ARRAYS), lambda message: InputError(Fault(message, Place(path))))
    for key, values in arrays.items():
        if key in _WRITTEN_BESIDE_MEMORY and "memory" in arrays:
            continue
        place = Place(f"{path}[{key}]")
        found = _range(key, node, program)
        if found is None:
            names = ["memory", *(each.name for each in program.ranges)]
            hint = suggestion(key, names, f"known: {', '.join(names[:20])}")
            faults.append(Fault("the program has no memory range of this name", place, hint))
            continue
        rows = _rows(values, found.size, node.lanes, whole=key == "memory")
        if rows is None:
            faults.append(Fault(f"found {values.dtype}{list(values.shape)}", place, _expected(found, node.lanes)))
        else:
            node.write_memory(found.start, rows)
    if faults:
        raise InputError(faults)


def _range(key: str, node: Node, program: Program) -> MemoryRange | None:
    if key == "memory":
        return MemoryRange(key, 0, node.config.array.memory_bytes)
    return next((each for each in program.ranges if each.name == key), None)


def _expected(found: MemoryRange, lanes: int) -> str:
    number = f", or {found.size}-byte numbers [{lanes}]" if found.size in (1, 2, 4, 8) else ""
    return f"expected uint8[{found.size}, {lanes}]{number}"


def _rows(values: NDArray[np.generic], size: int, lanes: int, *, whole: bool) -> NDArray[np.uint8] | None:
    """Return values as uint8[bytes, lanes], or None where they are of another kind."""
    if values.ndim == 2 and values.dtype == np.uint8 and values.shape[1] == lanes:
        fits = values.shape[0] <= size if whole else values.shape[0] == size
        return cast("NDArray[np.uint8]", values) if fits else None
    number = values.ndim == 1 and values.dtype.kind in "iuf" and values.dtype.itemsize == size
    if whole or not number or len(values) != lanes:
        return None
    low_first = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
    return np.ascontiguousarray(low_first.view(np.uint8).reshape(lanes, size).T)


def check_state_name(path: str) -> None:
    """Raise UsageError where the suffix of a state file names no known form."""
    if Path(path).suffix not in (".npz", ".json"):
        hint = f"a picture of one value of all PEs: --picture NAME {path}" if Path(path).suffix == ".png" else None
        raise UsageError(f"--output {path}", "the name must end in .npz or .json", hint)


def write_state(path: str, node: Node, lanes: list[int], header: Mapping[str, str | int]) -> None:
    """Write memory, registers and flags of the chosen lanes."""
    check_state_name(path)
    memory = node.memory[:, lanes]
    registers = {name: node.register(name)[lanes] for name in REGISTERS}
    flags = {name: node.flag(name)[lanes] for name in FLAGS}
    if Path(path).suffix == ".npz":
        text = np.array(json.dumps(header, sort_keys=True))
        with output_file(path, binary=True) as stream:
            arrays = {"memory": memory, "lanes": np.array(lanes), "header": text, **registers, **flags}
            np.savez_compressed(stream, **arrays)  # type: ignore[arg-type] # no array is called allow_pickle
        return
    body = {
        "schema": "pixelflow.state/1",
        "header": header,
        "lanes": lanes,
        "memory": [bytes(memory[:, index]).hex() for index in range(len(lanes))],
        "registers": {name: values.tolist() for name, values in registers.items()},
        "flags": {name: values.tolist() for name, values in flags.items()},
    }
    with output_file(path) as stream:
        json.dump(body, stream, sort_keys=True, indent=1)
        stream.write("\n")


# `pixelflow run --machine NAME`: a program on another machine than PixelFlow.


_OF_NODES = (
    "max_cycles", "timing_only", "function_only", "expect_cycles", "memory", "profile", "save_at", "load", "stats",
    "record", "check_memory", "config", "dump", "ranges", "show_map", "picture", "pe", "output",
    "energy", "price",
)  # fmt: skip
"""Options that only a PixelFlow node takes; the first also machines whose runs can be interrupted."""
_OF_THREADS = {"threads": "threads", "per_core": "per-core", "show": "show", "form": "as"}
"""Options of machines whose programs run in threads: names of values, and of options."""


def run_on_machine(args: argparse.Namespace, screen: Screen) -> Report:
    """Run the program on the named machine, write the requested traces, and report."""
    from pixelflow.simd.machine import machine_named

    machine = machine_named(args.machine)
    if not machine.threads:
        _refuse_threads(args, machine.title)
    for name in _OF_NODES[machine.attended :]:
        if getattr(args, name) not in (None, False, []) and not (machine.threads and name == "ranges"):
            option = {"ranges": "range"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{option}", f"is PixelFlow's; this is {machine.title}")
    config = config_for(machine, args)
    program = code_for(machine, args.program, args.parameters)
    check_display(args, screen)
    if not args.trace:
        if args.window is not None or args.only:
            raise UsageError("--window" if args.window is not None else "--only", "there is no --trace to cut")
        return _ran(machine, args, screen, program, config, None)
    files, bus = _traced(machine, args, screen, config), Bus()
    files.attach(bus)
    try:
        return _ran(machine, args, screen, program, config, bus)
    finally:
        files.close()  # also where the run was stopped


def _refuse_threads(args: argparse.Namespace, title: str) -> None:
    for name, option in _OF_THREADS.items():
        if getattr(args, name) not in (None, []):
            raise UsageError(f"--{option}", f"{title} does not take it")


def config_for(machine: MachineRecord[Code, Configuration], args: argparse.Namespace) -> Configuration:
    """Return the configuration of ``--preset`` and ``-D``; raises UsageError for an unknown preset."""
    if args.preset is not None and args.preset not in machine.presets:
        raise UsageError(f"--preset {args.preset}", f"{machine.title} has no such preset")
    return configured(machine.configuration, "-D", args.overrides, machine.presets.get(args.preset))


def code_for(machine: MachineRecord[Code, Configuration], path: str, parameters: Sequence[str]) -> Code:
    """Return what is to be run; raises UsageError for parameters of a file that takes none."""
    if machine.read is None:
        # What runs programs runs the target's.
        return cast("Code", programs.read_program(path, parameters, machine.target))
    if parameters:
        raise UsageError(f"-P {parameters[0]}", f"{machine.title} runs files without parameters")
    if path == STANDARD_STREAM:
        raise UsageError("-", f"{machine.title} takes no standard input", "name a file")
    return machine.read(programs.scene_file(path, machine.target))


def _runner(machine: MachineRecord[Code, Configuration], args: argparse.Namespace) -> Callable[..., ProgramRun]:
    """Return the function that runs a program with these options; raises UsageError for those the machine lacks."""
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


def _ran(
    machine: MachineRecord[Code, Configuration],
    args: argparse.Namespace,
    screen: Screen,
    program: Code,
    config: Configuration,
    bus: Bus | None,
) -> Report:
    """Run a program, with a dashboard if requested; return its account."""
    runner = partial(_runner(machine, args), program, config=config, bus=bus)
    if machine.threads:
        given = {name: getattr(args, name) for name in (*_OF_THREADS, "ranges")}
        runner = partial(runner, **{name: value for name, value in given.items() if value is not None})
    if not args.live and not args.frame:
        if machine.attended:
            return _attended(runner, args, screen)
        if machine.read is None:
            return runner().report()
        with Progress(screen, counts=False) as progress:
            return runner(progress=progress.tell if progress.shown else None).report()
    if args.max_cycles is not None:
        raise UsageError("--max-cycles", "a dashboard has no limit", "leave out one of the two")
    from pixelflow.cli.live import opener_of, run_live, run_to_frame  # rich, for those who look

    opener = opener_of(machine, "--live" if args.live else "--frame")
    watched = opener(program, config=config, bus=bus, from_draw=args.from_draw or 0)
    if args.live:
        run_live(watched, screen)
    else:
        run_to_frame(watched, screen)
    return watched.finish()


def _attended(runner: Callable[..., ProgramRun], args: argparse.Namespace, screen: Screen) -> Report:
    """Run a program that says how far it has come, up to the limit that was named or the machine's own."""
    named = limit_of(args) if args.max_cycles is not None else None
    attendance = Attendance(sys.maxsize if args.max_cycles == NO_LIMIT else named)
    try:
        with Attended(lambda: attendance, screen, named):
            return runner(attendance=attendance).report()
    except CycleLimitError as limit:
        raise explained(limit, args) from None


def _traced(
    machine: MachineRecord[Code, Configuration], args: argparse.Namespace, screen: Screen, config: Configuration
) -> TraceFiles:
    """Return what writes the traces of a run."""
    # Who wants no trace does not wait for the formats.
    from pixelflow.cli.trace_files import TraceSubject, open_traces
    from pixelflow.simd.trace import tracks_of_streams

    streams = machine.target.streams
    subject = TraceSubject(
        machine.clock_mhz(config),
        {"machine": machine.name},
        tracks_of_streams(streams),
        f"examples: {streams[0]}, '{streams[0]} *', 'wire *'",
    )
    return open_traces(args.trace, args.program, subject, window=args.window, only=args.only, note=screen.note)


# The command `pixelflow run`.


_DUMPS = ("memory", "registers", "enables")
_FEW_LANES = 8
_TIMED = ("expect_cycles", "profile", "save_at", "load", "stats", "trace", "window", "only", "record", "live", "frame",
          "check_memory", "energy")  # fmt: skip
"""Options that say something about cycles, or wait for one."""


EXAMPLES = (
    "pixelflow run triangle --show-map colour --profile",
    "pixelflow run texture_copy --stats copy.json",
    "pixelflow run vector_add --timing-only",
    "pixelflow run texture_copy --function-only",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add program, machine, limits and what to show."""
    add = parser.add_argument
    add("program", metavar="PROG",
        help="source (.mc), object file (.mco), an example by its name, or - for source on standard input")  # fmt: skip
    add_machine_option(parser)
    add_engine_option(parser)
    add("--timing-only", action="store_true", help="count cycles without touching PE data")
    add("--function-only", action="store_true",
        help="the state of a full run without simulating time: where semaphores order what the streams do; "
        "port conflicts are not seen")  # fmt: skip
    add("--from-draw", type=count_or_zero, metavar="N",
        help="machines that run scenes: the first N draws by function alone, in no time")  # fmt: skip
    add("--threads", type=count, metavar="N",
        help="machines of threads: how many run side by side (default 1); --machine says which")  # fmt: skip
    add("--per-core", type=count, metavar="N", help="machines of threads: also time cores on which N take turns")
    add("--max-cycles", type=cycle_limit, metavar="N",
        help=f"stop with exit code 5 after N cycles or none (default {number(DEFAULT_LIMIT)}, a second of the machine; "
        "--function-only: of a stream's own, without waits; other machines have their own)")  # fmt: skip
    add("--expect-cycles", type=count_or_zero, metavar="N", help="exit code 1 unless the run takes exactly N cycles")
    add("--memory", metavar="F.npz", help="initial PE memory: array `memory`, or arrays named as ranges")
    add("--profile", action="store_true", help="cycles per instruction family, routine and source line")
    saved = parser.add_argument_group("stop and continue")
    saved.add_argument("--save-at", nargs=2, metavar=("CYCLE", "FILE"),
        help="save the state of the run before that cycle (.npz), then continue")  # fmt: skip
    saved.add_argument(
        "--load", metavar="FILE", help="continue from a saved state; the report counts from the beginning"
    )
    add_observer_options(parser)
    add_config_options(parser)
    programs.add_parameter_option(parser)
    shown = parser.add_argument_group("PE state after the run")
    add = shown.add_argument
    add("--dump", action="append", choices=_DUMPS, default=[], help="print a table (repeatable)")
    add("--range", dest="ranges", action="append", default=[], metavar="NAME[:FORM]",
        help="print a named memory range; FORM: bytes, word or float (repeatable); "
        "machines of threads: NAME or START:BYTES")  # fmt: skip
    add("--show-map", action="append", default=[], metavar="NAME",
        help="print a map of the array: enable, carry, R, S, M, or a range (its byte NAME[i])")  # fmt: skip
    add("--picture", nargs=2, metavar=("NAME", "FILE.png"), help="write such a map as a picture (needs pillow)")
    add("--show", action="append", default=[], metavar="REGISTERS",
        help="machines of threads: v1,k1,r1 of the first thread (repeatable)")  # fmt: skip
    add("--as", dest="form", choices=("hex", "int", "float", "double"),
        help="machines of threads: how words are shown (default: int); double: two each")  # fmt: skip
    add("--pe", metavar="LIST", help="which PEs: 0,5,32-39, all, or module.emc.panel.pe (parts may be a-b or *)")
    add("-o", "--output", metavar="FILE", help="save memory, registers and flags: .npz or .json")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Run the program, report it and the requested state at its end; fails where ``--expect-cycles`` is not met."""
    if args.machine != PIXELFLOW:
        return run_on_machine(args, screen)
    effective = configuration(args)
    _check_options(args, screen)
    program = programs.read_program(args.program, args.parameters, programs.target_on(effective.config))
    array = effective.config.array
    lanes = programs.select_lanes(args.pe, array) if args.pe is not None else None
    if lanes is not None and not (args.ranges or args.output or {"memory", "registers"}.intersection(args.dump)):
        raise UsageError("--pe", "nothing is shown of single PEs", "add --range, --output, or --dump memory, registers")
    views = [programs.range_view(text, program) for text in args.ranges]
    maps = [programs.map_view(text, program) for text in args.show_map]
    painted = None if args.picture is None else programs.map_view(args.picture[0], program, "--picture")
    # Without data no engine does anything, so none is worth the wait for a compiler.
    node = Node(effective.config, engine="rows" if args.timing_only else engine_of(args, screen))
    watching = Watching(args, screen, effective, args.program)
    account, stopped = _run_of_command(args, screen, watching, program, node)
    if args.output is not None:
        header: dict[str, str | int] = {"program": program.sha256, "config": effective.config.sha256}
        header |= {} if isinstance(account, UntimedRun) else {"cycles": account.total_cycles}
        header |= {} if stopped is None else {"stopped": account.reason}
        write_state(args.output, node, list(range(array.lanes)) if lanes is None else lanes, header)
    if painted is not None:
        from pixelflow.cli.picture_files import write_map

        write_map(args.picture[1], painted.drawn(node).picture())
    few = lanes if lanes is not None else list(range(min(_FEW_LANES, array.lanes)))
    failure = _missed(args, account)
    report = Report(failure=failure)
    if screen.reports:
        hints = tuple(_seen(args, account.program))
        report = nodes.report_of(args.program, effective, account, profile=args.profile, failure=failure, hints=hints)
    report = report if stopped is not None else watching.with_energy(report)
    if args.check_memory and isinstance(account, Run):
        for view in views:
            rows = range(view.range.start, view.range.start + view.range.size)
            watching.shown(view.range.name, rows, account.total_cycles, few)
        for drawn in maps:
            rows = range(drawn.address, drawn.address + (drawn.flag is None and drawn.register is None))
            watching.shown(drawn.text, rows, account.total_cycles)
    data: dict[str, Json] = {}
    if screen.reports:
        data = {**report.data, **_about(effective, account), "state": _state(args, node, views, few)}
    state, notes = _state_parts(args, screen, node, views, maps, few)
    figures = (*report.figures, *(_map_figures(node, maps) if maps else ()))
    report = replace(report, data=data, results=state, notes=(*notes, *report.notes), figures=figures)
    report = watching.checked(report)
    if stopped is not None:  # what there is of the run is shown all the same
        screen.show(report)
        raise stopped
    return report


def _run_of_command(
    args: argparse.Namespace, screen: Screen, watching: Watching, program: Program, node: Node
) -> tuple[Run | UntimedRun, BaseException | None]:
    """Run the program; return the account, and what stopped it where that was the cycle limit or Ctrl-C."""
    limit = limit_of(args)
    save_at, save = _save_options(args.save_at)
    attended = Attended(lambda: node.running, screen, limit, line=not args.live)
    try:
        with watching, attended:
            watching.attach(node)
            if args.load is not None:
                saved = nodes.Checkpoint.load(args.load)
                return node.resume(program, saved, max_cycles=limit, save_at=save_at, save=save), None
            node.load(program)
            if args.memory is not None:
                read_memory_file(args.memory, node, program)
            if args.function_only:
                return node.run(program, timing=False, max_cycles=limit), None
            data = not args.timing_only
            return node.run(program, function=data, max_cycles=limit, save_at=save_at, save=save), None
    except CycleLimitError as reached:
        if node.unfinished is None:
            raise
        return node.unfinished, explained(reached, args)
    except KeyboardInterrupt as interrupt:
        if node.unfinished is None or attended.torn:
            raise
        return node.unfinished, interrupt


def _seen(args: argparse.Namespace, program: Program) -> Iterator[str]:
    """Yield the command that shows what the PEs have, where nothing of them was asked for."""
    asked = any((args.timing_only, args.dump, args.ranges, args.show_map, args.picture, args.output))
    if not asked and (name := first_map(program)) not in MAP_FLAGS and args.program != STANDARD_STREAM:
        yield f"see it: {args.command_line} --show-map {name}"


def _missed(args: argparse.Namespace, account: Run | UntimedRun) -> str | None:
    expected = args.expect_cycles
    if expected is None or isinstance(account, UntimedRun) or expected == account.total_cycles:
        return None
    return f"expected {counted(expected, 'cycle')}, the run took {number(account.total_cycles)}"


def _about(effective: Effective[NodeConfig], account: Run | UntimedRun) -> dict[str, Json]:
    from pixelflow.cli.about import NOT_MODELLED

    return {
        "program": {"name": account.program.name, "sha256": account.program.sha256},
        "config": effective.as_object(),
        "engine": account.engine,
        "not_modelled": list(NOT_MODELLED),
    }


def _check_options(args: argparse.Namespace, screen: Screen) -> None:
    """Refuse options that go with no such run, and files that could not be written."""
    if args.from_draw is not None:
        raise UsageError("--from-draw", "a program has no draws", "machines that run scenes have")
    _refuse_threads(args, "PixelFlow")
    if args.function_only:
        _refuse_timed_options(args)
    if args.timing_only and (args.dump or args.ranges or args.show_map or args.picture or args.output):
        raise UsageError("--timing-only", "no PE data changes, so there is no state to show or save")
    if args.timing_only and (args.save_at or args.load):
        raise UsageError("--timing-only", "there is no state to save or to continue from")
    if screen.json and args.show_map:
        raise UsageError("--show-map", "the object of --json has no maps", "use --range, or leave out --json")
    if screen.json and "enables" in args.dump:
        raise UsageError("--dump enables", "--json counts enabled PEs anyway", "their flags: --dump registers")
    if args.profile and screen.quiet and not screen.json:
        raise UsageError("--profile", "--quiet leaves out the report", "leave out one of the two")
    if args.timing_only and args.memory:
        raise UsageError("--memory", "a run without PE data does not read it", "leave out --memory or --timing-only")
    if args.timing_only and args.check_memory:
        raise UsageError("--check-memory", "a run without PE data writes and reads none", "leave out --timing-only")
    if args.timing_only and args.engine != AUTO:
        raise UsageError("--engine", "a run without PE data uses no engine", "leave out --engine or --timing-only")
    if args.load and args.energy:
        raise UsageError(
            "--energy", "what was done before the state of --load is not known", "run it from its beginning"
        )
    if args.load and args.memory:
        raise UsageError("--memory", "the state of --load has the PE memory already")
    if args.save_at:
        refuse_overwrite(args.program, args.save_at[1])
    if args.picture is not None:
        from pixelflow.cli.picture_files import check_picture

        check_picture(None, args.picture[1], option="--picture")
        refuse_overwrite(args.program, args.picture[1])
    if args.output is None:
        return
    if args.output == STANDARD_STREAM:
        raise UsageError("--output -", "PE state is not text for standard output", "use --dump or --json")
    check_state_name(args.output)
    refuse_overwrite(args.program, args.output)
    check_writable(args.output)


def _refuse_timed_options(args: argparse.Namespace) -> None:
    """Raise UsageError where ``--function-only`` is combined with an option that needs time."""
    if args.timing_only:
        raise UsageError("--function-only", "--timing-only leaves out all that it does", "leave out one of the two")
    for name in _TIMED:
        given = getattr(args, name)
        if given is not None and given is not False and given != []:  # 0 is a count that was given
            option = f"--{name.replace('_', '-')}"
            raise UsageError(option, "no time is simulated", f"leave out {option} or --function-only")


def _save_options(values: Sequence[str] | None) -> tuple[int | None, Callable[[nodes.Checkpoint], None] | None]:
    """Return at which cycle ``--save-at`` saves, and what does that; raises UsageError or InputError."""
    if values is None:
        return None, None
    text, path = values
    option = f"--save-at {text} {path}"
    try:
        cycle = int(text.replace(",", ""))
    except ValueError:
        cycle = -1
    if cycle < 0:
        raise UsageError(option, f"{text!r} is not a cycle", "example: --save-at 1000 state.npz")
    if path == STANDARD_STREAM or Path(path).suffix != ".npz":
        raise UsageError(option, "the name must end in .npz")
    check_writable(path)

    def save(checkpoint: nodes.Checkpoint) -> None:
        with output_file(path, binary=True) as stream:
            stream.write(checkpoint.to_bytes())

    return cycle, save


def _state_parts(
    args: argparse.Namespace,
    screen: Screen,
    node: Node,
    views: list[RangeView],
    maps: list[MapView],
    few: list[int],
) -> tuple[list[Part], list[str]]:
    """Return the requested state, and notes on maps that cannot be drawn."""
    parts: list[Part] = ["", ranges_table(node, views, few)] if views else []
    notes = []
    for what in dict.fromkeys(args.dump):
        parts += ["", *dump_parts(node, what, few, few=args.pe is None)]
    for view in maps:
        drawn = [*map_parts(node, view, screen.width)]
        parts += ["", *drawn]
        notes += [] if drawn else [no_map(view)]
    return parts, notes


def _map_figures(node: Node, maps: list[MapView]) -> list[Made]:
    from pixelflow.simd.report import Made

    return [Made(partial(_map_picture, node, view)) for view in maps]


def _map_picture(node: Node, view: MapView) -> RasterImage | None:
    """Return the picture of a map, None where PEs make no plane."""
    try:
        return view.drawn(node).picture()
    except InputError:
        return None


def _state(args: argparse.Namespace, node: Node, views: list[RangeView], few: list[int]) -> dict[str, Json]:
    """Return the state for JSON: a digest, and the requested values."""
    found: dict[str, Json] = {}
    if not args.timing_only:
        found = {"digest": node.digest(), "enabled": int(node.flag("E").sum())}
    if not views and not args.dump:
        return found
    found["lanes"] = few
    if "memory" in args.dump:
        memory = node.memory
        found["memory"] = [bytes(memory[:, lane]).hex() for lane in few]
    if "registers" in args.dump:
        found["registers"] = {name: node.register(name)[few].tolist() for name in REGISTERS}
        found["flags"] = {name: node.flag(name)[few].tolist() for name in FLAGS}
    found["ranges"] = {
        name: [json_value(value) for value in values]
        for view in views
        for name, values in zip(view.columns(), view.values(node, few), strict=True)
    }
    return found
