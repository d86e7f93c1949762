"""A program: the only thing that crosses from the assembler to the machine.

The machine executes the words. Everything else (labels, routines, source lines) serves people: messages, listings,
reports. The object file (`.mco`) is JSON; its format is described in this package's README.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NotRequired, Self, TypedDict

from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.files import OBJECT, read_text, replacing
from pixelflow.simd.isa.declare import Declaration, Instruction, InstructionSet
from pixelflow.simd.isa.operands import OperandSpec, Target
from pixelflow.simd.report import Report, Shown, overview, plain_table

if TYPE_CHECKING:
    from pixelflow.simd.isa.kinds import ByKind

# What an object file must hold: the kind of every field, checked before any of it is used.


Check = Callable[[object, str], None]
"""Raises WrongField for a value of the wrong form; the second is the place of the value."""

_LARGEST = 1 << 40
"""No address, size, line number or count in an object file is larger."""
_WORD_DIGITS = 8


class WrongField(ValueError):
    """A field that is missing or of the wrong kind; the text says which and what was expected."""


def check_object(body: object) -> None:
    """Check the fields of an object file's JSON value; raises WrongField for the first wrong one."""
    _OBJECT(body, "")


def _text(value: object, where: str) -> None:
    if not isinstance(value, str):
        raise _wrong(where, "text", value)


