"""Run a microcode program on the array; report its cycles, show or save PE state."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pixelflow.cli.model.rules import NOT_MODELLED
from pixelflow.cli.run.attended import DEFAULT_LIMIT, Attended, cycle_limit, explained, limit_of
from pixelflow.cli.run.pe_files import check_state_name, read_memory_file, write_state
from pixelflow.cli.shell.arguments import UsageError, add_config_options, add_engine_option, count_or_zero
from pixelflow.cli.shell.engines import engine_of
from pixelflow.cli.shell.machine import configuration
from pixelflow.cli.shell.machine_values import PIXELFLOW, add_machine_option
from pixelflow.cli.shell.output import STANDARD_STREAM, check_writable, output_file, refuse_overwrite
from pixelflow.cli.shell.pe_selection import map_view, range_view, select_lanes
from pixelflow.cli.shell.programs import add_parameter_option, read_program, target_on
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.watch.observing import Watching, add_observer_options
from pixelflow.config import Effective
from pixelflow.isa import Program
from pixelflow.node import Checkpoint, Node, Run, UntimedRun, stage_figures
from pixelflow.node.account.guesses import guesses, guesses_without_time, set_in_vain, times_set_in_vain
from pixelflow.node.account.run_report import run_object, run_parts, untimed_object, untimed_parts
from pixelflow.node.pe_map import REGISTERS, MapView
from pixelflow.node.pe_report import (
    FLAGS,
    RangeView,
    dump_parts,
    json_value,
    map_parts,
    no_map,
    ranges_table,
)
from pixelflow.simd.errors import CycleLimitError, InputError
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.report import Json, Made, Part, RasterImage, Report, counted, number

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
    add("--max-cycles", type=cycle_limit, metavar="N",
        help=f"stop with exit code 5 after N cycles or none (default {number(DEFAULT_LIMIT)}, a second of the machine; "
        "--function-only: of a stream's own, without waits; other machines have their own)")  # fmt: skip
    add("--expect-cycles", type=count_or_zero, metavar="N", help="exit code 1 unless the run takes exactly N cycles")
    add("--memory", metavar="F.npz", help="initial PE memory: array `memory`, or arrays named as ranges")
    add("--profile", action="store_true", help="cycles per instruction family, routine and source line")
    saved = parser.add_argument_group("stop and go on")
    saved.add_argument("--save-at", nargs=2, metavar=("CYCLE", "FILE"),
        help="save the state of the run before that cycle (.npz), then go on")  # fmt: skip
    saved.add_argument("--load", metavar="FILE", help="go on from a saved state; the report counts from the beginning")
    add_observer_options(parser)
    add_config_options(parser)
    add_parameter_option(parser)
    shown = parser.add_argument_group("PE state after the run")
    add = shown.add_argument
    add("--dump", action="append", choices=_DUMPS, default=[], help="print a table (repeatable)")
    add("--range", dest="ranges", action="append", default=[], metavar="NAME[:FORM]",
        help="print a named memory range; FORM: bytes, word or float (repeatable)")  # fmt: skip
    add("--show-map", action="append", default=[], metavar="NAME",
        help="print a map of the array: enable, carry, R, S, M, or a range (its byte NAME[i])")  # fmt: skip
    add("--pe", metavar="LIST", help="which PEs: 0,5,32-39, all, or module.emc.panel.pe (parts may be a-b or *)")
    add("--output", metavar="FILE", help="save memory, registers and flags: .npz or .json")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Run the program, report it and what was asked for of its end; fails where ``--expect-cycles`` is not met."""
    if args.machine != PIXELFLOW:
        from pixelflow.cli.run.any_machine import run_on_machine

        return run_on_machine(args, screen)
    effective = configuration(args, screen)
    _check_options(args, screen)
    program = read_program(args.program, args.parameters, target_on(effective.config))
    array = effective.config.array
    lanes = select_lanes(args.pe, array) if args.pe is not None else None
    if lanes is not None and not (args.ranges or args.output or {"memory", "registers"}.intersection(args.dump)):
        raise UsageError("--pe", "nothing is shown of single PEs", "add --range, --output, or --dump memory, registers")
    views = [range_view(text, program) for text in args.ranges]
    maps = [map_view(text, program) for text in args.show_map]
    # Without data no engine does anything, so none is worth the wait for a compiler.
    node = Node(effective.config, engine="rows" if args.timing_only else engine_of(args, screen))
    watching = Watching(args, screen, effective, args.program)
    account, stopped = _run(args, screen, watching, program, node)
    if args.output is not None:
        header = {"program": program.sha256, "config": effective.config.sha256}
        header |= {} if args.function_only else {"cycles": account.total_cycles}
        header |= {} if stopped is None else {"stopped": account.reason}
        write_state(args.output, node, list(range(array.lanes)) if lanes is None else lanes, header)
    few = lanes if lanes is not None else list(range(min(_FEW_LANES, array.lanes)))
    report = _report(args, effective, account)
    report = report if stopped is not None else watching.with_energy(report)
    if args.check_memory:
        for view in views:
            rows = range(view.range.start, view.range.start + view.range.size)
            watching.shown(view.range.name, rows, account.total_cycles, few)
        for drawn in maps:
            rows = range(drawn.address, drawn.address + (drawn.flag is None and drawn.register is None))
            watching.shown(drawn.text, rows, account.total_cycles)
    data = {**report.data, **_about(effective, account), "state": _state(args, node, views, few)}
    state, notes = _state_parts(args, screen, node, views, maps, few)
    figures = (*report.figures, *(Made(partial(_map_picture, node, view)) for view in maps))
    report = replace(report, data=data, results=state, notes=(*notes, *report.notes), figures=figures)
    report = watching.checked(report)
    if stopped is not None:  # what there is of the run is shown all the same
        screen.show(report)
        raise stopped
    return report


