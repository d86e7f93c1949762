"""The debugger's dialogue with a run on a node: its commands, and the words that follow them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from pixelflow.debugger import views
from pixelflow.debugger.debug_session import (
    Anywhere,
    Bytes,
    Cycle,
    DebugSession,
    Semaphore,
    StageBegin,
    Stop,
    Subject,
)
from pixelflow.debugger.expressions import FLAGS, PeExpression, StopCondition, bytes_named
from pixelflow.debugger.views import StatePicture
from pixelflow.isa import MemoryRange, RangeForm
from pixelflow.node import SavedRun
from pixelflow.node.pe_map import MAP_FLAGS, REGISTERS, MapView
from pixelflow.node.pe_report import (
    RangeView,
    enables_table,
    lanes_named,
    map_parts,
    memory_lines,
    no_map,
    ranges_table,
    registers_table,
)
from pixelflow.simd.dialogue import (
    DebugCommand,
    Dialogue,
    RunViews,
    SessionOutcome,
    View,
    Viewer,
    few_times,
    info_word,
    line,
    nothing_more,
    number_of,
    on_or_off,
    one_word,
    refuse,
    stop_parts,
)
from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.isa.program import find_code

# Words after commands that say where and when a run is to stop: a subject, a condition, a choice of PEs.


_SEMAPHORES = range(16)
_LIST = re.compile(r"\d|\*|all\b")
"""How a choice of PEs begins."""
_OPEN = "=<>!&|^+-*/%~(,"
"""Ends of an expression that continues."""


def subject_of(session: DebugSession, words: list[str], *, anywhere: bool) -> Subject:
    """Return what a stop is about; ``anywhere`` allows no words. Raises InputError."""
    match words:
        case [] if anywhere:
            return Anywhere()
        case ["sem", number]:
            semaphore = number_of(number)
            if semaphore not in _SEMAPHORES:
                refuse(f"there is no semaphore {semaphore}", "allowed: 0 to 15")
            return Semaphore(semaphore)
        case ["cycle", number]:
            return Cycle(number_of(number))
        case ["stage", *name]:
            return StageBegin(_stage(session, " ".join(name).strip('"')))
        case ["routine", place] | [place]:
            _refuse_stages_and_ranges(session, place)
            return find_code(session.program, place)
    refuse(f"{' '.join(words)!r} is not a place", "see: help")


def _refuse_stages_and_ranges(session: DebugSession, place: str) -> None:
    """Raise InputError for a stage or a range that is named like code, with the command that stops there."""
    program = session.program
    if place in {*(routine.name for routine in program.routines), *dict(program.labels)}:
        return
    if place in program.names:
        refuse(f"{place} is a stage, not a label or routine", f"write: break stage {place}")
    if any(each.name == place for each in program.ranges):
        refuse(f"{place} is a range of memory, not code", f"write: watch {place}; or: break if {place} == 1")


def _stage(session: DebugSession, name: str) -> str:
    stages = session.program.names
    if name not in stages:
        close = nearest(name, stages)
        hint = f"did you mean {close}?" if close else f"stages: {', '.join(stages) or 'none'}"
        refuse(f"the program has no stage {name!r}", hint)
    return name


def take_condition(session: DebugSession, words: list[str]) -> StopCondition | None:
    """Take ``if EXPR [pe LIST]`` from the end of the words; raises InputError for what can never be judged."""
    if "if" not in words:
        return None
    at = words.index("if")
    written = words[at + 1 :]
    del words[at:]
    lanes = take_lanes(session, written)
    if not written:
        refuse("if what?", "a condition, as in: break if R == 5 && E")
    expression = PeExpression.read(" ".join(written), session.program)
    condition = StopCondition(expression, None if lanes is None else tuple(lanes))
    condition.holds(session.node, session.replay.position)  # raises now what it would raise later
    return condition


def take_lanes(session: DebugSession, words: list[str]) -> list[int] | None:
    """Take ``pe LIST`` out of the words; in an expression ``pe`` is the number of a PE."""
    at = next((at for at in range(len(words) - 1, 0, -1) if words[at] == "pe"), None)
    if at is None or words[at - 1][-1] in _OPEN:
        return None
    chosen = words[at + 1 : at + 2]
    if chosen and not _LIST.match(chosen[0]) and chosen[0][0] in _OPEN:
        return None
    del words[at : at + 2]
    return lanes_named(one_word(chosen, "PEs: 5, 32-39, 0.1.*.4-7"), session.node.config.array)


# The commands of the debugger: one table of names, short forms and meanings, and the words that follow them.


_FEW_LANES = 8
_VIEW = re.compile(r"[A-Za-z_]\w*(:\w*)?|[A-Za-z_]\w*\[\w*\]|\d+(-\d*)?")
"""A word that may be a range in a form, a byte of one, or addresses."""
_OF_PES = (*REGISTERS, *FLAGS, *MAP_FLAGS, "pe", "cycle")
"""Names in expressions that do not mean memory."""


class Debugger(Dialogue[DebugSession]):
    """The dialogue with a run on a node."""

    views = RunViews(views.run, views.position, views.outcome)
    counts = "a cycle"

    def __init__(self, session: DebugSession, viewer: Viewer, saved: SavedRun | None = None) -> None:
        super().__init__(session, viewer, COMMANDS, _FORMS)
        self.lanes: list[int] | None = None
        """PEs that are shown where a command names none; None for the first ones."""
        self._saved = saved
        self._verbose = False

    # --- movement ------------------------------------------------------------------------------------------------

    def moved(self, move: Callable[[], SessionOutcome], *then: View) -> None:
        """Move, and show why the run stopped, and with `verbose` what has changed."""
        if self._verbose:
            then = (*then, partial(views.changes, before=StatePicture.of(self.session.node)))
        super().moved(move, *then)
        if self._saved is not None and self.session.replay.ended:
            self._saved.check_end(self.session.replay)

    def step(self, words: list[str]) -> None:
        stream = self._stream(words)
        count = few_times(words)
        self.moved(lambda: self.session.step(count, stream))

    def back(self, words: list[str]) -> None:
        stream = self._stream(words)
        if words and not words[-1].isdigit():
            hint = "a stop: break PLACE, or b PLACE"
            raise InputError(Fault(f"{words[-1]!r} is not a number of instructions", hint=hint))
        count = few_times(words)
        self.moved(lambda: self.session.back(count, stream))

    def next(self, words: list[str]) -> None:
        stream = self._stream(words) or self._first
        nothing_more(words)
        self.moved(lambda: self.session.step_over(stream))

    def finish(self, words: list[str]) -> None:
        stream = self._stream(words) or self._first
        nothing_more(words)
        self.moved(lambda: self.session.leave(stream))

    # --- stops ---------------------------------------------------------------------------------------------------

    def stop_at(self, words: list[str], count: int) -> Stop:
        """Set a stop at a place, a semaphore, a cycle or a stage, or where a condition holds; raises InputError."""
        condition = take_condition(self.session, words)
        subject = subject_of(self.session, words, anywhere=condition is not None)
        return self.session.add(subject, count, condition)

    def watch(self, words: list[str]) -> None:
        condition = take_condition(self.session, words)
        lanes = self._lanes(words)
        text = one_word(words, "a range, a byte NAME[i], or addresses 200 or 200-203")
        if text in _OF_PES:
            refuse(f"{text} is not memory", f"for a value: break if {text} == 1")
        found, _ = self._bytes(text)
        subject = Bytes(text, found.start, found.size, None if lanes is None else tuple(lanes))
        self.announce(self.session.add(subject, 1, condition))

    def _bytes(self, text: str) -> tuple[MemoryRange, RangeForm]:
        """Return a range in one of its forms, a byte of it, or one or more addresses."""
        return bytes_named(text, self.session.program, self.session.node.config.array.memory_bytes)

    # --- changes ---------------------------------------------------------------------------------------------------

    def poke(self, words: list[str]) -> None:
        if not words:
            self.say(views.pokes)
            return
        lanes = self._lanes(words)
        target, _, value = " ".join(words[words[0] in ("var", "variable") :]).partition("=")
        target, value = target.strip(), value.strip()
        if not target or not value or value.startswith("="):
            refuse(f"{' '.join(words)!r} gives nothing a value", "as in: poke R = 5 pe 3")
        number, made = self.session.poke(target, value, lanes)
        self.viewer.print(line(views.poke_text(number, made), self.viewer.width))

    def unpoke(self, words: list[str]) -> None:
        which = one_word(words, "the number of a poke, or all")
        for number in list(self.session.replay.pokes.made) if which == "all" else [number_of(which)]:
            self.session.replay.unpoke(number)
        self.say(views.position)

    # --- looking -------------------------------------------------------------------------------------------------

    def code(self, words: list[str]) -> None:
        stream = self._stream(words) or self._first
        at = min(find_code(self.session.program, words.pop(0)).indices) if words else None
        nothing_more(words)
        self.say(views.code, stream, at)

    def show(self, words: list[str]) -> None:
        lanes = self._lanes(words)
        lanes = self.lanes if lanes is None else lanes
        few = lanes if lanes is not None else list(range(min(_FEW_LANES, self.session.node.lanes)))
        viewer, session, node = self.viewer, self.session, self.session.node
        match words:
            case []:
                refuse("print what?", "registers, flags, enables, memory, stack, semaphores, stages, a range, or R + 1")
            case ["registers"]:
                viewer.print(registers_table(node, few))
            case ["flags"]:
                self.say(views.flags, few)
            case ["enables"]:
                viewer.print(enables_table(node))
            case ["memory"]:
                viewer.print(*memory_lines(node, few if lanes is not None else few[:1]))
            case ["stack", *rest]:
                self.calls(rest)
            case ["semaphores"]:
                for name, stream in session.replay.streams.items():
                    counts = [f"sem {at}: {count}" for at, count in enumerate(stream.semaphores.counts) if count]
                    viewer.print(f"  {name.upper()} can take {', '.join(counts) or 'none'}")
            case ["stages"]:
                self.say(views.stages)
            case _ if all(_VIEW.fullmatch(word) and word not in _OF_PES for word in words):
                viewer.print(ranges_table(node, [RangeView(*self._bytes(word)) for word in words], few))
            case _:
                each_alone = all(_VIEW.fullmatch(word) for word in words)
                for text in words if each_alone else [" ".join(words)]:
                    self.say(views.expression, PeExpression.read(text, session.program), few)

    def calls(self, words: list[str]) -> None:
        stream = self._stream(words)
        nothing_more(words)
        self.say(views.stack, [stream] if stream else list(self.session.replay.streams))

    def map(self, words: list[str]) -> None:
        view = MapView.named(one_word(words, "a flag, a register or a range"), self.session.program)
        self.viewer.print(*map_parts(self.session.node, view, self.viewer.width) or [no_map(view)])

    def choose(self, words: list[str]) -> None:
        text = one_word(words, "PEs: 5, 32-39, 0.1.*.4-7, or first")
        self.lanes = None if text == "first" else lanes_named(text, self.session.node.config.array)

    def info(self, words: list[str]) -> None:
        match info_word(words):
            case [] | ["run"]:
                self.greet()
            case ["streams"]:
                self.say(views.streams)
            case ["stops"]:
                self.say(stop_parts)
            case ["pokes"]:
                self.say(views.pokes)
            case ["r" | "reg" | "registers", *rest]:
                self.show(["registers", *rest])
            case ["stack" | "s" | "frame" | "f", *rest]:
                self.calls(rest)
            case _:
                refuse(f"no information on {' '.join(words)!r}", _INFORMATION)

    def verbose(self, words: list[str]) -> None:
        self._verbose = on_or_off(words)

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
    DebugCommand("poke", "k", "TARGET = EXPR [pe LIST]", "change what PEs hold, starting here", Debugger.poke),
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
