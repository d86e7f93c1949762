"""Recorded kernels, programs, runs and regions, judged one by one against this machine."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.assembler import assemble_text
from gen6_bridge.isa.declarations import INSTRUCTIONS, EuInstruction, EuUnit
from gen6_bridge.isa.execution import FloatRules
from gen6_bridge.isa.legality import broken_rules, source_rules
from gen6_bridge.isa.operands import (
    GRF_BYTES,
    GRF_REGISTERS,
    IDENTITY,
    MRF_REGISTERS,
    REGISTER_BYTES,
    VXH,
    Architecture,
    Controls,
    EuDestination,
    EuType,
    File,
    ImmediateOperand,
    Operand,
    Source,
    SourceRegion,
    Targets,
)
from gen6_bridge.time import EuConfig, Stretches, ThreadTraces, schedule
from gen6_bridge.unit import BlockMemory, ExecutionUnit, Request, SharedFunctions
from gen6_bridge.unit.messages import SAMPLER
from pixelflow.simd.attendance import Counting, unseen
from pixelflow.simd.errors import CycleLimitError, Fault, InputError, MachineFault, Place
from pixelflow.simd.files import parse_json, read_bytes, unpacked
from pixelflow.simd.isa.encoding import EncodingError
from pixelflow.simd.report import Column, Json, Part, Report, counted, number
from pixelflow.simd.report import Table as ReportTable
from pixelflow.simd.workers import WorkerPool
from tests.recorded import HERE, RECORDS

# Files of records: JSON objects with a list ``records``, and CSV tables, plain or gzipped.


Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
Entry: TypeAlias = "dict[str, Value]"
"""A record of a JSON file."""
Table: TypeAlias = "list[dict[str, str]]"


@dataclass(frozen=True, slots=True)
class Judged:
    """A record beside what this machine makes of it."""

    kind: str
    """What was compared."""
    name: str
    difference: str
    """The first one; empty where there is none."""


def _text(path: Path) -> str:
    content = read_bytes(path, RECORDS)
    try:
        return (unpacked(content, RECORDS, str(path)) if path.suffix == ".gz" else content).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(Fault(f"cannot be read: {error}", Place(str(path)))) from None


def read_json(path: Path) -> list[Entry]:
    """Return the records of a JSON file; raises InputError for a damaged one, or one without any."""
    body = parse_json(_text(path), str(path))
    records = body.get("records") if isinstance(body, dict) else None
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        raise InputError(
            Fault("has no list of records", Place(str(path)), 'the form is {"about": ..., "records": [...]}')
        )
    return records


def read_table(path: Path) -> Table:
    """Return the rows of a CSV file by the names in its first line; raises InputError for a damaged one."""
    try:
        return list(csv.DictReader(io.StringIO(_text(path)), restval="", strict=True))
    except csv.Error as error:
        raise InputError(Fault(f"is no table: {error}", Place(str(path)))) from None


def judged(kind: str, path: Path, names: Sequence[str], check: Callable[[int], Iterator[str]]) -> Iterator[Judged]:
    """Yield what comes of records: ``check`` yields the differences of the one at a position.

    Raises InputError where a record has not the form that its file's has.
    """
    for position, name in enumerate(names):
        try:
            difference = next(check(position), "")
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise InputError(Fault(f"record {position}, {name}: {what}", Place(str(path)))) from None
        yield Judged(kind, name, difference)


def list_in(entry: Mapping[str, Value], key: str) -> list[Value]:
    """Return a list of a record, empty where it has none; raises TypeError for something else."""
    found = entry.get(key) or []
    if not isinstance(found, list):
        raise TypeError(f"{key} is no list")
    return found


def object_in(entry: Mapping[str, Value], key: str) -> dict[str, Value]:
    """Return an object of a record, empty where it has none; raises TypeError for something else."""
    found = entry.get(key) or {}
    if not isinstance(found, dict):
        raise TypeError(f"{key} is no object")
    return found


def registers_of(entry: Mapping[str, Value], key: str) -> dict[int, bytes]:
    """Return registers by number, of a record's ``{"r10": "hex"}``; none where the record has no such key."""
    found = {int(name[1:]): bytes.fromhex(str(value)) for name, value in object_in(entry, key).items()}
    for number, content in found.items():
        if not 0 <= number < GRF_REGISTERS or len(content) != REGISTER_BYTES:
            raise ValueError(f"{key}: register {number} with {counted(len(content), 'byte')}")
    return found


# Programs and kernels as words: their text, their words again, their sources, the rules that they break.


_MARKS = {"rsq": (" inv ", " rsq "), "fdiv": (" pow ", " fdiv ")}
"""What a note at the end of a source line says that the public assembler cannot write."""


def words_of(entry: Entry) -> list[int]:
    """Return the instruction words of a record."""
    if "words" not in entry:
        raise KeyError("words")
    return [int(str(word), 16) for word in list_in(entry, "words")]


def code_of(entry: Entry) -> list[EuInstruction]:
    """Return the instructions of a record; raises InputError for words that mean nothing."""
    try:
        return [INSTRUCTIONS.decode_whole(word) for word in words_of(entry)]
    except ValueError as error:
        raise InputError(str(error)) from None


def plain(text: str) -> str:
    """Return a text with one blank wherever it has some."""
    return " ".join(text.split())


def judge_text(kind: str, path: Path, entries: list[Entry], names: list[str], key: str) -> Iterator[Judged]:
    """Compare the disassembler's text of each instruction."""

    def check(position: int) -> Iterator[str]:
        texts = list_in(entries[position], key)
        for number, (word, text) in enumerate(zip(words_of(entries[position]), texts, strict=True)):
            found = _text_of(word)
            if plain(found) != plain(str(text)):
                yield f"instruction {number}: {plain(found)}, recorded {plain(str(text))}"

    yield from judged(kind, path, names, check)


