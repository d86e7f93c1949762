"""Fields of a JSON object, read one by one: what is wrong, where, what is allowed, what was perhaps meant."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import NoReturn, TypeVar

from pixelflow.simd.errors import Fault, InputError, Place, nearest

__all__ = ["SceneFields", "shown"]

_SHOWN = 40
"""Characters of a value that messages show."""

Choice = TypeVar("Choice", bound=Enum)


class SceneFields:
    """An object of a scene file: a mapping, the file, and the path to it (`draws[3].state`)."""

    def __init__(self, value: object, file: str, path: str) -> None:
        self._file, self.path = file, path
        if not isinstance(value, dict):
            self.refuse(f"{path or 'the scene'} is {_kind(value)}", "an object is wanted here")
        self._values: Mapping[str, object] = value

    def refuse(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise the InputError of a fault in this file."""
        raise InputError(Fault(message, Place(self._file), hint))

    def at(self, key: str) -> str:
        """Return the path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def only(self, *allowed: str) -> None:
        """Refuse keys that are not in the list."""
        for key in self._values:
            if key not in allowed:
                near = nearest(key, allowed)
                self.refuse(
                    f"{self.at(key)}: unknown key",
                    f"did you mean {near}?" if near else f"allowed: {', '.join(allowed)}",
                )

    def has(self, key: str) -> bool:
        """Return whether a key is there and not null."""
        return self._values.get(key) is not None

    def value(self, key: str) -> object:
        """Return a value that must be there."""
        if key not in self._values:
            keys = f"keys here: {', '.join(map(shown, self._values))}"[:200]
            self.refuse(f"{self.at(key)} is missing", keys if self._values else "there are no keys here")
        return self._values[key]

    def child(self, key: str) -> SceneFields:
        """Return an object below."""
        return SceneFields(self.value(key), self._file, self.at(key))

    def children(self, key: str) -> Iterator[tuple[str, SceneFields]]:
        """Yield names and objects of an object of objects."""
        below = self.child(key)
        for name in below.names:
            yield name, below.child(name)

    @property
    def names(self) -> Sequence[str]:
        """The keys, in order."""
        return tuple(self._values)

    def objects(self, key: str) -> list[SceneFields]:
        """Return the objects of a list."""
        return [
            SceneFields(each, self._file, f"{self.at(key)}[{at}]")
            for at, each in enumerate(self.items(key, None, "objects"))
        ]

    def items(self, key: str, length: int | None, what: str) -> list[object]:
        """Return a list, of so many values if that is given."""
        found = self.value(key)
        if not isinstance(found, list) or (length is not None and len(found) != length):
            wanted = f"a list of {length} {what}" if length is not None else f"a list of {what}"
            self.refuse(f"{self.at(key)} is {_kind(found)}", f"{wanted} is wanted here")
        return found

    def text(self, key: str) -> str:
        """Return a string."""
        found = self.value(key)
        if not isinstance(found, str):
            self.refuse(f"{self.at(key)} is {_kind(found)}", "a string is wanted here")
        return found

    def flag(self, key: str) -> bool:
        """Return a truth value."""
        found = self.value(key)
        if not isinstance(found, bool):
            self.refuse(f"{self.at(key)} is {_kind(found)}", "true or false is wanted here")
        return found

    def whole(self, key: str, low: int, high: int) -> int:
        """Return an integer from low to high."""
        return self._whole(self.value(key), self.at(key), low, high)

    def wholes(self, key: str, count: int, low: int, high: int) -> tuple[int, ...]:
        """Return so many integers."""
        found = self.items(key, count, "integers")
        return tuple(self._whole(each, f"{self.at(key)}[{at}]", low, high) for at, each in enumerate(found))

    def _whole(self, found: object, path: str, low: int, high: int) -> int:
        if not isinstance(found, int) or isinstance(found, bool) or not low <= found <= high:
            said = shown(found) if isinstance(found, int | float) else _kind(found)
            self.refuse(f"{path} is {said}", f"an integer {low} to {high} is wanted here")
        return found

    def number(self, key: str, low: float, high: float) -> float:
        """Return a number from low to high."""
        return self._number(self.value(key), self.at(key), low, high)

    def numbers(self, key: str, count: int, low: float, high: float) -> tuple[float, ...]:
        """Return so many numbers."""
        found = self.items(key, count, "numbers")
        return tuple(self._number(each, f"{self.at(key)}[{at}]", low, high) for at, each in enumerate(found))

    def _number(self, found: object, path: str, low: float, high: float) -> float:
        if not isinstance(found, int | float) or isinstance(found, bool) or not low <= found <= high:
            said = shown(found) if isinstance(found, int | float) else _kind(found)
            self.refuse(f"{path} is {said}", f"a number {low:g} to {high:g} is wanted here")
        if not math.isfinite(found):
            self.refuse(f"{path} is {found}", "a finite number is wanted here")
        return float(found)

    def choice(self, key: str, kind: type[Choice]) -> Choice:
        """Return a member of an enumeration by its value."""
        found = self.one_of(key, [str(each.value) for each in kind])
        return kind(found)

    def one_of(self, key: str, allowed: Sequence[str]) -> str:
        """Return one of a few words."""
        found = self.text(key)
        if found not in allowed:
            near = nearest(found, allowed)
            self.refuse(
                f"{self.at(key)}: there is no {found!r} here",
                (f"did you mean {near}? " if near else "") + f"allowed: {', '.join(allowed)}",
            )
        return found


def shown(value: object) -> str:
    """Return a value as messages have it, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text):,} characters)"


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return f"a list of {len(value)}"
    return "an object"
