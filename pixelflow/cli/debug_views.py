"""What the debugger shows: where the streams stand, code with its source, stops, state and what has changed."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import numpy as np

from pixelflow.cli.pe_selection import position
from pixelflow.cli.screen import Column, Screen, counted
from pixelflow.debugger import Bytes, Changed, Code, Cycle, Hit, Semaphore, Session, Stop
from pixelflow.debugger.changes import FLAGS, Picture, byte_name
from pixelflow.isa import Instruction, Program
from pixelflow.observe import Blocked, Executed, Signalled, StreamView, Taken
from pixelflow.simd.isa.operands import Target

__all__ = [
    "show_changes",
    "show_code",
    "show_flags",
    "show_outcome",
    "show_position",
    "show_run",
    "show_stack",
    "show_stages",
    "show_stops",
    "show_streams",
]

_FEW = 8
_PYTHON = ".py"
"""Programs may be put together by calls, whose lines say less than the instructions that they make."""
_CODE_AROUND = 5


def printable(text: str) -> str:
    """Return text without characters that could move the cursor."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text.expandtabs(4))


def line(screen: Screen, text: str) -> None:
    """Print one line that holds program text, cut where the screen ends."""
    text = printable(text).rstrip()
    screen.text(text if len(text) <= screen.width else text[: screen.width - 1] + "…")


def place(program: Program, index: int) -> str:
    """Return file name and line of an instruction, without folders, or its word address."""
    source = program.line_at(index)
    return f"{PurePath(source.file).name}:{source.line}" if source else f"word {program.addresses[index]}"


def source_text(program: Program, index: int) -> str:
    """Return the source line of an instruction, or the instruction where its source is unknown or no microcode."""
    source = program.line_at(index)
    if source is None or PurePath(source.file).suffix == _PYTHON:
        return instruction_text(program, program.instructions[index])
    return source.text.strip()


def instruction_text(program: Program, instruction: Instruction) -> str:
    """Return an instruction as assembly text, with names for targets and stages."""
    names = {at: name for name, at in program.labels.items()}
    names |= {routine.entry: routine.name for routine in program.routines}

    def name(spec: Any, value: int) -> str:
        if isinstance(spec.kind, Target):
            return names.get(value, str(value))
        return f'"{program.names[value]}"' if value < len(program.names) else str(value)

    return instruction.text(name)


def show_position(screen: Screen, session: Session) -> None:
    """Print the cycle, and for each stream what it does next or what it waits for."""
    replay = session.replay
    screen.text(f"cycle {replay.position:,}" + (", the end" if replay.ended and replay.stopped is None else ""))
    for name, stream in replay.streams.items():
        line(screen, f"  {name.upper()}  {_doing(session, stream)}")
        ahead = replay.ahead(name)
        if ahead is not None and ahead.control:
            where = place(session.program, ahead.index)
            line(screen, f"    ->  {where:<22} {source_text(session.program, ahead.index)}")


def _doing(session: Session, stream: StreamView) -> str:
    program, replay = session.program, session.replay
    if stream.halted:
        return f"has ended at cycle {stream.cycle:,}"
    if stream.waiting is not None:
        return f"{place(program, stream.index):<22} waits for sem {stream.waiting} since cycle {stream.cycle:,}"
    if stream.cycle < replay.position and stream.index:
        return f"{place(program, stream.index - 1):<22} waits for its transfer since cycle {stream.cycle:,}"
    if stream.index >= len(program.instructions):
        return "runs past the end of the program"
    when = f"   (from cycle {stream.cycle:,})" if stream.cycle > replay.position else ""
    return f"{place(program, stream.index):<22} {source_text(program, stream.index)}{when}"


def show_code(screen: Screen, session: Session, stream: str, around: int = _CODE_AROUND, at: int | None = None) -> None:
    """Print instructions with their source around one of them: that which a stream has next, or ``at``.

    ``=>`` marks the next instruction of a stream, ``->`` control on the way to it.
    """
    program = session.program
    marks = _marks(session)
    running = session.replay.streams[stream]
    centre = at if at is not None else next((i for i, m in marks.items() if m == (stream, "=>")), running.index)
    centre = min(max(centre, 0), len(program.instructions) - 1)
    before = None
    for index in range(max(0, centre - around), min(len(program.instructions), centre + around + 1)):
        source = program.line_at(index)
        if source is not None and source != before:
            line(screen, f"{place(program, index):<22} {source.text.rstrip()}")
        before = source
        who, mark = marks.get(index, ("", ""))
        instruction = program.instructions[index]
        text = instruction_text(program, instruction)
        line(screen, f"{who.upper():>8} {mark:2} {program.addresses[index]:>6}  {instruction.cycles:>3}  {text}")


