"""The builder: a program written in Python.

Methods are named as the instructions, from their declarations::

    b = Builder("example")
    x, y = b.range("x", 4), b.range("y", 4)
    b.LD(R, x[0])
    b.ADD.E(R, y[0])
    program = b.build()
"""

from __future__ import annotations

from collections.abc import Mapping

from microcode.expand.run import expand_file, expand_text
from microcode.language.values import Value
from microcode.linking.draft import Draft
from microcode.linking.linker import link
from pixelflow.isa.program import PIXELFLOW
from pixelflow.simd.errors import nearest
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget

__all__ = ["Builder"]


class _Method:
    """A method named as an instruction; its attribute named as the gate is the gated form."""

    def __init__(self, builder: Builder, mnemonic: str, *, gated: bool = False) -> None:
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

    def __init__(self, name: str = "program", target: ProgramTarget[AssembledProgram] = PIXELFLOW) -> None:
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

    def build(self) -> AssembledProgram:
        """Return the program; raises InputError with every label that is missing and every loop that is open."""
        return link(self)
