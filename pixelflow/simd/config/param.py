"""One configuration value: its default, and what a reader must know about it.

``param()`` makes a dataclass field whose metadata hold a :class:`Param`; validation, ``pixelflow config show`` and
``pixelflow about --model`` read those metadata, so a value is described in one place only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, TypeVar

from pixelflow.simd.errors import Fault, InputError, InternalError, Place
from pixelflow.simd.units import Standing

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Param", "Value", "check_values", "leaf_faults", "leaves", "param", "section", "shorten"]

type_names = {bool: "true or false", int: "a whole number", str: "a text in quotes"}

Group = TypeVar("Group")
Kind = TypeVar("Kind", bound="Value")

Value = int | bool | str
"""What a configuration value may be. There are no fractions: every quantity is a count."""


@dataclass(frozen=True, slots=True)
class Param:
    """What is known about one configuration value.

    ``low`` and ``high`` are inclusive; ``allowed`` lists the only values where there are few. ``read_by`` names the
    file that reads the value, or is None where nothing reads it yet: such a value changes no result, and
    ``pixelflow about --model`` says so.
    """

    text: str
    unit: str
    source: str
    standing: Standing
    low: int | None = None
    high: int | None = None
    allowed: tuple[Value, ...] | None = None
    read_by: str | None = None
    because: str = ""
    """Why no other values are allowed, for the message about them."""
    matters: str = ""
    """To which runs it matters, in a word of the machine's own (``reads``, ``limit``); empty: to every run."""
    state: bool = False
    """Whether the state that a run leaves depends on it, or whether a run ends; what is not is about time alone."""
    added: bool = False
    """Whether machines of before had no such value: at its default it is then no part of a machine's fingerprint."""
    moved: tuple[Value, ...] = ()
    """Other values that a study tries, to say what a guess is worth; none for a limit."""

    def range_text(self) -> str:
        """Return the permitted values in words."""
        if self.allowed is not None:
            return " or ".join(str(value) for value in self.allowed)
        if self.low is not None and self.high is not None:
            return f"{self.low} to {self.high}"
        return "any"


def param(
    default: Kind,
    text: str,
    *,
    unit: str,
    source: str,
    standing: Standing,
    low: int | None = None,
    high: int | None = None,
    allowed: tuple[Value, ...] | None = None,
    read_by: str | None = None,
    because: str = "",
    matters: str = "",
    state: bool = False,
    added: bool = False,
    moved: tuple[Value, ...] = (),
) -> Kind:
    """Return a dataclass field for one value; the rest is what :class:`Param` says of it."""
    about = Param(text, unit, source, standing, low, high, allowed, read_by, because, matters, state, added, moved)
    return field(default=default, metadata={"param": about})


def section(kind: type[Group]) -> Group:
    """Return a dataclass field that holds a group of values with its defaults."""
    return field(default_factory=kind)


def leaves(config: DataclassInstance, prefix: str = "") -> Iterator[tuple[str, Param, Value, Value]]:
    """Yield (dotted key, param, value, default) for every value below ``config``, in declaration order."""
    for each in fields(config):
        value = getattr(config, each.name)
        if is_dataclass(value) and not isinstance(value, type):
            yield from leaves(value, f"{prefix}{each.name}.")
        else:
            yield f"{prefix}{each.name}", each.metadata["param"], value, default_of(each)


def default_of(declared: Field[Value]) -> Value:
    """Return the default of a field that `param` made."""
    if declared.default is MISSING:
        raise InternalError(f"{declared.name} was not declared by param()")
    return declared.default


def leaf_faults(key: str, known: Param, value: object, default: Value, place: Place | None = None) -> list[Fault]:
    """Return what is wrong with ``value``: its type (a boolean is not a number) or its range."""
    kind = type(default)
    if type(value) is not kind:
        found = shorten(value)
        message = f"{key}: expected {type_names[kind]}, found {found}"
        return [Fault(message, place, _allowed_hint(known))]
    if known.allowed is not None and value not in known.allowed:
        return [Fault(f"{key}: {shorten(value)} is not one of the allowed values", place, _allowed_hint(known))]
    too_low = isinstance(value, int) and known.low is not None and value < known.low
    too_high = isinstance(value, int) and known.high is not None and value > known.high
    if too_low or too_high:
        return [Fault(f"{key}: {shorten(value)} is out of range", place, _allowed_hint(known))]
    return []


def check_values(config: DataclassInstance) -> None:
    """Raise InputError with every value of a configuration that is of another type or out of its range."""
    faults = [fault for leaf in leaves(config) for fault in leaf_faults(*leaf)]
    if faults:
        raise InputError(faults)


def shorten(value: object) -> str:
    """Return ``value`` as a message shows it, at most 40 characters."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > 10**30:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _allowed_hint(known: Param) -> str:
    unit = f" {known.unit}" if known.unit else ""
    because = f" ({known.because})" if known.because else ""
    return f"allowed: {known.range_text()}{unit}{because}"
