"""Commands of the debugger for execution units: one table of names, short forms and meanings, as for other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gen6_bridge.code.assembler import EuProgram
from gen6_bridge.debugger import views
from gen6_bridge.debugger.places import place_named
from gen6_bridge.debugger.session import AtStep, EuSession, EuStop, PlaceChanged, StopMet
from gen6_bridge.time import EuConfig
from pixelflow.simd.dialogue import (
    DebugCommand,
    Viewer,
    find_command,
    help_parts,
    info_word,
    nothing_more,
    number_of,
    one_word,
    refuse,
    times_of,
)
from pixelflow.simd.isa.places import find_code
from pixelflow.simd.report import Part, counted

__all__ = ["COMMANDS", "EuDialogue", "open_dialogue"]


class EuDialogue:
    """A session and who shows it; `carry_out` takes one command."""

    def __init__(self, session: EuSession, viewer: Viewer) -> None:
        self.session, self._viewer = session, viewer
        self.ended = False

    @property
    def exit_code(self) -> int:
        """Of what has stopped the program; 0 where nothing has."""
        return 0 if self.session.stopped is None else self.session.stopped.exit_code

    def carry_out(self, text: str) -> None:
        """Carry out one command; raises InputError where it cannot be understood or not be done."""
        command, words = find_command(COMMANDS, text)
        command.carry_out(self, words)

    def greet(self) -> None:
        """Show the program, and where the run stands."""
        self._say(views.run)
        self._say(views.position)

    def interrupt(self) -> None:
        """Ask a long movement to end after its step."""
        self.session.interrupted = True

    def _say(self, view: Callable[..., Iterable[Part]], *about: object) -> None:
        self._viewer.print(*view(self._viewer.width, self.session, *about))

    # --- movement --------------------------------------------------------------------------------------------------

    def _moved(self, hits: list[StopMet | PlaceChanged]) -> None:
        self._say(views.outcome, hits)
        if self.session.interrupted:
            self._viewer.print("interrupted")
        self._say(views.position)

    def step(self, words: list[str]) -> None:
        thread = self._thread(words)
        self.session.step(times_of(one_word(words, "a number")) if words else 1, thread)
        self._moved([])

    def back(self, words: list[str]) -> None:
        self.session.back(times_of(one_word(words, "a number")) if words else 1)
        self._moved([])

    def go_on(self, words: list[str]) -> None:
        nothing_more(words)
        self._moved(self.session.go_on())

    def goto(self, words: list[str]) -> None:
        self.session.goto(number_of(one_word(words, "a step")))
        self._moved([])

    def end(self, words: list[str]) -> None:
        nothing_more(words)
        self.session.goto(1 << 62)
        self._moved([])

    # --- stops -----------------------------------------------------------------------------------------------------

    def break_at(self, words: list[str]) -> None:
        if not words:
            self._say(views.stops)
            return
        count = 1
        if len(words) > 2 and words[-2] == "every":
            count, words = times_of(words[-1]), words[:-2]
        match words:
            case ["step", at]:
                self._set(self.session.add(AtStep(number_of(at)), count))
            case [where]:
                self._set(self.session.add(find_code(self.session.program, where), count))
            case _:
                refuse(f"{' '.join(words)!r} is no place", "see: help")

    def watch(self, words: list[str]) -> None:
        self._set(self.session.add(place_named(one_word(words, "a register: g10, g10.2, f0, a0, acc, m1"))))

    def _set(self, stop: EuStop) -> None:
        self._viewer.print(f"stop {stop.number}: {views.subject_text(stop)}")

    def delete(self, words: list[str]) -> None:
        which = one_word(words, "the number of a stop, or all")
        for number in list(self.session.stops) if which == "all" else [number_of(which)]:
            self.session.delete(number)

    # --- changes ---------------------------------------------------------------------------------------------------

    def poke(self, words: list[str]) -> None:
        if not words:
            for position, changed, threads, value in self.session.pokes:
                self._viewer.print(_poke_text(position, changed.text, threads, value))
            return
        thread = self._thread(words)
        target, _, text = " ".join(words).partition("=")
        try:
            value = float(text)
        except ValueError:
            refuse(f"{' '.join(words)!r} gives nothing a number", "as in: poke g10.2:F = 1.5 thread 0")
        changed = place_named(target.strip())
        threads = list(range(self.session.unit.threads)) if thread is None else [thread]
        self.session.poke(changed, threads, value)
        self._viewer.print(_poke_text(self.session.position, changed.text, threads, value))

    # --- looking ---------------------------------------------------------------------------------------------------

    def code(self, words: list[str]) -> None:
        at = min(find_code(self.session.program, words.pop(0)).indices) if words else None
        nothing_more(words)
        self._say(views.code, at)

    def show(self, words: list[str]) -> None:
        thread = self._thread(words)
        chosen = [thread] if thread is not None else list(range(min(_FEW, self.session.unit.threads)))
        match words:
            case []:
                refuse("print what?", "masks, regions, or registers: g10, g10-g13:F, g10.2:W, m1, f0, a0, acc, pc")
            case ["masks"]:
                self._say(views.masks, thread or 0)
            case ["regions", *rest]:
                standing = self.session.unit.standing()
                if not rest and standing is None:
                    refuse("no instruction comes", "print regions PLACE")
                known = find_code(self.session.program, one_word(rest, "a place")).indices if rest else None
                at = min(known) if known is not None else standing[0] if standing is not None else 0
                self._say(views.regions, at, thread or 0)
            case _:
                for word in words:
                    self._say(views.values, place_named(word), chosen)

    def where(self, words: list[str]) -> None:
        nothing_more(words)
        self._say(views.threads)

    def info(self, words: list[str]) -> None:
        match info_word(words):
            case [] | ["run"]:
                self.greet()
            case ["threads"]:
                self._say(views.threads)
            case ["stops"]:
                self._say(views.stops)
            case _:
                refuse(f"no information on {' '.join(words)!r}", "allowed: run, threads, stops")

    def help(self, words: list[str]) -> None:
        self._viewer.print(*help_parts(COMMANDS, words, _FORMS))

    def quit(self, words: list[str]) -> None:
        nothing_more(words)
        self.ended = True

    def _thread(self, words: list[str]) -> int | None:
        """Take ``thread N`` out of the words."""
        if "thread" not in words:
            return None
        at = words.index("thread")
        chosen = words[at + 1 : at + 2]
        del words[at : at + 2]
        thread = number_of(one_word(chosen, "the number of a thread"))
        if thread >= self.session.unit.threads:
            refuse(f"there is no thread {thread}", f"0 to {self.session.unit.threads - 1}; -D count=N runs more")
        return thread


_FEW = 4


def _poke_text(position: int, place: str, threads: list[int], value: float) -> str:
    return f"poke {place} = {value:g} in {counted(len(threads), 'thread')} at step {position}"


# fmt: off
COMMANDS: tuple[DebugCommand[EuDialogue], ...] = (
    DebugCommand("step", "s", "[N] [thread T]", "N instructions on, of one thread or of any", EuDialogue.step),
    DebugCommand("continue", "c", "", "on to the next stop or the end", EuDialogue.go_on),
    DebugCommand("back", "u", "[N]", "N steps back", EuDialogue.back),
    DebugCommand("goto", "g", "STEP", "to a step, forwards or backwards", EuDialogue.goto),
    DebugCommand("end", "e", "", "to the end of the run", EuDialogue.end),
    DebugCommand("break", "b", "PLACE [every N]", "stop at a line, a label, *ADDRESS, step N", EuDialogue.break_at),
    DebugCommand("watch", "w", "REGISTER", "stop when it has changed in a thread", EuDialogue.watch),
    DebugCommand("delete", "d", "NUMBER|all", "forget a stop", EuDialogue.delete),
    DebugCommand("list", "l", "[PLACE]", "instructions with their source", EuDialogue.code),
    DebugCommand("print", "p", "WHAT [thread T]", "registers, masks, or regions of operands", EuDialogue.show),
    DebugCommand("bt", "bt", "", "where each thread stands", EuDialogue.where),
    DebugCommand("info", "i", "[run|threads|stops]", "where the run is; threads; stops", EuDialogue.info),
    DebugCommand("poke", "k", "REGISTER = N [thread T]", "change registers, from here on", EuDialogue.poke),
    DebugCommand("help", "h", "[COMMAND]", "this list", EuDialogue.help),
    DebugCommand("quit", "q", "", "leave", EuDialogue.quit),
)
# fmt: on

_FORMS = """\
PLACE     12 or file.g6a:12 (a line), a label, *40 (a word address, four an
          instruction); break also takes: step N; alone it lists the stops
REGISTER  g10, g10-g13, g10.2, m1, f0, a0, acc, accf, pc (each channel's
          pointer); with a form: g10:F, g10.3:W (UD, D, UW, W, UB, B, F)
WHAT      registers; masks (channels, flags, pointers); regions [PLACE]
          (which bytes each element of an instruction's operands takes)"""


def open_dialogue(program: EuProgram, config: EuConfig, viewer: Viewer) -> EuDialogue:
    """Return a dialogue with a run of a program, before its first step."""
    return EuDialogue(EuSession(program, config), viewer)
