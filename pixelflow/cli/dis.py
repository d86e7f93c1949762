"""Disassemble an object file; the text assembles back to the same words."""

from __future__ import annotations

import argparse

from microcode import disassemble
from pixelflow.cli.machine_values import add_machine_option, target_of
from pixelflow.cli.programs import read_program
from pixelflow.cli.screen import STANDARD_STREAM, Screen, check_writable, output_file
from pixelflow.simd.errors import Fault, InputError, Place, UsageError
from pixelflow.simd.report import Fact, Report

EXAMPLES = (
    "pixelflow asm vector_add -o vector_add.mco",
    "pixelflow dis vector_add.mco",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the object file and the output."""
    parser.add_argument("program", metavar="PROG.mco", help="object file (a source is assembled first)")
    add_machine_option(parser)
    parser.add_argument("-o", "--output", metavar="FILE", default=STANDARD_STREAM, help="default: standard output")


def run(args: argparse.Namespace, screen: Screen) -> Report | int:
    """Write the assembly text of a program."""
    if args.output == args.program and args.program != STANDARD_STREAM:
        raise InputError(Fault("is the program itself; it will not be overwritten", Place(args.program)))
    if screen.json and args.output != STANDARD_STREAM:
        raise UsageError("-o", "--json prints the text in an object", "leave out one of the two")
    check_writable(args.output)
    target = target_of(args.machine)
    program = read_program(args.program, (), target)
    text = disassemble(program, target)
    if screen.json:
        about = {"name": program.name, "sha256": program.sha256}
        return Report(schema="pixelflow.dis/1", data={"program": about, "lines": text.splitlines()})
    page = Report("pixelflow dis", (args.program,), results=[Fact(text.rstrip("\n"), wrap=False)])
    if screen.format != "text" and args.output == STANDARD_STREAM:
        return page
    with output_file(args.output) as stream:
        stream.write(text)
    screen.write_page(page)
    return 0