def _marks(session: Session) -> dict[int, tuple[str, str]]:
    """Return (stream, mark) of the instructions that streams have next."""
    marks: dict[int, tuple[str, str]] = {}
    for name, stream in session.replay.streams.items():
        ahead = session.replay.ahead(name)
        if ahead is None:
            if not stream.halted:
                marks[stream.index] = (name, "->")
            continue
        marks |= dict.fromkeys(ahead.control, (name, "->"))
        marks[ahead.index] = (name, "=>")
    return marks


def subject_text(stop: Stop) -> str:
    """Return what a stop is about."""
    match stop.subject:
        case Code():
            text = stop.subject.text
        case Semaphore():
            text = f"sem {stop.subject.number}"
        case Cycle():
            text = f"cycle {stop.subject.cycle:,}"
        case Bytes():
            lanes = stop.subject.lanes
            text = f"watch {stop.subject.text}" + ("" if lanes is None else f" in {counted(len(lanes), 'PE')}")
    return text + (f", 1 time in {stop.count}" if stop.count > 1 else "")


def show_stops(screen: Screen, session: Session) -> None:
    """Print the stops that are set."""
    if not session.stops:
        screen.text("no stops")
    for stop in session.stops.values():
        line(screen, f"{stop.number:>3}  {subject_text(stop)}   (met {counted(stop.met, 'time')})")


def show_outcome(screen: Screen, session: Session, hits: tuple[Hit | Changed, ...]) -> None:
    """Print which stops were met, and what kept the run from going on."""
    for hit in hits:
        if isinstance(hit, Changed):
            _show_changed(screen, session, hit)
        else:
            line(screen, f"stop {hit.stop.number}: {_met(session.program, hit)}")
    stopped = session.replay.stopped
    if stopped is not None:
        for told in printable_lines(str(stopped)).splitlines():
            (screen.text if len(told) <= screen.width else screen.paragraph)(told)  # tables stay as they are


def printable_lines(text: str) -> str:
    """Return several lines of text without characters that could move the cursor."""
    return "\n".join(printable(each) for each in text.splitlines())


def _met(program: Program, hit: Hit) -> str:
    match hit.event:
        case None:
            return subject_text(hit.stop)
        case Executed():
            what = subject_text(hit.stop)
        case Signalled():
            what = f"signals sem {hit.event.semaphore}"
        case Taken():
            what = f"takes sem {hit.event.semaphore}"
        case Blocked():
            what = f"waits for sem {hit.event.semaphore}"
    return f"{hit.event.stream.upper()} {what} ({place(program, hit.event.index)})"


def _show_changed(screen: Screen, session: Session, hit: Changed) -> None:
    program = session.program
    line(screen, f"stop {hit.stop.number}: {subject_text(hit.stop)}: {counted(len(hit.lanes), 'PE')} changed")
    for stream, index in hit.by:
        where = place(program, index)
        line(screen, f"  by {stream.upper()} in cycle {hit.cycle:,}, {where}  {source_text(program, index)}")
    before, after = hit.before, hit.after
    if len(before) > _FEW:
        changed = np.flatnonzero((before != after).any(axis=1))[:_FEW]
        before, after = before[changed], after[changed]
        names = [byte_name(program, hit.stop.subject.start + at) for at in changed.tolist()]
        screen.paragraph(f"bytes {', '.join(names)}", indent="  ")
    columns = [Column("PE", numbers=True), Column("m.e.p.pe", fixed=True), Column("before"), Column("after")]
    rows = [
        [str(lane), position(lane, session.node.config.array), bytes(old).hex(" "), bytes(new).hex(" ")]
        for lane, old, new in zip(hit.lanes[:_FEW].tolist(), before.T, after.T, strict=False)
    ]
    screen.table(columns, rows)
    if len(hit.lanes) > _FEW:
        screen.text(f"  and {counted(len(hit.lanes) - _FEW, 'PE')} more")


