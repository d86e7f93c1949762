"""Machines on the command line: ``--machine``, ``--engine``, their own options, and values of their configuration."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, TypeVar

from pixelflow.cli.arguments import parsed
from pixelflow.cli.screen import Screen
from pixelflow.config import NodeConfig, load_effective
from pixelflow.isa import program
from pixelflow.node.kernels import choose
from pixelflow.simd.configuration import ConfigFiles, Effective, Value, leaves
from pixelflow.simd.errors import Fault, InputError, Place, UsageError, install_command
from pixelflow.simd.lanes import AUTO

if TYPE_CHECKING:  # few commands draw
    from _typeshed import DataclassInstance

    from pixelflow.simd.attendance import Telling
    from pixelflow.simd.commands import MachineDrawing, Told
    from pixelflow.simd.comparison.comparison import Refusal, Sides
    from pixelflow.simd.comparison.triangle_sizes import Way
    from pixelflow.simd.drawing import State
    from pixelflow.simd.isa.program import AssembledProgram
    from pixelflow.simd.isa.target import ProgramTarget

PIXELFLOW = "pixelflow"
"""Default machine of every command."""

ALL = "all"
"""Word for every machine that draws."""

_Config = TypeVar("_Config", bound="DataclassInstance")


def configuration(args: argparse.Namespace) -> Effective[NodeConfig]:
    """Return the configuration of ``--config``, ``--preset`` and ``-D``."""
    return load_effective(args.config, args.overrides, args.preset)


def engine_of(args: argparse.Namespace, screen: Screen) -> str:
    """Return the name of the lane engine of ``--engine``; a note says if ``auto`` cannot take the fastest.

    Raises InputError for an engine given by name that does not work here: no other replaces it.
    """
    choice = choose(args.engine)
    if choice.why is not None:
        install = install_command("fast")
        hint = f"install the extra: {install}; or leave out --engine for the fastest that works"
        raise InputError(Fault(choice.why, Place(f"--engine {args.engine}"), hint))
    if choice.note is not None:
        screen.note(f"note: {choice.note}")
    return choice.engine


def add_machine_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--machine``; the register is read only for a named one."""
    parser.add_argument("--machine", default=PIXELFLOW, metavar="NAME", help="which machine (default: pixelflow)")


def target_of(name: str) -> ProgramTarget[AssembledProgram]:
    """Return the assembler's target for a machine."""
    from pixelflow.simd.machine import machine_named

    return program.PIXELFLOW if name == PIXELFLOW else machine_named(name).target


def examples_for(command: str, *without: str) -> tuple[str, ...]:
    """Return the machines' examples of a command, the default one's first, but none of those in ``without``."""
    from pixelflow.simd.machine import commands_of_machines

    found = sorted(commands_of_machines(*without).items(), key=lambda item: item[0] != PIXELFLOW)
    return tuple(line for _, each in found for line in each.examples if line.startswith(f"pixelflow {command} "))


def add_drawing_options(parser: argparse.ArgumentParser, command: str) -> dict[str, MachineDrawing]:
    """Add what machines take for their pictures; absent options are None or empty.

    Return how each machine draws that does, by name, the default one first; parsed arguments have it as ``machines``.
    """
    from pixelflow.simd.machine import commands_of_machines

    known = {name: each.drawing for name, each in commands_of_machines().items()}
    found = {name: drawing for name, drawing in known.items() if drawing is not None}
    machines = dict(sorted(found.items(), key=lambda item: item[0] != PIXELFLOW))
    for drawing in machines.values():
        for option in drawing.options:
            if command in option.commands and option.switch:
                parser.add_argument(option.flag, action="store_const", const=True, help=option.help)
            elif command in option.commands:
                # What a class complains of, argparse says better.
                kind = option.parse if isinstance(option.parse, type) else partial(parsed, option.parse)
                parser.add_argument(
                    option.flag, type=kind, metavar=option.metavar, choices=option.choices, help=option.help
                )
        if (values := drawing.configuration) is not None:
            parser.add_argument(values.flag, action="append", default=[], metavar="KEY=VALUE", help=values.help)
    parser.set_defaults(machines=machines)
    return machines


def add_sides_option(parser: argparse.ArgumentParser, machines: Mapping[str, MachineDrawing], default: str) -> None:
    """Add ``--machine``, several times, to what `add_drawing_options` has added; ``default`` is said in help."""
    parser.add_argument("--machine", dest="sides", action="append", choices=(*machines, ALL), metavar="NAME",
        help=f"a machine to compare, {', '.join(machines)}, or {ALL} (repeatable; default: {default})")  # fmt: skip


def chosen_options(
    args: argparse.Namespace, screen: Screen, config: NodeConfig, default: Sequence[str]
) -> dict[str, Told]:
    """Return the options of each chosen machine by name, each once; ``default`` machines where none is chosen.

    Raises UsageError for options of machines that were not. The engine of ``args`` is then that of lanes.
    """
    wanted = list(args.machines) if ALL in (args.sides or ()) else args.sides or default
    args.sides = list(dict.fromkeys(wanted))
    refuse_options_of_others(args, args.sides)
    words = {name: drawing_options(args, name) for name in args.sides}
    args.engine = engine_of(args, screen)
    if PIXELFLOW in words:
        words[PIXELFLOW] = {**words[PIXELFLOW], "config": config, "engine": args.engine}
    return words


