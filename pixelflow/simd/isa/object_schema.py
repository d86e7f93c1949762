"""What an object file must hold: the kind of every field, checked before any of it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ["WrongField", "check_object"]

Check = Callable[[object, str], None]
"""Raises WrongField where a value is not what it must be; the second is where the value stands."""

_LARGEST = 1 << 40
"""No address, size, line number or count in an object file is larger."""
_WORD_DIGITS = 8


class WrongField(ValueError):
    """A field that is missing or of the wrong kind; the text says which and what was expected."""


def check_object(body: object) -> None:
    """Check the fields of an object file's JSON value; raises WrongField for the first wrong one."""
    _OBJECT(body, "")


def _text(value: object, where: str) -> None:
    if not isinstance(value, str):
        raise _wrong(where, "text", value)


def _whole_or_text(value: object, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _wrong(where, "a whole number or a text", value)


def _word(value: object, where: str) -> None:
    if not isinstance(value, str) or len(value) != _WORD_DIGITS or not value.isalnum():
        raise _wrong(where, f"{_WORD_DIGITS} hexadecimal digits", value)


def _truth(value: object, where: str) -> None:
    if not isinstance(value, bool):
        raise _wrong(where, "true or false", value)


def _whole(low: int, high: int = _LARGEST) -> Check:
    def check(value: object, where: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise _wrong(where, f"a whole number from {low} to {high}", value)

    return check


def _one_of(*allowed: str) -> Check:
    def check(value: object, where: str) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise _wrong(where, f"one of {', '.join(allowed)}", value)

    return check


def _list(each: Check, length: int | None = None) -> Check:
    def check(value: object, where: str) -> None:
        if not isinstance(value, list) or (length is not None and len(value) != length):
            raise _wrong(where, "a list" if length is None else f"a list of {length}", value)
        for at, item in enumerate(value):
            each(item, f"{where}[{at}]")

    return check


def _by_name(each: Check) -> Check:
    def check(value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        for name, item in value.items():
            each(item, f"{where}[{name[:40]!r}]")

    return check


def _fields(fields: Mapping[str, Check], *, later: Mapping[str, Check] | None = None) -> Check:
    """Return the check of an object; ``later`` are fields that files of before lack."""
    more = later or {}

    def check(value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(where or "the whole", "an object", value)
        for name in (fields.keys() - value.keys()) | (value.keys() - fields.keys() - more.keys()):
            raise WrongField(f"{where or 'the whole'} {'has a field' if name in value else 'lacks'} {name[:40]!r}")
        for name, each in ({**fields, **more}).items():
            if name in value:
                each(value[name], f"{where}.{name}" if where else name)

    return check


def _wrong(where: str, expected: str, found: object) -> WrongField:
    kind = {dict: "an object", list: "a list", str: "text", bool: "a truth value"}.get(type(found), "another value")
    return WrongField(f"{where} must be {expected}, found {found if type(found) is int else kind}"[:200])


_NATURAL = _whole(0)
_RANGE = {"name": _text, "start": _NATURAL, "size": _NATURAL}
_FORM = {"declared": _one_of("bytes", "word", "float")}
_ROUTINE = {
    "name": _text,
    "entry": _NATURAL,
    "end": _NATURAL,
    "parameters": _list(_text),
    "scratch": _list(_list(_NATURAL, 2)),
    "started": _truth,
}
_CONTRACT = {"entire": _list(_text), "apart": _list(_text)}
_DATA = {"start": _NATURAL, "values": _list(_whole(0, 255)), "lanes": _whole(0, 8)}
_LINE = {"file": _text, "line": _NATURAL, "text": _text}
_NEED = {"key": _text, "value": _whole_or_text, "why": _text}
_OBJECT = _fields(
    {
        "schema": _text,
        "sha256": _text,
        "words": _list(_word),
        "name": _text,
        "entries": _by_name(_NATURAL),
        "labels": _by_name(_NATURAL),
        "routines": _list(_fields(_ROUTINE, later=_CONTRACT)),
        "names": _list(_text),
        "ranges": _list(_fields(_RANGE, later=_FORM)),
        "data": _list(_fields(_DATA)),
        "lines": _list(_fields(_LINE)),
        "line_of": _list(_whole(-1)),
    },
    later={"needs": _list(_fields(_NEED))},
)
