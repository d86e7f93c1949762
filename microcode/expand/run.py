"""Whole sources expanded into a draft, with all of their faults in one error."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from microcode.expand import code, declarations
from microcode.expand.expander import Expander, ExpansionStop
from microcode.language.scope import Scope
from microcode.language.source import Complaint, Source, source_of
from microcode.language.values import Value
from microcode.linking.draft import Draft
from microcode.linking.linker import link_faults
from pixelflow.simd.errors import Fault, InputError

__all__ = ["expand", "expand_file", "expand_text"]

_HANDLERS = declarations.HANDLERS | code.HANDLERS


def expand(draft: Draft, source: Source, parameters: Mapping[str, Value], scope: Scope | None = None) -> Scope:
    """Expand a source into a draft and return its names; raises InputError with every fault."""
    return _expanded(draft, parameters, lambda expander: expander.file(source, parameters, scope))


def expand_file(draft: Draft, path: str, parameters: Mapping[str, Value]) -> Mapping[str, Value]:
    """Expand a file found by the include rules, unless it was; return its names. Raises InputError."""
    scope = _expanded(draft, parameters, lambda expander: expander.include(path, parameters))
    return scope.imported | scope.names


def expand_text(draft: Draft, text: str, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """Expand a text into a draft and return the names it defines; ``values`` are names that it sees."""
    scope = Scope(draft.target, names=dict(values)).inside({})
    return expand(draft, source_of(text), {}, scope).names


def _expanded(draft: Draft, parameters: Mapping[str, Value], work: Callable[[Expander], Scope]) -> Scope:
    expander = Expander(draft, _HANDLERS)
    scope = Scope(draft.target, damaged=True)
    try:
        with draft.at(None):
            scope = work(expander)
    except ExpansionStop:
        pass
    except Complaint as complaint:
        raise InputError(Fault(complaint.message, hint=complaint.hint)) from None
    if not scope.damaged:
        for name in [name for name in parameters if name not in scope.parameters]:
            message, hint = scope.unknown_parameter(name)
            expander.faults.append(Fault(message, hint=hint))
        if expander.faults:
            # The program will not be put together: report now what linking would have found.
            expander.faults += _without_echoes(link_faults(draft, expander.attempted), expander.faults)
    if expander.faults:
        raise InputError(_in_order(expander.faults))
    return scope


def _without_echoes(found: list[Fault], faults: list[Fault]) -> list[Fault]:
    """Return faults of linking without the ENDLs whose LOOP is a fault already and was left out."""
    lost = sum("LOOP" in (fault.place.text or "").split(";")[0].split() for fault in faults if fault.place is not None)
    kept = []
    for fault in found:
        if lost and fault.message == "ENDL without LOOP":
            lost -= 1
        else:
            kept.append(fault)
    return kept


def _in_order(faults: list[Fault]) -> list[Fault]:
    """Return faults in the order of the text, file by file as they were met."""
    order: dict[str, int] = {}
    for fault in faults:
        order.setdefault(fault.place.file if fault.place else "", len(order))
    return sorted(
        faults, key=lambda fault: (order[fault.place.file], fault.place.line or 0) if fault.place else (len(order), 0)
    )
