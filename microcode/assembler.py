"""Assembles `.mc` text into a program."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar, overload

from microcode.expand.run import expand
from microcode.language.source import Source, read_source, source_of
from microcode.linking.draft import Draft
from microcode.linking.linker import link
from microcode.read.files import example
from pixelflow.isa.program import PIXELFLOW
from pixelflow.isa.program import Program as PixelFlowProgram
from pixelflow.simd.errors import Fault, InputError, Place, must_be
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget

__all__ = ["assemble"]

Code = TypeVar("Code", bound=AssembledProgram)


@overload
def assemble(source: str | Path | Source, /, **parameters: int | float) -> PixelFlowProgram: ...
@overload
def assemble(source: str | Path | Source, target: ProgramTarget[Code], /, **parameters: int | float) -> Code: ...
def assemble(
    source: str | Path | Source, target: ProgramTarget[AssembledProgram] = PIXELFLOW, /, **parameters: int | float
) -> AssembledProgram:
    """Assemble a file (a path, or text that is a name ending in ``.mc``), a text or what was read; return the program.

    The bare name of an example that is shipped, ``mandelbrot.mc``, means that where no such file is here.

    ``parameters`` give each ``param`` of the file a number by its name: ``assemble("mandelbrot.mc", LIMIT=4)``.
    ``target`` is the machine that the program is for. Raises InputError with every fault that was found.
    """
    must_be(source, (str, Path, Source), "the text of a program, or the path of its file")
    must_be(target, ProgramTarget, "a ProgramTarget", 'parameters have names: assemble("mandelbrot.mc", LIMIT=4)')
    for name, value in parameters.items():
        must_be(value, (int, float), f"a number for param {name}")
    found = _source(source)
    name = Path(found.file).stem if found.path else "program"
    if target.language is not None:
        if parameters:
            raise InputError(Fault(f"the file has no param {next(iter(parameters))}"))
        return target.language.assemble("\n".join(line.text for line in found.lines), found.file, name)
    draft = Draft(name, target)
    expand(draft, found, parameters)
    return link(draft)


def _source(source: str | Path | Source) -> Source:
    if isinstance(source, Source):
        found = source
    elif isinstance(source, Path) or (source.endswith(".mc") and "\n" not in source):
        shipped = None if Path(source).exists() else example(str(source))
        if shipped is not None:
            return shipped
        found = read_source(Path(source), str(source))
        found = Source(found.file, found.text, Path(source).resolve())
    else:
        found = source_of(source)
    if not any(line.text.split(";")[0].strip() for line in found.lines):
        raise InputError(Fault("the source is empty: there is nothing to assemble", Place(found.file)))
    return found
