"""Run a microcode program on the array; report its cycles, show or save PE state."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pixelflow.cli.arguments import UsageError, add_config_options, add_engine_option, count, count_or_zero
from pixelflow.cli.machine import config_object, configuration, engine_of
from pixelflow.cli.model_rules import NOT_MODELLED
from pixelflow.cli.observing import Watching, add_observer_options
from pixelflow.cli.output import STANDARD_STREAM, check_writable
from pixelflow.cli.programs import add_parameter_option, read_program, refuse_overwrite
from pixelflow.cli.screen import Screen
from pixelflow.simd.errors import ExpectationError

if TYPE_CHECKING:
    from pixelflow.config import Effective
    from pixelflow.node import Node, Run, UntimedRun

_DUMPS = ("memory", "registers", "enables")
_FEW_LANES = 8


EXAMPLES = (
    "pixelflow run microcode/examples/triangle.mc --show-map colour --profile",
    "pixelflow run microcode/examples/texture_copy.mc --stats copy.json",
    "pixelflow run microcode/examples/vector_add.mc --timing-only",
    "pixelflow run microcode/examples/texture_copy.mc --function-only",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add program, machine, limits and what to show."""
    add = parser.add_argument
    add("program", metavar="PROG", help="source (.mc), object file (.mco), or - for source on standard input")
    add_engine_option(parser)
    add("--timing-only", action="store_true", help="count cycles without touching PE data")
    add("--function-only", action="store_true",
        help="the state of a full run without simulating time: where semaphores order what the streams do; "
        "port conflicts are not seen")  # fmt: skip
    add("--max-cycles", type=count, metavar="N",
        help="stop with exit code 5 after N cycles (--function-only: N of a stream's own, without waits)")  # fmt: skip
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


def run(args: argparse.Namespace) -> int:
    """Run the program, show what was asked for; raises ExpectationError where ``--expect-cycles`` is not met."""
    screen = Screen.of(args)
    effective = configuration(args, screen)
    _check_outputs(args)
    program = read_program(args.program, args.parameters)

    from pixelflow.cli.checkpoint_files import read_checkpoint, save_options
    from pixelflow.cli.guesses import note_set_in_vain, note_times_set_in_vain
    from pixelflow.cli.pe_files import read_memory_file, write_state
    from pixelflow.cli.pe_selection import select_lanes
    from pixelflow.cli.pe_tables import map_view, range_view
    from pixelflow.node import Node

    array = effective.config.array
    lanes = select_lanes(args.pe, array) if args.pe is not None else None
    if lanes is not None and not (args.ranges or args.output or {"memory", "registers"}.intersection(args.dump)):
        raise UsageError("--pe", "nothing is shown of single PEs", "add --range, --output, or --dump memory, registers")
    views = [range_view(text, program) for text in args.ranges]
    maps = [map_view(text, program) for text in args.show_map]
    # Without data no engine does anything, so none is worth the wait for a compiler.
    node = Node(effective.config, engine="rows" if args.timing_only else engine_of(args, screen))
    saving = save_options(args.save_at)
    limits = {"max_cycles": args.max_cycles, **saving}
    with Watching(args, screen, effective, args.program) as watching:
        watching.attach(node)
        if args.load is None:
            node.load(program)
            if args.memory is not None:
                read_memory_file(args.memory, node, program)
            account = node.run(program, function=not args.timing_only, timing=not args.function_only, **limits)
        else:
            account = node.resume(program, read_checkpoint(args.load), **limits)
    if args.output is not None:
        header = {"program": program.sha256, "config": effective.config.sha256}
        header |= {} if args.function_only else {"cycles": account.total_cycles}
        write_state(args.output, node, list(range(array.lanes)) if lanes is None else lanes, header)
    few = lanes if lanes is not None else list(range(min(_FEW_LANES, array.lanes)))
    if screen.json:
        _show_object(screen, args, effective, node, account, views, few)
    else:
        if not screen.quiet:
            _show_report(screen, args, effective, account)
        _show_state(screen, args, node, views, maps, few)
    if args.function_only:
        note_times_set_in_vain(screen, effective)
        return 0
    note_set_in_vain(screen, [account], effective)
    if args.expect_cycles is not None and args.expect_cycles != account.total_cycles:
        raise ExpectationError(f"expected {args.expect_cycles:,} cycles, the run took {account.total_cycles:,}")
    return 0