def _run(
    args: argparse.Namespace, screen: Screen, watching: Watching, program: Program, node: Node
) -> tuple[Run | UntimedRun, BaseException | None]:
    """Run the program; return the account, and what stopped it where that was the cycle limit or Ctrl-C."""
    limits = {"max_cycles": limit_of(args), **_save_options(args.save_at)}
    attended = Attended(lambda: node.running, screen, limit_of(args), line=not args.live)
    try:
        with watching, attended:
            watching.attach(node)
            if args.load is not None:
                return node.resume(program, Checkpoint.load(args.load), **limits), None
            node.load(program)
            if args.memory is not None:
                read_memory_file(args.memory, node, program)
            return node.run(program, function=not args.timing_only, timing=not args.function_only, **limits), None
    except CycleLimitError as limit:
        if node.unfinished is None:
            raise
        return node.unfinished, explained(limit, args)
    except KeyboardInterrupt as interrupt:
        if node.unfinished is None or attended.torn:
            raise
        return node.unfinished, interrupt


def _report(args: argparse.Namespace, effective: Effective, account: Run | UntimedRun) -> Report:
    """Return what a run took, or what it did where no time was simulated."""
    config = effective.config
    program = f"{args.program} ({account.program.sha256[:6]})"
    subject = (program, effective.label, f"engine {account.engine}")
    if isinstance(account, UntimedRun):
        return Report(
            "pixelflow run",
            subject,
            [*untimed_parts(account), *guesses_without_time([account]).parts],
            schema="pixelflow.untimed_run/1",
            data=untimed_object(account),
            notes=times_set_in_vain(effective),
        )
    total, expected = account.total_cycles, args.expect_cycles
    missed = expected is not None and expected != total
    return Report(
        "pixelflow run",
        subject,
        [*run_parts(account, config, profile=args.profile), *guesses([account], config).parts],
        schema="pixelflow.run/1",
        data=run_object(account, config, profile=args.profile),
        notes=set_in_vain([account], effective),
        figures=stage_figures([account]),
        failure=f"expected {counted(expected, 'cycle')}, the run took {number(total)}" if missed else None,
    )


