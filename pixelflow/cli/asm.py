"""Assemble a microcode source into an object file, with listing, symbols and static checks."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from microcode import check, listing, symbols
from microcode.checks import Finding
from pixelflow.cli.machine_values import add_machine_option, target_of
from pixelflow.cli.programs import OBJECT_SUFFIX, add_parameter_option, assemble_file, refuse_object
from pixelflow.cli.screen import STANDARD_STREAM, Screen, check_writable, output_file, refuse_overwrite
from pixelflow.debugger.memory_check import certain_collisions
from pixelflow.isa import Program
from pixelflow.simd.errors import Fault, InputError, Place, UsageError
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.report import Fact, Json, Part, Report, counted

# Writes to texture memory that collide whatever the PEs hold, as findings of ``asm --check``.


def colliding_writes(program: Program) -> Iterator[Finding]:
    """Yield a finding for each transfer that loses data in every run."""
    for index, each in certain_collisions(program):
        line = program.line_at(index)
        place = None if line is None else Place(line.file, line.line, text=line.text)
        message = (
            f"in round {each.round} several EMCs of module {each.module} write to texture address {each.address:#x}, "
            "and what the last of them writes stays"
        )
        yield Finding(message, place, "mark PEs of one EMC, or give each address its own PE: LANGUAGE.md, rounds")


EXAMPLES = (
    "pixelflow asm vector_add --listing",
    "pixelflow asm triangle -o triangle.mco",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add source and outputs."""
    add = parser.add_argument
    add("program", metavar="PROG.mc", help="source file, or - for standard input")
    add("-o", "--output", metavar="FILE", help="object file (default: PROG.mco; none with --listing, --check)")
    add("--listing", nargs="?", const=STANDARD_STREAM, metavar="FILE", help="addresses, words, cycles, source")
    add(
        "--symbols", nargs="?", const=STANDARD_STREAM, metavar="FILE", help="labels, routines and memory ranges as JSON"
    )
    add("--check", action="store_true", help="static checks only; exit code 1 where they find something")
    add_machine_option(parser)
    add_parameter_option(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report | int:
    """Assemble; write the requested files."""
    refuse_object(args.program)
    target = args.output or _default_output(args, json=screen.json)
    outputs = [path for path in (target, args.listing, args.symbols) if path is not None]
    for path in outputs:
        refuse_overwrite(args.program, path)
        check_writable(path)
    if screen.json and STANDARD_STREAM in outputs:
        raise UsageError("--json", "standard output holds one object only", "give -o, --listing, --symbols a file")
    machine = target_of(args.machine)
    program = assemble_file(args.program, args.parameters, machine)
    found = machine.language.warnings(program) if machine.language else check(program)
    if isinstance(program, Program) and len(program.entries) > 1:
        found = [*found, *colliding_writes(program)]
    warnings = [str(warning).replace(": error: ", ": warning: ", 1) for warning in found]
    for warning in warnings:
        screen.note(warning)
    to_screen: list[Part] = []
    wide = screen.width if args.listing == STANDARD_STREAM else None
    texts: tuple[tuple[str | None, Callable[[], str]], ...] = (
        (target, program.to_json),
        (args.listing, lambda: listing(program, wide)),
        (args.symbols, lambda: symbols(program)),
    )
    for path, made in texts:
        if path == STANDARD_STREAM:
            to_screen += ["", Fact(made().rstrip("\n"), wrap=False)]
        if path is not None and (path != STANDARD_STREAM or screen.format == "text"):
            _write(path, made())
    failure = "" if args.check and warnings else None
    shown = _summary(args.program, program, warnings, [path for path in outputs if path != STANDARD_STREAM])
    data = _object(program, warnings, outputs)
    report = Report(parts=[*shown, *to_screen], schema="pixelflow.asm/1", data=data, failure=failure)
    if not to_screen or screen.format != "text":
        return report
    screen.write_page(report)
    return int(failure is not None)


def _default_output(args: argparse.Namespace, *, json: bool) -> str | None:
    if args.check or json or args.listing or args.symbols:
        return None
    if args.program == STANDARD_STREAM:
        return STANDARD_STREAM
    if Path(args.program).is_dir():
        raise InputError(Fault("is a folder, not a source file", Place(args.program)))
    return str(Path(args.program).with_suffix(OBJECT_SUFFIX))


def _write(path: str, text: str) -> None:
    with output_file(path) as stream:
        stream.write(text)


def _summary(source: str, program: AssembledProgram, warnings: list[str], outputs: list[str]) -> list[Fact]:
    sizes = [
        counted(len(program.instructions), "instruction"),
        counted(len(program.words), "word"),
        counted(len(program.routines), "routine"),
    ]
    if warnings:
        sizes.append(counted(len(warnings), "warning"))
    written = [f"wrote {path}" for path in outputs]
    return [
        Fact(text, wrap=False) for text in (*written, f"{source}: {', '.join(sizes)}; sha256 {program.sha256[:12]}")
    ]


def _object(program: AssembledProgram, warnings: list[str], outputs: list[str]) -> dict[str, Json]:
    return {
        "program": {"name": program.name, "sha256": program.sha256},
        "instructions": len(program.instructions),
        "words": len(program.words),
        "entries": program.entries,
        "labels": program.labels,
        "routines": [
            {"name": each.name, "entry": each.entry, "end": each.end, "scratch": each.scratch}
            for each in program.routines
        ],
        "ranges": [{"name": each.name, "start": each.start, "size": each.size} for each in program.ranges],
        "warnings": warnings,
        "written": outputs,
    }
