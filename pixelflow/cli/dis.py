"""Disassemble an object file; the text assembles back to the same words."""

from __future__ import annotations

import argparse

from pixelflow.cli.arguments import UsageError
from pixelflow.cli.output import STANDARD_STREAM, check_writable, output_file
from pixelflow.cli.programs import read_program
from pixelflow.cli.screen import Screen
from pixelflow.simd.errors import Fault, InputError, Place

EXAMPLES = (
    "pixelflow asm microcode/examples/vector_add.mc -o vector_add.mco",
    "pixelflow dis vector_add.mco",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the object file and the output."""
    parser.add_argument("program", metavar="PROG.mco", help="object file (a source is assembled first)")
    parser.add_argument("-o", "--output", metavar="FILE", default=STANDARD_STREAM, help="default: standard output")


def run(args: argparse.Namespace) -> int:
    """Write the assembly text of a program."""
    screen = Screen.of(args)
    if args.output == args.program and args.program != STANDARD_STREAM:
        raise InputError(Fault("is the program itself; it will not be overwritten", Place(args.program)))
    if args.json and args.output != STANDARD_STREAM:
        raise UsageError("-o", "--json prints the text in an object", "leave out one of the two")
    check_writable(args.output)
    program = read_program(args.program, ())
    from microcode import disassemble

    text = disassemble(program)
    if screen.json:
        lines = text.splitlines()
        screen.object("pixelflow.dis/1", program={"name": program.name, "sha256": program.sha256}, lines=lines)
        return 0
    with output_file(args.output) as stream:
        stream.write(text)
    return 0
