"""Widths: kernels and programs of sixteen channels carried out as eight and eight, those of eight as sixteen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.isa import EuInstruction
from gen6_bridge.code.isa.encoding.operands import REGISTER_BYTES
from gen6_bridge.records.files import Entry, Judged, judged
from gen6_bridge.records.kernels import LONGEST, kernel_unit
from gen6_bridge.records.narrowed import Narrowed, WidthUndefined, narrowed
from gen6_bridge.records.programs import code_of
from gen6_bridge.records.runs import ISSUED, run_unit
from gen6_bridge.records.widened import Widened, widened
from gen6_bridge.unit import ExecutionUnit, MessageRecorder
from pixelflow.simd.errors import CycleLimitError, InputError, MachineFault

__all__ = ["judge_narrowed", "judge_narrowed_runs", "judge_widened"]

_LOW = 0xFF
_HALF = 8


class _Chosen:
    """Records whose programs have a form of another width, and why the others have none."""

    def __init__(
        self, entries: list[Entry], names: list[str], form: Callable[[Entry], object], skipped: Counter[str]
    ) -> None:
        self.positions, self.names = list[int](), list[str]()
        for position, (entry, name) in enumerate(zip(entries, names, strict=True)):
            try:
                form(entry)
            except WidthUndefined as reason:
                skipped[str(reason)] += 1
                continue
            except (InputError, MachineFault, KeyError, TypeError, ValueError):
                continue  # what is wrong with it is said where its words are judged
            self.positions.append(position)
            self.names.append(name)


def judge_narrowed(
    kind: str, path: Path, entries: list[Entry], names: list[str], skipped: Counter[str]
) -> Iterator[Judged]:
    """Compare registers, flags and messages of kernels with those of their halves, one after the other."""
    chosen = _Chosen(entries, names, lambda entry: narrowed(code_of(entry)), skipped)

    def check(at: int) -> Iterator[str]:
        entry = entries[chosen.positions[at]]
        found = narrowed(code_of(entry))
        yield from _halves(kernel_unit(entry), kernel_unit(entry, found.code), found, LONGEST)

    yield from judged(kind, path, chosen.names, check)


def judge_narrowed_runs(
    kind: str, path: Path, entries: list[Entry], names: list[str], programs: dict[str, Entry], skipped: Counter[str]
) -> Iterator[Judged]:
    """The same of runs of real programs, up to where the record's run stops."""

    def program_of(entry: Entry) -> list[EuInstruction]:
        return code_of(programs.get(str(entry["program"]), entry))

    chosen = _Chosen(entries, names, lambda entry: narrowed(program_of(entry)), skipped)

    def check(at: int) -> Iterator[str]:
        entry = entries[chosen.positions[at]]
        code = program_of(entry)
        found = narrowed(code)
        yield from _halves(run_unit(entry, code), run_unit(entry, found.code), found, ISSUED)

    yield from judged(kind, path, chosen.names, check)


_Ready = tuple[ExecutionUnit, MessageRecorder]


def _halves(whole: _Ready, halves: _Ready, found: Narrowed, limit: int) -> Iterator[str]:
    """Carry both out and compare all that is left: general and message registers, addresses, flags, messages.

    The first one stops after ``limit`` instructions, the other one after as many halves.
    """
    (one, sent), (other, sent_by_halves) = whole, halves
    carried: list[int] = []
    try:
        one.run(lambda number, active: carried.append(found.parts[number]), limit=limit, stops=True)
        other.run(limit=sum(carried), stops=True)
    except (CycleLimitError, MachineFault) as error:
        yield f"refused: {error}"
        return
    if not (one.ended == other.ended).all() or sum(carried) != int(other.issued[0]):
        yield "one of the two ends before the other"
    for what, mine, theirs in (("g", one.general[0], other.general[0]), ("m", one.message[0], other.message[0])):
        for register in np.flatnonzero((mine != theirs).any(axis=1)).tolist():
            yield f"{what}{register}: {mine[register].tobytes().hex()}, as halves {theirs[register].tobytes().hex()}"
    if int(one.flags[0]) != int(other.flags[0]):
        yield f"f0: {int(one.flags[0]):08x}, as halves {int(other.flags[0]):08x}"
    if (one.addresses != other.addresses).any():
        yield "address registers differ"
    asked = [
        [(each.target, each.message, each.enabled, each.payload.tobytes()) for each in recorder.requests]
        for recorder in (sent, sent_by_halves)
    ]
    if asked[0] != asked[1]:
        yield "messages differ"


