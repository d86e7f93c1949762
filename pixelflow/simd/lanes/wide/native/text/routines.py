"""Functions that native code of a program calls: the loop over groups, and what seldom happens at accesses to memory.

Everything that a run needs stands in a record of 64-bit words, by the places below.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["RunWord", "Status", "routines"]


class RunWord(IntEnum):
    """What stands where in the record of a run."""

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
    """Where a group may still go on and not further: what it writes till it looks again fits past it."""
    STARTS = 11
    """For each group, where its words begin; written as it begins or goes on."""
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
