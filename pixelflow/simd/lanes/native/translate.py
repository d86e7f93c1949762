"""Translation of a whole program: one function that executes a group from its current position to its end.

Registers are local variables, which LLVM keeps in registers of the host from block to block. They come from the group's
frame as the function begins and go back as it ends: when the group has ended, or when a branch leads it backwards and
either the note is full or the group has done as many steps as it may. Everything else continues without a look.

That is with care. In haste registers stay in the frame, parts that are alike share a function, and blocks are lists of
calls, so that there is little to compile.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache, lru_cache
from threading import Lock

from pixelflow.simd.lanes.form import Form, FormStep, Op
from pixelflow.simd.lanes.native.access_text import LaneAccess, MemoryAccesses
from pixelflow.simd.lanes.native.function_text import LaneVector
from pixelflow.simd.lanes.native.group_program import (
    GroupFrame,
    GroupProgram,
    RegisterPlace,
    Unsupported,
    needed_steps,
    touches,
)
from pixelflow.simd.lanes.native.toolchain import CAREFUL, HASTY, LANES, Toolchain, toolchain
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
  %status = call i64 @group(ptr %job, ptr %frame, i64 %t)
  switch i64 %status, label %stop [i64 {int(Status.ENDED)}, label %next i64 {int(Status.LIMITED)}, label %limit]
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
  %low = trunc i64 %status to i32
  ret i32 %low
stop.full:
  ret i32 {int(Status.FULL)}
done:
  store i64 %past, ptr %first.at
  ret i32 0
}}"""

_LINES = """
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


_WALK = """
define internal i64 @call0(ptr %job, ptr %frame, i64 %t, ptr %code) nounwind {
  ret i64 0
}

