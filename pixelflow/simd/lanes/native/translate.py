"""Translation of a whole program: one function that executes a group from its current position to its end.

Registers are local variables, which LLVM keeps in registers of the host from block to block. They come from the group's
frame as the function begins and go back as it ends: when the group has ended, or when a branch leads it backwards and
either the note is full or the group has done as many steps as it may. Everything else continues without a look.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from threading import Lock

from pixelflow.simd.lanes.form import FormStep, Op
from pixelflow.simd.lanes.native.access_text import MemoryAccesses
from pixelflow.simd.lanes.native.function_text import LaneVector
from pixelflow.simd.lanes.native.group_program import (
    LINES,
    NOTHING,
    GroupFrame,
    GroupProgram,
    RegisterPlace,
    Unsupported,
    needed_steps,
    touches,
)
from pixelflow.simd.lanes.native.toolchain import CAREFUL, LANES, Toolchain, toolchain
from pixelflow.simd.lanes.native.word_text import GroupValue, Tree, constant
from pixelflow.simd.store import CODE, Store, digest_of, key_of, store

# Functions that native code of a program calls: the loop over groups, and what seldom happens at accesses to memory.
#
# Everything that a run needs is in a record of 64-bit words, by the places below.


class RunWord(IntEnum):
    """Words in the record of a run."""

    FRAMES = 0
    FRAME_BYTES = 1
    NEXT = 2
    """The group that is next; the first one to begin with."""
    PAST = 3
    """The number past the last group."""
    MEMORY = 4
    MEMORY_BYTES = 5
    """From the memory of one group to that of the next; 0 where they share one."""
    SIZE = 6
    LITERALS = 7
    TABLE = 8
    NOTE = 9
    """Where the next word of the note goes."""
    NOTE_END = 10
    """Where a group may still continue and not further: what it writes till it looks again fits past it."""
    STARTS = 11
    """For each group, where its words begin; written as it begins or continues."""
    NOTE_BEGIN = 12
    LIMIT = 13
    LIMITED = 14
    """The first group that was stopped at the limit, -1 without one."""
    LINES = 15
    """From the lines of one group's memory to those of the next."""


class Status(IntEnum):
    """How a run came back, and how a group did."""

    ENDED = 0
    FULL = 1
    """The note is full; to be called again."""
    FAULT = 2
    CONFLICT = 3
    LIMITED = 4


def routines(called: str, line_bits: int) -> str:
    """Return the text of those that a text calls; ``line_bits`` is the binary logarithm of the bytes of a line."""
    lines = _LINES.replace("LINE_BITS", str(line_bits)) if "@lane_lines" in called else ""
    return f"{_RANGE}\n{lines}"


def _word(name: str, word: RunWord, kind: str = "i64") -> str:
    return f"  %{name}.at = getelementptr i64, ptr %job, i64 {int(word)}\n  %{name} = load {kind}, ptr %{name}.at\n"


_RANGE = f"""
define i32 @range(ptr %job) nounwind {{
entry:
{_word("first", RunWord.NEXT)}{_word("past", RunWord.PAST)}{_word("frames", RunWord.FRAMES, "ptr")}
{_word("stride", RunWord.FRAME_BYTES)}{_word("starts", RunWord.STARTS, "ptr")}{_word("begin", RunWord.NOTE_BEGIN)}
{_word("end", RunWord.NOTE_END)}
  %note.at = getelementptr i64, ptr %job, i64 {int(RunWord.NOTE)}
  %limited.at = getelementptr i64, ptr %job, i64 {int(RunWord.LIMITED)}
  %any = icmp ult i64 %first, %past
  br i1 %any, label %group, label %done
group:
  %t = phi i64 [%first, %entry], [%after, %next]
  store i64 %t, ptr %first.at
  %note = load i64, ptr %note.at
  %words = sub i64 %note, %begin
  %start = lshr i64 %words, 2
  %start.at = getelementptr i64, ptr %starts, i64 %t
  store i64 %start, ptr %start.at
  %full = icmp ugt i64 %note, %end
  br i1 %full, label %stop.full, label %go
go:
  %offset = mul i64 %t, %stride
  %frame = getelementptr i8, ptr %frames, i64 %offset
  %status = call i32 @group(ptr %job, ptr %frame, i64 %t)
  switch i32 %status, label %stop [i32 {int(Status.ENDED)}, label %next i32 {int(Status.LIMITED)}, label %limit]
limit:
  %before = load i64, ptr %limited.at
  %none = icmp slt i64 %before, 0
  %which = select i1 %none, i64 %t, i64 %before
  store i64 %which, ptr %limited.at
  br label %next
next:
  %after = add i64 %t, 1
  %more = icmp ult i64 %after, %past
  br i1 %more, label %group, label %done
stop:
  ret i32 %status
stop.full:
  ret i32 {int(Status.FULL)}
done:
  store i64 %past, ptr %first.at
  ret i32 0
}}"""