def _about(effective: Effective, account: Run | UntimedRun) -> dict[str, Json]:
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
    if args.function_only:
        _refuse_timed_options(args)
    if args.timing_only and (args.dump or args.ranges or args.show_map or args.output):
        raise UsageError("--timing-only", "no PE data changes, so there is no state to show or save")
    if args.timing_only and (args.save_at or args.load):
        raise UsageError("--timing-only", "there is no state to save or to go on from")
    if screen.json and args.show_map:
        raise UsageError("--show-map", "a map is no part of the object of --json", "use --range, or leave out --json")
    if screen.json and "enables" in args.dump:
        raise UsageError("--dump enables", "--json counts enabled PEs anyway", "their flags: --dump registers")
    if args.profile and screen.quiet and not screen.json:
        raise UsageError("--profile", "--quiet leaves out the report", "leave out one of the two")
    if args.timing_only and args.memory:
        raise UsageError("--memory", "a run without PE data does not read it", "leave out --memory or --timing-only")
    if args.timing_only and args.check_memory:
        raise UsageError("--check-memory", "a run without PE data writes and reads none", "leave out --timing-only")
    if args.timing_only and args.engine != AUTO:
        raise UsageError("--engine", "a run without PE data has none", "leave out --engine or --timing-only")
    if args.load and args.energy:
        raise UsageError(
            "--energy", "what was done before the state of --load is not known", "run it from its beginning"
        )
    if args.load and args.memory:
        raise UsageError("--memory", "the state of --load has the PE memory already")
    if args.save_at:
        refuse_overwrite(args.program, args.save_at[1])
    if args.output is None:
        return
    if args.output == STANDARD_STREAM:
        raise UsageError("--output -", "PE state is not text for standard output", "use --dump or --json")
    check_state_name(args.output)
    refuse_overwrite(args.program, args.output)
    check_writable(args.output)


def _refuse_timed_options(args: argparse.Namespace) -> None:
    """Raise UsageError where ``--function-only`` stands beside an option that needs time."""
    if args.timing_only:
        raise UsageError("--function-only", "--timing-only leaves out all that it does", "leave out one of the two")
    for name in _TIMED:
        given = getattr(args, name)
        if given is not None and given is not False and given != []:  # 0 is a count that was given
            option = f"--{name.replace('_', '-')}"
            raise UsageError(option, "no time is simulated", f"leave out {option} or --function-only")


def _save_options(values: Sequence[str] | None) -> dict[str, int | Callable[[Checkpoint], None]]:
    """Return what `Node.run` must be told for ``--save-at``; raises UsageError or InputError before anything runs."""
    if values is None:
        return {}
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

    def save(checkpoint: Checkpoint) -> None:
        with output_file(path, binary=True) as stream:
            stream.write(checkpoint.to_bytes())

    return {"save_at": cycle, "save": save}


def _state_parts(
    args: argparse.Namespace,
    screen: Screen,
    node: Node,
    views: list[RangeView],
    maps: list[MapView],
    few: list[int],
) -> tuple[list[Part], list[str]]:
    """Return what was asked for of the state, and notes on maps that there are not."""
    parts: list[Part] = ["", ranges_table(node, views, few)] if views else []
    notes = []
    for what in dict.fromkeys(args.dump):
        parts += ["", *dump_parts(node, what, few, few=args.pe is None)]
    for view in maps:
        drawn = [*map_parts(node, view, screen.width)]
        parts += ["", *drawn]
        notes += [] if drawn else [no_map(view)]
    return parts, notes


def _map_picture(node: Node, view: MapView) -> RasterImage | None:
    """Return the picture of a map, None where PEs make no plane."""
    try:
        return view.drawn(node).picture()
    except InputError:
        return None


def _state(args: argparse.Namespace, node: Node, views: list[RangeView], few: list[int]) -> dict[str, Json]:
    """Return the state for JSON: a digest, and what was asked for."""
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