define internal i64 @walk(ptr %job, ptr %frame, i64 %t, ptr %code) nounwind noinline {
entry:
  %begin = ptrtoint ptr %code to i64
  br label %part
part:
  %place = phi i64 [%begin, %entry], [%past, %part]
  %at = inttoptr i64 %place to ptr
  %number = load i32, ptr %at
  %function.at = getelementptr ptr, ptr @calls, i32 %number
  %function = load ptr, ptr %function.at
  %operands = getelementptr i32, ptr %at, i64 1
  %past = call i64 %function(ptr %job, ptr %frame, i64 %t, ptr %operands)
  %more = icmp ugt i64 %past, LAST_STATUS
  br i1 %more, label %part, label %end
end:
  ret i64 %past
}
""".replace("LAST_STATUS", str(int(max(Status))))
"""Calls functions of parts, one after the other; each returns the place past its operands, or a `Status`."""

_ACROSS = (Op.ROUTE, Op.SERIES, Op.PATTERN, Op.SPREAD, Op.COLLECT, Op.RANK, Op.FETCH, Op.PUT)


@lru_cache(maxsize=4096)
def _is_across(form: Form) -> bool:
    """Return whether a step needs all lanes at once."""
    return any(step.op in _ACROSS for step in form.steps)


@dataclass(slots=True)
class _Function(MemoryAccesses):
    """The function of a program, or in haste one that it calls, as it is written down."""

    frame: GroupFrame = field(kw_only=True)
    program: GroupProgram = field(kw_only=True)
    strip: int = field(kw_only=True)
    """In haste, lanes of a vector of the host, which LLVM selects instructions for soonest; 0 with care."""
    functions: dict[tuple[object, ...], tuple[int, str]] = field(default_factory=dict)
    """Numbers, from 1, and texts of functions that are called, by all that they depend on."""
    code: list[int] = field(default_factory=list)
    """Calls of parts: the function, the first literal, places in the frame; 0 after those of a block."""
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

    def _local(self, place: RegisterPlace, at: str) -> LaneVector:
        """Return what a local variable or the frame holds."""
        size, element = 0 if place.single else self.group, "i1" if place.bits == 1 else "i32"
        return self.value(f"load {self._type(place)}, ptr {at}, align 1", element, size)

    def fill(self) -> None:
        """Make the local variables, with what the frame holds."""
        if not self.strip:
            self.do("%note.at = alloca ptr")
            self.do(f"store ptr {self.line('load ptr, ptr %note.place')}, ptr %note.at")
        for number, place in self.frame.places.items():
            if self.strip:
                self.do(f"%r{number} = getelementptr i8, ptr %frame, i64 {place.at}")
                continue
            self.do(f"%r{number} = alloca {self._type(place)}, align 1")
            value = self._local(place, self.place("i8", "%frame", place.at).name)
            self.do(f"store {value.typed}, ptr %r{number}, align 1")

    def empty(self) -> None:
        """Write the local variables back that the program changes."""
        if not self.strip:
            self.do(f"store ptr {self.line('load ptr, ptr %note.at')}, ptr %note.place")
        for number, place in self.frame.places.items():
            if place.is_written and not self.strip:
                value = self._local(place, f"%r{number}")
                self.do(f"store {value.typed}, {self.place('i8', '%frame', place.at).typed}, align 1")

    def register(self, number: int) -> GroupValue:
        """Return what a register holds."""
        if number not in self.registers:
            place = self.frame.places[number]
            self.registers[number] = GroupValue(place.bits, place.single, self._local(place, f"%r{number}").name)
        return self.registers[number]

    def keep(self) -> None:
        """Write to the local variables what has changed in this block."""
        values = {}
        for number in sorted(self.changed):
            how = self.named if self.frame.places[number].single else self.vector
            values[number] = how(self.registers[number])
        for number, value in values.items():
            self.do(f"store {value.typed}, ptr %r{number}, align 1")
        self.registers.clear()
        self.changed.clear()

    # --- parts ----------------------------------------------------------------------------------------------

    def called(self, number: int, needed: Sequence[bool]) -> None:
        """Add calls of a part's function, one for each strip of lanes if all steps work lane by lane."""
        (form, operands), fixed = self.program.parts[number], self.program.fixed[number]
        places = {each: self.frame.places[each] for each, is_row in zip(operands, form.is_row, strict=True) if is_row}
        stored = [places[operands[form.steps[at].detail]] for at in form.stores]
        whole = any(each.single for each in stored) or _is_across(form)
        lanes = self.group if whole or self.group % self.strip else self.strip

        def write(body: _Function) -> None:
            body.group = lanes
            body.do("%first = load i32, ptr %code")
            body.do("%literals = getelementptr i32, ptr %literals.all, i32 %first")
            for at, register in enumerate(places, 1):
                place = body.line(f"load i32, {body.place('i32', '%code', at).typed}")
                body.do(f"%r{register} = getelementptr i8, ptr %frame, i32 {place}")
            body.part(number, needed)
            body.keep()
            past = body.line(f"ptrtoint {body.place('i32', '%code', 1 + len(places)).typed} to i64")
            body.do(f"ret i64 {past}")

        kinds = {register: (at, each.bits, each.single) for at, (register, each) in enumerate(places.items())}
        operated = zip(operands, form.is_row, fixed, strict=True)
        what = [kinds[value] if is_row else value if known else None for value, is_row, known in operated]
        function = self._shared((form, *what, *needed), "ptr %job, ptr %frame, i64 %t, ptr %code", write)
        for lane in range(0, self.group, lanes):
            self.code += [function, self.literal, *(_lane_at(each, lane) for each in places.values())]
        self.literal += fixed.count(False)

    def _shared(self, alike: tuple[object, ...], arguments: str, write: Callable[[_Function], None]) -> int:
        """Return the number of the function that depends on what is given; the first time it is written."""
        if alike not in self.functions:
            number = 1 + len(self.functions)
            self.functions[alike] = number, ""
            body = replace(self, lines=[], label="entry", unsettled=[], registers={}, changed=set(), literal=0)
            write(body)
            self.functions[alike] = number, body.whole(f"@call{number}({arguments})")
        return self.functions[alike][0]

    def whole(self, head: str) -> str:
        """Return the text of the function."""
        for label, status in (("fault", Status.FAULT), ("conflict", Status.CONFLICT)):
            self.begin(label)
            self.do(f"ret i64 {int(status)}")
        return "\n".join([f"define internal i64 {head} nounwind {{\nentry:", *_given(self.lines), *self.lines, "}"])

    def look(self, access: LaneAccess, writes: bool, is_noted: bool) -> None:
        """Look at bounds and owners, and note lines: in haste by a function that all accesses alike share."""
        if not self.strip or access.mask is not None:
            MemoryAccesses.look(self, access, writes, is_noted)
            return

        def write(body: _Function) -> None:
            there = replace(access, address=LaneVector(body, "%address", 0, "i32"))
            MemoryAccesses.look(body, there, writes, is_noted)
            body.do("ret i64 0")

        alike = access.how, access.size, access.elements, writes, is_noted
        function = self._shared(alike, "ptr %job, i64 %t, i32 %address", write)
        self._leave_with(f"@call{function}(ptr %job, i64 %t, {access.address.typed})")

    def _leave_with(self, call: str) -> None:
        """Call a function that returns a status, and leave unless that is 0."""
        status = self.value(f"call i64 {call}", "i64")
        failed, on = self.new_label("failed"), self.new_label("on")
        self.branch(status.differs(0).name, failed, on, seldom=True)
        self.begin(failed)
        self.do(f"ret {status.typed}")
        self.begin(on)

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
            at = self.line("load ptr, ptr %note.at")
            self.do(f"store i32 {block}, ptr {at}")
            self.do(f"store {self.place('i32', at, 1).typed}, ptr %note.at")
        needed = needed_steps(program, block)
        begin = len(self.code)
        for number in parts:
            if self.strip and not program.branches[number]:
                self.called(number, needed[number])
                continue
            self._walk(begin)
            self.part(number, needed[number])
        self._walk(begin)
        self.do(f"store {(self._done() + len(parts)).typed}, ptr %done.at")
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

    def _walk(self, begin: int) -> None:
        """Execute the code that begins at a place, if there is any."""
        if begin < len(self.code) and self.code[-1]:
            self.code.append(0)
            code = f"ptr getelementptr (i32, ptr @code, i64 {begin})"
            self._leave_with(f"@walk(ptr %job, ptr %frame, i64 %t, {code})")

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
        self.do(f"store i32 {target + 1}, ptr %frame")
        self.leave_where(self._done() >= self.constant("%limit", 0, "i64"), "limited")
        if self.noting:
            at = self.value("load ptr, ptr %note.at", "ptr")
            self.leave_where(at > self.constant("%note.end", 0, "ptr"), "full")
        self.go(f"block{target}")

    def _done(self) -> LaneVector:
        return self.value("load i64, ptr %done.at", "i64")


