"""Dialogues with a run that is looked into: a table of commands, and the words that follow them.

`pixelflow debug` takes lines from the keyboard or a script and hands them to the dialogue of a machine. Each machine
has its own table, since what there is to see differs; names and short forms are the same where they mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NoReturn, Protocol, TypeVar

from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.report import Fact, Part

Subject = TypeVar("Subject")


AnyStop = TypeVar("AnyStop")


class StopTable(dict[int, AnyStop]):
    """What stops a run, by number; a number is given once."""

    last = 0

    def enter(self, make: Callable[[int], AnyStop]) -> AnyStop:
        """Add what is made for the next number, and return it."""
        self.last += 1
        self[self.last] = found = make(self.last)
        return found

    def forget(self, number: int) -> None:
        """Remove a stop; raises InputError where there is none of that number."""
        if number not in self:
            raise InputError(f"there is no stop {number} (there is: {', '.join(map(str, self)) or 'none'})")
        del self[number]


class Viewer(Protocol):
    """Who shows what a command has to say."""

    @property
    def width(self) -> int:
        """Columns."""

    def print(self, *parts: Part) -> None:
        """Show parts of a report."""


class Dialogue(Protocol):
    """A run that is looked into, as the command knows it."""

    @property
    def ended(self) -> bool:
        """Whether `quit` was said."""

    @property
    def exit_code(self) -> int:
        """Of what has stopped the program; 0 where nothing has."""

    def carry_out(self, text: str) -> None:
        """Carry out one command; raises InputError where it cannot be understood or not be done."""

    def greet(self) -> None:
        """Show what is looked into, and where it stands."""

    def interrupt(self) -> None:
        """Ask a long movement to end."""


@dataclass(frozen=True, slots=True)
class DebugCommand(Generic[Subject]):
    """A command: what it is called, what follows it, what it does."""

    name: str
    short: str
    arguments: str
    summary: str
    carry_out: Callable[[Subject, list[str]], None]


SYNONYMS: dict[str, str] = {
    **dict.fromkeys(("br", "stop"), "break"),
    **dict.fromkeys(("run", "r", "cont"), "continue"),
    **dict.fromkeys(("si", "stepi"), "step"),
    **dict.fromkeys(("ni", "nexti"), "next"),
    **dict.fromkeys(("fin", "out", "return"), "finish"),
    **dict.fromkeys(("rs", "reverse-step", "undo"), "back"),
    "reverse": "reverse-continue",
    **dict.fromkeys(("where", "backtrace", "calls"), "bt"),
    **dict.fromkeys(("x", "inspect", "examine", "display"), "print"),
    **dict.fromkeys(("j", "jump"), "goto"),
    **dict.fromkeys(("disas", "disassemble", "ll"), "list"),
    **dict.fromkeys(("del", "clear", "cl"), "delete"),
    **dict.fromkeys(("set", "assign"), "poke"),
    "exit": "quit",
    "?": "help",
}
"""What people type who come from other debuggers, and the command that it is here."""

_INFO = dict.fromkeys(("b", "break", "breaks", "breakpoint", "breakpoints", "watchpoints"), "stops")


def info_word(words: Sequence[str]) -> list[str]:
    """Return words after ``info``, those of other debuggers as they are called here."""
    return [_INFO.get(word, word) for word in words]


def find_command(commands: Sequence[DebugCommand[Subject]], text: str) -> tuple[DebugCommand[Subject], list[str]]:
    """Return the command of a line and the words that follow it; raises InputError with the nearest name."""
    name, *words = text.split()
    known = {word: command for command in commands for word in (command.name, command.short)}
    known |= {word: known[target] for word, target in SYNONYMS.items() if target in known and word not in known}
    if name in known:
        return known[name], words
    first, slash, _ = name.partition("/")
    if slash and first in known:
        refuse(f"{name!r}: how a value is shown stands after its name", "as in: print NAME:form")
    close = nearest(name, known)
    refuse(f"unknown command {name!r}", f"did you mean {close}?" if close else "see: help")


def help_parts(commands: Sequence[DebugCommand[Subject]], words: Sequence[str], forms: str) -> Iterator[Part]:
    """Yield what commands are for: those that were named with their other names, or all and the forms of their words.

    Raises InputError for a word that is none.
    """
    asked = {find_command(commands, word)[0].name for word in words}
    for command in commands:
        if not words or command.name in asked:
            form = f"{command.name} {command.arguments}".rstrip()
            yield Fact(f"{command.short:>3}  {form:<31} {command.summary}", wrap=False)
            also = [word for word, target in SYNONYMS.items() if target == command.name]
            if words and also:
                yield f"     also: {', '.join(also)}"
    if not words:
        yield forms


def refuse(message: str, hint: str | None = None) -> NoReturn:
    """Raise InputError."""
    raise InputError(Fault(message, hint=hint))


def one_word(words: list[str], what: str) -> str:
    """Return the only word; raises InputError where there is another number of them."""
    if len(words) != 1:
        refuse(f"expected {what}" + (f", found {' '.join(words)!r}" if words else ""))
    return words[0]


def nothing_more(words: list[str]) -> None:
    """Raise InputError where words are left."""
    if words:
        refuse(f"{' '.join(words)!r} is one word too many")


def number_of(text: str) -> int:
    """Return a whole number; raises InputError."""
    digits = text.replace(",", "").replace("_", "")
    if not digits.isascii() or not digits.isdigit():
        refuse(f"expected a whole number, found {text[:40]!r}")
    return int(digits[:18])


def times_of(text: str) -> int:
    """Return a number from 1 on; raises InputError."""
    times = number_of(text)
    if not times:
        refuse(f"expected a number from 1 on, found {text!r}")
    return times


def on_or_off(words: list[str]) -> bool:
    """Return whether the only word is ``on``; raises InputError where it is neither that nor ``off``."""
    word = one_word(words, "on or off")
    if word not in ("on", "off"):
        refuse(f"{word!r} is neither on nor off")
    return word == "on"