def _check_outputs(args: argparse.Namespace) -> None:
    from pixelflow.cli.untimed_report import refuse_timed_options
    from pixelflow.simd.lanes import AUTO

    refuse_timed_options(args)
    if args.timing_only and (args.dump or args.ranges or args.show_map or args.output):
        raise UsageError("--timing-only", "no PE data changes, so there is no state to show or save")
    if args.timing_only and (args.save_at or args.load):
        raise UsageError("--timing-only", "there is no state to save or to go on from")
    if args.json and args.show_map:
        raise UsageError("--show-map", "a map is no part of the object of --json", "use --range, or leave out --json")
    if args.json and "enables" in args.dump:
        raise UsageError("--dump enables", "--json counts enabled PEs anyway", "their flags: --dump registers")
    if args.profile and args.quiet and not args.json:
        raise UsageError("--profile", "--quiet leaves out the report", "leave out one of the two")
    if args.timing_only and args.memory:
        raise UsageError("--memory", "a run without PE data does not read it", "leave out --memory or --timing-only")
    if args.timing_only and args.engine != AUTO:
        raise UsageError("--engine", "a run without PE data has none", "leave out --engine or --timing-only")
    if args.load and args.memory:
        raise UsageError("--memory", "the state of --load has the PE memory already")
    if args.save_at:
        refuse_overwrite(args.program, args.save_at[1])
    if args.output is None:
        return
    from pixelflow.cli.pe_files import check_state_name

    if args.output == STANDARD_STREAM:
        raise UsageError("--output -", "PE state is not text for standard output", "use --dump or --json")
    check_state_name(args.output)
    refuse_overwrite(args.program, args.output)
    check_writable(args.output)


def _show_report(screen: Screen, args: argparse.Namespace, effective: Effective, account: Run | UntimedRun) -> None:
    from pixelflow.cli.guesses import guesses, guesses_without_time
    from pixelflow.cli.run_report import show_run
    from pixelflow.cli.untimed_report import show_untimed

    config = effective.config
    program = account.program
    screen.paragraph(
        f"pixelflow run · {args.program} ({program.sha256[:6]}) · config {effective.preset} ({config.sha256[:6]})"
        f" · engine {account.engine}"
    )
    if args.function_only:
        show_untimed(screen, account)
        guesses_without_time([account]).show(screen)
        return
    show_run(screen, account, config, profile=args.profile)
    guesses([account], config).show(screen)


def _show_state(screen: Screen, args: argparse.Namespace, node: Node, views: list, maps: list, few: list[int]) -> None:
    from pixelflow.cli.pe_tables import show_enables, show_map, show_memory, show_ranges, show_registers

    if views:
        screen.text()
        show_ranges(screen, node, views, few)
    for what in dict.fromkeys(args.dump):
        screen.text()
        if what == "registers":
            show_registers(screen, node, few)
        elif what == "enables":
            show_enables(screen, node)
        else:
            show_memory(screen, node, few if args.pe is not None else few[:1])
    for view in maps:
        screen.text()
        show_map(screen, node, view)


def _show_object(
    screen: Screen,
    args: argparse.Namespace,
    effective: Effective,
    node: Node,
    account: Run | UntimedRun,
    views: list,
    few: list[int],
) -> None:
    state: dict[str, Any] = {}
    if not args.timing_only:
        state = {"digest": node.digest(), "enabled": int(node.flag("E").sum())}
    if views or args.dump:
        state |= _state_object(args, node, views, few)
    values = {
        "program": {"name": account.program.name, "sha256": account.program.sha256},
        "config": config_object(effective),
        "engine": account.engine,
        "state": state,
        "not_modelled": list(NOT_MODELLED),
    }
    if args.function_only:
        from pixelflow.cli.guesses import guesses_without_time
        from pixelflow.cli.untimed_report import untimed_object

        values |= untimed_object(account) | {"guesses": guesses_without_time([account]).as_object()}
        screen.object("pixelflow.untimed_run/1", **values)
    else:
        screen.object("pixelflow.run/1", **values, **_timed_object(args, effective, account))


def _timed_object(args: argparse.Namespace, effective: Effective, account: Run) -> dict[str, Any]:
    from pixelflow.cli.guesses import guesses
    from pixelflow.cli.run_report import profile_object, streams_object

    return {
        "result": {
            "cycles": account.total_cycles,
            "seconds_at_clock": effective.config.seconds(account.total_cycles),
            "instructions": sum(each.instructions for each in account.streams),
            "reason": "halt",
        },
        "streams": streams_object(account, lines=args.profile),
        "tasic_busy_cycles": list(account.tasic_cycles),
        "ledger": account.ledger.as_object(),
        "profile": profile_object(account, lines=args.profile),
        "guesses": guesses([account], effective.config).as_object(),
    }


def _state_object(args: argparse.Namespace, node: Node, views: list, few: list[int]) -> dict[str, Any]:
    from pixelflow.cli.pe_files import STATE_FLAGS, STATE_REGISTERS
    from pixelflow.cli.pe_tables import json_value

    found: dict[str, Any] = {"lanes": few}
    if "memory" in args.dump:
        memory = node.memory
        found["memory"] = [bytes(memory[:, lane]).hex() for lane in few]
    if "registers" in args.dump:
        found["registers"] = {name: node.register(name)[few].tolist() for name in STATE_REGISTERS}
        found["flags"] = {name: node.flag(name)[few].tolist() for name in STATE_FLAGS}
    found["ranges"] = {
        name: [json_value(value) for value in values]
        for view in views
        for name, values in zip(view.columns(), view.values(node, few), strict=True)
    }
    return found