def translated(
    program: GroupProgram, frame: GroupFrame, noting: int, tracked: bool, line_bits: int, strip: int = 0
) -> str:
    """Translate a program, in haste for strips of ``strip`` lanes, or with care.

    Raises Unsupported for what native code is not made for.
    """
    if program.shape.group > 32:
        raise Unsupported(f"groups of {program.shape.group} lanes")
    if not program.places.keys() >= {program.following} or not frame.places[program.places[program.following]].single:
        raise Unsupported("lanes of a group that go different ways")
    group = program.shape.group
    function = _Function(
        group, tracked=tracked, noting=noting, line_bits=line_bits, frame=frame, program=program, strip=strip
    )
    function.do("%literals = getelementptr i32, ptr %literals.all, i64 0")
    function.fill()
    function.do("%resume = load i32, ptr %frame, align 8")
    function.do("switch i32 %resume, label %block0 [RESUMED]")
    for block in range(len(program.begins)):
        function.block(block)
    for target in sorted(function.again):
        function.back(target)
    _leave(function)
    entry = " ".join([f"i32 {block + 1}, label %block{block}" for block in sorted(function.again) if noting])
    text = function.whole("@group(ptr %job, ptr %frame, i64 %t)").replace("RESUMED", entry, 1)
    body = "\n".join([*(each for _, each in function.functions.values()), text])
    if strip:
        calls = ", ".join(f"ptr @call{number}" for number in range(len(function.functions) + 1))
        code = ", ".join(map("i32 {}".format, function.code))
        body += f"""
{_WALK}
@calls = internal constant [{len(function.functions) + 1} x ptr] [{calls}]
@code = internal constant [{len(function.code)} x i32] [{code}]"""
    return "\n".join(
        [
            *function.declared,
            body,
            routines(body, line_bits),
            '!0 = !{!"branch_weights", i32 1, i32 2000}',
            "!1 = !{}",
        ]
    )


