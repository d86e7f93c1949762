"""Assembler of `.mc` text, and the builder of programs written in Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar, overload

from microcode.draft import Draft
from microcode.expander import expand, expand_file, expand_text
from microcode.language import Source, Value, read_source, source_of
from microcode.linker import link
from microcode.reader import example
from pixelflow.isa.program import PIXELFLOW
from pixelflow.isa.program import Program as PixelFlowProgram
from pixelflow.simd.errors import Fault, InputError, Place, must_be, nearest
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget

# Assembles `.mc` text into a program.


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
    text_source = _source(source)
    name = Path(text_source.file).stem if text_source.path else "program"
    if target.language is not None:
        if parameters:
            raise InputError(Fault(f"the file has no param {next(iter(parameters))}"))
        return target.language.assemble("\n".join(line.text for line in text_source.lines), text_source.file, name)
    draft = Draft(name, target)
    expand(draft, text_source, parameters)
    return link(draft, target.program)


def _source(source: str | Path | Source) -> Source:
    if isinstance(source, Source):
        text_source = source
    elif isinstance(source, Path) or (source.endswith(".mc") and "\n" not in source):
        shipped = None if Path(source).exists() else example(str(source))
        if shipped is not None:
            return shipped
        text_source = read_source(Path(source), str(source))
        text_source = Source(text_source.file, text_source.text, Path(source).resolve())
    else:
        text_source = source_of(source)
    if not any(line.text.split(";")[0].strip() for line in text_source.lines):
        raise InputError(Fault("the source is empty: there is nothing to assemble", Place(text_source.file)))
    return text_source


# The builder: a program written in Python.
#
# Methods are named as the instructions, from their declarations::
#
# b = Builder("example")
# x, y = b.range("x", 4), b.range("y", 4)
# b.LD(R, x[0])
# b.ADD.E(R, y[0])
# program = b.build()


class _Method:
    """A method named as an instruction; its attribute named as the gate is the gated form."""

    def __init__(self, builder: Draft, mnemonic: str, *, gated: bool = False) -> None:
        self._builder, self._mnemonic, self._gated = builder, mnemonic, gated

    def __call__(self, *operands: Value) -> None:
        self._builder._emit(self._mnemonic, operands, self._gated, 2)

    def __getattr__(self, name: str) -> _Method:
        if "_builder" not in self.__dict__ or name != self._builder.target.gate:
            raise AttributeError(f"an instruction has no form {name}")
        emitter = self.__dict__[name] = _Method(self._builder, self._mnemonic, gated=True)
        return emitter


class Builder(Draft):
    """A program under construction."""

    target: ProgramTarget[PixelFlowProgram]

    def __init__(self, name: str = "program", target: ProgramTarget[PixelFlowProgram] = PIXELFLOW) -> None:
        super().__init__(name, target)

    def __getattr__(self, name: str) -> _Method:
        if "target" not in self.__dict__:  # it is just being copied or unpickled
            raise AttributeError(name)
        instructions = self.target.instructions
        if name not in instructions:
            near = nearest(name, instructions)
            raise AttributeError(f"Builder has no instruction {name}" + (f"; did you mean {near}?" if near else ""))
        emitter = self.__dict__[name] = _Method(self, name)
        return emitter

    def include(self, path: str, **parameters: int) -> Mapping[str, Value]:
        """Add a file, as ``include`` of the language does, and return its names; raises InputError."""
        return expand_file(self, path, parameters)

    def source(self, text: str, **values: Value) -> Mapping[str, Value]:
        """Add `.mc` text here and return the names it defines; it can use ``values`` as names. Raises InputError."""
        return expand_text(self, text, values)

    def build(self) -> PixelFlowProgram:
        """Return the program; raises InputError with every label that is missing and every loop that is open."""
        return link(self, self.target.program)
