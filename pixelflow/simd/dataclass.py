"""Dataclasses of the standard library, with methods that are written when they are first looked up.

A picture imports 458 dataclasses and makes instances of some 60; to write and compile six methods of each took a sixth
of its time. Fields, slots, pickles, copies and errors are the standard ones. Not taken: ``order`` and ``unsafe_hash``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import partial
from reprlib import recursive_repr
from types import FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **options):
        """Add what `dataclasses.dataclass` adds."""
        return partial(_dataclass, **options) if cls is None else _dataclass(cls, **options)


class _Unwritten:
    """A method before it is first looked up."""

    __slots__ = ("_name", "_owner", "_text")

    def __init__(self, owner: type, name: str, text: Callable[[type], str]) -> None:
        self._owner, self._name, self._text = owner, name, text

    def __get__(self, instance: object, owner: type) -> object:
        names: dict[str, object] = {"_set": object.__setattr__, "_none": dataclasses.MISSING}
        names["__name__"] = self._owner.__module__
        for field in _fields(self._owner):
            names[f"_value_{field.name}"], names[f"_make_{field.name}"] = field.default, field.default_factory
        exec(self._text(self._owner), names)
        method = names[self._name]
        assert isinstance(method, FunctionType)
        if self._name == "__repr__":
            method = recursive_repr()(method)
        method.__qualname__ = f"{self._owner.__qualname__}.{self._name}"
        setattr(self._owner, self._name, method)
        return method.__get__(instance, owner)


def _dataclass(
    cls: type, *, repr: bool = True, eq: bool = True, frozen: bool = False, slots: bool = False, **options: bool
) -> type:
    own = set(vars(cls))
    if "__eq__" in own and vars(cls).get("__hash__", None) is None:
        own.discard("__hash__")  # Python's, for a class that compares
    # Bases and class must both be frozen or both not. The standard decorator sees to that where there are bases, and
    # then freezes the class itself.
    derived = frozen and any("__dataclass_params__" in vars(base) for base in cls.__mro__[1:])
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=derived, slots=slots, **options)(cls)
    texts: dict[str, Callable[[type], str]] = {"__init__": partial(_init_text, frozen)}
    if repr:
        texts["__repr__"] = _repr_text
    if eq:
        texts["__eq__"] = _eq_text
        if frozen:
            texts["__hash__"] = _hash_text
    methods: dict[str, object] = {name: _Unwritten(made, name, text) for name, text in texts.items()}
    if eq and not frozen:
        methods["__hash__"] = None
    if frozen and not derived:
        vars(made)["__dataclass_params__"].frozen = True
        methods |= _frozen_methods(made, slots)
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _fields(made: object) -> tuple[dataclasses.Field[object], ...]:
    assert dataclasses.is_dataclass(made)
    return dataclasses.fields(made)


def _init_text(frozen: bool, made: type) -> str:
    put = "_set(self, '{0}', {1})" if frozen else "self.{0} = {1}"
    parameters, lines = ["self"], []
    for field in sorted(_fields(made), key=lambda each: each.kw_only is True):
        name = field.name
        value, default = name, ""
        if field.default_factory is not dataclasses.MISSING:
            made_here = f"_make_{name}()"
            value, default = (f"{made_here} if {name} is _none else {name}" if field.init else made_here), "=_none"
        elif field.default is not dataclasses.MISSING:
            value, default = (name if field.init else f"_value_{name}"), f"=_value_{name}"
        elif not field.init:
            continue
        if field.init:
            if field.kw_only and "*" not in parameters:
                parameters.append("*")
            parameters.append(name + default)
        lines.append(put.format(name, value))
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    return f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(lines or ["pass"])


def _repr_text(made: type) -> str:
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in _fields(made) if each.repr)
    return f"def __repr__(self): return f'{{self.__class__.__qualname__}}({shown})'"


def _eq_text(made: type) -> str:
    names = [each.name for each in _fields(made) if each.compare]
    return (
        "def __eq__(self, other):\n  if other.__class__ is self.__class__: return "
        f"{_tuple('self', names)} == {_tuple('other', names)}\n  return NotImplemented"
    )


def _hash_text(made: type) -> str:
    hashed = (each.name for each in _fields(made) if (each.compare if each.hash is None else each.hash))
    return f"def __hash__(self): return hash({_tuple('self', hashed)})"


def _tuple(owner: str, names: Iterable[str]) -> str:
    return "(" + "".join(f"{owner}.{name}," for name in names) + ")"


def _frozen_methods(made: type, slots: bool) -> dict[str, object]:
    names = frozenset(each.name for each in _fields(made))

    # A plain class derived from this one may have other attributes.
    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is made or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    methods: dict[str, object] = {"__setattr__": __setattr__, "__delattr__": __delattr__}
    return methods | ({"__getstate__": _state, "__setstate__": _set_state} if slots else {})


def _state(self: object) -> list[object]:
    return [getattr(self, each.name) for each in _fields(self)]


def _set_state(self: object, state: list[object]) -> None:
    for field, value in zip(_fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
