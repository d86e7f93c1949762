"""The commands of the debugger: one table of names, short forms and meanings, and the words that follow them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from pixelflow.cli.debug.stop_words import subject_of, take_condition, take_lanes
from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.pe_selection import map_view, select_lanes
from pixelflow.cli.shell.screen import Screen
from pixelflow.debugger import Bytes, DebugSession, PeExpression, SessionOutcome, StatePicture, StopCondition, find_code
from pixelflow.debugger import views as views
from pixelflow.debugger.stops import Subject
from pixelflow.debugger.values.expression import FLAGS, REGISTERS
from pixelflow.debugger.values.poking import bytes_named
from pixelflow.isa import MemoryRange, RangeForm
from pixelflow.node import SavedRun
from pixelflow.node.pe_map import MAP_FLAGS
from pixelflow.node.pe_report import (
    RangeView,
    enables_table,
    map_parts,
    memory_lines,
    no_map,
    ranges_table,
    registers_table,
)
from pixelflow.simd.dialogue import (
    DebugCommand,
    find_command,
    help_parts,
    info_word,
    nothing_more,
    number_of,
    on_or_off,
    one_word,
    refuse,
    times_of,
)
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import Part

__all__ = ["COMMANDS", "Debugger"]

_FEW_LANES = 8
_VIEW = re.compile(r"[A-Za-z_]\w*(:\w*)?|[A-Za-z_]\w*\[\w*\]|\d+(-\d*)?")
"""A word that may be a range in a form, a byte of one, or addresses."""
_OF_PES = (*REGISTERS, *FLAGS, *MAP_FLAGS, "pe", "cycle")
"""Names in expressions that are no memory."""


class Debugger:
    """A session and the screen on which it is shown; `carry_out` takes one command."""

    def __init__(self, session: DebugSession, screen: Screen, saved: SavedRun | None = None) -> None:
        self.session = session
        self.screen = screen
        self.ended = False
        """Whether `quit` was said."""
        self.lanes: list[int] | None = None
        """PEs that are shown where a command names none; None for the first ones."""
        self.pictured = False
        """Whether a map stands beside the dialogue already."""
        self.shown_map = "enable"
        """What the last map was of."""
        self._saved = saved
        self._verbose = False

    def carry_out(self, text: str) -> None:
        """Carry out one command; raises InputError where it cannot be understood or not be done."""
        command, words = find_command(COMMANDS, text)
        try:
            command.carry_out(self, words)
        except UsageError as error:  # its place is an option of other commands
            raise InputError([Fault(fault.message, hint=fault.hint) for fault in error.faults]) from None

    @property
    def exit_code(self) -> int:
        """Of what has stopped the program where the run stands; 0 where nothing has."""
        stopped = self.session.replay.stopped
        return 0 if stopped is None else stopped.exit_code

    def greet(self) -> None:
        """Show program and machine, and where the run stands."""
        self.say(views.run, self.session)
        self.say(views.position, self.session)

    def interrupt(self) -> None:
        """Ask a long movement to end, which it does within a few thousand cycles."""
        self.session.interrupted = True

    def say(self, view: Callable[..., Iterable[Part]], *about: object) -> None:
        """Print what a view has to say about the session."""
        self.screen.print(*view(self.screen.width, *about))

    # --- movement ------------------------------------------------------------------------------------------------

    def _moved(self, move: Callable[[], SessionOutcome]) -> None:
        """Move, and show why the run stands where it stands now."""
        session = self.session
        before = StatePicture.of(session.node) if self._verbose else None
        outcome = move()
        self.say(views.outcome, session, outcome.hits)
        if outcome.interrupted:
            self.screen.print("interrupted")
        if before is not None:
            self.say(views.changes, session, before)
        self.say(views.position, session)
        if self._saved is not None and session.replay.ended:
            self._saved.check_end(session.replay)

    def step(self, words: list[str]) -> None:
        stream = self._stream(words)
        count = _count(words)
        self._moved(lambda: self.session.step(count, stream))

    def back(self, words: list[str]) -> None:
        stream = self._stream(words)
        if words and not words[-1].isdigit():
            hint = "a stop: break PLACE, or b PLACE"
            raise InputError(Fault(f"{words[-1]!r} is no number of instructions", hint=hint))
        count = _count(words)
        self._moved(lambda: self.session.back(count, stream))

    def next(self, words: list[str]) -> None:
        stream = self._stream(words) or self._first
        nothing_more(words)
        self._moved(lambda: self.session.step_over(stream))

    def finish(self, words: list[str]) -> None:
        stream = self._stream(words) or self._first
        nothing_more(words)
        self._moved(lambda: self.session.leave(stream))

    def go_on(self, words: list[str]) -> None:
        nothing_more(words)
        self._moved(self.session.go_on)

    def go_back(self, words: list[str]) -> None:
        nothing_more(words)
        self._moved(self.session.go_back)

    def goto(self, words: list[str]) -> None:
        cycle = number_of(one_word(words, "a cycle"))
        self._moved(lambda: self.session.goto(cycle))

    def end(self, words: list[str]) -> None:
        nothing_more(words)
        self._moved(lambda: self.session.goto(1 << 62))

    # --- stops ---------------------------------------------------------------------------------------------------

    def break_at(self, words: list[str]) -> None:
        if not words:
            self.say(views.stops, self.session)
            return
        count = 1
        if len(words) > 2 and words[-2] == "every":
            count = times_of(words[-1])
            words = words[:-2]
        condition = take_condition(self.session, words)
        subject = subject_of(self.session, words, anywhere=condition is not None)
        self._set(subject, count, condition)

    def watch(self, words: list[str]) -> None:
        condition = take_condition(self.session, words)
        lanes = self._lanes(words)
        text = one_word(words, "a range, a byte NAME[i], or addresses 200 or 200-203")
        if text in _OF_PES:
            refuse(f"{text} is no memory", f"for a value: break if {text} == 1")
        found, _ = self._bytes(text)
        self._set(Bytes(text, found.start, found.size, None if lanes is None else tuple(lanes)), 1, condition)

    def _set(self, subject: Subject, count: int, condition: StopCondition | None) -> None:
        stop = self.session.add(subject, count, condition)
        self.screen.print(views.line(f"stop {stop.number}: {views.subject_text(stop)}", self.screen.width))

    def _bytes(self, text: str) -> tuple[MemoryRange, RangeForm]:
        """Return a range in one of its forms, a byte of it, or one or more addresses."""
        return bytes_named(text, self.session.program, self.session.node.config.array.memory_bytes)

    def delete(self, words: list[str]) -> None:
        which = one_word(words, "the number of a stop, or all")
        for number in list(self.session.stops) if which == "all" else [number_of(which)]:
            self.session.delete(number)

    # --- changes ---------------------------------------------------------------------------------------------------

    def poke(self, words: list[str]) -> None:
        if not words:
            self.say(views.pokes, self.session)
            return
        lanes = self._lanes(words)
        target, _, value = " ".join(words[words[0] in ("var", "variable") :]).partition("=")
        target, value = target.strip(), value.strip()
        if not target or not value or value.startswith("="):
            refuse(f"{' '.join(words)!r} gives nothing a value", "as in: poke R = 5 pe 3")
        number, made = self.session.poke(target, value, lanes)
        self.screen.print(views.line(views.poke_text(number, made), self.screen.width))

    def unpoke(self, words: list[str]) -> None:
        which = one_word(words, "the number of a poke, or all")
        for number in list(self.session.replay.pokes.made) if which == "all" else [number_of(which)]:
            self.session.replay.unpoke(number)
        self.say(views.position, self.session)

    # --- looking -------------------------------------------------------------------------------------------------

    def code(self, words: list[str]) -> None:
        stream = self._stream(words) or self._first
        at = min(find_code(self.session.program, words.pop(0)).indices) if words else None
        nothing_more(words)
        self.say(views.code, self.session, stream, at)

    def show(self, words: list[str]) -> None:
        lanes = self._lanes(words)
        lanes = self.lanes if lanes is None else lanes
        few = lanes if lanes is not None else list(range(min(_FEW_LANES, self.session.node.lanes)))
        screen, session, node = self.screen, self.session, self.session.node
        match words:
            case []:
                refuse("print what?", "registers, flags, enables, memory, stack, semaphores, stages, a range, or R + 1")
            case ["registers"]:
                screen.print(registers_table(node, few))
            case ["flags"]:
                self.say(views.flags, session, few)
            case ["enables"]:
                screen.print(enables_table(node))
            case ["memory"]:
                screen.print(*memory_lines(node, few if lanes is not None else few[:1]))
            case ["stack", *rest]:
                self.calls(rest)
            case ["semaphores"]:
                for name, stream in session.replay.streams.items():
                    counts = [f"sem {at}: {count}" for at, count in enumerate(stream.semaphores.counts) if count]
                    screen.print(f"  {name.upper()} can take {', '.join(counts) or 'none'}")
            case ["stages"]:
                self.say(views.stages, session)
            case _ if all(_VIEW.fullmatch(word) and word not in _OF_PES for word in words):
                screen.print(ranges_table(node, [RangeView(*self._bytes(word)) for word in words], few))
            case _:
                each_alone = all(_VIEW.fullmatch(word) for word in words)
                for text in words if each_alone else [" ".join(words)]:
                    self.say(views.expression, session, PeExpression.read(text, session.program), few)

    def calls(self, words: list[str]) -> None:
        stream = self._stream(words)
        nothing_more(words)
        self.say(views.stack, self.session, [stream] if stream else list(self.session.replay.streams))

    def map(self, words: list[str]) -> None:
        view = map_view(one_word(words, "a flag, a register or a range"), self.session.program)
        self.shown_map = view.text
        if self.pictured:
            return
        drawn = [*map_parts(self.session.node, view, self.screen.width)]
        if drawn:
            self.screen.print(*drawn)
        else:
            self.screen.note(no_map(view))

    def choose(self, words: list[str]) -> None:
        text = one_word(words, "PEs: 5, 32-39, 0.1.*.4-7, or first")
        self.lanes = None if text == "first" else select_lanes(text, self.session.node.config.array)

    def info(self, words: list[str]) -> None:
        match info_word(words):
            case [] | ["run"]:
                self.say(views.run, self.session)
                self.say(views.position, self.session)
            case ["streams"]:
                self.say(views.streams, self.session)
            case ["stops"]:
                self.say(views.stops, self.session)
            case ["pokes"]:
                self.say(views.pokes, self.session)
            case ["r" | "reg" | "registers", *rest]:
                self.show(["registers", *rest])
            case ["stack" | "s" | "frame" | "f", *rest]:
                self.calls(rest)
            case _:
                refuse(f"no information on {' '.join(words)!r}", _INFORMATION)

    def verbose(self, words: list[str]) -> None:
        self._verbose = on_or_off(words)

    def help(self, words: list[str]) -> None:
        for part in help_parts(COMMANDS, words, _FORMS):
            self.screen.print(part)

    def quit(self, words: list[str]) -> None:
        nothing_more(words)
        self.ended = True

    # --- words ---------------------------------------------------------------------------------------------------

    @property
    def _first(self) -> str:
        return next(iter(self.session.replay.streams))

    def _stream(self, words: list[str]) -> str | None:
        """Take the name of a stream out of the words."""
        for name in self.session.replay.streams:
            if name in words:
                words.remove(name)
                return name
        return None

    def _lanes(self, words: list[str]) -> list[int] | None:
        return take_lanes(self.session, words)


# fmt: off
COMMANDS: tuple[DebugCommand[Debugger], ...] = (
    DebugCommand("step", "s", "[N] [STREAM]", "N instructions on, of one stream or of any", Debugger.step),
    DebugCommand("next", "n", "[STREAM]", "one instruction on, over a call", Debugger.next),
    DebugCommand("finish", "f", "[STREAM]", "on until this routine has returned", Debugger.finish),
    DebugCommand("continue", "c", "", "on to the next stop or the end", Debugger.go_on),
    DebugCommand("back", "u", "[N] [STREAM]", "N instructions back", Debugger.back),
    DebugCommand("reverse-continue", "rc", "", "back to the last stop or the beginning", Debugger.go_back),
    DebugCommand("goto", "g", "CYCLE", "to a cycle, forwards or backwards", Debugger.goto),
    DebugCommand("end", "e", "", "to the end of the run", Debugger.end),
    DebugCommand("break", "b", "[PLACE] [if EXPR]", "stop at a place, where EXPR holds", Debugger.break_at),
    DebugCommand("watch", "w", "BYTES [pe LIST] [if EXPR]", "stop when bytes of PEs have changed", Debugger.watch),
    DebugCommand("delete", "d", "NUMBER|all", "forget a stop", Debugger.delete),
    DebugCommand("list", "l", "[PLACE] [STREAM]", "instructions with their source", Debugger.code),
    DebugCommand("bt", "bt", "[STREAM]", "calls and loops that streams are in", Debugger.calls),
    DebugCommand("print", "p", "WHAT [pe LIST]", "state of PEs or streams, or a value", Debugger.show),
    DebugCommand("pe", "pe", "LIST|first", "PEs to show where no others are named", Debugger.choose),
    DebugCommand("map", "m", "NAME", "map of the array: a flag, register or byte", Debugger.map),
    DebugCommand("info", "i", "[run|streams|stops|pokes]", "where the run is; cycles; stops", Debugger.info),
    DebugCommand("poke", "k", "TARGET = EXPR [pe LIST]", "change what PEs hold, from here on", Debugger.poke),
    DebugCommand("unpoke", "uk", "NUMBER|all", "take a change back", Debugger.unpoke),
    DebugCommand("verbose", "v", "on|off", "whether a movement says what it changed", Debugger.verbose),
    DebugCommand("help", "h", "[COMMAND]", "this list; of one command its other names", Debugger.help),
    DebugCommand("quit", "q", "", "leave", Debugger.quit),
)
# fmt: on

_INFORMATION = "allowed: run, streams, stops, pokes, registers, stack"
_FORMS = """\
PLACE   12 or file.mc:12 (a line), a label, a routine, *40 (a word address);
        break also takes: sem N, cycle N, stage NAME, and ends in: every N;
        alone it lists the stops
EXPR    as in .mc files, with names for what PEs hold: R, S, M, C, E, L, MR, MW,
        NAME, NAME:float, NAME[2], pe, cycle; any(), all(), count(), sum(),
        min(), max(), abs(); a condition holds where it is true in any PE
WHAT    registers, flags, enables, memory, stack, semaphores, stages, EXPR,
        or ranges: NAME, NAME:float, NAME:word, NAME:bytes, NAME[2], 200-203
TARGET  R, S, M, C, E, L, MR, MW, NAME, NAME:float, NAME[2], 200-203
BYTES   NAME, NAME[2], 200 or 200-203
LIST    5, 32-39, all, or module.emc.panel.pe as 0.1.*.4-7"""


def _count(words: list[str]) -> int:
    return times_of(one_word(words, "a number")) if words else 1
