"""Messages of a page: requests with declared fields, checked before anybody sees them, answers, and who gives them.

A request is a JSON object: ``id`` (a whole number, which the answer has too), ``do`` (what is asked) and its fields. An
answer is bytes: the length of a JSON object in 4 bytes, low byte first, the object, and what else there is: pixels,
columns of numbers. It holds ``id``, or ``tell`` where nobody has asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.report import Json

__all__ = [
    "LONGEST",
    "Answer",
    "Field",
    "Given",
    "PageRequest",
    "PageRoom",
    "RealField",
    "Telling",
    "TextField",
    "WholeField",
    "check_fields",
    "identity",
    "read_message",
]

LONGEST = 4 << 20
"""Bytes of a request, at most: a patch file that is dropped on the page is the longest."""

_MOST_ID = 1 << 50


@dataclass(frozen=True, slots=True)
class WholeField:
    """A whole number in a range."""

    least: int = 0
    most: int = 1 << 50
    default: int | None = None

    @property
    def wanted(self) -> str:
        """What is allowed, in words."""
        return f"a whole number from {self.least} to {self.most}"

    def holds(self, value: object) -> bool:
        """Whether a value is one of these."""
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most


@dataclass(frozen=True, slots=True)
class RealField:
    """A finite number in a range."""

    least: float
    most: float
    default: float | None = None

    @property
    def wanted(self) -> str:
        """What is allowed, in words."""
        return f"a number from {self.least:g} to {self.most:g}"

    def holds(self, value: object) -> bool:
        """Whether a value is one of these; NaN is in no range."""
        return isinstance(value, int | float) and not isinstance(value, bool) and self.least <= value <= self.most


@dataclass(frozen=True, slots=True)
class TextField:
    """A text of so many characters at most, or one of some words."""

    longest: int = 200
    words: tuple[str, ...] = ()
    default: str | None = None

    @property
    def wanted(self) -> str:
        """What is allowed, in words."""
        return f"one of {', '.join(self.words)}" if self.words else f"a text of {self.longest} characters at most"

    def holds(self, value: object) -> bool:
        """Whether a value is one of these."""
        return isinstance(value, str) and len(value) <= self.longest and (not self.words or value in self.words)


Field = WholeField | RealField | TextField
"""What a field of a request may be."""


@dataclass(frozen=True, slots=True)
class Given:
    """The fields of a request, which have been checked."""

    values: Mapping[str, int | float | str]

    def whole(self, name: str) -> int:
        """Return a whole number."""
        return int(self.values[name])

    def real(self, name: str) -> float:
        """Return a number."""
        return float(self.values[name])

    def text(self, name: str) -> str:
        """Return a text."""
        return str(self.values[name])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a page is told: an object, and bytes that it says the meaning of."""

    head: Mapping[str, Json] = field(default_factory=dict)
    body: bytes = b""

    def encoded(self, **about: Json) -> bytes:
        """Return the message, with ``id`` or ``tell`` in its head."""
        head = json.dumps({**self.head, **about}, allow_nan=False, separators=(",", ":")).encode()
        return len(head).to_bytes(4, "little") + head + self.body


Telling = Callable[[str, Answer], None]
"""Tells the page what it has not asked for: under a name."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A kind of request: its fields, who answers it, and in which thread."""

    answer: Callable[[Given], Answer]
    """Raises SimulatorError for what cannot be done."""
    fields: Mapping[str, Field] = field(default_factory=dict)
    thread: str = ""
    """The name of the thread that answers; empty where the answer takes no time, and is given while others work."""
    latest: bool = False
    """Whether one that still waits is dropped when another one comes."""


class PageRoom(Protocol):
    """A part of the page with a state of its own, for one page."""

    @property
    def requests(self) -> Mapping[str, PageRequest]:
        """What can be asked, by name."""

    @property
    def idle(self) -> Mapping[str, Callable[[], bool]]:
        """What threads do between requests, by their names; each returns whether there is more to do."""

    def close(self) -> None:
        """Let whatever takes long end soon; called from another thread."""


def read_message(text: str) -> dict[str, object]:
    """Return the object of a message; raises InputError for anything else."""
    try:
        found = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InputError(Fault("a message is one JSON object")) from None
    if not isinstance(found, dict):
        raise InputError(Fault(f"a message is one JSON object, not {type(found).__name__}"))
    return found


def identity(message: Mapping[str, object]) -> int | None:
    """Return the number of a message, None where it has none that can be given back."""
    number = message.get("id")
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= _MOST_ID else None


def check_fields(message: Mapping[str, object], fields: Mapping[str, Field]) -> Given:
    """Return the fields of a request; raises InputError with all that is wrong with them."""
    faults: list[Fault] = []
    values: dict[str, int | float | str] = {}
    for name in message:
        if name not in (*fields, "id", "do"):
            near = nearest(name, fields)
            allowed = f"did you mean {near}?" if near else f"fields: {', '.join(fields) or 'none'}"
            faults.append(Fault(f"unknown field {name[:40]!r}", hint=allowed))
    for name, kind in fields.items():
        value = message.get(name, kind.default)
        if isinstance(value, int | float | str) and kind.holds(value):
            values[name] = value
        else:
            shown = "nothing" if name not in message else repr(message[name])[:40]
            faults.append(Fault(f"{name}: expected {kind.wanted}, found {shown}"))
    if faults:
        raise InputError(faults[:10])
    return Given(values)


def _refuse_constant(name: str) -> float:
    raise ValueError(name)
