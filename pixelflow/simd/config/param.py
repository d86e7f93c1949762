"""One configuration value: its default, and what a reader must know about it.

``param()`` makes a dataclass field whose metadata hold a :class:`Param`; validation, ``pixelflow config show`` and
``pixelflow about --model`` read those metadata, so a value is described in one place only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields, is_dataclass
from typing import Any

from pixelflow.simd.errors import Fault, Place
from pixelflow.simd.records import record
from pixelflow.simd.units import Standing

__all__ = ["Param", "Value", "leaf_faults", "leaves", "param", "section", "shorten"]

type_names = {bool: "true or false", int: "a whole number", str: "a text in quotes"}

Value = int | bool | str
"""What a configuration value may be. There are no fractions: every quantity is a count."""


@record
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

    def range_text(self) -> str:
        """Return the permitted values in words."""
        if self.allowed is not None:
            return " or ".join(str(value) for value in self.allowed)
        if self.low is not None and self.high is not None:
            return f"{self.low} to {self.high}"
        return "any"


def param(default: Value, text: str, **known: Any) -> Any:
    """Return a dataclass field for one value; ``known`` are the fields of :class:`Param`."""
    return field(default=default, metadata={"param": Param(text=text, **known)})


def section(kind: type) -> Any:
    """Return a dataclass field that holds a group of values with its defaults."""
    return field(default_factory=kind)


def leaves(config: Any, prefix: str = "") -> Iterator[tuple[str, Param, Any, Value]]:
    """Yield (dotted key, param, value, default) for every value below ``config``, in declaration order."""
    for each in fields(config):
        value = getattr(config, each.name)
        if is_dataclass(value):
            yield from leaves(value, f"{prefix}{each.name}.")
        else:
            yield f"{prefix}{each.name}", each.metadata["param"], value, each.default


def leaf_faults(key: str, known: Param, value: Any, default: Value, place: Place | None = None) -> list[Fault]:
    """Return what is wrong with ``value``: its type (a boolean is not a number) or its range."""
    kind = type(default)
    if type(value) is not kind:
        found = shorten(value)
        message = f"{key}: expected {type_names[kind]}, found {found}"
        return [Fault(message, place, _allowed_hint(known))]
    if known.allowed is not None and value not in known.allowed:
        return [Fault(f"{key}: {shorten(value)} is not one of the allowed values", place, _allowed_hint(known))]
    too_low = known.low is not None and value < known.low
    too_high = known.high is not None and value > known.high
    if too_low or too_high:
        return [Fault(f"{key}: {shorten(value)} is out of range", place, _allowed_hint(known))]
    return []


def shorten(value: Any) -> str:
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
