"""What is shown of a run that is looked into: where threads stand, code, registers, channels, stops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gen6_bridge.code.isa.encoding.operands import (
    REGISTER_BYTES,
    VXH,
    EuDestination,
    ImmediateOperand,
    SourceRegion,
)
from gen6_bridge.code.isa.meanings.state import CHANNELS, DISPATCHED, ON, PC
from gen6_bridge.debugger.places import FORMS, ThreadPlace
from gen6_bridge.debugger.session import AtStep, EuSession, EuStop, PlaceChanged, StopMet
from gen6_bridge.time.usage import region_kind
from pixelflow.simd.isa.places import Code, place, source_text
from pixelflow.simd.report import Column, Fact, Part, Table, counted, cut, number, verbatim

__all__ = ["code", "masks", "outcome", "position", "regions", "run", "stops", "subject_text", "threads", "values"]

_AROUND = 5
_FEW = 8
_HEAD = 28
"""Columns before the elements of a place."""
_NOWHERE = 0xFFFFFFFF


def _line(text: str, width: int) -> Fact:
    return Fact(cut(text, width), wrap=False)


def run(width: int, session: EuSession) -> Iterator[Part]:
    """Yield the program, its threads, and how far the run has come."""
    program = session.program
    yield f"{cut(program.name, 1000) or 'program'} ({program.sha256[:6]}) · {counted(session.unit.threads, 'thread')}"
    issued = int(session.unit.issued.sum())
    yield f"{counted(session.position, 'step')}, {counted(issued, 'instruction')} of all threads together"
    alone = session.unit.threads == 1 or session.unit.standing() is None
    if issued and alone:
        last = max((cycle for steps in session.cycles() for _, cycle in steps), default=0)
        yield f"the last issue was in cycle {last:,}"


def position(width: int, session: EuSession) -> Iterator[Part]:
    """Yield the position, and the instruction that comes with the threads that carry it out."""
    standing = session.unit.standing()
    yield f"step {session.position:,}" + (", the end" if standing is None else "")
    if standing is None:
        return
    here, active = standing
    which = _numbers(np.flatnonzero(active).tolist())
    yield _line(f"  {place(session.program, here):<22} {source_text(session.program, here)}", width)
    first = int(np.flatnonzero(active)[0])
    yield _line(f"  {'thread ' + which:<22} channels {_channels(int(session.unit.running[first]))}", width)


def _numbers(found: list[int]) -> str:
    more = f" and {len(found) - _FEW} more" if len(found) > _FEW else ""
    return ", ".join(str(each) for each in found[:_FEW]) + more


def _channels(mask: int) -> str:
    return "".join("1" if mask >> channel & 1 else "." for channel in range(CHANNELS))


def code(width: int, session: EuSession, at: int | None = None) -> Iterator[Part]:
    """Yield instructions around the one that comes, or ``at``; ``=>`` marks where threads stand, with how many."""
    program, unit = session.program, session.unit
    standing = unit.standing()
    centre = at if at is not None else standing[0] if standing is not None else len(program.code) - 1
    for index in range(max(0, centre - _AROUND), min(len(program.code), centre + _AROUND + 1)):
        here = int((~unit.ended & (unit.pointers == index)).sum())
        mark = f"{here} =>" if here else ""
        labels = [name for name, word in program.labels.items() if program.index_of.get(word) == index]
        for label in labels:
            yield _line(f"{label}:", width)
        yield _line(f"{mark:>8} {index:>6}  {source_text(program, index)}", width)


def threads(width: int, session: EuSession) -> Iterator[Part]:
    """Yield for each thread where it stands, its channels, and how far it has come."""
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
            Column("stands at", fixed=True),
            Column("channels", verbatim),
            Column("instructions", number),
            Column("last issue in cycle", verbatim),
        ),
        rows,
    )


def masks(width: int, session: EuSession, thread: int) -> Iterator[Part]:
    """Yield for each channel of a thread whether it exists and runs, its flags, and where it waits."""
    unit = session.unit

    def of(name: str) -> list[bool]:
        found: list[bool] = unit.lanes.get_bit(name).reshape(unit.threads, CHANNELS)[thread].tolist()
        return found

    exist, on = of(DISPATCHED), of(ON)
    pointers = unit.lanes.get_word(PC).reshape(unit.threads, CHANNELS)[thread].tolist()
    flags, here = int(unit.flags[thread]), int(unit.pointers[thread])
    rows = []
    for channel in range(CHANNELS):
        at = here if on[channel] else pointers[channel]
        where = "-" if not exist[channel] or at == _NOWHERE else str(at)
        state = "runs" if on[channel] else "waits" if exist[channel] else "not dispatched"
        rows.append((channel, state, where, flags >> channel & 1, flags >> 16 + channel & 1))
    columns = ("channel", "", "instruction", "f0.0", "f0.1")
    yield Table(
        tuple(Column(name, number if name in ("channel", "f0.0", "f0.1") else verbatim) for name in columns), rows
    )


def values(width: int, session: EuSession, where: ThreadPlace, chosen: list[int]) -> Iterator[Part]:
    """Yield the elements of a place of each chosen thread, in rows of a register or of what fits."""
    found = where.values(session.unit)
    cells = [[_shown(each, where.form) for each in found[thread].tolist()] for thread in chosen]
    across = REGISTER_BYTES // FORMS[where.form].itemsize
    while across > 1 and (len(cells[0][0]) + 1) * across + _HEAD > width:
        across //= 2
    for thread, row in zip(chosen, cells, strict=True):
        for first in range(0, len(row), across):
            name = where.text + (f" +{first}" if len(row) > across else "")
            yield _line(f"  thread {thread:<3} {name:<14} {' '.join(row[first : first + across])}", width)


def _shown(value: float, form: str) -> str:
    if form == "F":
        return f"{value:>12.6g}"
    if form in ("UD", "UW", "UB"):
        return f"{int(value):0{2 * FORMS[form].itemsize}x}"
    return f"{int(value):>{3 * FORMS[form].itemsize}}"


def regions(width: int, session: EuSession, index: int, thread: int) -> Iterator[Part]:
    """Yield the operands of an instruction of a thread: which bytes each channel's element takes, and the kind."""
    instruction = session.program.code[index]
    controls = instruction.controls
    yield _line(f"  {instruction.text()}", width)
    addresses = session.unit.addresses[thread].tolist()
    for spec, operand in zip(instruction.declaration.operands, instruction.operands, strict=True):
        if isinstance(operand, ImmediateOperand):
            yield _line(f"  {spec.name:<5} immediate {operand.value}", width)
            continue
        if not isinstance(operand, SourceRegion | EuDestination) or operand.null:
            continue
        places = []
        for element in range(min(controls.size, CHANNELS)):
            if isinstance(operand, SourceRegion):
                row = element // operand.width if operand.vertical == VXH else 0
                place_in = operand.place(element)
            else:
                row, place_in = 0, element * operand.stride * operand.type.size
            base = operand.first_byte
            if operand.address is not None:
                base = addresses[min(7, operand.address.index + row)] + operand.address.offset
            places.append(base + place_in)
        kind = region_kind(operand) if isinstance(operand, SourceRegion) else "destination"
        shown = " ".join(f"{each // REGISTER_BYTES}.{each % REGISTER_BYTES}" for each in places)
        yield Fact(f"  {spec.name:<5} {kind}, {operand.type.name}, {operand.file.name.lower()} register.byte: {shown}")


