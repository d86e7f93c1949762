"""Views of the debugger: position of the streams, code with its source, stops, state and changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.debugger.debug_session import Anywhere, Bytes, Changed, DebugSession, Hit
from pixelflow.debugger.expressions import FLAGS, PeExpression
from pixelflow.isa import Program
from pixelflow.node import Node, Poke
from pixelflow.node.pe_map import REGISTERS
from pixelflow.node.pe_report import pe_columns
from pixelflow.node.run.stream import Stream
from pixelflow.observe import TRANSFER, Blocked, Executed, Signalled, StageBegan, Taken
from pixelflow.simd.dialogue import line
from pixelflow.simd.isa.program import instruction_text, place, source_text
from pixelflow.simd.report import Column, Fact, Json, Part, Table, counted, cut, number

# What has changed in the PEs between two positions of a run, by the names that a program gives to things.


class StatePicture(NamedTuple):
    """All PE state at one position."""

    values: dict[str, NDArray[np.uint8] | NDArray[np.bool_]]
    """Registers uint8[PEs], flags bool[PEs]."""
    memory: NDArray[np.uint8]
    """uint8[bytes, PEs]."""
    texture: tuple[str, ...]
    """A hash of the texture memory of each module."""

    @classmethod
    def of(cls, node: Node) -> StatePicture:
        """Return the state of a node as it is now."""
        values = {name: node.register(name) for name in REGISTERS} | {name: node.flag(name) for name in FLAGS}
        return cls(values, node.memory, tuple(memory.digest() for memory in node.texture_memory))


def byte_name(program: Program, address: int) -> str:
    """Return the name of a byte: ``NAME[i]`` by the smallest range that holds it, or its address in brackets."""
    holding = [each for each in program.ranges if each.start <= address < each.start + each.size]
    if not holding:
        return f"[{address}]"
    smallest = min(holding, key=lambda each: each.size)
    return f"{smallest.name}[{address - smallest.start}]" if smallest.size > 1 else smallest.name


def _by_owner(program: Program, addresses: list[int]) -> list[tuple[str, list[int]]]:
    """Group addresses by the range that holds them; neighbours without a range go together."""
    groups: list[tuple[str, list[int]]] = []
    for address in addresses:
        owner = byte_name(program, address).partition("[")[0]
        if groups and groups[-1][0] == owner and (owner or groups[-1][1][-1] == address - 1):
            groups[-1][1].append(address)
        else:
            groups.append((owner, [address]))
    spans = [f"[{some[0]}]" if len(some) == 1 else f"[{some[0]}..{some[-1]}]" for _, some in groups]
    return [(owner or span, members) for (owner, members), span in zip(groups, spans, strict=True)]


_FEW = 8


def position(width: int, session: DebugSession) -> Iterator[Part]:
    """Yield the cycle, and for each stream what it does next or what it waits for."""
    replay = session.replay
    yield f"cycle {replay.position:,}" + (", the end" if replay.ended and replay.stopped is None else "")
    for name, stream in replay.streams.items():
        yield line(f"  {name.upper()}  {_doing(session, name, stream)}", width)
        ahead = replay.ahead(name)
        if ahead is not None and ahead.control:
            where = place(session.program, ahead.index)
            yield line(f"    ->  {where:<22} {source_text(session.program, ahead.index)}", width)


def _doing(session: DebugSession, name: str, stream: Stream) -> str:
    program, replay = session.program, session.replay
    if stream.halted:
        return f"has ended at cycle {stream.cycle:,}"
    waits_for = replay.runner.waits_for(name, replay.position)
    if waits_for is not None:
        index = stream.index - (waits_for == TRANSFER)
        own = "" if waits_for.startswith("sem") else "its "
        return f"{place(program, index):<22} waits for {own}{waits_for} since cycle {stream.cycle:,}"
    if stream.index >= len(program.instructions):
        return "runs past the end of the program"
    when = f"   (from cycle {stream.cycle:,})" if stream.cycle > replay.position else ""
    return f"{place(program, stream.index):<22} {source_text(program, stream.index)}{when}"


_AROUND = 5


def code(width: int, session: DebugSession, stream: str, at: int | None = None) -> Iterator[Part]:
    """Yield instructions with their source around one of them: that which a stream has next, or ``at``.

    ``=>`` marks the next instruction of a stream, ``->`` control on the way to it.
    """
    program = session.program
    marks = _marks(session)
    running = session.replay.streams[stream]
    centre = at if at is not None else next((i for i, m in marks.items() if m == (stream, "=>")), running.index)
    centre = min(max(centre, 0), len(program.instructions) - 1)
    before = None
    for index in range(max(0, centre - _AROUND), min(len(program.instructions), centre + _AROUND + 1)):
        source = program.line_at(index)
        if source is not None and source != before:
            yield line(f"{place(program, index):<22} {source.text.rstrip()}", width)
        before = source
        who, mark = marks.get(index, ("", ""))
        instruction = program.instructions[index]
        text = instruction_text(program, instruction)
        yield line(f"{who.upper():>8} {mark:2} {program.addresses[index]:>6}  {instruction.cycles:>3}  {text}", width)


def _marks(session: DebugSession) -> dict[int, tuple[str, str]]:
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


def outcome(width: int, session: DebugSession, hits: tuple[Hit | Changed, ...]) -> Iterator[Part]:
    """Yield which stops were met, and what stopped the run."""
    for hit in hits:
        if isinstance(hit, Changed):
            yield from _changed(width, session, hit)
        else:
            yield line(f"stop {hit.stop.number}: {_met(session.program, hit)}", width)
    stopped = session.replay.stopped
    if stopped is not None:
        for told in str(stopped).splitlines():
            text = cut(told, len(told) * 4)
            yield Fact(text, wrap=False) if len(text) <= width else text  # tables stay as they are


def _met(program: Program, hit: Hit) -> str:
    match hit.event:
        case None:
            return hit.stop.text
        case Executed() if isinstance(hit.stop.subject, Anywhere):
            return hit.stop.text
        case StageBegan():
            return f"{hit.event.stream.upper()} begins {hit.stop.text}"
        case Executed():
            what = hit.stop.text
        case Signalled():
            what = f"signals sem {hit.event.semaphore}"
        case Taken():
            what = f"takes sem {hit.event.semaphore}"
        case Blocked():
            what = f"waits for sem {hit.event.semaphore}"
    return f"{hit.event.stream.upper()} {what} ({place(program, hit.event.index)})"


def _changed(width: int, session: DebugSession, hit: Changed) -> Iterator[Part]:
    program = session.program
    yield line(f"stop {hit.stop.number}: {hit.stop.text}: {counted(len(hit.lanes), 'PE')} changed", width)
    for stream, index in hit.by:
        where = place(program, index)
        yield line(f"  by {stream.upper()} in cycle {hit.cycle:,}, {where}  {source_text(program, index)}", width)
    before, after, subject = hit.before, hit.after, hit.stop.subject
    if isinstance(subject, Bytes) and len(before) > _FEW:
        changed = np.flatnonzero((before != after).any(axis=1))[:_FEW]
        before, after = before[changed], after[changed]
        names = [byte_name(program, subject.start + at) for at in changed.tolist()]
        yield f"  bytes {', '.join(names)}"
    columns, rows = pe_columns(hit.lanes[:_FEW].tolist(), session.node.config.array)
    values = [(bytes(old).hex(" "), bytes(new).hex(" ")) for old, new in zip(before.T, after.T, strict=True)]
    cells = [(*row, *both) for row, both in zip(rows, values, strict=False)]
    yield Table([*columns, Column("before"), Column("after")], cells)
    if len(hit.lanes) > _FEW:
        yield f"  and {counted(len(hit.lanes) - _FEW, 'PE')} more"


def changes(width: int, session: DebugSession, before: StatePicture) -> Iterator[Part]:
    """Yield what differs now from an earlier picture: registers and flags first, then memory by address."""
    after = StatePicture.of(session.node)
    differs = {name: values != after.values[name] for name, values in before.values.items()}
    rows = before.memory != after.memory
    for name, some in _by_owner(session.program, np.flatnonzero(rows.any(axis=1)).tolist()):
        differs[name] = rows[some].any(axis=0)
    parts = [f"{name} in {counted(int(each.sum()), 'PE')}" for name, each in differs.items() if each.any()]
    modules = [at for at, (old, new) in enumerate(zip(before.texture, after.texture, strict=True)) if old != new]
    if modules:
        parts.append(f"texture memory of module {', '.join(map(str, modules))}")
    yield f"  changed: {', '.join(parts) or 'nothing in the PEs'}"


def streams(width: int, session: DebugSession) -> Iterator[Part]:
    """Yield cycles, busy cycles, waits and instructions of each stream."""
    streams = session.replay.streams
    columns = [Column("", fixed=True), *(Column(name.upper(), number) for name in streams)]
    reasons = sorted({reason for stream in streams.values() for reason in stream.waits})
    rows: list[list[Json]] = [["cycle", *(stream.cycle for stream in streams.values())]]
    rows.append(["busy", *(stream.busy for stream in streams.values())])
    rows += [[f"wait {reason}", *(stream.waits.get(reason, 0) for stream in streams.values())] for reason in reasons]
    rows.append(["instructions", *(sum(stream.executed) for stream in streams.values())])
    yield Table(columns, rows)


def run(width: int, session: DebugSession) -> Iterator[Part]:
    """Yield program, machine, engine and how far the run goes."""
    replay, config = session.replay, session.node.config
    end = "the end is not known yet" if replay.end is None else f"the end is cycle {replay.end:,}"
    program = f"{cut(session.program.name, 1000) or 'program'} ({session.program.sha256[:6]})"
    machine = f"config ({config.sha256[:6]}) · engine {session.node.engine}"
    yield f"{program} · {machine}"
    yield end


def stack(width: int, session: DebugSession, names: Sequence[str]) -> Iterator[Part]:
    """Yield the open calls of streams, innermost first: position, parameters, open loops."""
    for name in names:
        if len(names) > 1:
            yield name.upper()
        yield from _calls(width, session, name)


def _calls(width: int, session: DebugSession, stream: str) -> Iterator[Part]:
    program, running = session.program, session.replay.streams[stream]
    if running.halted:
        yield f"  has ended at cycle {running.cycle:,}"
        return
    ahead = session.replay.ahead(stream)
    frames = running.frames if ahead is None else ahead.frames
    at = running.index if ahead is None else ahead.index
    for depth, frame in reversed(list(enumerate(frames))):
        name = frame.name or "(main)"
        declared = next((each.parameters for each in program.routines if each.name == frame.name), ())
        names = [*declared, *(f"P{at}" for at in range(len(declared), len(frame.parameters)))]
        shown = [_parameter(program, *each) for each in zip(names, frame.parameters, strict=False)]
        loops = [f"loop at {place(program, start - 1)}: {counted(left, 'round')} left" for start, left in frame.loops]
        where = place(program, at) if at < len(program.instructions) else "the end of the program"
        called = f", since cycle {frame.entered_at:,}" if depth else ""
        yield line(f"{depth:>3}  {name}({', '.join(shown)})  at {where}{called}", width)
        for loop in loops:
            yield line(f"       {loop}", width)
        at = frame.return_to - 1 if depth else at


def _parameter(program: Program, name: str, value: int) -> str:
    """Return a parameter with its value, and the name of the byte of that address, which it mostly means."""
    byte = byte_name(program, value)
    return f"{name}={value}" + ("" if byte.startswith("[") else f" ({byte})")


def stages(width: int, session: DebugSession) -> Iterator[Part]:
    """Yield the stages that each stream has begun."""
    for name, stream in session.replay.streams.items():
        for stage, cycle in stream.stages:
            yield line(f"  {name.upper()}  {cycle:>12,}  {stage}", width)


def pokes(width: int, session: DebugSession) -> Iterator[Part]:
    """Yield the changes that are part of the run."""
    made = session.replay.pokes.made
    if not made:
        yield "no pokes"
    for number_of, poke in made.items():
        yield line(f"{poke_text(number_of, poke)}", width)


def poke_text(number_of: int, poke: Poke) -> str:
    """Return what a poke changes, where and in how many PEs."""
    return f"poke {number_of}: {poke.text} in {counted(len(poke.lanes), 'PE')} at cycle {poke.cycle:,}"


def expression(width: int, session: DebugSession, asked: PeExpression, lanes: list[int]) -> Iterator[Part]:
    """Yield the value of an expression: one, or that of the chosen PEs."""
    value = asked.value(session.node, session.replay.position)
    if not isinstance(value, np.ndarray):
        yield line(f"{asked.text} = {_plain(value)}", width)
        return
    columns, rows = pe_columns(lanes, session.node.config.array)
    shown = (value.astype(np.int64) if value.dtype.kind == "b" else value)[lanes].tolist()
    cells = [(*row, each) for row, each in zip(rows, shown, strict=True)]
    yield Table([*columns, Column(asked.text, _plain)], cells)


def _plain(value: int | float) -> str:
    return f"{value:.9g}" if isinstance(value, float) else f"{value:,}"


def flags(width: int, session: DebugSession, lanes: list[int]) -> Iterator[Part]:
    """Yield carry, enable, latch and marks of the chosen PEs."""
    node = session.node
    columns, rows = pe_columns(lanes, node.config.array)
    values = [node.flag(name) for name in FLAGS]
    cells = [(*row, *(int(flag[at]) for flag in values)) for row, at in zip(rows, lanes, strict=True)]
    yield Table([*columns, *(Column(name, number) for name in FLAGS)], cells)
    enabled = int(np.count_nonzero(values[FLAGS.index("E")]))
    yield f"enabled: {enabled:,} of {node.lanes:,}"