def _text_of(word: int) -> str:
    try:
        return INSTRUCTIONS.decode_whole(word).text()
    except ValueError as error:
        return f"refused: {error}"


def judge_words(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Compare the words that decoded instructions are encoded to."""

    def check(position: int) -> Iterator[str]:
        for number, word in enumerate(words_of(entries[position])):
            try:
                found = INSTRUCTIONS.decode_whole(word).whole
            except (ValueError, EncodingError) as error:
                yield f"instruction {number}: refused: {error}"
                continue
            if found != word:
                yield f"instruction {number}: {found:032x}, recorded {word:032x}"

    yield from judged(kind, path, names, check)


def judge_sources(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Compare the words that a record's source is assembled to, but for those that were altered afterwards."""

    def check(position: int) -> Iterator[str]:
        entry = entries[position]
        lines, altered = list_in(entry, "asm"), list_in(entry, "patched")
        try:
            found = assemble_text("\n".join(_written(str(line)) for line in lines), names[position]).instructions
        except InputError as error:
            yield f"refused: {error.faults[0].message}"
            return
        for number, (mine, word) in enumerate(zip(found, words_of(entry), strict=True)):
            if mine.whole != word and number not in altered:
                yield f"instruction {number}: {mine.whole:032x}, recorded {word:032x}"

    yield from judged(kind, path, names, check)


def _written(line: str) -> str:
    source, mark, note = line.partition("#")
    before, after = _MARKS.get(note.strip(), ("", "")) if mark else ("", "")
    return re.sub(before, after, source, count=1) if before else source


def judge_rules(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Compare the rules of legality that instructions of programs break."""

    def check(position: int) -> Iterator[str]:
        recorded = object_in(entries[position], "rules_broken")
        for number, instruction in enumerate(code_of(entries[position])):
            rules = recorded.get(str(number)) or []
            wanted = sorted(str(each) for each in (rules.split() if isinstance(rules, str) else rules))  # type: ignore[union-attr]
            found = sorted(broken_rules(instruction))
            if found != wanted:
                yield f"instruction {number}: breaks {' '.join(found) or 'none'}, recorded {' '.join(wanted) or 'none'}"

    yield from judged(kind, path, names, check)


# Regions and instructions beside the rules of legality that they were recorded to break.


_BY_SIZE = {"1": EuType.UB, "2": EuType.UW, "4": EuType.UD}


def _differing(found: tuple[str, ...], row: dict[str, str]) -> Iterator[str]:
    if "rules" not in row:
        if (not found) != (row["legal"] == "1"):
            yield f"breaks {' '.join(found) or 'none'}, recorded as {'legal' if row['legal'] == '1' else 'illegal'}"
        return
    wanted = sorted(row["rules"].split())
    if sorted(found) != wanted or (not wanted) != (row["legal"] == "1"):
        yield f"breaks {' '.join(found) or 'none'}, recorded {' '.join(wanted) or 'none'}"


def judge_regions(kind: str, path: Path, rows: Table) -> Iterator[Judged]:
    """Judge source regions with one size of execution each."""

    def check(position: int) -> Iterator[str]:
        row = rows[position]
        sub, vertical, width, horizontal = (int(row[key]) for key in ("sub", "vert", "width", "horz"))
        region = SourceRegion(File.GENERAL, _BY_SIZE[row["size"]], 10, sub, vertical, width, horizontal)
        yield from _differing(tuple(dict.fromkeys(source_rules(int(row["exec"]), region))), row)

    names = [f"({row.get('exec')}) <{row.get('vert')};{row.get('width')},{row.get('horz')}>" for row in rows]
    yield from judged(kind, path, names, check)


def judge_instructions(kind: str, path: Path, rows: Table) -> Iterator[Judged]:
    """Judge whole instructions: the text, the words again, the rules."""

    def check(position: int) -> Iterator[str]:
        row, word = rows[position], int(rows[position]["word"], 16)
        found = INSTRUCTIONS.decode_whole(word)
        if found.whole != word:
            yield f"encoded to {found.whole:032x}"
        if "{" not in row["text"] and plain(found.text().partition("{")[0]) != plain(row["text"]):
            yield f"{found.text()}, recorded {row['text']}"
        yield from _differing(broken_rules(found), row)

    yield from judged(kind, path, [row.get("text", "") for row in rows], check)


def judge_cases(kind: str, path: Path, rows: Table) -> Iterator[Judged]:
    """Judge instructions whose operands are spelled out."""

    def check(position: int) -> Iterator[str]:
        row = rows[position]
        wide = row["mode"] == "align16"
        controls = Controls(
            align16=int(wide), size_code=int(row["exec"]).bit_length() - 1, saturates=int(row["sat"] or 0),
            selector=5 if row["op"] == "sel" else 0,
        )  # fmt: skip
        mask = 15 if wide else None
        dst = EuDestination(
            File.GENERAL, EuType[row["dst_type"]], 20, int(row["dst_sub"]), int(row["dst_stride"]), mask
        )
        sources = [_source(row, f"s{at}_", wide=wide) for at in (0, 1) if row[f"s{at}_type"]]
        yield from _differing(broken_rules(EuInstruction(INSTRUCTIONS[row["op"]], (controls, dst, *sources))), row)

    yield from judged(kind, path, [row.get("case", "") for row in rows], check)


def _source(row: dict[str, str], key: str, *, wide: bool) -> Source:
    kind = EuType[row[f"{key}type"]]
    if kind.packed or not row[f"{key}vert"]:
        return ImmediateOperand(kind, 0)
    sub, vertical, width, horizontal = (int(row[key + name]) for name in ("sub", "vert", "width", "horz"))
    absolute, negate = (int(row[key + name]) for name in ("abs", "neg"))
    swizzle = IDENTITY if wide else None
    return SourceRegion(File.GENERAL, kind, 10, sub, vertical, width, horizontal, absolute, negate, swizzle)


# Kernels: registers, flags, messages and the order of instructions after a run, beside what was recorded.


LONGEST = 100_000
"""Instructions after which a kernel is taken for endless."""
_FIELDS = ("sfid", "desc", "mlen", "rlen", "eot", "exec", "enabled")


def _fill() -> NDArray[np.uint8]:
    """Return what registers hold that a record does not name: byte b of register r is 37 r + 11 b + 5."""
    registers, places = np.arange(GRF_REGISTERS)[:, None], np.arange(REGISTER_BYTES)[None]
    return (37 * registers + 11 * places + 5).astype(np.uint8)


@dataclass(slots=True)
class MessageRecorder:
    """Functions that note every message before others answer it."""

    others: SharedFunctions
    requests: list[Request] = field(default_factory=list)

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Note a message, and pass it on."""
        self.requests.append(request)
        return self.others.answer(request)


class Replies:
    """Functions that answer from a list, or by number from a rule; what expects no answer gets none."""

    def __init__(self, replies: Iterable[bytes] | Callable[[int, Request], bytes]) -> None:
        self._rule = replies if callable(replies) else None
        self._replies = iter(()) if callable(replies) else iter(replies)
        self.given = 0
        """Answers that were asked for."""

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Return the next answer; None where the list has ended."""
        if not request.message.response:
            return None
        reply = self._rule(self.given, request) if self._rule is not None else next(self._replies, None)
        self.given += 1
        return None if reply is None else np.frombuffer(reply, np.uint8)


def kernel_unit(
    entry: Entry, code: Sequence[EuInstruction] | None = None, *, dispatch: int | None = None
) -> tuple[ExecutionUnit, MessageRecorder]:
    """Return a unit that is ready to carry out a kernel, and who notes its messages.

    ``code`` and the mask ``dispatch`` are the record's where they are not given.
    """
    replies = Replies([bytes.fromhex(str(each)) for each in list_in(entry, "responses")])
    recorder = MessageRecorder(replies)
    mask = int(str(entry.get("dispatch_mask", "ffff")), 16) if dispatch is None else dispatch
    unit = ExecutionUnit(code_of(entry) if code is None else code, dispatch=mask, functions=recorder)
    unit.general[:] = _fill()
    for register, content in registers_of(entry, "init").items():
        unit.general[:, register] = np.frombuffer(content, np.uint8)
    unit.set_flags(int(str(entry.get("flags_in", "0")), 16))
    return unit, recorder


def judge_kernels(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Carry out each kernel and compare."""

    def check(position: int) -> Iterator[str]:
        yield from _differences(entries[position])

    yield from judged(kind, path, names, check)


def _differences(entry: Entry) -> Iterator[str]:
    try:
        unit, recorder = kernel_unit(entry)
        numbers: list[int] = []
        unit.run(lambda number, active: numbers.append(number), limit=LONGEST)
    except (CycleLimitError, MachineFault, InputError) as error:
        yield f"refused: {error}"
        return
    yield from _registers(entry, unit)
    written = registers_of(entry, "expect_mrf")
    for register in sorted({*range(MRF_REGISTERS), *written}):
        found, content = unit.message[0, register].tobytes(), written.get(register, bytes(REGISTER_BYTES))
        if found != content:
            yield f"m{register}: {found.hex()}, recorded {content.hex()}"
    if "flags_out" in entry and int(unit.flags[0]) != int(str(entry["flags_out"]), 16):
        yield f"f0: {int(unit.flags[0]):08x}, recorded {entry['flags_out']}"
    if "issued" in entry and int(unit.issued[0]) != entry["issued"]:
        yield f"instructions issued: {unit.issued[0]}, recorded {entry['issued']}"
    trace = entry.get("trace")
    if isinstance(trace, list) and numbers != trace:
        pairs = zip(numbers, trace, strict=False)
        first = next((at for at, (mine, theirs) in enumerate(pairs) if mine != theirs), min(len(numbers), len(trace)))
        yield f"step {first} of the order of instructions differs"
    yield from _messages(entry, recorder)
    yield from _memory(entry)


def _registers(entry: Entry, unit: ExecutionUnit) -> Iterator[str]:
    wanted = _fill()
    for register, content in (registers_of(entry, "init") | registers_of(entry, "expect")).items():
        wanted[register] = np.frombuffer(content, np.uint8)
    care = np.ones(wanted.shape, np.bool_)
    for register, content in registers_of(entry, "care").items():
        care[register] = np.frombuffer(content, np.uint8) != 0
    tolerances = object_in(entry, "tolerance")
    for name in tolerances:
        bound, register = object_in(tolerances, name), int(name[1:])
        care[register] = False
        found, expected = (each[register].view(np.float32).astype(np.float64) for each in (unit.general[0], wanted))
        allowed = float(str(bound["abs"])) + float(str(bound["rel"])) * np.abs(expected)
        if not (np.abs(found - expected) <= allowed).all():
            yield f"g{register}: {found.tolist()}, recorded {expected.tolist()} within a tolerance"
    for name, channels in object_in(entry, "nan").items():
        if not np.isnan(unit.general[0, int(name[1:])].view(np.float32)[channels]).all():
            yield f"g{name[1:]}: no NaN where one was recorded"
    differs = (unit.general[0] != wanted) & care
    for register in np.flatnonzero(differs.any(axis=1)).tolist():
        mine, theirs = (each[register].tobytes().hex() for each in (unit.general[0], wanted))
        yield f"g{register}: {mine}, recorded {theirs}"


def _messages(entry: Entry, recorder: MessageRecorder) -> Iterator[str]:
    wanted = entry.get("messages")
    if not isinstance(wanted, list):
        return
    if len(wanted) != len(recorder.requests):
        yield f"messages: {len(recorder.requests)}, recorded {len(wanted)}"
    for number, (request, message) in enumerate(zip(recorder.requests, wanted, strict=False)):
        if not isinstance(message, dict):
            raise TypeError(f"message {number} is no object")
        about = request.message
        mine = (
            request.target,
            about.descriptor,
            about.length,
            about.response,
            about.end,
            request.size,
            request.enabled,
        )
        for name, value in zip(_FIELDS, mine, strict=True):
            if name in message and message[name] != value:
                yield f"message {number}, {name}: {value}, recorded {message[name]}"
        if "payload" in message and request.payload.tobytes().hex() != message["payload"]:
            yield f"message {number}, payload: {request.payload.tobytes().hex()}, recorded {message['payload']}"


def _memory(entry: Entry) -> Iterator[str]:
    """Where a record has a memory, carry the kernel out once more against it."""
    before = entry.get("memory")
    if not isinstance(before, str):
        return
    memory = np.frombuffer(bytes.fromhex(before), np.uint8).copy()
    unit, recorder = kernel_unit(entry)
    recorder.others = BlockMemory(memory)
    unit.run(limit=LONGEST)
    yield from _registers(entry, unit)
    after = entry.get("memory_after")
    if isinstance(after, str) and memory.tobytes().hex() != after:
        place = next(
            at for at, (mine, theirs) in enumerate(zip(memory, bytes.fromhex(after), strict=True)) if mine != theirs
        )
        yield f"memory differs from byte {place} on"


# Runs of real programs on data: registers, flags, addresses and messages after them, beside what was recorded.


ISSUED = 1200
"""Instructions after which a recorded run stops."""
_YUV = "exa_wm_yuv_rgb"


def _replies(key: str) -> Replies:
    """Return answers that are made from a key, as the records say."""

    def answer(number: int, request: Request) -> bytes:
        seed = key % number if "%d" in key else f"{key}{number}"
        count = request.message.response * REGISTER_BYTES // 32
        content = b"".join(hashlib.sha256(f"{seed}/{part}".encode()).digest() for part in range(count))
        if request.target != SAMPLER:
            return content
        first = np.frombuffer(content, np.uint8).reshape(-1, 4)[:, 0]
        return ((first % 65) / 64).astype(np.float32).tobytes()

    return Replies(answer)


def judge_runs(
    kind: str, path: Path, entries: list[Entry], names: list[str], programs: dict[str, Entry]
) -> Iterator[Judged]:
    """Carry out each run and compare; ``programs`` are those of the folder by name."""

    def check(position: int) -> Iterator[str]:
        entry = entries[position]
        program = programs.get(str(entry["program"]))
        if program is None and "words" not in entry:
            yield f"there is no program {entry['program']} in the folder"
            return
        try:
            yield from _run_differences(entry, program or entry)
        except (CycleLimitError, MachineFault, InputError) as error:
            yield f"refused: {error}"

    yield from judged(kind, path, names, check)


def run_unit(entry: Entry, code: Sequence[EuInstruction]) -> tuple[ExecutionUnit, MessageRecorder]:
    """Return a unit that is ready for a run of a program, and who notes its messages."""
    recorder = MessageRecorder(_replies(str(entry.get("response_key", ""))))
    dispatch = int(str(entry.get("dispatch_mask", "ffff")), 16)
    unit = ExecutionUnit(code, dispatch=dispatch, functions=recorder)
    unit.memory.data[0, :GRF_BYTES] = np.frombuffer(bytes.fromhex(str(entry["grf"])), np.uint8)
    return unit, recorder


def _run_differences(entry: Entry, program: Entry) -> Iterator[str]:
    unit, recorder = run_unit(entry, code_of(program))
    unit.run(limit=ISSUED, stops=True)
    for what, mine, key in (
        ("instructions issued", int(unit.issued[0]), "issued"),
        ("the end by a message", bool(unit.ended[0]), "ended"),
        ("the next instruction", int(unit.pointers[0]), "next_ip"),
        ("messages", len(recorder.requests), "messages"),
        ("address registers", unit.addresses[0].tolist(), "a0_after"),
        ("f0", f"{int(unit.flags[0]):08x}", "flags_after"),
    ):
        if key in entry and entry[key] != mine:
            yield f"{what}: {mine}, recorded {entry[key]}"
    for what, content, key in (("g", unit.general[0], "grf_after"), ("m", unit.message[0], "mrf_after")):
        if key not in entry:
            continue
        wanted = np.frombuffer(bytes.fromhex(str(entry[key])), np.uint8).reshape(content.shape)
        for register in np.flatnonzero((content != wanted).any(axis=1)).tolist():
            yield f"{what}{register}: {content[register].tobytes().hex()}, recorded {wanted[register].tobytes().hex()}"
    messages = list_in(entry, "message_list")
    for number, (request, message) in enumerate(zip(recorder.requests, messages, strict=False)):
        if not isinstance(message, dict):
            raise TypeError(f"message {number} is no object")
        mine = (
            request.target,
            f"{request.message.descriptor:08x}",
            hashlib.sha256(request.payload.tobytes()).hexdigest(),
        )
        if mine != (message["sfid"], message["desc"], message["payload_sha256"]):
            yield f"message {number} differs"


def judge_colours(
    kind: str, path: Path, entries: list[Entry], names: list[str], programs: dict[str, Entry]
) -> Iterator[Judged]:
    """Carry out the conversion of colours: products rounded as recorded, fused ones within the tolerance."""

    def check(position: int) -> Iterator[str]:
        entry = entries[position]
        program = programs.get(_YUV)
        if program is None:
            yield f"there is no program {_YUV} in the folder"
            return
        bound, reference = float(str(entry["tolerance_abs"])), np.array(entry["reference_float64"], np.float64)
        for fused in (False, True):
            unit = ExecutionUnit(code_of(program), arithmetic=FloatRules(fused=fused))
            for register, content in registers_of(entry, "init").items():
                unit.general[:, register] = np.frombuffer(content, np.uint8)
            unit.run(limit=ISSUED)
            found = unit.floats(14, 6).reshape(3, 16).astype(np.float64)
            if np.abs(found - reference).max() > bound:
                yield f"colours are {np.abs(found - reference).max()} off, allowed are {bound}"
            for register, content in registers_of(entry, "unfused").items() if not fused else ():
                mine = unit.general[0, register].tobytes()
                if mine != content:
                    yield f"g{register}: {mine.hex()}, recorded {content.hex()}"

    yield from judged(kind, path, names, check)


# Programs of sixteen channels as programs of eight: each instruction becomes one for each half, as the unit does.
#
# The first eight channels come first (quarter 1Q), then the others (2Q), whose operands lie eight elements further on.
# Branches and messages stay as they are; their distances grow with what became two.


_HALF = 8
_SIZE_CODE = 3
_UNITS = 2
"""What targets count for each instruction."""
_ANY16, _ALL16 = 10, 11


class WidthUndefined(Exception):
    """A program that has no meaning at another width; the text says why."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A program of eight channels, and how many of its instructions each of the wide one became."""

    code: tuple[EuInstruction, ...]
    parts: tuple[int, ...]


def narrowed(code: Sequence[EuInstruction]) -> Narrowed:
    """Return a program whose instructions of sixteen channels, branches and messages left out, are two of eight.

    Raises WidthUndefined where there is none to divide, or where halves or distances mean something else.
    """
    parts = [_parts(each) for each in code]
    if not any(len(each) > 1 for each in parts):
        raise WidthUndefined("no instruction of sixteen channels")
    places = [0]
    for each in parts:
        places.append(places[-1] + len(each))
    found = [
        _moved(each, number, places) if each.declaration.unit is EuUnit.BRANCH else each
        for number, several in enumerate(parts)
        for each in several
    ]
    whole = tuple(INSTRUCTIONS.decode_whole(each.whole) for each in found)
    return Narrowed(whole, tuple(map(len, parts)))


def _parts(instruction: EuInstruction) -> tuple[EuInstruction, ...]:
    controls, declaration = instruction.controls, instruction.declaration
    if declaration.unit in (EuUnit.BRANCH, EuUnit.SEND) or controls.size != 2 * _HALF:
        return (instruction,)
    sets_flags = controls.selector and declaration.unit is EuUnit.FPU
    if controls.predicate in (_ANY16, _ALL16) and sets_flags and not controls.align16:
        raise WidthUndefined("a predicate over sixteen flags that the first half changes")
    if len(instruction.spans) == 1 and _overwrites(instruction):
        raise WidthUndefined("an instruction in one pass whose first half overwrites what the second reads")
    halves = []
    for half in (0, 1):
        narrow = replace(controls, size_code=_SIZE_CODE, quarter=half)
        rest = [_half(declaration.mnemonic, at, each, half) for at, each in enumerate(instruction.operands[1:])]
        halves.append(replace(instruction, operands=(narrow, *rest)))
    return tuple(halves)


def _overwrites(instruction: EuInstruction) -> bool:
    """Return whether the first half writes a byte that the second one reads; indirect operands are not looked at."""
    destination, second = instruction.destination, range(_HALF, 2 * _HALF)
    if destination is None or destination.file is not File.GENERAL or destination.address is not None:
        return False
    written = {
        destination.first_byte + destination.place(each) + byte
        for each in range(_HALF)
        for byte in range(destination.type.size)
    }
    return any(
        source.first_byte + source.place(each) + byte in written
        for source in instruction.sources
        if isinstance(source, SourceRegion) and source.file is File.GENERAL and source.address is None
        for each in second
        for byte in range(source.type.size)
    )


def _half(mnemonic: str, position: int, operand: Operand, half: int) -> Operand:
    """Return the operand of one half; ``position`` is 0 for the destination."""
    if isinstance(operand, EuDestination):
        if operand.architecture not in (None, Architecture.NULL, Architecture.ACCUMULATOR):
            raise WidthUndefined("sixteen elements of an architecture register")
        return _destination(operand, operand.place(half * _HALF))
    if not isinstance(operand, SourceRegion) or operand.null:
        return operand
    if mnemonic in ("pln", "line") and position == 1:
        return operand  # the coefficients of all channels
    if mnemonic == "pln":
        return replace(operand, number=operand.number + 2 * half)  # u and v of eight channels
    return _half_source(operand, half)


def _destination(operand: EuDestination, shift: int) -> EuDestination:
    if operand.null:
        return operand
    if operand.address is not None:
        return replace(operand, address=replace(operand.address, offset=operand.address.offset + shift))
    place = operand.sub + shift
    return replace(operand, number=operand.number + place // REGISTER_BYTES, sub=place % REGISTER_BYTES)


def _half_source(operand: SourceRegion, half: int) -> SourceRegion:
    shift = half * (operand.place(_HALF) - operand.place(0))
    if operand.swizzle is None and operand.width > _HALF:
        if operand.vertical == VXH:
            raise WidthUndefined("a row of sixteen elements from one address")
        operand = replace(operand, width=_HALF, vertical=_HALF * operand.horizontal)
    if operand.address is not None:
        rows = half * (_HALF // operand.width) if operand.vertical == VXH else 0
        address = replace(operand.address, index=operand.address.index + rows, offset=operand.address.offset + shift)
        return replace(operand, address=address)
    if shift and operand.file is File.ARCHITECTURE and operand.architecture is not Architecture.ACCUMULATOR:
        raise WidthUndefined("sixteen elements of an architecture register")
    place = operand.sub + shift
    return replace(operand, number=operand.number + place // REGISTER_BYTES, sub=place % REGISTER_BYTES)


def _moved(instruction: EuInstruction, number: int, places: Sequence[int]) -> EuInstruction:
    """Return a branch with the distances that it has among halves."""
    mnemonic = instruction.declaration.mnemonic
    if mnemonic in ("call", "ret"):
        raise WidthUndefined("an address of an instruction is stored")

    def distance(units: int, start: int) -> int:
        target = start + units // _UNITS
        if units % _UNITS or not 0 <= target < len(places):
            raise WidthUndefined("a branch past the program")
        return _UNITS * (places[target] - places[start])

    operands: list[Operand] = []
    for operand in instruction.operands:
        if isinstance(operand, Targets):
            uip = None if operand.uip is None else distance(operand.uip, number)
            operand = Targets(distance(operand.jip, number), uip)
        elif mnemonic == "jmpi" and operand is instruction.sources[-1]:
            if not isinstance(operand, ImmediateOperand):
                raise WidthUndefined("a jump by a register")
            operand = replace(operand, bits=distance(int(operand.value), number + 1) & 0xFFFFFFFF)
        operands.append(operand)
    return replace(instruction, operands=tuple(operands))


# Programs of eight channels as programs of sixteen: two runs on data of their own become halves of one.
#
# Register n of the first run and that of the second come to stand from register 2 n on, one after the other, as long as
# all instructions agree how many bytes of it eight channels take; a register that all channels share stays one.
# Branches
# keep their distances, as each instruction stays one; but extended math, which has eight channels at most, becomes two.


_EIGHT, _SIXTEEN_CODE = 8, 4
_HALVES_LEAVE = (10, 11)
"""Predicates over sixteen flags."""
_TWO_RESULTS = 11
_SHARED = 0
_ADDRESSED = ("call", "ret", "jmpi")
_COEFFICIENTS = ("pln", "line")


@dataclass(frozen=True, slots=True)
class Widened:
    """A program of sixteen channels, and how registers of eight lie in it."""

    code: tuple[EuInstruction, ...]
    bytes: dict[int, int]
    """For each register of the narrow program the bytes that eight channels take of it; 0 where they share it."""


def widened(code: Sequence[EuInstruction]) -> Widened:
    """Return the wide program; raises WidthUndefined where the narrow one has no such form."""
    taken: dict[int, set[int]] = {}
    written: set[int] = set()
    for instruction in code:
        _check(instruction)
        for operand, size in _register_sizes(instruction):
            taken.setdefault(operand.number, set()).add(size)
            if isinstance(operand, EuDestination):
                written.add(operand.number)
    for register, sizes in taken.items():
        if len(sizes) > 1 or (sizes == {_SHARED} and register in written):
            raise WidthUndefined("a register of which instructions take different parts")
        if 2 * register + 1 >= GRF_REGISTERS:
            raise WidthUndefined("more registers than there are")
    if not taken:
        raise WidthUndefined("no general register")
    parts = [_wide(each) for each in code]
    if len({len(each) for each in parts}) > 1 and any(each.declaration.unit is EuUnit.BRANCH for each in code):
        raise WidthUndefined("extended math and branches, whose distances would grow")
    wide = tuple(INSTRUCTIONS.decode_whole(each.whole) for several in parts for each in several)
    return Widened(wide, {register: next(iter(sizes)) for register, sizes in taken.items()})


def _check(instruction: EuInstruction) -> None:
    controls, declaration = instruction.controls, instruction.declaration
    if declaration.unit is EuUnit.SEND:
        raise WidthUndefined("a message")
    if declaration.unit is EuUnit.MATH and controls.selector == _TWO_RESULTS:
        raise WidthUndefined("quotient and remainder, whose second register is the next one")
    if declaration.mnemonic in _ADDRESSED or declaration.mnemonic == "pln":
        raise WidthUndefined(f"{declaration.mnemonic} means another thing")
    if declaration.mnemonic == "nop":
        return
    if controls.size > _EIGHT:
        raise WidthUndefined("sixteen channels already")
    if controls.size < _EIGHT or controls.quarter:
        raise WidthUndefined("an instruction of one, two, four or the second eight channels")
    if controls.predicate in _HALVES_LEAVE and not controls.align16:
        raise WidthUndefined("a predicate over sixteen flags")


def _register_sizes(instruction: EuInstruction) -> Iterator[tuple[EuDestination | SourceRegion, int]]:
    """Yield operands in general registers with the bytes that eight channels take."""
    first = True
    for operand in instruction.operands:
        if not isinstance(operand, EuDestination | SourceRegion):
            continue
        coefficients = isinstance(operand, SourceRegion) and first and instruction.declaration.mnemonic in _COEFFICIENTS
        first = first and not isinstance(operand, SourceRegion)
        if operand.null:
            continue
        if operand.address is not None:
            raise WidthUndefined("an indirect operand")
        if operand.file is File.GENERAL:
            yield operand, _SHARED if coefficients else _taken(operand)
        elif operand.architecture is not Architecture.ACCUMULATOR or operand.sub or operand.number & 1:
            raise WidthUndefined("an architecture register")
        elif _taken(operand) == _SHARED:
            raise WidthUndefined("one element of the accumulator for all channels")


def _taken(operand: EuDestination | SourceRegion) -> int:
    """Return how many bytes from a register's start eight channels take, each as many; 0 where they share elements."""
    size = operand.type.size
    places = [operand.place(each) for each in range(_EIGHT)]
    if isinstance(operand, SourceRegion) and (
        operand.scalar or (operand.swizzle is not None and operand.vertical == 0)
    ):
        return _SHARED
    groups = [[0], places[:1]] if not isinstance(operand, SourceRegion) or operand.swizzle is None else []
    step = places[1] - places[0] if groups else size
    straight = places == [each * step for each in range(_EIGHT)]
    by_fours = isinstance(operand, SourceRegion) and operand.swizzle is not None and operand.vertical == 4
    if operand.sub or step < size or not (straight or by_fours) or _EIGHT * step > REGISTER_BYTES:
        raise WidthUndefined("a region that is no row from a register's start")
    return _EIGHT * step


def _wide(instruction: EuInstruction) -> tuple[EuInstruction, ...]:
    if instruction.declaration.mnemonic == "nop":
        return (instruction,)
    if instruction.declaration.unit is EuUnit.MATH:
        return tuple(_half_instruction(instruction, half) for half in (0, 1))
    controls = replace(instruction.controls, size_code=_SIXTEEN_CODE)
    operands: list[Operand] = [controls]
    for operand in instruction.operands[1:]:
        if isinstance(operand, EuDestination | SourceRegion) and operand.file is File.GENERAL:
            operand = replace(operand, number=2 * operand.number)
        if isinstance(operand, SourceRegion) and operand.swizzle is None and not operand.scalar and not operand.null:
            operand = replace(operand, vertical=operand.width * operand.horizontal)  # rows follow each other
        operands.append(operand)
    return (replace(instruction, operands=tuple(operands)),)


def _half_instruction(instruction: EuInstruction, half: int) -> EuInstruction:
    """Return extended math on one half of the channels, each of whose operands takes a whole register or is shared."""
    operands: list[Operand] = [replace(instruction.controls, quarter=half)]
    for operand in instruction.operands[1:]:
        if isinstance(operand, EuDestination | SourceRegion) and operand.file is File.GENERAL:
            size = _taken(operand)
            if size not in (_SHARED, REGISTER_BYTES):
                raise WidthUndefined("extended math on a part of a register")
            operand = replace(operand, number=2 * operand.number + (half if size else 0))
        operands.append(operand)
    return replace(instruction, operands=tuple(operands))


# Widths: kernels and programs of sixteen channels carried out as eight and eight, those of eight as sixteen.


_LOW = 0xFF


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


# Kernels beside themselves under watch: nothing that subscribers are told of changes a bit or a cycle.


def judge_watched(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Carry each kernel out with and without a subscriber, and schedule it with and without."""

    def check(position: int) -> Iterator[str]:
        try:
            yield from _watched_differences(entries[position])
        except (CycleLimitError, MachineFault, InputError) as error:
            yield f"refused: {error}"

    yield from judged(kind, path, names, check)


def _watched_differences(entry: Entry) -> Iterator[str]:
    (alone, sent), (watched, told) = kernel_unit(entry), kernel_unit(entry)
    traces = ThreadTraces(watched)
    alone.run(limit=LONGEST)
    watched.run(traces, limit=LONGEST)
    for what, mine, theirs in (
        ("registers", watched.memory.data, alone.memory.data),
        ("f0", watched.flags, alone.flags),
        ("instructions issued", watched.issued, alone.issued),
    ):
        if (mine != theirs).any():
            yield f"{what}: other than where nobody watches"
    if [each.payload.tobytes() for each in told.requests] != [each.payload.tobytes() for each in sent.requests]:
        yield "messages: other than where nobody watches"
    noted: list[int] = []

    def issued(thread: int, instruction: int, since: int, cycle: int, held: int, waits: Stretches) -> None:
        noted.append(instruction)

    config = EuConfig()
    cycles = schedule(watched.instructions, traces.steps, config).cycles
    seen = schedule(watched.instructions, traces.steps, config, watcher=issued, carrier=lambda *rest: None).cycles
    if seen != cycles or noted != [step.number for step in traces.steps[0]]:
        yield f"cycles: {seen}, where nobody watches {cycles}"


# Judging of a folder: every file of records that it has, kind by kind, and the report of that.


_SHOWN = 10
"""Differences that the report spells out."""
_ABSENT = {
    "kernels": "kernels*.json", "programs": "programs*.json", "program_runs": "program_runs*.json",
    "regions_source": "regions_source*.csv", "regions_instructions": "regions_instructions*.csv",
    "regions_mesa": "regions_mesa*.csv", "yuv_rgb": "yuv_rgb*.json",
}  # fmt: skip


@dataclass(slots=True)
class Judgement:
    """What came of a folder."""

    folder: Path
    found: list[Judged] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    """What is not there, and why it was skipped."""

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return for each kind how many records are equal, and how many there are."""
        result: dict[str, tuple[int, int]] = {}
        for each in self.found:
            equal, total = result.get(each.kind, (0, 0))
            result[each.kind] = (equal + (not each.difference), total + 1)
        return result

    def leave_out(self, what: str, reasons: Counter[str]) -> None:
        """Note how many records have no other width, and why."""
        if reasons:
            self.skipped[what] = "; ".join(f"{count} with {reason}" for reason, count in reasons.most_common())

    @property
    def different(self) -> list[Judged]:
        """Records that differ."""
        return [each for each in self.found if each.difference]


def judge(folder: Path) -> Judgement:
    """Judge every file of records in a folder; what is absent is skipped. Raises InputError where a file is damaged."""
    if not folder.is_dir():
        raise InputError(Fault("is no folder of records", Place(str(folder)), "files: " + ", ".join(_ABSENT.values())))
    result = Judgement(folder)
    programs: dict[str, Entry] = {}
    for path in _files(result, "programs"):
        entries, names = _named(path)
        programs |= dict(zip(names, entries, strict=True))
        if _have(result, path, entries, "text"):
            result.found += judge_text("programs: text", path, entries, names, "text")
        result.found += judge_words("programs: words", path, entries, names)
        if any("rules_broken" in each for each in entries):
            result.found += judge_rules("programs: rules", path, entries, names)
    for path in _files(result, "kernels"):
        entries, names = _named(path)
        if _have(result, path, entries, "disasm"):
            result.found += judge_text("kernels: text", path, entries, names, "disasm")
        result.found += judge_words("kernels: words", path, entries, names)
        if _have(result, path, entries, "asm"):
            result.found += judge_sources("kernels: sources", path, entries, names)
        result.found += judge_kernels("kernels: registers", path, entries, names)
        result.found += judge_watched("kernels: watched", path, entries, names)
        for kind, widths in (("SIMD16 as SIMD8", judge_narrowed), ("SIMD8 as SIMD16", judge_widened)):
            reasons = Counter[str]()
            result.found += widths(f"kernels: {kind}", path, entries, names, reasons)
            result.leave_out(f"{path.name}: {kind}", reasons)
    runs: tuple[tuple[str, str, Callable[..., Iterator[Judged]]], ...] = (
        ("program_runs", "runs of programs", judge_runs),
        ("yuv_rgb", "colours", judge_colours),
    )
    for stem, kind, check in runs:
        for path in _files(result, stem):
            entries, names = _named(path)
            if programs:
                result.found += check(kind, path, entries, names, programs)
                if stem == "program_runs":
                    reasons = Counter[str]()
                    kind = "runs: SIMD16 as SIMD8"
                    result.found += judge_narrowed_runs(kind, path, entries, names, programs, reasons)
                    result.leave_out(f"{path.name}: SIMD16 as SIMD8", reasons)
            else:
                result.skipped[path.name] = "there are no programs in the folder"
    tables: tuple[tuple[str, str, Callable[..., Iterator[Judged]]], ...] = (
        ("regions_source", "regions of sources", judge_regions),
        ("regions_instructions", "instructions: text and rules", judge_instructions),
        ("regions_mesa", "cases of rules", judge_cases),
    )
    for stem, kind, check in tables:
        for path in _files(result, stem):
            result.found += check(kind, path, read_table(path))
    return result


def _have(result: Judgement, path: Path, entries: list[Entry], key: str) -> bool:
    """Return whether all records of a file have a field; note it where they have not."""
    found = bool(entries) and all(key in each for each in entries)
    if not found:
        result.skipped[f"{path.name}: {key}"] = "not in every record"
    return found


def _files(result: Judgement, stem: str) -> list[Path]:
    """Return the files of a kind, plain or gzipped; note it where there is none."""
    pattern = _ABSENT[stem]
    found = sorted({*result.folder.glob(pattern), *result.folder.glob(pattern + ".gz")})
    if not found:
        result.skipped[pattern] = "not in the folder"
    return found


def _named(path: Path) -> tuple[list[Entry], list[str]]:
    """Return the records of a file with their names; runs are called by program and case."""
    entries = read_json(path)
    names = []
    for at, each in enumerate(entries):
        parts = [str(each[key]) for key in ("name", "program", "case", "matrix") if key in each]
        names.append(" ".join(parts) or f"record {at}")
    return entries, names


def report(folder: Path, workers: WorkerPool = HERE, progress: Counting = unseen) -> Report:
    """Judge a folder and report: how many records are equal, and the first difference of those that are not.

    A folder is one piece of work: kernels and runs are judged with the programs of the other files.
    """
    progress(1, 1, folder.name)
    ((_, found),) = workers.finished(judge, [folder], lambda folder: f"the folder {folder.name}")
    counts, different = found.counts(), found.different
    rows = [(kind, equal, total - equal) for kind, (equal, total) in counts.items()]
    parts: list[Part] = [ReportTable((Column("records"), Column("equal", number), Column("different", number)), rows)]
    parts += [f"skipped: {name} ({reason})" for name, reason in found.skipped.items()]
    for each in different[:_SHOWN]:
        parts.append(f"{each.kind}, {each.name}: {each.difference}")
    if len(different) > _SHOWN:
        parts.append(f"and {len(different) - _SHOWN} more")
    data: dict[str, Json] = {
        "folder": str(folder),
        "equal": sum(equal for equal, _ in counts.values()),
        "different": len(different),
        "records": {kind: {"equal": equal, "different": total - equal} for kind, (equal, total) in counts.items()},
        "skipped": dict(found.skipped),
        "differences": [{"kind": each.kind, "name": each.name, "difference": each.difference} for each in different],
    }
    nothing = "" if found.found else "nothing to judge"
    failure = "" if different else nothing or None
    return Report(results=parts, schema="pixelflow.gen6-records/1", data=data, failure=failure)
