"""Watching: debugger of a run on execution units, step by step in both directions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.isa import execution, operands
from gen6_bridge.program import EuProgram
from gen6_bridge.time import EuConfig, Stretches, ThreadTraces, schedule
from gen6_bridge.time.run import region_kind
from gen6_bridge.unit import ExecutionUnit, RunFunctions, dispatched
from pixelflow.simd.dialogue import (
    DebugCommand,
    Dialogue,
    RunSession,
    RunStop,
    RunViews,
    SessionOutcome,
    SomeStop,
    StopMet,
    Viewer,
    few_times,
    info_word,
    line,
    nothing_more,
    number_of,
    one_word,
    refuse,
    stop_parts,
)
from pixelflow.simd.errors import MachineFault, nearest
from pixelflow.simd.isa.program import Code, find_code, place, source_text
from pixelflow.simd.report import Column, Fact, Part, Table, counted, cut, number, verbatim

# Places of a thread's state in users' notation: registers, elements, ranges, in a form.


FORMS: dict[str, np.dtype[np.generic]] = {
    "UD": np.dtype("<u4"), "D": np.dtype("<i4"), "UW": np.dtype("<u2"), "W": np.dtype("<i2"), "UB": np.dtype("u1"),
    "B": np.dtype("i1"), "F": np.dtype("<f4"),
}  # fmt: skip
"""Display form of bytes, by type."""
_ROWS = {"acc": (execution.ACC_LOW, "D"), "accf": (execution.ACC_FLOAT, "F"), "pc": (execution.PC, "UD")}
"""State of channels outside of registers, with its form."""
_REGISTER = re.compile(r"([grm])(\d{1,9})(?:\.(\d{1,9})|-[grm]?(\d{1,9}))?$")
_WRITTEN = "g10, g10-g13, g10.2, m1, f0, a0, acc, accf, pc; with a form: g10:F"


class ThreadPlace(NamedTuple):
    """Bytes of each thread, or a word of each channel."""

    text: str
    form: str
    start: int
    size: int
    row: str = ""
    """Name of each channel's word; empty for bytes of the register file."""

    def bytes_of(self, unit: ExecutionUnit) -> NDArray[np.uint8]:
        """Return uint8[threads, bytes]."""
        if self.row == "f0":
            return np.ascontiguousarray(unit.flags[:, None]).view(np.uint8)
        if self.row:
            words = unit.lanes.get_word(self.row).reshape(unit.threads, execution.CHANNELS)
            return np.ascontiguousarray(words).view(np.uint8)
        return unit.memory.data[:, self.start : self.start + self.size].copy()

    def write(self, unit: ExecutionUnit, threads: list[int], value: float) -> None:
        """Set every element of the place to a value in some threads.

        Raises InputError for a place that cannot be changed, and for a value that an element cannot hold.
        """
        if self.row:
            refuse(f"{self.text} cannot be changed, so that going back stays true", "what can: g10, g10.2:F, m1, a0")
        kind = FORMS[self.form]
        with np.errstate(over="ignore", invalid="ignore"):
            element = (
                np.float64(value).astype(kind) if kind.kind == "f" else np.array(value).astype(np.int64).astype(kind)
            )
        bits = 8 * kind.itemsize
        held = (
            np.isinf(element) == np.isinf(value) if kind.kind == "f" else value in (element, int(element) % (1 << bits))
        )
        if not held:
            refuse(f"{self.text} does not hold {value:g} as {self.form}")
        values = np.full(self.size // kind.itemsize, element, kind).view(np.uint8)
        unit.memory.data[threads, self.start : self.start + self.size] = values

    def read(self, unit: ExecutionUnit) -> NDArray[np.uint32]:
        """Return uint32[threads, double words], padded with zeros."""
        content = self.bytes_of(unit)
        short = -content.shape[1] % 4
        return np.ascontiguousarray(np.pad(content, ((0, 0), (0, short)))).view(np.uint32)

    def values(self, unit: ExecutionUnit) -> NDArray[np.generic]:
        """Return [threads, elements] in the place's form."""
        return np.ascontiguousarray(self.bytes_of(unit)).view(FORMS[self.form])


def place_named(text: str) -> ThreadPlace:
    """Return the place of a text; raises InputError."""
    name, colon, form = text.partition(":")
    form = form.upper()
    if colon and form not in FORMS:
        near = nearest(form, FORMS)
        refuse(f"{form or 'nothing'} is not a form", f"did you mean {near}?" if near else ", ".join(FORMS))
    key = name.lower()
    if key in _ROWS:
        row, own = _ROWS[key]
        return ThreadPlace(text, form or own, 0, 4 * execution.CHANNELS, row)
    if key in ("f0", "f"):
        return ThreadPlace(text, form or "UW", 0, 4, "f0")
    if key in ("a0", "a"):
        return ThreadPlace(text, form or "UW", execution.A0, 16)
    match = _REGISTER.match(key)
    if match is None:
        refuse(f"{text!r} is not a place of a thread", _WRITTEN)
    return _register(text, match, form or "UD")


def _register(text: str, match: re.Match[str], form: str) -> ThreadPlace:
    base, count = (execution.MRF, operands.MRF_REGISTERS) if match[1] == "m" else (0, operands.GRF_REGISTERS)
    first = int(match[2])
    last = int(match[4]) if match[4] else first
    if not first <= last < count:
        refuse(f"{text}: no such registers", f"{match[1]}0 to {match[1]}{count - 1}")
    start, size = base + first * operands.REGISTER_BYTES, (last - first + 1) * operands.REGISTER_BYTES
    if match[3]:
        element = operands.EuType[form].size
        start, size = start + int(match[3]) * element, element
        if int(match[3]) * element >= operands.REGISTER_BYTES:
            refuse(f"{text}: no such element", f"0 to {operands.REGISTER_BYTES // element - 1} of {form}")
    return ThreadPlace(text, form, start, size)


# Session: threads that execute a program step by step, forwards and back, and its stops.
#
# A step is one instruction by all threads that are at it, those furthest back first. At position n, n steps have been
# executed. Steps depend on registers and on answers to messages alone, so a position has one state, however it is
# reached.


_WORDS = (execution.PC, execution.IP, execution.ACC_LOW, execution.ACC_HIGH, execution.ACC_FLOAT)
_BITS = (*execution.FLAGS, execution.ON, execution.DISPATCHED)
_APART = 1000
"""Steps between two states that are kept."""


class AtStep(NamedTuple):
    """Position."""

    number: int


class EuStop(RunStop[Code | AtStep | ThreadPlace]):
    """Stop of the run: before an instruction, at a position, or after a change of a place."""

    @property
    def about(self) -> str:
        """Its subject in words."""
        match self.subject:
            case AtStep(at):
                return f"step {at:,}"
            case ThreadPlace():
                return f"watch {self.subject.text}"
        return self.subject.text


@dataclass(frozen=True, slots=True, eq=False)
class PlaceChanged(StopMet[EuStop]):
    """Change of a watched place in the last step."""

    by: int
    """Instruction of the step."""
    threads: NDArray[np.int64]
    before: NDArray[np.uint32]
    """uint32[threads that differ, double words]."""
    after: NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """Full state of a position."""

    position: int
    arrays: tuple[NDArray[np.generic], ...]
    lengths: tuple[int, ...]


class EuReplay:
    """Run that can go to any of its positions."""

    end = None
    """Last position, unknown before it is reached."""

    def __init__(self, program: EuProgram, config: EuConfig) -> None:
        self.program, self.config = program, config
        self._functions, rules = RunFunctions(), execution.FloatRules(config.fused, config.flushes)
        self.unit = dispatched(program, config.count, config.channels, rules, self._functions, engine="rows")
        self.traces = ThreadTraces(self.unit)
        self.position = 0
        self.stopped: MachineFault | None = None
        """Fault that ended the run."""
        self.pokes: list[tuple[int, ThreadPlace, list[int], float]] = []
        """Changes by users: position, place, threads, value."""
        self._states = [self._state()]

    @property
    def ended(self) -> bool:
        """True if there is no further step."""
        return self.stopped is not None or self.unit.standing() is None

    def poke(self, place: ThreadPlace, threads: list[int], value: float) -> None:
        """Set a place to a value in some threads at this position, in this and all later passes through it.

        Raises InputError for a place that cannot be changed, and for a value that does not fit.
        """
        place.write(self.unit, threads, value)
        self.pokes.append((self.position, place, threads, value))
        self.stopped = None
        earlier = [state for state in self._states if state.position < self.position]
        self._states = earlier or [self._state()]

    def kept_until(self, position: int) -> int:
        """Return the last position with a kept state, not past this one or ``position``."""
        return self._kept(min(position, self.position)).position

    def goto(self, position: int) -> int:
        """Go to a position, or to the end if that is before it; return the position reached."""
        if position < self.position:
            self._restore(self._kept(position))
        while self.position < position and not self.ended:
            self.advance()
        return self.position

    def advance(self) -> None:
        """Execute a step; a fault ends the run in ``stopped``."""
        if self.position >= self._states[-1].position + _APART:
            self._states.append(self._state())
        kept = self._state()
        try:
            self.unit.step(self.traces)
        except MachineFault as fault:
            self._restore(kept)  # the state before the instruction that failed
            self.stopped = fault
            return
        self.position += 1
        for position, place, threads, value in self.pokes:
            if position == self.position:
                place.write(self.unit, threads, value)

    def _kept(self, position: int) -> _State:
        return next(each for each in reversed(self._states) if each.position <= position)

    def _arrays(self) -> tuple[NDArray[np.generic], ...]:
        unit = self.unit
        lanes = (*(unit.lanes.get_word(each) for each in _WORDS), *(unit.lanes.get_bit(each) for each in _BITS))
        return unit.memory.data, self._functions.memory, unit.issued, unit.pointers, unit.ended, *lanes

    def _state(self) -> _State:
        arrays = tuple(each.copy() for each in self._arrays())
        return _State(self.position, arrays, tuple(len(each) for each in self.traces.steps))

    def _restore(self, state: _State) -> None:
        unit, own = self.unit, len(state.arrays) - len(_WORDS) - len(_BITS)
        for live, kept in zip(self._arrays()[:own], state.arrays, strict=False):
            live[:] = kept
        for name, words in zip(_WORDS, state.arrays[own:], strict=False):
            unit.lanes.set_word(name, words.view(np.uint32))
        for name, bits in zip(_BITS, state.arrays[own + len(_WORDS) :], strict=True):
            unit.lanes.set_bit(name, bits.view(np.bool_))
        for steps, length in zip(self.traces.steps, state.lengths, strict=True):
            del steps[length:]
        self.position, self.stopped = state.position, None


class EuSession(RunSession[EuReplay, EuStop]):
    """Run at a position, with its stops."""

    @property
    def unit(self) -> ExecutionUnit:
        """Unit in the state of this position."""
        return self.replay.unit

    @property
    def program(self) -> EuProgram:
        """Program of the run."""
        return self.replay.program

    def cycles(self) -> list[list[tuple[int, int]]]:
        """Return instruction and cycle of each issue so far, by thread.

        They are those of the whole run for a single thread, or once all have ended; else threads that are further back
        may still issue in between.
        """
        issues: list[list[tuple[int, int]]] = [[] for _ in range(self.unit.threads)]

        def issued(thread: int, instruction: int, since: int, cycle: int, held: int, waits: Stretches) -> None:
            issues[thread].append((instruction, cycle))

        schedule(self.program.code, self.replay.traces.steps, self.replay.config, watcher=issued)
        return issues

    def add(self, subject: Code | AtStep | ThreadPlace, count: int = 1) -> EuStop:
        """Add a stop and return it with its number."""
        return self.stops.enter(lambda number: EuStop(number, subject, count))

    def step(self, count: int, thread: int | None = None) -> SessionOutcome:
        """Execute steps, or those in which one thread takes part, ignoring stops."""
        return self.repeat(count, lambda: self._step(thread))

    def _step(self, thread: int | None) -> int:
        while not self.replay.ended and not self.interrupted:
            standing = self.unit.standing()
            self.replay.advance()
            if thread is None or (standing is not None and standing[1][thread]):
                break
        return self.replay.position

    def back(self, count: int) -> SessionOutcome:
        """Go back by steps, at most to the first position."""
        return self.goto(max(0, self.replay.position - count))

    def forward(self, end: int) -> SessionOutcome:
        """Go forwards to the next position with a due stop, at most to ``end``."""
        watched = [(stop, stop.subject) for stop in self.stops.values() if isinstance(stop.subject, ThreadPlace)]
        while self.replay.position < end and not self.replay.ended:
            if self.interrupted:
                return SessionOutcome(interrupted=True)
            before = [place.read(self.unit) for _, place in watched]
            standing = self.unit.standing()
            by = -1 if standing is None else standing[0]
            self.replay.advance()
            hits: list[StopMet[SomeStop]] = []
            for (stop, place), old in zip(watched, before, strict=True):
                new = place.read(self.unit)
                threads = np.flatnonzero((old != new).any(axis=1))
                if len(threads) and self._is_due(stop):
                    hits.append(PlaceChanged(stop, by, threads, old[threads], new[threads]))
            hits += [StopMet(stop) for stop in self.stops.values() if self._is_here(stop) and self._is_due(stop)]
            if hits:
                return SessionOutcome(tuple(hits))
        return SessionOutcome()

    def _is_due(self, stop: EuStop) -> bool:
        return not self.counting or stop.is_due()

    def _is_here(self, stop: EuStop) -> bool:
        match stop.subject:
            case AtStep(number):
                return number == self.replay.position
            case Code():
                standing = self.unit.standing()
                return self.replay.stopped is None and standing is not None and standing[0] in stop.subject.indices
        return False


# Views of a run: threads, code, registers, channels, stops.


_AROUND = 5
_FEW = 8
_HEAD = 28
"""Columns before the elements of a place."""
_NOWHERE = 0xFFFFFFFF


def run(width: int, session: EuSession) -> Iterator[Part]:
    """Yield the program, its threads, and the progress of the run."""
    program = session.program
    yield f"{cut(program.name, 1000) or 'program'} ({program.sha256[:6]}) · {counted(session.unit.threads, 'thread')}"
    issued = int(session.unit.issued.sum())
    yield f"{counted(session.replay.position, 'step')}, {counted(issued, 'instruction')} of all threads together"
    alone = session.unit.threads == 1 or session.unit.standing() is None
    if issued and alone:
        last = max((cycle for steps in session.cycles() for _, cycle in steps), default=0)
        yield f"the last issue was in cycle {last:,}"


def position(width: int, session: EuSession) -> Iterator[Part]:
    """Yield the position, the next instruction, and the threads that execute it."""
    standing = session.unit.standing()
    yield f"step {session.replay.position:,}" + (", the end" if standing is None else "")
    if standing is None:
        return
    here, active = standing
    which = _numbers(np.flatnonzero(active).tolist())
    yield line(f"  {place(session.program, here):<22} {source_text(session.program, here)}", width)
    first = int(np.flatnonzero(active)[0])
    yield line(f"  {'thread ' + which:<22} channels {_channels(int(session.unit.running[first]))}", width)


def _numbers(threads: list[int]) -> str:
    more = f" and {len(threads) - _FEW} more" if len(threads) > _FEW else ""
    return ", ".join(str(each) for each in threads[:_FEW]) + more


def _channels(mask: int) -> str:
    return "".join("1" if mask >> channel & 1 else "." for channel in range(execution.CHANNELS))


def code(width: int, session: EuSession, at: int | None = None) -> Iterator[Part]:
    """Yield instructions around the next one, or ``at``; ``=>`` marks threads, with their count."""
    program, unit = session.program, session.unit
    standing = unit.standing()
    centre = at if at is not None else standing[0] if standing is not None else len(program.code) - 1
    for index in range(max(0, centre - _AROUND), min(len(program.code), centre + _AROUND + 1)):
        here = int((~unit.ended & (unit.pointers == index)).sum())
        mark = f"{here} =>" if here else ""
        labels = [name for name, word in program.labels.items() if program.index_of.get(word) == index]
        for label in labels:
            yield line(f"{label}:", width)
        yield line(f"{mark:>8} {index:>6}  {source_text(program, index)}", width)


def threads(width: int, session: EuSession) -> Iterator[Part]:
    """Yield the next instruction, the channels and the progress of each thread."""
    unit, rows = session.unit, []
    alone = unit.threads == 1 or unit.standing() is None
    cycles = session.cycles() if alone else [[] for _ in range(unit.threads)]
    for thread in range(unit.threads):
        pointer = int(unit.pointers[thread])
        ended = bool(unit.ended[thread]) or pointer >= len(unit.instructions)
        where = "ended" if ended else place(session.program, pointer)
        last = f"{cycles[thread][-1][1]:,}" if cycles[thread] else "-"
        rows.append((thread, where, _channels(int(unit.running[thread])), int(unit.issued[thread]), last))
    yield Table(
        (
            Column("thread", number),
            Column("is at", fixed=True),
            Column("channels", verbatim),
            Column("instructions", number),
            Column("last issue in cycle", verbatim),
        ),
        rows,
    )


def masks(width: int, session: EuSession, thread: int) -> Iterator[Part]:
    """Yield the state of each channel of a thread: running or waiting, its instruction, its flags."""
    unit = session.unit

    def of(name: str) -> list[bool]:
        bits: list[bool] = unit.lanes.get_bit(name).reshape(unit.threads, execution.CHANNELS)[thread].tolist()
        return bits

    exist, on = of(execution.DISPATCHED), of(execution.ON)
    pointers = unit.lanes.get_word(execution.PC).reshape(unit.threads, execution.CHANNELS)[thread].tolist()
    flags, here = int(unit.flags[thread]), int(unit.pointers[thread])
    rows = []
    for channel in range(execution.CHANNELS):
        at = here if on[channel] else pointers[channel]
        where = "-" if not exist[channel] or at == _NOWHERE else str(at)
        state = "runs" if on[channel] else "waits" if exist[channel] else "not dispatched"
        rows.append((channel, state, where, flags >> channel & 1, flags >> 16 + channel & 1))
    columns = ("channel", "", "instruction", "f0.0", "f0.1")
    yield Table(
        tuple(Column(name, number if name in ("channel", "f0.0", "f0.1") else verbatim) for name in columns), rows
    )


def values(width: int, session: EuSession, where: ThreadPlace, chosen: list[int]) -> Iterator[Part]:
    """Yield the elements of a place in each chosen thread, in rows of a register, or shorter ones that fit."""
    elements = where.values(session.unit)
    cells = [[_shown(each, where.form) for each in elements[thread].tolist()] for thread in chosen]
    across = operands.REGISTER_BYTES // FORMS[where.form].itemsize
    while across > 1 and (len(cells[0][0]) + 1) * across + _HEAD > width:
        across //= 2
    for thread, row in zip(chosen, cells, strict=True):
        for first in range(0, len(row), across):
            name = where.text + (f" +{first}" if len(row) > across else "")
            yield line(f"  thread {thread:<3} {name:<14} {' '.join(row[first : first + across])}", width)


def _shown(value: float, form: str) -> str:
    if form == "F":
        return f"{value:>12.6g}"
    if form in ("UD", "UW", "UB"):
        return f"{int(value):0{2 * FORMS[form].itemsize}x}"
    return f"{int(value):>{3 * FORMS[form].itemsize}}"


def regions(width: int, session: EuSession, index: int, thread: int) -> Iterator[Part]:
    """Yield the operands of an instruction in a thread: the kind of region, and the bytes of each element."""
    instruction = session.program.code[index]
    controls = instruction.controls
    yield line(f"  {instruction.text()}", width)
    addresses = session.unit.addresses[thread].tolist()
    for spec, operand in zip(instruction.declaration.operands, instruction.operands, strict=True):
        if isinstance(operand, operands.ImmediateOperand):
            yield line(f"  {spec.name:<5} immediate {operand.value}", width)
            continue
        if not isinstance(operand, operands.SourceRegion | operands.EuDestination) or operand.null:
            continue
        places = [operand.chosen(element, addresses) for element in range(min(controls.size, execution.CHANNELS))]
        kind = region_kind(operand) if isinstance(operand, operands.SourceRegion) else "destination"
        shown = " ".join(f"{each // operands.REGISTER_BYTES}.{each % operands.REGISTER_BYTES}" for each in places)
        yield Fact(f"  {spec.name:<5} {kind}, {operand.type.name}, {operand.file.name.lower()} register.byte: {shown}")


def outcome(width: int, session: EuSession, hits: Iterable[StopMet[EuStop]]) -> Iterator[Part]:
    """Yield the stops that were met, and the fault that ended the run."""
    for hit in hits:
        yield line(f"stop {hit.stop.number}: {hit.stop.text}", width)
        if isinstance(hit, PlaceChanged):
            where = place(session.program, hit.by)
            yield line(f"  by {where}  {source_text(session.program, hit.by)}", width)
            for thread, old, new in zip(hit.threads[:_FEW].tolist(), hit.before, hit.after, strict=False):
                differs = np.flatnonzero(old != new)[:_FEW].tolist()
                shown = ", ".join(f"[{at}] {int(old[at]):08x} -> {int(new[at]):08x}" for at in differs)
                yield line(f"  thread {thread}: {shown}", width)
    if session.replay.stopped is not None:
        yield line(str(session.replay.stopped), 4 * width)


# Commands of the debugger: a table of names, short forms and meanings, as for other machines.


class EuDialogue(Dialogue[EuSession]):
    """Dialogue about a session."""

    views = RunViews(run, position, outcome)
    counts = "a step"

    def step(self, words: list[str]) -> None:
        thread = self._thread(words)
        count = few_times(words)
        self.moved(lambda: self.session.step(count, thread))

    def back(self, words: list[str]) -> None:
        count = few_times(words)
        self.moved(lambda: self.session.back(count))

    # --- stops -----------------------------------------------------------------------------------------------------

    def stop_at(self, words: list[str], count: int) -> EuStop:
        """Set a stop at a place or a step; raises InputError."""
        match words:
            case ["step", at]:
                return self.session.add(AtStep(number_of(at)), count)
            case [where]:
                return self.session.add(find_code(self.session.program, where), count)
        refuse(f"{' '.join(words)!r} is not a place", "see: help")

    def watch(self, words: list[str]) -> None:
        self.announce(self.session.add(place_named(one_word(words, "a register: g10, g10.2, f0, a0, acc, m1"))))

    # --- changes ---------------------------------------------------------------------------------------------------

    def poke(self, words: list[str]) -> None:
        if not words:
            for position, changed, threads, value in self.session.replay.pokes:
                self.viewer.print(_poke_text(position, changed.text, threads, value))
            return
        thread = self._thread(words)
        target, _, text = " ".join(words).partition("=")
        try:
            value = float(text)
        except ValueError:
            refuse(f"{' '.join(words)!r} assigns no number", "as in: poke g10.2:F = 1.5 thread 0")
        changed = place_named(target.strip())
        threads = list(range(self.session.unit.threads)) if thread is None else [thread]
        self.session.replay.poke(changed, threads, value)
        self.viewer.print(_poke_text(self.session.replay.position, changed.text, threads, value))

    # --- looking ---------------------------------------------------------------------------------------------------

    def code(self, words: list[str]) -> None:
        at = min(find_code(self.session.program, words.pop(0)).indices) if words else None
        nothing_more(words)
        self.say(code, at)

    def show(self, words: list[str]) -> None:
        thread = self._thread(words)
        chosen = [thread] if thread is not None else list(range(min(_FEW_THREADS, self.session.unit.threads)))
        match words:
            case []:
                refuse("print what?", "masks, regions, or registers: g10, g10-g13:F, g10.2:W, m1, f0, a0, acc, pc")
            case ["masks"]:
                self.say(masks, thread or 0)
            case ["regions", *rest]:
                standing = self.session.unit.standing()
                if not rest and standing is None:
                    refuse("there is no next instruction", "print regions PLACE")
                known = find_code(self.session.program, one_word(rest, "a place")).indices if rest else None
                at = min(known) if known is not None else standing[0] if standing is not None else 0
                self.say(regions, at, thread or 0)
            case _:
                for word in words:
                    self.say(values, place_named(word), chosen)

    def where(self, words: list[str]) -> None:
        nothing_more(words)
        self.say(threads)

    def info(self, words: list[str]) -> None:
        match info_word(words):
            case [] | ["run"]:
                self.greet()
            case ["threads"]:
                self.say(threads)
            case ["stops"]:
                self.say(stop_parts)
            case _:
                refuse(f"no information on {' '.join(words)!r}", "allowed: run, threads, stops")

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


_FEW_THREADS = 4


def _poke_text(position: int, place: str, threads: list[int], value: float) -> str:
    return f"poke {place} = {value:g} in {counted(len(threads), 'thread')} at step {position}"


# fmt: off
COMMANDS: tuple[DebugCommand[EuDialogue], ...] = (
    DebugCommand("step", "s", "[N] [thread T]", "N instructions on, of one thread or of any", EuDialogue.step),
    DebugCommand("continue", "c", "", "on to the next stop or the end", EuDialogue.go_on),
    DebugCommand("back", "u", "[N]", "N steps back", EuDialogue.back),
    DebugCommand("reverse-continue", "rc", "", "back to the last stop or the beginning", EuDialogue.go_back),
    DebugCommand("goto", "g", "STEP", "to a step, forwards or backwards", EuDialogue.goto),
    DebugCommand("end", "e", "", "to the end of the run", EuDialogue.end),
    DebugCommand("break", "b", "PLACE [every N]", "stop at a line, a label, *ADDRESS, step N", EuDialogue.break_at),
    DebugCommand("watch", "w", "REGISTER", "stop when it changes in a thread", EuDialogue.watch),
    DebugCommand("delete", "d", "NUMBER|all", "remove a stop", EuDialogue.delete),
    DebugCommand("list", "l", "[PLACE]", "instructions with their source", EuDialogue.code),
    DebugCommand("print", "p", "WHAT [thread T]", "registers, masks, or regions of operands", EuDialogue.show),
    DebugCommand("bt", "bt", "", "where each thread is", EuDialogue.where),
    DebugCommand("info", "i", "[run|threads|stops]", "where the run is; threads; stops", EuDialogue.info),
    DebugCommand("poke", "k", "REGISTER = N [thread T]", "change registers at this position", EuDialogue.poke),
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
    """Return a dialogue about a run of a program, before its first step."""
    return EuDialogue(EuSession(EuReplay(program, config)), viewer, COMMANDS, _FORMS)
