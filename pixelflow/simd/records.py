"""Frozen records: classes as ``dataclass(frozen=True, slots=True)`` makes them, in an eighth of the time.

A command imports some two hundred of them. The decorator of the standard library compiles six methods for each, one
by one; here the constructor alone is compiled at once. Comparison and hash are when they are first asked for, and the
others are closures over the names of the fields.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, is_dataclass
from reprlib import recursive_repr
from typing import TYPE_CHECKING, TypeVar, cast, dataclass_transform, overload

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["record"]

_Class = TypeVar("_Class", bound=type)
_Method = Callable[..., object]
_set = object.__setattr__


class _Absent:
    """Stands in a signature for a value that is made anew where none is given."""

    def __repr__(self) -> str:
        return "<factory>"


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(Field, field))
def record(cls: _Class, /) -> _Class: ...
@overload
@dataclass_transform(frozen_default=True, field_specifiers=(Field, field))
def record(*, eq: bool = True, repr: bool = True, kw_only: bool = False) -> Callable[[_Class], _Class]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(Field, field))
def record(
    cls: _Class | None = None, /, *, eq: bool = True, repr: bool = True, kw_only: bool = False
) -> _Class | Callable[[_Class], _Class]:
    """Return the class as a frozen dataclass with slots; methods that it has itself stay.

    ``field``, ``fields``, ``replace`` and ``match`` do with it what they do with every dataclass; frozen dataclasses
    can derive from it. Fields of type ``InitVar`` are not for it.
    """
    if cls is None:
        return lambda made: _recorded(made, eq=eq, repr=repr, kw_only=kw_only)
    return _recorded(cls, eq=eq, repr=repr, kw_only=kw_only)


def _recorded(cls: _Class, *, eq: bool, repr: bool, kw_only: bool) -> _Class:
    if cls.__doc__ is None:
        cls.__doc__ = f"{cls.__name__}."  # dataclass would spell out a signature, which takes longer than all this
    own = {name for name, value in vars(cls).items() if value is not None}  # None is the hash of a class with __eq__
    derived = any(is_dataclass(base) for base in cls.__bases__)
    made = cast(_Class, dataclass(cls, init=False, repr=False, eq=False, slots=True, kw_only=kw_only, frozen=derived))
    known = vars(made)["__dataclass_params__"]
    known.init, known.repr, known.eq, known.frozen = True, repr, eq, True
    parts = fields(made)
    methods = {"__init__": _constructor(made, parts), **_guards(made, parts), **_state()}
    if repr:
        methods["__repr__"] = _text(parts)
    if eq:
        methods |= {"__eq__": _equality(made, parts), "__hash__": _hash(made, parts)}
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, _named(method, made, name))
    return made


def _constructor(cls: type, parts: Sequence[Field[object]]) -> _Method:
    """Compile the constructor: it takes the fields by position or name, and ends with ``__post_init__``."""
    known: dict[str, object] = {"_set": _set, "_absent": _Absent()}
    positional: list[str] = []
    named: list[str] = []
    body: list[str] = []
    for part in parts:
        name, default = part.name, f"_default_{part.name}"
        value = name if part.init else f"{default}()" if part.default_factory is not MISSING else default
        parameter = name
        if part.default is not MISSING:
            known[default] = part.default
            parameter = f"{name}={default}"
        elif part.default_factory is not MISSING:
            known[default] = part.default_factory
            parameter = f"{name}=_absent"
            value = f"{default}() if {name} is _absent else {name}" if part.init else value
        elif not part.init:
            continue
        if part.init:
            (named if part.kw_only else positional).append(parameter)
        body.append(f"    _set(self, {name!r}, {value})\n")
    if hasattr(cls, "__post_init__"):
        body.append("    self.__post_init__()\n")
    parameters = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    made = _compiled(cls, "__init__", f"def __init__({parameters}):\n{''.join(body) or '    pass'}", known)
    made.__annotations__ = {part.name: part.type for part in parts if part.init} | {"return": None}
    return made


def _guards(cls: type, parts: Sequence[Field[object]]) -> dict[str, _Method]:
    names = frozenset(part.name for part in parts)

    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        _set(self, name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state() -> dict[str, _Method]:
    """Return what copies and pickles need, because a frozen object cannot be filled by assignments."""

    def __getstate__(self: DataclassInstance) -> list[object]:
        return [getattr(self, part.name) for part in fields(self)]

    def __setstate__(self: DataclassInstance, state: list[object]) -> None:
        for part, value in zip(fields(self), state, strict=True):
            _set(self, part.name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


def _text(parts: Sequence[Field[object]]) -> _Method:
    names = tuple(part.name for part in parts if part.repr)

    def __repr__(self: object) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    return recursive_repr()(__repr__)


def _equality(cls: type, parts: Sequence[Field[object]]) -> _Method:
    ours, theirs = (_values(of, [part for part in parts if part.compare]) for of in ("self", "other"))
    same = f"{ours} == {theirs} if other.__class__ is self.__class__ else NotImplemented"
    return _later(cls, "__eq__", f"def __eq__(self, other):\n    return {same}\n")


def _hash(cls: type, parts: Sequence[Field[object]]) -> _Method:
    hashed = [part for part in parts if (part.compare if part.hash is None else part.hash)]
    return _later(cls, "__hash__", f"def __hash__(self):\n    return hash({_values('self', hashed)})\n")


def _values(of: str, parts: Sequence[Field[object]]) -> str:
    """Return the text of a tuple of fields."""
    return "(" + "".join(f"{of}.{part.name}, " for part in parts) + ")"


def _later(cls: type, name: str, text: str) -> _Method:
    """Return a method that is compiled when it is first called: of most classes it never is."""

    def method(*operands: object) -> object:
        made = _named(_compiled(cls, name, text, {}), cls, name)
        setattr(cls, name, made)
        return made(*operands)

    return method


def _compiled(cls: type, name: str, text: str, known: dict[str, object]) -> _Method:
    """Return the function of a text that sees the names of the module of the class, as its annotations do."""
    inside = text.replace("\n", "\n    ")
    module = sys.modules.get(cls.__module__)
    made: dict[str, _Method] = {}
    exec(
        f"def make({', '.join(known)}):\n    {inside}\n    return {name}", {} if module is None else vars(module), made
    )
    return cast(_Method, made["make"](**known))


def _named(method: _Method, cls: type, name: str) -> _Method:
    method.__name__ = name
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    method.__module__ = cls.__module__
    return method