_LINES = """
declare i64 @llvm.cttz.i64(i64, i1)

define internal i32 @insert(ptr %list, i32 %count, i32 %line) nounwind {
entry:
  br label %look
look:
  %i = phi i32 [%count, %entry], [%below, %less]
  %first = icmp eq i32 %i, 0
  br i1 %first, label %place, label %compare
compare:
  %below = sub i32 %i, 1
  %below.far = zext i32 %below to i64
  %below.at = getelementptr i32, ptr %list, i64 %below.far
  %there = load i32, ptr %below.at
  %same = icmp eq i32 %there, %line
  br i1 %same, label %known, label %order
order:
  %greater = icmp ugt i32 %there, %line
  br i1 %greater, label %less, label %place
less:
  br label %look
known:
  ret i32 %count
place:
  br label %move
move:
  %j = phi i32 [%count, %place], [%j.less, %shift]
  %arrived = icmp eq i32 %j, %i
  %j.far = zext i32 %j to i64
  %j.at = getelementptr i32, ptr %list, i64 %j.far
  br i1 %arrived, label %put, label %shift
shift:
  %j.less = sub i32 %j, 1
  %j.less.far = zext i32 %j.less to i64
  %from = getelementptr i32, ptr %list, i64 %j.less.far
  %moved = load i32, ptr %from
  store i32 %moved, ptr %j.at
  br label %move
put:
  store i32 %line, ptr %j.at
  %more = add i32 %count, 1
  ret i32 %more
}

define internal i32 @lane_lines(ptr %lanes, i64 %mask, i32 %bytes, ptr %list, i32 %before) nounwind noinline cold {
entry:
  %reach = sub i32 %bytes, 1
  %any = icmp ne i64 %mask, 0
  br i1 %any, label %lane, label %none
none:
  ret i32 0
lane:
  %left = phi i64 [%mask, %entry], [%rest, %lane]
  %n = phi i32 [0, %entry], [%n.two, %lane]
  %which = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %less = sub i64 %left, 1
  %rest = and i64 %left, %less
  %at = getelementptr i32, ptr %lanes, i64 %which
  %address = load i32, ptr %at
  %end = add i32 %address, %reach
  %first = lshr i32 %address, LINE_BITS
  %last = lshr i32 %end, LINE_BITS
  %first.all = add i32 %first, %before
  %last.all = add i32 %last, %before
  %n.one = call i32 @insert(ptr %list, i32 %n, i32 %first.all)
  %n.two = call i32 @insert(ptr %list, i32 %n.one, i32 %last.all)
  %more = icmp ne i64 %rest, 0
  br i1 %more, label %lane, label %done
done:
  ret i32 %n.two
}
"""
"""Makes an ascending list of the lines that lanes touch, each once; returns how many there are."""