def show_changes(screen: Screen, session: Session, before: Picture) -> None:
    """Print what differs now from an earlier picture."""
    after = Picture.of(session.node)
    parts = [
        f"{change.name} in {counted(len(change.lanes), 'PE')}" for change in before.changes(after, session.program)
    ]
    modules = before.changed_modules(after)
    if modules:
        parts.append(f"texture memory of module {', '.join(str(module) for module in modules)}")
    screen.paragraph(f"changed: {', '.join(parts) or 'nothing in the PEs'}", indent="  ")


def show_streams(screen: Screen, session: Session) -> None:
    """Print cycles, busy cycles, waits and instructions of each stream."""
    streams = session.replay.streams
    columns = [Column("", fixed=True), *(Column(name.upper(), numbers=True) for name in streams)]
    reasons = sorted({reason for stream in streams.values() for reason in stream.waits})
    rows = [["cycle", *(f"{stream.cycle:,}" for stream in streams.values())]]
    rows.append(["busy", *(f"{stream.busy:,}" for stream in streams.values())])
    for reason in reasons:
        rows.append([f"wait {reason}", *(f"{stream.waits.get(reason, 0):,}" for stream in streams.values())])
    rows.append(["instructions", *(f"{sum(stream.executed):,}" for stream in streams.values())])
    screen.table(columns, rows)


def show_run(screen: Screen, session: Session) -> None:
    """Print program, machine, engine and how far the run goes."""
    replay, config = session.replay, session.node.config
    end = "the end is not known yet" if replay.end is None else f"the end is cycle {replay.end:,}"
    program = f"{printable(session.program.name) or 'program'} ({session.program.sha256[:6]})"
    machine = f"config ({config.sha256[:6]}) · engine {session.node.engine}"
    screen.paragraph(f"{program} · {machine}")
    screen.text(end)


def show_stack(screen: Screen, session: Session, stream: str) -> None:
    """Print the calls that the next instruction of a stream is inside of, innermost first: parameters, open loops."""
    program = session.program
    ahead = session.replay.ahead(stream)
    frames = session.replay.streams[stream].frames if ahead is None else ahead.frames
    for depth, frame in reversed(list(enumerate(frames))):
        name = frame.name or "(main)"
        declared = next((each.parameters for each in program.routines if each.name == frame.name), ())
        names = [*declared, *(f"P{at}" for at in range(len(declared), len(frame.parameters)))]
        shown = [_parameter(program, *each) for each in zip(names, frame.parameters, strict=False)]
        loops = [f"loop at {place(program, start - 1)}: {left} rounds left" for start, left in frame.loops]
        called = f"from {place(program, frame.return_to - 1)}, cycle {frame.entered_at:,}" if depth else ""
        line(screen, f"{depth:>3}  {name}({', '.join(shown)})  {called}")
        for loop in loops:
            line(screen, f"       {loop}")


def _parameter(program: Program, name: str, value: int) -> str:
    """Return a parameter with its value, and the name of the byte of that address, which it mostly means."""
    byte = byte_name(program, value)
    return f"{name}={value}" + ("" if byte.startswith("[") else f" ({byte})")


def show_stages(screen: Screen, session: Session) -> None:
    """Print the stages that each stream has begun."""
    for name, stream in session.replay.streams.items():
        for stage, cycle in stream.stages:
            line(screen, f"  {name.upper()}  {cycle:>12,}  {stage}")


def show_flags(screen: Screen, session: Session, lanes: list[int]) -> None:
    """Print carry, enable, latch and marks of the chosen PEs."""
    node = session.node
    columns = [Column("PE", numbers=True), Column("m.e.p.pe", fixed=True)]
    columns += [Column(name, numbers=True) for name in FLAGS]
    values = [node.flag(name) for name in FLAGS]
    rows = [[str(at), position(at, node.config.array), *(str(int(flag[at])) for flag in values)] for at in lanes]
    screen.table(columns, rows)
    enabled = int(np.count_nonzero(values[FLAGS.index("E")]))
    screen.text(f"enabled: {enabled:,} of {node.lanes:,}")
