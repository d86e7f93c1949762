"""Programs on the command line: source text or object file, and the parameters that a source may take."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from microcode import assemble
from microcode.language.source import Source
from microcode.read.files import EXAMPLES, example
from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.output import STANDARD_STREAM
from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.program import PIXELFLOW, target_of
from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.files import SOURCE, read_stream, text_of
from pixelflow.simd.isa.target import ProgramTarget

__all__ = [
    "OBJECT_SUFFIX",
    "add_parameter_option",
    "assemble_file",
    "read_program",
    "refuse_object",
    "target_on",
]

OBJECT_SUFFIX = ".mco"

_STDIN = "standard input"
"""What messages call it."""


def add_parameter_option(parser: argparse.ArgumentParser) -> None:
    """Add ``-P name=value``."""
    parser.add_argument(
        "-P",
        dest="parameters",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a `param` of the source to a number (repeatable)",
    )


def target_on(config: NodeConfig) -> ProgramTarget[Program]:
    """Return what programs for a node of this configuration may use: the memory that its PEs have."""
    return target_of(config.array.main_bytes, config.array.memory_bytes)


def read_program(path: str, parameters: Iterable[str], target: ProgramTarget | None = None) -> Program:
    """Return the program of an object file (``.mco``) or of a source file; ``-`` is source on standard input.

    The bare name of an example that is shipped means that, where no such file is here.
    ``target`` is what it is for (None: the instruction streams of a node with the thesis's memory).
    """
    parameters = list(parameters)
    if not path.endswith(OBJECT_SUFFIX):
        return assemble_file(path, parameters, target)
    if parameters:
        raise InputError(Fault("-P sets parameters of a source; an object file has none", Place(path)))
    return (Program if target is None else target.program).load(path)


def assemble_file(path: str, parameters: Iterable[str], target: ProgramTarget | None = None) -> Program:
    """Assemble a source file, or standard input for ``-``."""
    values = _numbers(parameters)
    try:
        return _assembled(path, values, target)
    except InputError as error:
        missing = {f"the file has no param {name}": name for name in values}
        for fault in error.faults:
            if fault.place is None and fault.message in missing and len(error.faults) == 1:
                name = missing[fault.message]
                raise UsageError(f"-P {name}={values[name]}", fault.message, fault.hint) from None
        raise


def _file_or_shipped(path: str, target: ProgramTarget) -> Path:
    """Return a file, or the one of that bare name that a machine brings where there is none here."""
    here = Path(path)
    places = [] if here.exists() or here.name != path else [folder / path for folder in target.folders]
    return next((each for each in places if each.is_file()), here)


def _assembled(path: str, values: dict[str, int | float], target: ProgramTarget | None) -> Program:
    target = target or PIXELFLOW
    if path != STANDARD_STREAM:
        source = _file_or_example(path) if target.program is Program else _file_or_shipped(path, target)
        return assemble(source, target, **values)
    content = read_stream(sys.stdin.buffer, SOURCE, _STDIN)
    return assemble(text_of(content, SOURCE, _STDIN) + "\n", target, **values)


def _file_or_example(path: str) -> Path | Source:
    """Return a file, or the example that a bare name means where there is no such file here."""
    if os.path.basename(path) != path or os.path.exists(path):
        return Path(path)
    found = example(path)
    if found is None:
        names = [each.stem for each in sorted(EXAMPLES.glob("*.mc"))]
        near = nearest(path.removesuffix(".mc"), names)
        hint = f"did you mean the example {near}?" if near else f"examples by name: {', '.join(names)}"
        from pixelflow.cli.shell.shipped import shipped_files  # a whole node, which assembling does not need

        if path.removesuffix(".mc") in shipped_files():
            hint = f"an exercise is copied first: pixelflow examples copy {path.removesuffix('.mc')}"
        raise InputError(Fault("there is no such file", Place(path), hint))
    return found


def refuse_object(path: str) -> None:
    """Raise InputError where an object file stands in the place of a source."""
    if path.endswith(OBJECT_SUFFIX) and os.path.isfile(path):
        hint = f"run it: pixelflow run {path}; read it: pixelflow dis {path}"
        raise InputError(Fault("is an object file already, not a source file", Place(path), hint))


def _numbers(parameters: Iterable[str]) -> dict[str, int | float]:
    values = {}
    for text in parameters:
        name, equals, written = (part.strip() for part in text.partition("="))
        value = _number(written)
        if value is None or not equals or not name.isidentifier():
            raise UsageError(f"-P {text}", "expected NAME=NUMBER", "example: -P SCRATCH=240")
        values[name] = value
    return values


def _number(text: str) -> int | float | None:
    for parse in (lambda: int(text, 0), lambda: float(text)):
        try:
            return parse()
        except ValueError:
            continue
    return None