@dataclass(slots=True)
class _Function(MemoryAccesses):
    """The function of a program, as it is written down."""

    frame: GroupFrame = field(kw_only=True)
    program: GroupProgram = field(kw_only=True)
    registers: dict[int, GroupValue] = field(default_factory=dict)
    """Current value of each register in this block, as far as it is known."""
    changed: set[int] = field(default_factory=set)
    literal: int = 0
    """The number of the next literal."""
    again: set[int] = field(default_factory=set)
    """Blocks that a branch leads back to."""

    # --- registers ------------------------------------------------------------------------------------------

    def _type(self, place: RegisterPlace) -> str:
        return self.of("i1" if place.bits == 1 else "i32", place.single)

    def _local(self, number: int) -> LaneVector:
        """Return what a local variable holds."""
        place = self.frame.places[number]
        size, element = 0 if place.single else self.group, "i1" if place.bits == 1 else "i32"
        return self.value(f"load {self._type(place)}, ptr %r{number}", element, size)

    def fill(self) -> None:
        """Make the local variables, with what the frame holds."""
        for number, place in self.frame.places.items():
            self.do(f"%r{number} = alloca {self._type(place)}")
        for number, place in self.frame.places.items():
            at, size = self.place("i8", "%frame", place.at), 0 if place.single or place.bits == 1 else self.group
            value = self.value(f"load {self.of('i32', not size)}, {at.typed}, align 4", "i32", size)
            if place.bits == 1:
                value = value.converted("trunc", "i1") if place.single else self.bits_of(value)
            self.do(f"store {value.typed}, ptr %r{number}")

    def empty(self) -> None:
        """Write the local variables back that the program changes."""
        for number, place in self.frame.places.items():
            if place.is_written:
                value = self._local(number)
                if place.bits == 1:
                    value = value.as_number() if value.size else value
                    value = value if value.element == "i32" else value.converted("zext", "i32")
                self.do(f"store {value.typed}, {self.place('i8', '%frame', place.at).typed}, align 4")

    def register(self, number: int) -> GroupValue:
        """Return what a register holds."""
        if number not in self.registers:
            place = self.frame.places[number]
            self.registers[number] = GroupValue(place.bits, place.single, self._local(number).name)
        return self.registers[number]

    def keep(self) -> None:
        """Write to the local variables what has changed in this block."""
        values = {}
        for number in sorted(self.changed):
            how = self.named if self.frame.places[number].single else self.vector
            values[number] = how(self.registers[number])
        for number, value in values.items():
            self.do(f"store {value.typed}, ptr %r{number}")
        self.registers.clear()
        self.changed.clear()

    # --- parts ----------------------------------------------------------------------------------------------

    def part(self, number: int, needed: Sequence[bool]) -> None:
        """Add a part."""
        program = self.program
        form, operands = program.parts[number]
        if program.branches[number]:
            self._write(program.places[program.following], constant(32, program.addresses[number + 1]))
        literals: dict[int, int] = {}
        for operand, known in enumerate(program.fixed[number]):
            if not known:
                literals[operand] = self.literal
                self.literal += 1
        accesses = [at for at, step in enumerate(form.steps) if touches(step)]
        values: list[GroupValue | None] = []
        for at, step in enumerate(form.steps):
            if not needed[at]:
                values.append(None)
                continue
            inputs = [value for value in (values[taken] for taken in step.inputs) if value is not None]
            values.append(self._step(step, inputs, operands, literals, bool(accesses) and at == accesses[-1]))

    def _step(
        self, step: FormStep, inputs: list[GroupValue], operands: Sequence[int], literals: dict[int, int], is_last: bool
    ) -> GroupValue | None:
        if touches(step):
            return self.access(step, inputs, is_last)
        if step.op is Op.LOAD:
            return self.register(operands[step.detail])
        if step.op is Op.STORE:
            self._write(operands[step.detail], inputs[0])
            return None
        if step.op is Op.LITERAL:
            if step.detail not in literals:
                return constant(32, operands[step.detail] & 0xFFFFFFFF)
            place = self.place("i32", "%literals", literals[step.detail])
            return GroupValue(32, True, self.line(f"load i32, {place.typed}, !invariant.load !1"))
        return self.compute(step, inputs)

    def _write(self, place: int, value: GroupValue) -> None:
        self.registers[place] = value
        self.changed.add(place)

    # --- blocks ---------------------------------------------------------------------------------------------

    def block(self, block: int) -> None:
        """Add a block."""
        program = self.program
        parts = program.parts_of(block)
        self.begin(f"block{block}")
        self.registers.clear()
        if self.noting:
            self.note, self.noted = self.line("load ptr, ptr %note.at"), 1
            self.do(f"store i32 {block}, ptr {self.note}")
            if self.noting == LINES:
                self.do(f"store {self.place('i32', self.note, 1).typed}, ptr %note.at")
        needed = needed_steps(program, block)
        for number in parts:
            self.part(number, needed[number])
        self.do(f"store {(self._done() + len(parts)).typed}, ptr %done.at")
        if self.noting and self.noting != LINES:
            self.do(f"store {self.place('i32', self.note, self.noted).typed}, ptr %note.at")
        tree: Tree | None = None
        if program.branches[parts[-1]]:
            following = self.registers[program.places[program.following]]
            self.named(following)
            tree = following.tree
        self.keep()
        if not program.branches[parts[-1]]:
            self.go(self._edge(block, parts[-1] + 1))
            return
        if tree is None:
            raise Unsupported("a branch to a computed address")
        self._go(block, tree)

    def _go(self, block: int, tree: Tree) -> None:
        """Continue where a tree of addresses says."""
        if isinstance(tree, int):
            self.go(self._edge(block, self._number_at(tree)))
            return
        where, yes, no = tree
        labels = self.new_label("yes"), self.new_label("no")
        self.branch(where, *labels)
        for label, each in zip(labels, (yes, no), strict=True):
            self.begin(label)
            self._go(block, each)

    def _number_at(self, address: int) -> int:
        if address == self.program.stopped:
            return len(self.program.parts)
        if address not in self.program.number_at:
            raise Unsupported(f"a branch to {address}, where nothing is")
        return self.program.number_at[address]

    def _edge(self, block: int, number: int) -> str:
        """Return the label to go to from a block to a part; backwards there is a look at limits."""
        if number == len(self.program.parts):
            return "ended"
        target = self.program.block_of(number)
        if self.program.begins[target] != number:
            raise Unsupported(f"a branch into the middle of a block, to part {number}")
        if target > block:
            return f"block{target}"
        self.again.add(target)
        self.do(f"store i32 {self.program.parts_of(block)[-1]}, ptr %from.at")
        return f"back{target}"

    def back(self, target: int) -> None:
        """Add the way back to a block."""
        self.begin(f"back{target}")
        self.do(f"store i32 {target + 1}, ptr %resume.at")
        self.leave_where(self._done() >= self.constant("%limit", 0, "i64"), "limited")
        if self.noting:
            at = self.value("load ptr, ptr %note.at", "ptr")
            self.leave_where(at > self.constant("%note.end", 0, "ptr"), "full")
        self.go(f"block{target}")

    def _done(self) -> LaneVector:
        return self.value("load i64, ptr %done.at", "i64")


