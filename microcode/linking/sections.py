"""Code under construction: sections of instructions, and the labels in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from microcode.language.values import LabelReference
from microcode.linking.rounds import Rounds
from pixelflow.simd.errors import Place
from pixelflow.simd.isa.declare import Instruction

__all__ = ["CodeLabel", "LabelScope", "Pending", "Section"]


@dataclass(frozen=True, slots=True)
class CodeLabel:
    """A position in a section: before instruction number ``index``."""

    section: Section
    index: int
    place: Place | None


@dataclass(slots=True, eq=False)
class LabelScope:
    """Where a label can be seen: the whole program (no parent), a routine, or one expansion of a macro."""

    parent: LabelScope | None = None
    prefix: str | None = ""
    """Put before a label in the program's list of labels; None keeps labels of this scope out of it."""
    labels: dict[str, CodeLabel] = field(default_factory=dict)

    def outwards(self) -> Iterator[LabelScope]:
        """Yield this scope and those around it."""
        scope: LabelScope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> CodeLabel | None:
        """Return a label by name, from here outwards; None where there is none."""
        return next((scope.labels[name] for scope in self.outwards() if name in scope.labels), None)

    def __getitem__(self, name: str) -> CodeLabel:
        """Return a label by name, from here outwards; raises KeyError where there is none."""
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def visible(self) -> list[str]:
        """Return every label name that can be seen from here."""
        return [name for scope in self.outwards() for name in scope.labels]


@dataclass(frozen=True, slots=True)
class Pending:
    """An instruction whose target is still a name."""

    index: int
    operand: int
    reference: LabelReference
    scope: LabelScope
    place: Place | None


@dataclass(slots=True, eq=False)
class Section:
    """Instructions in a row: the main code of a stream, or a routine."""

    name: str
    parameters: tuple[str, ...] = ()
    scratch: tuple[tuple[int, int], ...] = ()
    started: bool = False
    place: Place | None = None
    instructions: list[Instruction | Rounds] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """For each instruction, the number of its source line in the builder's list, or -1; -1 for rounds, which know."""
    entire: tuple[str, ...] = ()
    """Parameters that take the place of another one as a whole, or lie apart from it."""
    apart: tuple[str, ...] = ()
    """Parameters that overlap no other one."""
    pending: list[Pending] = field(default_factory=list)
    last_label: int = -1
    """Instruction number that the last label stands before; -1 without labels."""

    def drafted(self) -> Iterator[tuple[Instruction, int]]:
        """Yield every instruction and the number of its line, those of rounds once."""
        for instruction, number in zip(self.instructions, self.lines, strict=True):
            if isinstance(instruction, Rounds):
                yield from ((each, line.line) for line in instruction.in_order() for each in line.variants)
            else:
                yield instruction, number
