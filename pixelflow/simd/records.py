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
from typing import Any, TypeVar, dataclass_transform

__all__ = ["record"]

_Class = TypeVar("_Class", bound=type)
_set = object.__setattr__


class _Absent:
    """Stands in a signature for a value that is made anew where none is given."""

    def __repr__(self) -> str:
        return "<factory>"


@dataclass_transform(frozen_default=True, field_specifiers=(Field, field))
def record(
    cls: _Class | None = None, /, *, eq: bool = True, repr: bool = True, kw_only: bool = False
) -> _Class | Callable[[_Class], _Class]:
    """Return the class as a frozen dataclass with slots; methods that it has itself stay.

    ``field``, ``fields``, ``replace`` and ``match`` do with it what they do with every dataclass; frozen dataclasses
    can derive from it. Fields of type ``InitVar`` are not for it.
    """
    if cls is None:
        return lambda made: record(made, eq=eq, repr=repr, kw_only=kw_only)
    if cls.__doc__ is None:
        cls.__doc__ = f"{cls.__name__}."  # dataclass would spell out a signature, which takes longer than all this
    own = {name for name, value in vars(cls).items() if value is not None}  # None is the hash of a class with __eq__
    derived = any(is_dataclass(base) for base in cls.__bases__)
    made = dataclass(cls, init=False, repr=False, eq=False, slots=True, kw_only=kw_only, frozen=derived)
    known = made.__dataclass_params__
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


def _constructor(cls: type, parts: Sequence[Field]) -> Callable[..., None]:
    """Compile the constructor: it takes the fields by position or name, and ends with ``__post_init__``."""
    known: dict[str, Any] = {"_set": _set, "_absent": _Absent()}
    positional, named, body = [], [], []
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


def _guards(cls: type, parts: Sequence[Field]) -> dict[str, Callable[..., None]]:
    names = frozenset(part.name for part in parts)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state() -> dict[str, Callable[..., Any]]:
    """Return what copies and pickles need, because a frozen object cannot be filled by assignments."""

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, part.name) for part in fields(self)]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for part, value in zip(fields(self), state, strict=True):
            _set(self, part.name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


def _text(parts: Sequence[Field]) -> Callable[[Any], str]:
    names = tuple(part.name for part in parts if part.repr)

    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    return recursive_repr()(__repr__)


def _equality(cls: type, parts: Sequence[Field]) -> Callable[..., bool]:
    ours, theirs = (_values(of, [part for part in parts if part.compare]) for of in ("self", "other"))
    same = f"{ours} == {theirs} if other.__class__ is self.__class__ else NotImplemented"
    return _later(cls, "__eq__", f"def __eq__(self, other):\n    return {same}\n")


def _hash(cls: type, parts: Sequence[Field]) -> Callable[..., int]:
    hashed = [part for part in parts if (part.compare if part.hash is None else part.hash)]
    return _later(cls, "__hash__", f"def __hash__(self):\n    return hash({_values('self', hashed)})\n")


def _values(of: str, parts: Sequence[Field]) -> str:
    """Return the text of a tuple of fields."""
    return "(" + "".join(f"{of}.{part.name}, " for part in parts) + ")"


def _later(cls: type, name: str, text: str) -> Callable[..., Any]:
    """Return a method that is compiled when it is first called: of most classes it never is."""

    def method(*operands: Any) -> Any:
        made = _named(_compiled(cls, name, text, {}), cls, name)
        setattr(cls, name, made)
        return made(*operands)

    return method


def _compiled(cls: type, name: str, text: str, known: dict[str, Any]) -> Callable[..., Any]:
    """Return the function of a text that sees the names of the module of the class, as its annotations do."""
    inside = text.replace("\n", "\n    ")
    module, made = sys.modules.get(cls.__module__), {}
    exec(
        f"def make({', '.join(known)}):\n    {inside}\n    return {name}", {} if module is None else vars(module), made
    )
    return made["make"](**known)


def _named(method: Callable[..., Any], cls: type, name: str) -> Callable[..., Any]:
    method.__name__ = name
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    method.__module__ = cls.__module__
    return method