def translated(program: GroupProgram, frame: GroupFrame, noting: int, tracked: bool, line_bits: int) -> str:
    """Translate a program; raises Unsupported for what native code is not made for."""
    if program.shape.group > 32:
        raise Unsupported(f"groups of {program.shape.group} lanes")
    if not program.places.keys() >= {program.following} or not frame.places[program.places[program.following]].single:
        raise Unsupported("lanes of a group that go different ways")
    function = _Function(
        program.shape.group, noting=noting, tracked=tracked, line_bits=line_bits, frame=frame, program=program
    )
    _enter(function)
    for block in range(len(program.begins)):
        function.block(block)
    for target in sorted(function.again):
        function.back(target)
    _leave(function)
    entry = [f"i32 {block + 1}, label %block{block}" for block in sorted(function.again) if noting]
    lines = [line.replace("RESUMED", " ".join(entry)) for line in function.lines]
    body = "\n".join(lines)
    return "\n".join(
        [
            *function.declared,
            f"define internal i32 @group(ptr %job, ptr %frame, i64 %t) nounwind {{\n{body}\n}}",
            routines(body, line_bits),
            '!0 = !{!"branch_weights", i32 1, i32 2000}',
            "!1 = !{}",
        ]
    )


def _enter(function: _Function) -> None:
    """Write down how a group begins or continues."""
    do = function.do
    function.begin("entry")
    for name, word, kind in (
        ("literals", RunWord.LITERALS, "ptr"),
        ("table", RunWord.TABLE, "ptr"),
        ("size", RunWord.SIZE, "i64"),
        ("note.end", RunWord.NOTE_END, "ptr"),
        ("limit", RunWord.LIMIT, "i64"),
        ("memories", RunWord.MEMORY, "ptr"),
        ("stride", RunWord.MEMORY_BYTES, "i64"),
        ("lines.each", RunWord.LINES, "i64"),
        ("note.first", RunWord.NOTE, "ptr"),
    ):
        do(f"%{name}.place = getelementptr i64, ptr %job, i64 {int(word)}")
        do(f"%{name} = load {kind}, ptr %{name}.place")
    do("%offset = mul i64 %t, %stride")
    do("%memory = getelementptr i8, ptr %memories, i64 %offset")
    do("%lines.before = mul i64 %t, %lines.each")
    do("%before = trunc i64 %lines.before to i32")
    do("%size.low = trunc i64 %size to i32")
    for size in (1, 2, 4):
        do(f"%last{size} = sub i32 %size.low, {size}")
    do("%t.low = trunc i64 %t to i32")
    do("%t.one = add i32 %t.low, 1")
    do("%own = shl i32 %t.one, 1")
    do("%owned = or i32 %own, 1")
    do(f"%lanes = alloca {function.of('i32')}, align 64")
    do(f"%scratch = alloca [{2 * function.group + 1} x i32]")
    for name, kind in (
        ("note.at", "ptr"),
        ("done.at", "i64"),
        ("resume.at", "i32"),
        ("from.at", "i32"),
        ("status.at", "i32"),
    ):
        do(f"%{name} = alloca {kind}")
    do("store ptr %note.first, ptr %note.at")
    do("%resume = load i32, ptr %frame, align 8")
    do("store i32 0, ptr %resume.at")
    do("store i32 0, ptr %from.at")
    do("%from.place = getelementptr i8, ptr %frame, i64 4")
    do(f"store i32 {int(Status.ENDED)}, ptr %status.at")
    do("%done.place = getelementptr i8, ptr %frame, i64 8")
    do("%done = load i64, ptr %done.place")
    do("store i64 %done, ptr %done.at")
    function.fill()
    do("switch i32 %resume, label %block0 [RESUMED]")