def subject_text(stop: EuStop) -> str:
    """Return what a stop is about."""
    match stop.subject:
        case Code():
            text = stop.subject.text
        case AtStep(at):
            text = f"step {at:,}"
        case ThreadPlace():
            text = f"watch {stop.subject.text}"
    return text + (f", 1 time in {stop.count}" if stop.count > 1 else "")


def stops(width: int, session: EuSession) -> Iterator[Part]:
    """Yield the stops that are set."""
    if not session.stops:
        yield "no stops"
    for stop in session.stops.values():
        yield _line(f"{stop.number:>3}  {subject_text(stop)}   (met {counted(stop.met, 'time')})", width)


def outcome(width: int, session: EuSession, hits: list[StopMet | PlaceChanged]) -> Iterator[Part]:
    """Yield which stops were met, and what kept the run from going on."""
    for hit in hits:
        yield _line(f"stop {hit.stop.number}: {subject_text(hit.stop)}", width)
        if isinstance(hit, PlaceChanged):
            where = place(session.program, hit.by)
            yield _line(f"  by {where}  {source_text(session.program, hit.by)}", width)
            for thread, old, new in zip(hit.threads[:_FEW].tolist(), hit.before, hit.after, strict=False):
                differs = np.flatnonzero(old != new)[:_FEW].tolist()
                shown = ", ".join(f"[{at}] {int(old[at]):08x} -> {int(new[at]):08x}" for at in differs)
                yield _line(f"  thread {thread}: {shown}", width)
    if session.stopped is not None:
        yield _line(str(session.stopped), 4 * width)
