"""Programs on the command line: source text or object file, and the parameters that a source may take."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TypeVar

import microcode
from microcode.assembly import assemble_file as assemble_kept
from microcode.places import EXAMPLES, example_file
from pixelflow import course
from pixelflow.cli.screen import STANDARD_STREAM
from pixelflow.config import ArrayConfig, NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.program import PIXELFLOW, target_of
from pixelflow.node.named_ranges import find_range
from pixelflow.node.pe_map import MapView
from pixelflow.node.pe_report import RangeView, lanes_named
from pixelflow.simd.errors import Fault, InputError, Place, UsageError, nearest
from pixelflow.simd.files import SOURCE, read_stream, text_of
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.machine import machines

_Code = TypeVar("_Code", bound=AssembledProgram)

# What is shipped to be run, solved and gone through: examples, exercises and the notebook tour, by name.


def example_files() -> dict[str, Path]:
    """Return the files of the examples by name."""
    return {path.stem: path for path in sorted(EXAMPLES.glob("*.mc"))}


def shipped_with(target: ProgramTarget[AssembledProgram]) -> dict[str, Path]:
    """Return the files of programs, or scenes, that come with a machine, by name."""
    if target.program is Program:
        return example_files()
    files = (each for folder in target.folders for each in sorted(folder.iterdir()) if each.is_file())
    return {each.stem: each for each in files}


def shipped_files() -> dict[str, Path]:
    """Return the files of examples, of the stubs of exercises, and of the tour, by name."""
    tour, stubs = course.TOUR, {each: course.source_of(each) for each in course.EXERCISES}
    return {**example_files(), **stubs, tour.stem: tour}


OBJECT_SUFFIX = ".mco"

_STDIN = "standard input"
"""Its name in messages."""


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


def read_program(path: str, parameters: Iterable[str], target: ProgramTarget[_Code]) -> _Code:
    """Return the program of an object file (``.mco``) or of a source file; ``-`` is source on standard input.

    The bare name of an example that is shipped means that, where no such file is here. ``target`` is what it is for.
    """
    parameters = list(parameters)
    if not path.endswith(OBJECT_SUFFIX):
        return assemble_file(path, parameters, target)
    if parameters:
        raise InputError(Fault("-P sets parameters of a source; an object file has no parameters", Place(path)))
    return target.program.load(path)


def assemble_file(path: str, parameters: Iterable[str], target: ProgramTarget[_Code]) -> _Code:
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


def _assembled(path: str, values: dict[str, int | float], target: ProgramTarget[_Code]) -> _Code:
    if path != STANDARD_STREAM:
        return assemble_kept(*_file_or_shipped(path, target), target, values)
    content = read_stream(sys.stdin.buffer, SOURCE, _STDIN)
    return microcode.assemble(text_of(content, SOURCE, _STDIN) + "\n", target, **values)


def scene_file(path: str, target: ProgramTarget[AssembledProgram]) -> Path:
    """Return the file of a scene of a machine, or the shipped one of a bare name; raises InputError without either."""
    shipped = shipped_with(target)
    if os.path.basename(path) == path and not os.path.exists(path) and path in shipped:
        return shipped[path]
    _refuse_scene(path)
    require_there(path, shipped)
    return Path(path)


def _file_or_shipped(path: str, target: ProgramTarget[AssembledProgram]) -> tuple[Path, str]:
    """Return a file and its name in messages: this one, or a shipped one for a bare name without a file."""
    name, shipped = PurePath(path).stem, shipped_with(target)
    own = target.program is Program
    if os.path.basename(path) != path or os.path.exists(path):
        _refuse_scene(path)
        return Path(path), path
    if name not in shipped:
        _refuse_scene(path)
        require_there(path, shipped, own=own)
    file = example_file(path) if own else None
    return (shipped[name], str(shipped[name])) if file is None else (EXAMPLES / file, f"examples/{file}")


def require_there(path: str, shipped: Iterable[str] = (), *, own: bool = False) -> None:
    """Raise InputError where a program is not here and not shipped, with the machine that has it or what ships.

    ``shipped`` are the names of the programs of a machine, which is PixelFlow for ``own``.
    """
    name = PurePath(path).stem
    if os.path.basename(path) != path or os.path.exists(path):
        return
    names = sorted(shipped)
    every = sorted(machines(), key=lambda each: each.target is not PIXELFLOW)
    if own and name in shipped_files():
        hint = f"an exercise is copied first: pixelflow examples copy {name}"
    elif owner := next((each for each in every if name in shipped_with(each.target)), None):
        option = "" if owner.target is PIXELFLOW else f" --machine {owner.name}"
        hint = f"{name} is an example of {owner.title}: pixelflow run {name}{option}"
    elif near := nearest(name, names):
        hint = f"did you mean the example {near}?"
    else:
        hint = f"examples by name: {', '.join(names)}" if names else "nothing ships with this machine; name a file"
    raise InputError(Fault("there is no such file", Place(path), hint))


def _refuse_scene(path: str) -> None:
    """Raise InputError where a scene, a mesh or patches are in the place of a program."""
    if PurePath(path).suffix not in (".mc", "") or not os.path.exists(path):
        from pixelflow.cli.scene_options import refuse_scene  # only for scenes, and for missing files

        refuse_scene(path, "a program")


def refuse_object(path: str) -> None:
    """Raise InputError where an object file is in the place of a source."""
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


# State of PEs as options name it: which PEs (``--pe 0,5,32-39`` or ``--pe 0.1.*.4-7``), ranges and maps.


def select_lanes(text: str, array: ArrayConfig) -> list[int]:
    """Return the chosen lanes in the order written, each once; raises UsageError for what does not exist."""
    with _blaming(f"--pe {text}"):
        return lanes_named(text, array)


def range_view(text: str, program: Program) -> RangeView:
    """Return what ``NAME`` or ``NAME:bytes|word|float`` asks for; raises UsageError for what the program lacks."""
    with _blaming(f"--range {text}"):
        return RangeView(*find_range(text, program))


def map_view(text: str, program: Program, option: str = "--show-map", *, addresses: bool = False) -> MapView:
    """Return the map that an option asks for, as `MapView.named` does; raises UsageError."""
    with _blaming(f"{option} {text}"):
        return MapView.named(text, program, addresses=addresses)


@contextmanager
def _blaming(option: str) -> Iterator[None]:
    """Make what is wrong with a name a fault of the option that has it."""
    try:
        yield
    except InputError as error:
        (fault,) = error.faults
        raise UsageError(option, fault.message, fault.hint) from None