def _leave(function: _Function) -> None:
    """Write down the ways out."""
    do = function.do
    for label, status in (("limited", Status.LIMITED), ("full", Status.FULL)):
        if label == "limited" or function.noting != NOTHING:
            function.begin(label)
            do(f"store i32 {int(status)}, ptr %status.at")
            do("br label %leave")
    function.begin("ended")
    do("store i32 0, ptr %resume.at")
    do("br label %leave")
    function.begin("leave")
    function.empty()
    for name, kind, place in (("note.at", "ptr", "%note.first.place"), ("done.at", "i64", "%done.place")):
        do(f"store {kind} {function.line(f'load {kind}, ptr %{name}')}, ptr {place}")
    do(f"store i32 {function.line('load i32, ptr %resume.at')}, ptr %frame")
    do(f"store i32 {function.line('load i32, ptr %from.at')}, ptr %from.place")
    do(f"ret i32 {function.line('load i32, ptr %status.at')}")
    for label, status in (("fault", Status.FAULT), ("conflict", Status.CONFLICT)):
        function.begin(label)
        do(f"ret i32 {int(status)}")


# Native code of programs: translated and compiled once for each way to run them, kept in the process and on disk.
#
# Programs are compiled in haste, which takes a third of the time; who executes much of one asks for it with care.


Native = Callable[[int], int]
"""Executes groups one after the other, by the address of a record (`RunWord`), and returns a `Status`."""

_NATIVE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)

_NAME = "range"


class CodeBuilder:
    """Builder of native code for one processor; code built before comes from the store."""

    def __init__(self, tools: Toolchain, kept: Store) -> None:
        self.tools, self._kept = tools, kept
        self._made: dict[str, Native] = {}
        self._making = Lock()
        """Held while a function is made: runs may be made in several threads."""

    def function(
        self, program: GroupProgram, frame: GroupFrame, noting: int, tracked: bool, line_bits: int, level: int = CAREFUL
    ) -> Native:
        """Return the function of a program, compiled at a level or with care where that was done before.

        Raises Unsupported for what native code is not made for, and whatever LLVM or the loader find wrong.
        """
        about = self._about(program, frame, noting, tracked, line_bits)
        with self._making:
            for each in dict.fromkeys((CAREFUL, level)):
                found = self._known(key_of(about, each))
                if found is not None:
                    return found
            text = translated(program, frame, noting, tracked, line_bits)
            code = self.tools.compile([text], level, promotes=True)
            (address,) = self.tools.load(code, [_NAME])
            self._kept.put(CODE, key_of(about, level), code)
            made = self._made[key_of(about, level)] = _NATIVE(address)
        return made

    def _known(self, key: str) -> Native | None:
        """Return what was made before, by this process or another one."""
        found = self._made.get(key)
        code = self._kept.get(CODE, key) if found is None else None
        if code is not None:
            with suppress(RuntimeError):
                found = self._made[key] = _NATIVE(self.tools.load(code, [_NAME])[0])
        return found

    def _about(self, program: GroupProgram, frame: GroupFrame, noting: int, tracked: bool, line_bits: int) -> str:
        parts = [
            (part.form.digest, [value if known else None for value, known in zip(part.operands, fixed, strict=True)])
            for part, fixed in zip(program.parts, program.fixed, strict=True)
        ]
        flow = program.branches, program.addresses, program.following, program.stopped, program.begins
        ways = program.shape.group, frame, noting, tracked, line_bits
        return key_of(digest_of(LANES), self.tools.identity, parts, flow, *ways)


@cache
def builder() -> CodeBuilder:
    """Return the builder for this host."""
    return CodeBuilder(toolchain(), store())
