"""Assembles `.mc` text into a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from microcode.builder import Builder
from microcode.declarations import unknown_parameter
from microcode.expander import Expander, Stop
from microcode.linker import link_faults
from microcode.scope import Scope
from microcode.source import Complaint, Source, read_source, source_of
from microcode.target import PIXELFLOW, Target
from microcode.values import Value
from pixelflow.isa import Program
from pixelflow.simd.errors import Fault, InputError, Place

__all__ = ["assemble"]


def assemble(source: str | Path, target: Target = PIXELFLOW, /, **parameters: int | float) -> Program:
    """Assemble a file (a path, or text that is a name ending in ``.mc``) or a text, and return the program.

    ``parameters`` override the ``param`` values of the file. Raises InputError with every fault that was found.
    """
    found = _source(source)
    builder = Builder(Path(found.file).stem if found.path else "program", target)
    expand(builder, found, parameters)
    return builder.build()


def expand(builder: Builder, source: Source, parameters: dict[str, Value], scope: Scope | None = None) -> Scope:
    """Expand a source into a builder and return its names; raises InputError with every fault."""
    return _expanded(builder, parameters, lambda expander: expander.file(source, parameters, scope))


def expand_file(builder: Builder, path: str, parameters: dict[str, Value]) -> Mapping[str, Value]:
    """Expand a file found by the include rules, unless it was; return its names. Raises InputError."""
    scope = _expanded(builder, parameters, lambda expander: expander.include(path, parameters))
    return scope.imported | scope.names


def expand_text(builder: Builder, text: str, values: dict[str, Value]) -> Mapping[str, Value]:
    """Expand a text into a builder and return the names it defines; ``values`` are names that it sees."""
    scope = Scope(Scope(names=dict(values), target=builder.target))
    return expand(builder, source_of(text), {}, scope).names


def _expanded(builder: Builder, parameters: dict[str, Value], work: Callable[[Expander], Scope]) -> Scope:
    expander = Expander(builder)
    scope = Scope(damaged=True)
    try:
        with builder.at(None):
            scope = work(expander)
    except Stop:
        pass
    except Complaint as complaint:
        raise InputError(Fault(complaint.message, hint=complaint.hint)) from None
    if not scope.damaged:
        for name in [name for name in parameters if name not in scope.parameters]:
            message, hint = unknown_parameter(name, scope)
            expander.faults.append(Fault(message, hint=hint))
        if expander.faults:
            # The program will not be put together: report now what linking would have found.
            expander.faults += link_faults(builder, expander.attempted)
    if expander.faults:
        raise InputError(_in_order(expander.faults))
    return scope


def _in_order(faults: list[Fault]) -> list[Fault]:
    """Return faults in the order of the text, file by file as they were met."""
    order: dict[str, int] = {}
    for fault in faults:
        order.setdefault(fault.place.file if fault.place else "", len(order))
    return sorted(
        faults, key=lambda fault: (order[fault.place.file], fault.place.line or 0) if fault.place else (len(order), 0)
    )


def _source(source: str | Path) -> Source:
    if isinstance(source, Path) or (source.endswith(".mc") and "\n" not in source):
        found = read_source(Path(source), str(source))
        found = Source(found.file, found.lines, Path(source).resolve())
    else:
        found = source_of(source)
    if not any(line.text.split(";")[0].strip() for line in found.lines):
        raise InputError(Fault("the source is empty: there is nothing to assemble", Place(found.file)))
    return found