def judge_widened(
    kind: str, path: Path, entries: list[Entry], names: list[str], skipped: Counter[str]
) -> Iterator[Judged]:
    """Compare kernels of eight channels, run on two sets of data, with one run of sixteen channels on both.

    The first set is the record's; in the second what eight channels do not share runs the other way round.
    """
    chosen = _Chosen(entries, names, lambda entry: widened(code_of(entry)), skipped)

    def check(at: int) -> Iterator[str]:
        entry = entries[chosen.positions[at]]
        yield from _together(entry, widened(code_of(entry)))

    yield from judged(kind, path, chosen.names, check)


def _together(entry: Entry, wide: Widened) -> Iterator[str]:
    first, second = (kernel_unit(entry, dispatch=_dispatch(entry))[0] for _ in range(2))
    both = kernel_unit(entry, wide.code, dispatch=_dispatch(entry) * 0x101)[0]
    for register, size in wide.bytes.items():
        second.general[0, register] = _turned(first.general[0, register], size)
    both.general[:] = 0
    for register, size in wide.bytes.items():
        _place(both, register)[:] = _joined(first, second, register, size)
    flags = [int(unit.flags[0]) for unit in (first, second)]
    both.set_flags(_flags(flags))
    try:
        for unit in (first, second, both):
            unit.run(limit=LONGEST)
    except (CycleLimitError, MachineFault) as error:
        yield f"refused: {error}"
        return
    for register, size in wide.bytes.items():
        mine, theirs = _place(both, register), _joined(first, second, register, size)
        count = 2 * size if size else REGISTER_BYTES
        if mine[:count].tobytes() != theirs[:count].tobytes():
            found, apart = mine[:count].tobytes().hex(), theirs[:count].tobytes().hex()
            yield f"g{register}: {found} together, {apart} apart"
    wanted = _flags([int(unit.flags[0]) for unit in (first, second)])
    if int(both.flags[0]) != wanted:
        yield f"f0: {int(both.flags[0]):08x} together, {wanted:08x} apart"


def _dispatch(entry: Entry) -> int:
    return int(str(entry.get("dispatch_mask", "ff")), 16) & _LOW


def _place(unit: ExecutionUnit, register: int) -> NDArray[np.uint8]:
    """Return the two registers of the wide program that stand for one: uint8[64], a view."""
    start = 2 * register * REGISTER_BYTES
    return unit.memory.data[0, start : start + 2 * REGISTER_BYTES]


def _turned(register: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """Return a register whose eight elements run the other way; one that all share stays."""
    turned = register.copy()
    if size:
        turned[:size] = register[:size].reshape(_HALF, -1)[::-1].reshape(-1)
    return turned


def _joined(first: ExecutionUnit, second: ExecutionUnit, register: int, size: int) -> NDArray[np.uint8]:
    found = np.zeros(2 * REGISTER_BYTES, np.uint8)
    if not size:
        found[:REGISTER_BYTES] = first.general[0, register]
        return found
    found[:size], found[size : 2 * size] = first.general[0, register, :size], second.general[0, register, :size]
    return found


def _flags(each: Sequence[int]) -> int:
    """Return the flags of sixteen channels of those of eight and eight."""
    first, second = each
    return sum((first >> half & _LOW | (second >> half & _LOW) << _HALF) << half for half in (0, 16))
