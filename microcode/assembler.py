"""Assembler of `.mc` text, and the builder of programs written in Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from microcode.draft import Draft
from microcode.expander import expand, expand_file, expand_text
from microcode.kept import Included
from microcode.language import Source, Value
from microcode.linker import link
from pixelflow.isa.program import PIXELFLOW
from pixelflow.isa.program import Program as PixelFlowProgram
from pixelflow.simd.errors import Fault, InputError, Place, suggestion
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget

Code = TypeVar("Code", bound=AssembledProgram)


def assembled(
    text_source: Source, target: ProgramTarget[Code], parameters: Mapping[str, int | float]
) -> tuple[Code, list[Included]]:
    """Return the program of a source, and the files that it includes; raises InputError with every fault."""
    if not any(line.text.split(";")[0].strip() for line in text_source.lines):
        raise InputError(Fault("the source is empty: there is nothing to assemble", Place(text_source.file)))
    name = Path(text_source.file).stem if text_source.path else "program"
    if target.language is not None:
        if parameters:
            raise InputError(Fault(f"the file has no param {next(iter(parameters))}"))
        return target.language.assemble("\n".join(line.text for line in text_source.lines), text_source.file, name), []
    draft = Draft(name, target)
    expand(draft, text_source, parameters)
    return link(draft, target.program), draft.included_files


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
            near = suggestion(name, instructions)
            raise AttributeError("; ".join(filter(None, (f"Builder has no instruction {name}", near))))
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