def sides_of(
    args: argparse.Namespace, words: Mapping[str, Told], config: NodeConfig, progress: Telling | None
) -> Sides:
    """Return the machines with their options, for one scene; ``config`` is that of PixelFlow's nodes."""
    from pixelflow.simd.comparison.comparison import Contender, Sides
    from pixelflow.simd.machine import machine_named

    found = {}
    for name in words:
        drawing, machine = args.machines[name], machine_named(name)
        assert machine.draw is not None  # as it says that it draws
        draw = partial(machine.draw, progress=progress, **words[name])
        found[name] = Contender(drawing.title, draw, machine.built, _refusal(drawing, config))
    return Sides(found, _others(args, words, config))


def refusal_of(args: argparse.Namespace, name: str, config: NodeConfig) -> Refusal | None:
    """Return what a machine refuses to draw, where it says so before any work; it names the machines that would."""
    from pixelflow.simd.comparison.comparison import refused_with

    refuse = _refusal(args.machines[name], config)
    return None if refuse is None else refused_with(refuse, _others(args, (name,), config))


def _refusal(drawing: MachineDrawing, config: NodeConfig) -> Refusal | None:
    return partial(_refuse, drawing.require, config) if drawing.require else None


def _others(args: argparse.Namespace, chosen: Collection[str], config: NodeConfig) -> dict[str, Refusal | None]:
    return {name: _refusal(each, config) for name, each in args.machines.items() if name not in chosen}


def ways_by_size(args: argparse.Namespace, words: Mapping[str, Told], progress: Telling | None) -> list[Way]:
    """Return the ways in which machines with their options draw triangles of one size."""
    from pixelflow.simd.comparison.triangle_sizes import Way
    from pixelflow.simd.machine import machine_named

    found: list[Way] = []
    for name, options in words.items():
        drawing, draw = args.machines[name], machine_named(name).draw
        assert draw is not None  # as it says that it draws
        if drawing.ways_by_size:
            found += resolve_name(drawing.ways_by_size)(options, progress)
        else:
            found.append(Way(drawing.title, partial(draw, progress=progress, **options)))
    return found


def _refuse(place: str, config: NodeConfig, draws: Sequence[tuple[str, State]], samples: int) -> None:
    resolve_name(place)(config)(draws, samples)


def refuse_options_of_others(args: argparse.Namespace, chosen: Sequence[str]) -> None:
    """Raise UsageError for an option of a machine that is not among those that were ``chosen``."""
    here = f"this is {' and '.join(args.machines[each].title for each in chosen)}"
    for name, drawing in args.machines.items():
        flags = [option.flag for option in drawing.options]
        flags += [drawing.configuration.flag] if drawing.configuration is not None else []
        for flag in flags if name not in chosen else ():
            if _given(args, flag):
                more = here if name == PIXELFLOW else f"add --machine {name}"
                raise UsageError(flag, f"is {drawing.title}'s; {more}")


def drawing_options(args: argparse.Namespace, name: str) -> Told:
    """Return the arguments for drawing on a machine; raises UsageError or InputError for those it does not take."""
    from pixelflow.simd.machine import machine_named

    found, drawing = {}, args.machines[name]
    if drawing.engines:  # an engine that this machine does not have means its fastest one
        found["engine"] = args.engine if args.engine in drawing.engines else AUTO
    for option in drawing.options:
        value = _given(args, option.flag)
        if option.most is not None and value is not None and value > option.most:
            raise UsageError(option.flag, f"1 to {option.most}, not {value}")
        if (value := option.default if value is None else value) is not None:
            found[option.keyword] = value
    if (values := drawing.configuration) is not None:
        kind, overrides = machine_named(name).configuration, _given(args, values.flag)
        assert isinstance(overrides, list)  # as the option may be repeated
        about = {key: known.matters for key, known, _, _ in leaves(kind())}
        for text in overrides:
            if (why := values.in_vain.get(about.get(text.partition("=")[0], ""))) is not None:
                raise UsageError(f"{values.flag} {text}", "no picture depends on it", why)
        found["config"] = configured(kind, values.flag, overrides)
    return found


def _given(args: argparse.Namespace, flag: str) -> Value | list[str] | None:
    """Return the value of an option that not every command has."""
    return getattr(args, flag.strip("-").replace("-", "_"), None)


def configured(kind: type[_Config], option: str, overrides: list[str], preset: _Config | None = None) -> _Config:
    """Return the configuration of a machine with the values that ``option`` sets; raises InputError with all faults.

    The others are those of ``preset``, by default the machine's.
    """
    files = ConfigFiles({"": kind() if preset is None else preset})
    return files.load_effective(overrides=overrides, option=option).config