def _whole_or_text(value: object, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise _wrong(where, "a whole number or a text", value)


def _word(value: object, where: str) -> None:
    if not isinstance(value, str) or len(value) != _WORD_DIGITS or not value.isalnum():
        raise _wrong(where, f"{_WORD_DIGITS} hexadecimal digits", value)


def _truth(value: object, where: str) -> None:
    if not isinstance(value, bool):
        raise _wrong(where, "true or false", value)


def _whole(low: int, high: int = _LARGEST) -> Check:
    def check(value: object, where: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise _wrong(where, f"a whole number from {low} to {high}", value)

    return check


def _one_of(*allowed: str) -> Check:
    def check(value: object, where: str) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise _wrong(where, f"one of {', '.join(allowed)}", value)

    return check


def _list(each: Check, length: int | None = None) -> Check:
    def check(value: object, where: str) -> None:
        if not isinstance(value, list) or (length is not None and len(value) != length):
            raise _wrong(where, "a list" if length is None else f"a list of {length}", value)
        for at, item in enumerate(value):
            each(item, f"{where}[{at}]")

    return check


def _by_name(each: Check) -> Check:
    def check(value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        for name, item in value.items():
            each(item, f"{where}[{name[:40]!r}]")

    return check


def _fields(fields: Mapping[str, Check], *, later: Mapping[str, Check] | None = None) -> Check:
    """Return the check of an object; ``later`` are fields that files of before lack."""
    more = later or {}

    def check(value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise _wrong(where or "the whole", "an object", value)
        for name in (fields.keys() - value.keys()) | (value.keys() - fields.keys() - more.keys()):
            raise WrongField(f"{where or 'the whole'} {'has a field' if name in value else 'lacks'} {name[:40]!r}")
        for name, each in ({**fields, **more}).items():
            if name in value:
                each(value[name], f"{where}.{name}" if where else name)

    return check


def _wrong(where: str, expected: str, found: object) -> WrongField:
    kind = {dict: "an object", list: "a list", str: "text", bool: "a truth value"}.get(type(found), "another value")
    return WrongField(f"{where} must be {expected}, found {found if type(found) is int else kind}"[:200])


_NATURAL = _whole(0)
_RANGE = {"name": _text, "start": _NATURAL, "size": _NATURAL}
_FORM = {"declared": _one_of("bytes", "word", "float")}
_ROUTINE = {
    "name": _text,
    "entry": _NATURAL,
    "end": _NATURAL,
    "parameters": _list(_text),
    "scratch": _list(_list(_NATURAL, 2)),
    "started": _truth,
}
_CONTRACT = {"entire": _list(_text), "apart": _list(_text)}
_DATA = {"start": _NATURAL, "values": _list(_whole(0, 255)), "lanes": _whole(0, 8)}
_LINE = {"file": _text, "line": _NATURAL, "text": _text}
_NEED = {"key": _text, "value": _whole_or_text, "why": _text}
_OBJECT = _fields(
    {
        "schema": _text,
        "sha256": _text,
        "words": _list(_word),
        "name": _text,
        "entries": _by_name(_NATURAL),
        "labels": _by_name(_NATURAL),
        "routines": _list(_fields(_ROUTINE, later=_CONTRACT)),
        "names": _list(_text),
        "ranges": _list(_fields(_RANGE, later=_FORM)),
        "data": _list(_fields(_DATA)),
        "lines": _list(_fields(_LINE)),
        "line_of": _list(_whole(-1)),
    },
    later={"needs": _list(_fields(_NEED))},
)


FIRST_SHOWN = 8
"""Instructions that a notebook shows of a program; the whole is what `microcode.listing()` is for."""


_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\0": "\\0"})


def quoted(text: str) -> str:
    """Return a text as the language writes it."""
    return f'"{text.translate(_ESCAPED)}"'


class SourceLine(NamedTuple):
    """A line of source text that an instruction came from."""

    file: str
    line: int
    text: str


class RangeForm(Enum):
    """How the bytes of a range are read."""

    BYTES = "bytes"
    WORD = "word"
    """One whole number of 1 to 8 bytes, low byte first, not negative."""
    FLOAT = "float"
    """IEEE binary32 numbers of 4 bytes each."""

    def misfit(self, size: int) -> str:
        """Return why a range of ``size`` bytes cannot be read so; empty where it can."""
        if self is RangeForm.WORD and size > WORD_BYTES:
            return f"a word has 1 to {WORD_BYTES} bytes"
        if self is RangeForm.FLOAT and size % FLOAT_BYTES:
            return f"binary32 numbers have {FLOAT_BYTES} bytes each"
        return ""


WORD_BYTES = 8
"""The longest whole number."""
FLOAT_BYTES = 4


class MemoryRange(NamedTuple):
    """A named range of memory, in bytes; ``declared`` is the form that its source says, empty where it says none."""

    name: str
    start: int
    size: int
    declared: str = ""

    @property
    def form(self) -> RangeForm:
        """How it is read: as declared; without that, as one number up to 8 bytes and as bytes beyond."""
        if self.declared:
            return RangeForm(self.declared)
        return RangeForm.WORD if self.size <= WORD_BYTES else RangeForm.BYTES


class Routine(NamedTuple):
    """A routine or procedure: words ``entry`` up to (not including) ``end``; ``scratch`` holds (start, size) pairs."""

    name: str
    entry: int
    end: int
    parameters: tuple[str, ...] = ()
    scratch: tuple[tuple[int, int], ...] = ()
    started: bool = True
    """True if it begins with START (a routine) or not (a procedure of the sequencer)."""
    entire: tuple[str, ...] = ()
    """Parameters that replace another one as a whole, or are separate from it."""
    apart: tuple[str, ...] = ()
    """Parameters that overlap no other one."""


class DataBlock(NamedTuple):
    """Initial memory: ``values`` are bytes starting at address ``start``, the same in every lane; with ``lanes`` set,
    the bytes hold each lane's own number, ``lanes`` bytes long, low byte first."""

    start: int
    values: tuple[int, ...] = ()
    lanes: int = 0


class Need(NamedTuple):
    """A value that the configuration of a run must have: its key as in a configuration file, and why, or nothing."""

    key: str
    value: int | str
    why: str = ""

    @property
    def text(self) -> str:
        """The requirement, as it is written in the language."""
        value = quoted(self.value) if isinstance(self.value, str) else self.value
        return f"{quoted(self.key)} = {value}" + (f", {quoted(self.why)}" if self.why else "")


@dataclass(frozen=True, repr=False)
class AssembledProgram(Shown):
    """An assembled program: frozen, savable, comparable by :attr:`sha256`.

    A machine derives its own from it, which says what the words mean.
    """

    instruction_set: ClassVar[InstructionSet[Declaration]]
    """Meaning of the words."""
    schema: ClassVar[str]
    """The first entry of its object file."""
    stream: ClassVar[str]
    """The stream that a program has that names none."""
    saved_enables: ClassVar[int | None] = None
    """How many enables can be saved inside each other; None where no instruction saves any."""
    started_routines: ClassVar[int | None] = None
    """How many started routines can run inside each other; None without a limit."""

    words: Sequence[int]
    """32 bits each, kept in four bytes; nothing changes them."""
    name: str = ""
    entries: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    routines: tuple[Routine, ...] = ()
    names: tuple[str, ...] = ()
    ranges: tuple[MemoryRange, ...] = ()
    data: tuple[DataBlock, ...] = ()
    lines: tuple[SourceLine, ...] = ()
    line_of: Sequence[int] = ()
    """For each instruction in order, its index in ``lines``; empty or -1 where the source is unknown."""
    needs: tuple[Need, ...] = ()
    """Configuration values that the program requires; a run with others is refused."""

    def __post_init__(self) -> None:
        if not self.entries:
            self.entries[self.stream] = 0
        for name, form in (("words", "I"), ("line_of", "i")):
            if not isinstance(given := getattr(self, name), array):
                vars(self)[name] = array(form, given)

    def __getstate__(self) -> dict[str, object]:
        # What is computed from the fields is computed again where it is sent to. Many small objects are sent as few.
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        lines = tuple([(each.file, each.line, each.text) for each in self.lines])
        return {**state, "lines": lines}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, lines=tuple([SourceLine(*each) for each in state["lines"]]))

    def __repr__(self) -> str:
        return f"Program({self.name!r}, {len(self.words)} words, sha256 {self.sha256[:12]})"

    def report(self) -> Report:
        """Return its size, its routines and ranges, and how it begins."""
        begin = zip(self.addresses, self.cycles, self.instructions, range(FIRST_SHOWN), strict=False)
        routines = tuple((each.name, each.entry, each.end - each.entry) for each in self.routines)
        tables = (
            plain_table(("routine", "at word", "words"), routines),
            plain_table(("range", "at byte", "bytes"), tuple((r.name, r.start, r.size) for r in self.ranges)),
            plain_table(("at word", "cycles", "instruction"), tuple((at, n, each.text()) for at, n, each, _ in begin)),
        )
        facts = (
            ("sha256", self.sha256),
            ("instructions", f"{len(self.instructions):,} in {len(self.words):,} words"),
            *(("needs", need.text) for need in self.needs),
            ("streams", ", ".join(f"{stream} from word {at}" for stream, at in self.entries.items())),
        )
        return overview(f"program {self.name or '(without a name)'}", facts, tables)

    @cached_property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions that the words mean, in order."""
        return self.instruction_set.decode_all(self.words)

    @cached_property
    def cycles(self) -> tuple[int, ...]:
        """The clock cycles of one execution of each instruction, by its declaration."""
        # The same words are one object: what it takes is asked once.
        once = {id(instruction): instruction for instruction in self.instructions}
        cycles = {number: instruction.cycles for number, instruction in once.items()}
        return tuple([cycles[id(instruction)] for instruction in self.instructions])

    @cached_property
    def addresses(self) -> tuple[int, ...]:
        """The word address of each instruction."""
        addresses, at = [], 0
        for instruction in self.instructions:
            addresses.append(at)
            at += instruction.words
        return tuple(addresses)

    def made_from(self, by_kind: ByKind) -> None:
        """Receive the instructions from which the words were made; only some programs have a use for them."""

    @cached_property
    def index_of(self) -> dict[int, int]:
        """From the word address of an instruction to its position in ``instructions``."""
        return {address: index for index, address in enumerate(self.addresses)}

    @cached_property
    def sha256(self) -> str:
        """A hash of what the machine sees: words, entries and initial memory."""
        data = [{"start": each.start, "values": each.values, "lanes": each.lanes} for each in self.data]
        seen = {"words": list(self.words), "entries": self.entries, "data": data}
        return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()

    @cached_property
    def analyses(self) -> dict[object, Any]:
        """Results of analyses of the program, by whatever they depend on: kept with it, but not part of it."""
        return {}

    def forget(self) -> None:
        """Drop the results of analyses, where accounts keep the program but nothing runs it again."""
        self.analyses.clear()

    @cached_property
    def _by_entry(self) -> list[Routine]:
        return sorted(self.routines, key=lambda routine: routine.entry)

    def routine_at(self, address: int) -> Routine | None:
        """Return the routine that holds a word address, or None for main code."""
        found = bisect_right(self._by_entry, address, key=lambda routine: routine.entry) - 1
        if found < 0 or address >= self._by_entry[found].end:
            return None
        return self._by_entry[found]

    def line_at(self, index: int) -> SourceLine | None:
        """Return the source line of instruction number ``index``, if it is known."""
        if index >= len(self.line_of) or self.line_of[index] < 0:
            return None
        return self.lines[self.line_of[index]]

    def where(self, index: int) -> str:
        """Return the place of instruction number ``index``, for messages: file and line, or its word address."""
        line = self.line_at(index)
        return f"{line.file}:{line.line}" if line else f"word {self.addresses[index]}"

    def range(self, name: str) -> MemoryRange:
        """Return a named range of memory; raises KeyError for an unknown name."""
        for found in self.ranges:
            if found.name == name:
                return found
        raise KeyError(name)

    def routine(self, name: str) -> Routine:
        """Return a routine by name; raises KeyError for an unknown name."""
        for found in self.routines:
            if found.name == name:
                return found
        raise KeyError(name)

    def to_json(self) -> str:
        """Return the object file's text; the same program always gives the same text."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        parts = {key: [each._asdict() for each in own[key]] for key in ("routines", "data", "lines", "needs")}
        body = {"schema": self.schema, "sha256": self.sha256, **own, **parts}
        body["words"], body["line_of"] = [f"{word:08x}" for word in self.words], list(self.line_of)
        # Only what is said, so that programs without it stay readable by earlier releases.
        body["ranges"] = [{k: v for k, v in each._asdict().items() if k != "declared" or v} for each in self.ranges]
        if not self.needs:
            del body["needs"]
        return json.dumps(body, sort_keys=True, indent=None, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, text: str, file: str = "<program>") -> Self:
        """Return the program of an object file's text; raises InputError where it is damaged or of another schema."""

        def refuse(message: str) -> InputError:
            return InputError(Fault(message, Place(file), "assemble the source again: pixelflow asm"))

        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            raise refuse("not an object file: this is not JSON") from None
        if not isinstance(body, dict) or body.get("schema") != cls.schema:
            found = body.get("schema") if isinstance(body, dict) else None
            raise refuse(f"not an object file of this version: schema {found!r}, expected {cls.schema!r}")
        try:
            check_object(body)
            program = cls(
                words=[int(word, 16) for word in body["words"]],
                name=body["name"],
                entries=body["entries"],
                labels=body["labels"],
                routines=tuple(_routine(item) for item in body["routines"]),
                names=tuple(body["names"]),
                ranges=tuple(MemoryRange(**item) for item in body["ranges"]),
                data=tuple(DataBlock(i["start"], tuple(i["values"]), i["lanes"]) for i in body["data"]),
                lines=tuple(SourceLine(**item) for item in body["lines"]),
                line_of=body["line_of"],
                needs=tuple(Need(**item) for item in body.get("needs", ())),
            )
            damaged = program.sha256 != body["sha256"]
            damaged |= any(not -1 <= index < len(program.lines) for index in program.line_of)
        except WrongField as error:
            raise refuse(f"damaged object file: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
            raise refuse("damaged object file: a field is missing or of the wrong kind") from None
        if damaged:
            raise refuse("damaged object file: the words do not match their checksum")
        _ = program.instructions  # refuse undecodable words now, not in the middle of a run
        return program

    def save(self, path: str | Path) -> None:
        """Write the object file."""
        with replacing(path) as stream:
            stream.write(self.to_json().encode())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an object file; raises InputError where it cannot be read or is not one."""
        return cls.from_json(read_text(path, OBJECT), str(path))


class _RoutineObject(TypedDict):
    """A routine as it is in an object file."""

    name: str
    entry: int
    end: int
    parameters: list[str]
    scratch: list[tuple[int, int]]
    started: bool
    entire: NotRequired[list[str]]
    apart: NotRequired[list[str]]


def _routine(item: _RoutineObject) -> Routine:
    scratch = tuple((int(start), int(size)) for start, size in item["scratch"])
    contract = tuple(item.get("entire", ())), tuple(item.get("apart", ()))
    of = item["name"], item["entry"], item["end"], tuple(item["parameters"]), scratch, bool(item["started"])
    return Routine(*of, *contract)


# Places of a program as people write and read them: a line, a file and a line, a label, a routine, a word address.


_FORMS = "forms: 12 (a line), file.mc:12, a label, a routine, *40 (a word address)"


_PYTHON = ".py"
"""Programs may be put together by calls, whose lines say less than the instructions that they make."""


class Code(NamedTuple):
    """Instructions of a program, and what they were asked for as."""

    text: str
    indices: frozenset[int]
    """Positions in ``program.instructions``."""


def find_code(program: AssembledProgram, text: str) -> Code:
    """Return where a place is: the first instructions of a line, wherever it was put; raises InputError.

    A line without instructions stands for the next one that has some.
    """
    if text.startswith("*"):
        return Code(text, frozenset({_at_address(program, text)}))
    file, colon, line = text.rpartition(":")
    if line.isascii() and line.isdigit():
        return _at_line(program, text, file if colon else None, int(line[:9]))
    return Code(text, frozenset(_named(program, text)))


def _named(program: AssembledProgram, text: str) -> set[int]:
    """Return where a label or routine is; of a label inside a routine the last part of its name will do."""
    places = {routine.name: routine.entry for routine in program.routines} | dict(program.labels)
    found = {at for name, at in places.items() if name == text}
    found = found or {at for name, at in places.items() if name.rpartition(".")[2] == text}
    if not found:
        close = nearest(text, places)
        raise _refusal(f"the program has no label or routine {text!r}", f"did you mean {close}?" if close else _FORMS)
    if not found <= program.index_of.keys():
        raise _refusal(f"{text} is past the last instruction")
    return {program.index_of[at] for at in found}


def _at_address(program: AssembledProgram, text: str) -> int:
    digits = text[1:]
    address = int(digits[:9]) if digits.isascii() and digits.isdigit() else None
    if address is None:
        raise _refusal(f"{text!r} is not a word address", _FORMS)
    if address not in program.index_of:
        raise _refusal(f"word {address} is not the start of an instruction", f"words: 0 to {program.addresses[-1]}")
    return program.index_of[address]


def _at_line(program: AssembledProgram, text: str, file: str | None, wanted: int) -> Code:
    lines = [program.line_at(index) for index in range(len(program.instructions))]
    files = list(dict.fromkeys(line.file for line in lines if line is not None))
    if not files:
        raise _refusal("the program knows no source lines", "use a label, or *ADDRESS")
    chosen = files[0] if file is None else _file(files, file)
    numbers = sorted({line.line for line in lines if line is not None and line.file == chosen})
    found = next((number for number in numbers if number >= wanted), None)
    if found is None:
        raise _refusal(f"{chosen} has no instruction from line {wanted} on", f"the last one is on line {numbers[-1]}")
    firsts = set()
    before = None
    for index, line in enumerate(lines):
        at = line is not None and line.file == chosen and line.line == found
        if at and not before:
            firsts.add(index)
        before = at
    return Code(text if found == wanted else f"{text} (line {found})", frozenset(firsts))


def _file(files: list[str], asked: str) -> str:
    found = [each for each in files if each == asked] or [each for each in files if each.endswith("/" + asked)]
    if len(found) != 1:
        why = f"no instruction comes from {asked!r}" if not found else f"{asked!r} may be {' or '.join(found)}"
        raise _refusal(why, f"files: {', '.join(files)}")
    return found[0]


def _refusal(message: str, hint: str | None = None) -> InputError:
    return InputError(Fault(message, hint=hint))


def place(program: AssembledProgram, index: int) -> str:
    """Return file name and line of an instruction, without folders, or its word address."""
    source = program.line_at(index)
    return f"{PurePath(source.file).name}:{source.line}" if source else f"word {program.addresses[index]}"


def source_text(program: AssembledProgram, index: int) -> str:
    """Return the source line of an instruction, or the instruction where its source is unknown or no microcode."""
    source = program.line_at(index)
    if source is None or PurePath(source.file).suffix == _PYTHON:
        return instruction_text(program, program.instructions[index])
    return source.text.strip()


def instruction_text(program: AssembledProgram, instruction: Instruction) -> str:
    """Return an instruction as assembly text, with names for targets and stages."""
    names = {at: name for name, at in program.labels.items()}
    names |= {routine.entry: routine.name for routine in program.routines}

    def name(spec: OperandSpec, value: int) -> str:
        if isinstance(spec.kind, Target):
            return names.get(value, str(value))
        return f'"{program.names[value]}"' if value < len(program.names) else str(value)

    return instruction.text(name)