def _leave(function: _Function) -> None:
    """Write down the ways out."""
    do = function.do
    ways = {"ended": Status.ENDED, "limited": Status.LIMITED} | ({"full": Status.FULL} if function.noting else {})
    for label in ways:
        function.begin(label)
        if label == "ended":
            do("store i32 0, ptr %frame")
        do("br label %leave")
    function.begin("leave")
    status = function.line("phi i64 " + ", ".join(f"[{int(status)}, %{label}]" for label, status in ways.items()))
    function.empty()
    do(f"ret i64 {status}")


def _lane_at(place: RegisterPlace, lane: int) -> int:
    """Return the place of a lane of a register in the frame; a mask has eight to the byte."""
    return place.at + (0 if place.single else lane // 8 if place.bits == 1 else 4 * lane)


_WORDS = (
    ("literals.all", RunWord.LITERALS, "ptr"),
    ("table", RunWord.TABLE, "ptr"),
    ("size", RunWord.SIZE, "i64"),
    ("note.end", RunWord.NOTE_END, "ptr"),
    ("limit", RunWord.LIMIT, "i64"),
    ("memories", RunWord.MEMORY, "ptr"),
    ("stride", RunWord.MEMORY_BYTES, "i64"),
    ("lines.each", RunWord.LINES, "i64"),
)
_VALUES = {
    **{f"%{name}.place": f"getelementptr i64, ptr %job, i64 {int(word)}" for name, word, _ in _WORDS},
    **{f"%{name}": f"load {kind}, ptr %{name}.place" for name, _, kind in _WORDS},
    "%note.place": f"getelementptr i64, ptr %job, i64 {int(RunWord.NOTE)}",
    "%note.at": "getelementptr i8, ptr %note.place, i64 0",
    "%from.at": "getelementptr i8, ptr %frame, i64 4",
    "%done.at": "getelementptr i8, ptr %frame, i64 8",
    "%offset": "mul i64 %t, %stride",
    "%memory": "getelementptr i8, ptr %memories, i64 %offset",
    "%lines.before": "mul i64 %t, %lines.each",
    "%before": "trunc i64 %lines.before to i32",
    "%size.low": "trunc i64 %size to i32",
    **{f"%last{size}": f"sub i32 %size.low, {size}" for size in (1, 2, 4)},
    "%t.low": "trunc i64 %t to i32",
    "%t.one": "add i32 %t.low, 1",
    "%own": "shl i32 %t.one, 1",
    "%owned": "or i32 %own, 1",
    "%lanes": "alloca [32 x i32], align 64",
    "%words": "alloca [32 x i32], align 64",
    "%scratch": "alloca [65 x i32]",
}
"""Values of a run and of a group that functions take, each made from those before."""


def _given(lines: Sequence[str]) -> list[str]:
    """Return the lines that make the values which others take."""
    whole = "\n".join(lines)
    taken, found = set(_NAME_OF.findall(whole)), []
    for name, text in reversed(_VALUES.items()):
        if name in taken and f"{name} = " not in whole:
            taken.update(_NAME_OF.findall(text))
            found.append(f"  {name} = {text}")
    return found[::-1]


_NAME_OF = re.compile(r"%[a-z][a-z.]*\d?\b")


# Native code of programs: translated and compiled once for each way to run them, kept in the process and on disk.
#
# Programs are compiled in haste, in an eighth of the time; who executes much of one asks for it with care.


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
            strip = max(self.tools.vectors.width // 4, 8) if level == HASTY else 0  # 8 lanes are a byte of a mask
            text = translated(program, frame, noting, tracked, line_bits, strip)
            code = self.tools.compile([text], level, promotes=level == CAREFUL)
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
