"""Debugging of a run: its session, which moves and stops, and its dialogue, a table of commands and words.

`pixelflow debug` takes lines from the keyboard or a script and hands them to the dialogue of a machine. Each machine
has its own table, since what there is to see differs; names and short forms are the same where they mean the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, NoReturn, Protocol, TypeVar

from pixelflow.simd.errors import Fault, InputError, SimulatorError, nearest
from pixelflow.simd.report import Fact, Part, counted, cut

Subject = TypeVar("Subject")

# Session: movement in both directions, and what stops it. Position 0 is the beginning; a position has one state.


AnyStop = TypeVar("AnyStop", bound="RunStop[Any]")
StopSeen = TypeVar("StopSeen", bound="RunStop[Any]", covariant=True)
_FAR = 1 << 62
_INTERVAL = 2048
"""Positions between two looks at whether the user has interrupted."""


@dataclass(slots=True)
class RunStop(Generic[Subject]):
    """One thing that stops the run, at every ``count``-th time that it is met on the way forwards."""

    number: int
    subject: Subject
    count: int = 1
    met: int = 0

    @property
    def about(self) -> str:
        """Its topic, in words."""
        return str(self.subject)

    @property
    def text(self) -> str:
        """Its condition, and how often it stops the run."""
        return self.about + (f", 1 time in {self.count}" if self.count > 1 else "")

    def is_due(self) -> bool:
        """Count one meeting; return whether it is one to stop at."""
        self.met += 1
        return self.met % self.count == 0


SomeStop = RunStop[Any]


class StopTable(dict[int, AnyStop]):
    """Stops of a run by number; a number is given once."""

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


class Rewindable(Protocol):
    """A run that can be taken to any of its positions."""

    @property
    def position(self) -> int: ...

    @property
    def end(self) -> int | None:
        """The last position, None where it is not known yet; `ended` at it, where `stopped` may say why."""

    @property
    def ended(self) -> bool: ...

    @property
    def stopped(self) -> SimulatorError | None: ...

    def goto(self, cycle: int, /) -> int:
        """Go to a position, or to the last one where that comes first; return where it is."""

    def kept_until(self, cycle: int, /) -> int:
        """Return the last position up to another whose state is kept."""


AnyReplay = TypeVar("AnyReplay", bound=Rewindable)


@dataclass(frozen=True, slots=True)
class StopMet(Generic[StopSeen]):
    """A stop was met at the position. A machine adds what it knows about it."""

    stop: StopSeen


class SessionOutcome(NamedTuple):
    """Why the run is where it is now."""

    hits: tuple[StopMet[SomeStop], ...] = ()
    """Each a `StopMet`, or what a machine has in its place."""
    interrupted: bool = False


@dataclass
class RunSession(ABC, Generic[AnyReplay, AnyStop]):
    """A run at a position, and its stops. A machine says how it goes forwards to the next of them."""

    replay: AnyReplay
    stops: StopTable[AnyStop] = field(default_factory=StopTable)
    interrupted: bool = False
    """Set by the user who wants a long movement to end."""
    counting: bool = True
    """True if meetings of stops count; else each is one to stop at."""

    @abstractmethod
    def forward(self, end: int) -> SessionOutcome:
        """Go forwards to the next position at which a stop is due, at most to ``end``."""

    def goto(self, position: int) -> SessionOutcome:
        """Go to a position, in either direction; stops do not count."""
        self.interrupted, replay = False, self.replay
        if position < replay.position or (replay.end is not None and position >= replay.end):
            replay.goto(position)
        elif (kept := replay.kept_until(position)) > replay.position:
            replay.goto(kept)
        while replay.position < position and not replay.ended:
            if self.interrupted:
                return SessionOutcome(interrupted=True)
            replay.goto(min(position, replay.position + _INTERVAL))
        return SessionOutcome()

    def repeat(self, count: int, move: Callable[[], int]) -> SessionOutcome:
        """Move several times, until the position that a move returns is the one before."""
        self.interrupted = False
        for _ in range(count):
            before = self.replay.position
            if self.interrupted:
                return SessionOutcome(interrupted=True)
            if move() == before:
                break
        return SessionOutcome()

    def go_on(self) -> SessionOutcome:
        """Continue to the next stop, or to the last position."""
        self.interrupted = False
        return self.forward(_FAR)

    def go_back(self) -> SessionOutcome:
        """Go back to the last stop before this position, or to the beginning.

        A stop that counts its meetings counts those on the way back; a condition without a place stops where it becomes
        true on the way forwards.
        """
        self.interrupted = False
        start, last = self.replay.position, self.replay.position - 1
        while last > 0:
            first = self.replay.kept_until(last - 1)
            for position, hits in reversed(self._met_between(first, last)):
                due = tuple(hit for hit in hits if hit.stop.is_due())
                if due:
                    self.replay.goto(position)
                    return SessionOutcome(due)
            if self.interrupted:
                self.replay.goto(start)
                return SessionOutcome(interrupted=True)
            last = first
        self.replay.goto(0)
        return SessionOutcome()

    def _met_between(self, first: int, last: int) -> list[tuple[int, tuple[StopMet[SomeStop], ...]]]:
        """Return the positions past ``first`` up to ``last`` at which stops are met, every meeting, with these."""
        met: list[tuple[int, tuple[StopMet[SomeStop], ...]]] = []
        self.replay.goto(first)
        self.counting = False
        try:
            while (hits := self.forward(last + 1).hits) and self.replay.position <= last:
                met.append((self.replay.position, hits))
        finally:
            self.counting = True
        return met


# Dialogue: commands, the words that follow them, and what is shown.


class Viewer(Protocol):
    """Shows what a command has to say."""

    @property
    def width(self) -> int:
        """Columns."""

    def print(self, *parts: Part) -> None:
        """Show parts of a report."""


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
"""Commands of other debuggers, and the command that each is here."""

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
        refuse(f"{name!r}: the form of a value is given after its name", "as in: print NAME:form")
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


AnySession = TypeVar("AnySession", bound="RunSession[Any, Any]")


def line(text: str, width: int) -> Fact:
    """Return one line that holds program text, cut where the screen ends."""
    return Fact(cut(text, width), wrap=False)


def stop_parts(width: int, session: AnySession) -> Iterator[Part]:
    """Yield the stops that are set."""
    if not session.stops:
        yield "no stops"
    for stop in session.stops.values():
        yield line(f"{stop.number:>3}  {stop.text}   (met {counted(stop.met, 'time')})", width)


View = Callable[..., Iterable[Part]]
"""A function of the columns, the session and what is asked about."""


class RunViews(NamedTuple):
    """Common part of every dialogue: the run, its position, and the stops that were met."""

    run: View
    position: View
    outcome: View


class Dialogue(ABC, Generic[AnySession]):
    """A session and its viewer; `carry_out` takes one command. A machine adds its own commands and views."""

    views: ClassVar[RunViews]
    counts: ClassVar[str]
    """A position in words, as in "a cycle"."""

    def __init__(self, session: AnySession, viewer: Viewer, commands: Sequence[DebugCommand[Any]], forms: str) -> None:
        """``forms`` are those of the words after commands, for `help`."""
        self.session, self.viewer = session, viewer
        self._commands, self._forms = commands, forms
        self.ended = False
        """True if `quit` was said."""

    def carry_out(self, text: str) -> None:
        """Execute one command; raises InputError where it cannot be understood or not be done."""
        command, words = find_command(self._commands, text)
        command.carry_out(self, words)

    @property
    def exit_code(self) -> int:
        """Of what has stopped the program at this position; 0 where nothing has."""
        stopped = self.session.replay.stopped
        return 0 if stopped is None else stopped.exit_code

    def greet(self) -> None:
        """Show the program, and where the run is."""
        self.say(self.views.run)
        self.say(self.views.position)

    def interrupt(self) -> None:
        """Ask a long movement to end soon."""
        self.session.interrupted = True

    def say(self, view: View, *about: object) -> None:
        """Show what a view has to say about the session."""
        self.viewer.print(*view(self.viewer.width, self.session, *about))

    def moved(self, move: Callable[[], SessionOutcome], *then: View) -> None:
        """Move, and show why the run is where it is now, in other views too."""
        outcome = move()
        self.say(self.views.outcome, outcome.hits)
        if outcome.interrupted:
            self.viewer.print("interrupted")
        for view in (*then, self.views.position):
            self.say(view)

    # --- commands of every machine -----------------------------------------------------------------------------------

    def go_on(self, words: list[str]) -> None:
        nothing_more(words)
        self.moved(self.session.go_on)

    def go_back(self, words: list[str]) -> None:
        nothing_more(words)
        self.moved(self.session.go_back)

    def goto(self, words: list[str]) -> None:
        position = number_of(one_word(words, self.counts))
        self.moved(lambda: self.session.goto(position))

    def end(self, words: list[str]) -> None:
        nothing_more(words)
        self.moved(lambda: self.session.goto(_FAR))

    def break_at(self, words: list[str]) -> None:
        if not words:
            self.say(stop_parts)
            return
        count = 1
        if len(words) > 2 and words[-2] == "every":
            count, words = times_of(words[-1]), words[:-2]
        self.announce(self.stop_at(words, count))

    @abstractmethod
    def stop_at(self, words: list[str], count: int) -> SomeStop:
        """Set a stop at a place; raises InputError."""

    def announce(self, stop: SomeStop) -> None:
        """Show a stop that was set."""
        self.viewer.print(line(f"stop {stop.number}: {stop.text}", self.viewer.width))

    def delete(self, words: list[str]) -> None:
        which = one_word(words, "the number of a stop, or all")
        for number in list(self.session.stops) if which == "all" else [number_of(which)]:
            self.session.stops.forget(number)

    def help(self, words: list[str]) -> None:
        self.viewer.print(*help_parts(self._commands, words, self._forms))

    def quit(self, words: list[str]) -> None:
        nothing_more(words)
        self.ended = True


SomeDialogue = Dialogue[Any]


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


def few_times(words: list[str]) -> int:
    """Return the number of times that the only word says, once without a word; raises InputError."""
    return times_of(one_word(words, "a number")) if words else 1


def times_of(text: str) -> int:
    """Return a number starting at 1; raises InputError."""
    times = number_of(text)
    if not times:
        refuse(f"expected a number of 1 or more, found {text!r}")
    return times


def on_or_off(words: list[str]) -> bool:
    """Return whether the only word is ``on``; raises InputError where it is neither that nor ``off``."""
    word = one_word(words, "on or off")
    if word not in ("on", "off"):
        refuse(f"{word!r} is neither on nor off")
    return word == "on"
