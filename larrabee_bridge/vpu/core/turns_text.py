"""Native code for threads that take turns on a core: its text, the loop of `threads.py` cycle by cycle.

Everything lies in arrays of 64-bit numbers whose places have names: the core, its threads one after the other, each
followed by the cycles from which its registers have their values, and the tags of the caches, in each set from the
most to the least recently used line.
"""

from __future__ import annotations

__all__ = ["CORE", "FUNCTIONS", "THREAD", "text"]

FUNCTIONS = ("turns_begin", "turns_count")
"""``turns_begin(core, place)`` leads a thread of the order to its first instruction; ``turns_count(core)`` counts."""

CORE = (
    *("words", "bounds", "reads", "reads_at", "writes", "writes_at", "touches", "either", "branch", "latency"),
    *("threads", "thread_size", "order", "running", "dual", "rest"),
    *("caches", "ways", "l1", "l1_sets", "l2", "l2_sets", "l2_cycles", "memory_cycles"),
    *("end", "issued", "paired", "l1_misses", "l2_misses"),
)
"""Arrays by their addresses, numbers as they are, and last what comes out."""
THREAD = ("at", "words_end", "number", "past", "free", "ready", "registers")
"""Where its words go on and end, its next instruction (-1: none) and the end of that block; the first cycles in which
it may issue again, and in which that instruction has its operands."""


def text() -> str:
    """Return the functions as LLVM IR."""
    core = {name: f"i64 {8 * place}" for place, name in enumerate(CORE)}
    thread = {name: f"i64 {8 * place}" for place, name in enumerate(THREAD)}

    def get(value: str, name: str, *, of: str = "core") -> str:
        """Load a number of the core or of the thread at hand."""
        place = (core if of == "core" else thread)[name]
        return f"%{value}.p = getelementptr i8, ptr %{of}, {place}\n  %{value} = load i64, ptr %{value}.p"

    def put(value: str, name: str, *, of: str = "core") -> str:
        place = (core if of == "core" else thread)[name]
        at = f"%put.{name}.{value.lstrip('%-')}"
        return f"{at} = getelementptr i8, ptr %{of}, {place}\n  store i64 {value}, ptr {at}"

    def array(value: str, name: str, index: str) -> str:
        """Load a number of an array of the core."""
        return f"""\
%{value}.b.p = getelementptr i8, ptr %core, {core[name]}
  %{value}.b = load ptr, ptr %{value}.b.p
  %{value}.p = getelementptr i64, ptr %{value}.b, i64 {index}
  %{value} = load i64, ptr %{value}.p"""

    def count(misses: str) -> str:
        return f"{get(misses, misses)}\n  %{misses}.1 = add i64 %{misses}, 1\n  store i64 %{misses}.1, ptr %{misses}.p"

    latest = "call i64 @turns_latest(ptr %core, ptr %thread, i64 %number,"
    return f"""
define internal i64 @turns_later(i64 %a, i64 %b) nounwind {{
  %less = icmp slt i64 %a, %b
  %later = select i1 %less, i64 %b, i64 %a
  ret i64 %later
}}

; The latest cycle from which registers that an instruction reads, or writes, have their values.
define internal i64 @turns_latest(ptr %core, ptr %thread, i64 %number, ptr %names, ptr %places) nounwind {{
entry:
  %first.p = getelementptr i64, ptr %places, i64 %number
  %first = load i64, ptr %first.p
  %past.p = getelementptr i64, ptr %first.p, i64 1
  %past = load i64, ptr %past.p
  br label %look
look:
  %at = phi i64 [%first, %entry], [%at.next, %one]
  %latest = phi i64 [0, %entry], [%latest.next, %one]
  %more = icmp slt i64 %at, %past
  br i1 %more, label %one, label %end
one:
  %name.p = getelementptr i64, ptr %names, i64 %at
  %name = load i64, ptr %name.p
  %registers = getelementptr i8, ptr %thread, {thread["registers"]}
  %there.p = getelementptr i64, ptr %registers, i64 %name
  %there = load i64, ptr %there.p
  %latest.next = call i64 @turns_later(i64 %latest, i64 %there)
  %at.next = add i64 %at, 1
  br label %look
end:
  ret i64 %latest
}}

; Use a line of a cache; whether it was there.
define internal i1 @turns_touch(ptr %tags, i64 %sets, i64 %ways, i64 %line) nounwind {{
entry:
  %set = urem i64 %line, %sets
  %place = mul i64 %set, %ways
  %set.p = getelementptr i64, ptr %tags, i64 %place
  br label %way
way:
  %at = phi i64 [0, %entry], [%at.next, %other]
  %moved = phi i64 [%line, %entry], [%kept, %other]
  %tag.p = getelementptr i64, ptr %set.p, i64 %at
  %kept = load i64, ptr %tag.p
  store i64 %moved, ptr %tag.p
  %hit = icmp eq i64 %kept, %line
  br i1 %hit, label %there, label %other
other:
  %at.next = add i64 %at, 1
  %more = icmp slt i64 %at.next, %ways
  br i1 %more, label %way, label %missing
there:
  ret i1 true
missing:
  ret i1 false
}}

; Use so many lines; the cycles that a thread waits for the slowest of them.
define internal i64 @turns_wait(ptr %core, ptr %lines, i64 %count) nounwind {{
entry:
  {get("ways", "ways")}
  {get("l1", "l1")}
  %l1.tags = inttoptr i64 %l1 to ptr
  {get("l1_sets", "l1_sets")}
  {get("l2", "l2")}
  %l2.tags = inttoptr i64 %l2 to ptr
  {get("l2_sets", "l2_sets")}
  {get("l2_cycles", "l2_cycles")}
  {get("memory_cycles", "memory_cycles")}
  br label %next
next:
  %at = phi i64 [0, %entry], [%at.next, %done]
  %longest = phi i64 [0, %entry], [%longest.next, %done]
  %more = icmp slt i64 %at, %count
  br i1 %more, label %line, label %end
line:
  %line.p = getelementptr i32, ptr %lines, i64 %at
  %short = load i32, ptr %line.p
  %number = zext i32 %short to i64
  %in.l1 = call i1 @turns_touch(ptr %l1.tags, i64 %l1_sets, i64 %ways, i64 %number)
  br i1 %in.l1, label %done, label %beyond
beyond:
  {count("l1_misses")}
  %in.l2 = call i1 @turns_touch(ptr %l2.tags, i64 %l2_sets, i64 %ways, i64 %number)
  br i1 %in.l2, label %slice, label %memory
memory:
  {count("l2_misses")}
  br label %slice
slice:
  %cycles = phi i64 [%l2_cycles, %beyond], [%memory_cycles, %memory]
  br label %done
done:
  %taken = phi i64 [0, %line], [%cycles, %slice]
  %longest.next = call i64 @turns_later(i64 %longest, i64 %taken)
  %at.next = add i64 %at, 1
  br label %next
end:
  ret i64 %longest
}}

; Go on to the next instruction, in the same block or the next one, and note when it has its operands.
define internal void @turns_advance(ptr %core, ptr %thread, i64 %wanted) nounwind {{
entry:
  {get("past", "past", of="thread")}
  %same = icmp slt i64 %wanted, %past
  br i1 %same, label %known, label %leave
leave:
  {get("at", "at", of="thread")}
  {get("words_end", "words_end", of="thread")}
  %more = icmp slt i64 %at, %words_end
  br i1 %more, label %block, label %over
over:
  {put("-1", "number", of="thread")}
  ret void
block:
  {get("words", "words")}
  %words.there = inttoptr i64 %words to ptr
  %word.p = getelementptr i32, ptr %words.there, i64 %at
  %word = load i32, ptr %word.p
  %b = zext i32 %word to i64
  %at.next = add i64 %at, 1
  {put("%at.next", "at", of="thread")}
  {array("first", "bounds", "%b")}
  %b.next = add i64 %b, 1
  {array("end", "bounds", "%b.next")}
  {put("%end", "past", of="thread")}
  br label %known
known:
  %number = phi i64 [%wanted, %entry], [%first, %block]
  {put("%number", "number", of="thread")}
  {get("reads", "reads")}
  %names = inttoptr i64 %reads to ptr
  {get("reads_at", "reads_at")}
  %places = inttoptr i64 %reads_at to ptr
  %ready = {latest} ptr %names, ptr %places)
  {put("%ready", "ready", of="thread")}
  ret void
}}

; Issue the next instruction of a thread; for how many cycles that holds the pipe.
define internal i64 @turns_issue(ptr %core, ptr %thread, i64 %cycle) nounwind {{
entry:
  {get("number", "number", of="thread")}
  {array("touches", "touches", "%number")}
  %memory = icmp ne i64 %touches, 0
  br i1 %memory, label %access, label %issue
access:
  {get("at", "at", of="thread")}
  {get("words", "words")}
  %words.there = inttoptr i64 %words to ptr
  %count.p = getelementptr i32, ptr %words.there, i64 %at
  %short = load i32, ptr %count.p
  %count = zext i32 %short to i64
  %lines = getelementptr i32, ptr %count.p, i64 1
  %at.count = add i64 %at, 1
  %at.next = add i64 %at.count, %count
  {put("%at.next", "at", of="thread")}
  {get("caches", "caches")}
  %waits = icmp ne i64 %caches, 0
  br i1 %waits, label %wait, label %issue
wait:
  %waited = call i64 @turns_wait(ptr %core, ptr %lines, i64 %count)
  br label %issue
issue:
  %touched = phi i64 [0, %entry], [%count, %access], [%count, %wait]
  %missing = phi i64 [0, %entry], [0, %access], [%waited, %wait]
  %held = call i64 @turns_later(i64 %touched, i64 1)
  %past.issue = add i64 %cycle, %held
  %settled = add i64 %past.issue, %missing
  {array("latency", "latency", "%number")}
  %last = sub i64 %settled, 1
  %value = add i64 %last, %latency
  {array("first", "writes_at", "%number")}
  %number.next = add i64 %number, 1
  {array("past", "writes_at", "%number.next")}
  %registers = getelementptr i8, ptr %thread, {thread["registers"]}
  br label %look
look:
  %w = phi i64 [%first, %issue], [%w.next, %write]
  %more = icmp slt i64 %w, %past
  br i1 %more, label %write, label %end
write:
  {array("name", "writes", "%w")}
  %there.p = getelementptr i64, ptr %registers, i64 %name
  store i64 %value, ptr %there.p
  %w.next = add i64 %w, 1
  br label %look
end:
  {get("free", "free", of="thread")}
  %free.next = call i64 @turns_later(i64 %free, i64 %settled)
  {put("%free.next", "free", of="thread")}
  call void @turns_advance(ptr %core, ptr %thread, i64 %number.next)
  ret i64 %held
}}

; Whether the next instruction of a thread may issue beside its last one, which issued in this cycle.
define internal i1 @turns_may_pair(ptr %core, ptr %thread, i64 %last, i64 %cycle) nounwind {{
entry:
  {get("number", "number", of="thread")}
  %over = icmp slt i64 %number, 0
  br i1 %over, label %no, label %branches
branches:
  {array("branch", "branch", "%last")}
  {array("either", "either", "%number")}
  %not.branch = xor i64 %branch, 1
  %both = and i64 %not.branch, %either
  %may = icmp ne i64 %both, 0
  br i1 %may, label %settled, label %no
settled:
  {get("writes", "writes")}
  %names = inttoptr i64 %writes to ptr
  {get("writes_at", "writes_at")}
  %places = inttoptr i64 %writes_at to ptr
  %latest = {latest} ptr %names, ptr %places)
  {get("ready", "ready", of="thread")}
  %later = call i64 @turns_later(i64 %latest, i64 %ready)
  %there = icmp sle i64 %later, %cycle
  ret i1 %there
no:
  ret i1 false
}}

; A thread of the order, and the first cycle in which it may issue.
define internal ptr @turns_thread(ptr %core, i64 %place) nounwind {{
  {array("which", "order", "%place")}
  {get("size", "thread_size")}
  %offset = mul i64 %which, %size
  {get("threads", "threads")}
  %threads.there = inttoptr i64 %threads to ptr
  %thread = getelementptr i64, ptr %threads.there, i64 %offset
  ret ptr %thread
}}

define internal i64 @turns_when(ptr %core, i64 %place) nounwind {{
  %thread = call ptr @turns_thread(ptr %core, i64 %place)
  {get("free", "free", of="thread")}
  {get("ready", "ready", of="thread")}
  %when = call i64 @turns_later(i64 %free, i64 %ready)
  ret i64 %when
}}

define void @turns_begin(ptr %core, i64 %place) nounwind {{
  %thread = call ptr @turns_thread(ptr %core, i64 %place)
  call void @turns_advance(ptr %core, ptr %thread, i64 0)
  ret void
}}

define void @turns_count(ptr %core) nounwind {{
entry:
  br label %turn
turn:
  %cycle = phi i64 [0, %entry], [%soonest.cycle, %idle], [%cycle.after, %followed]
  %turn.at = phi i64 [0, %entry], [%turn.at, %idle], [%turn.next, %followed]
  {get("running", "running")}
  %any = icmp sgt i64 %running, 0
  br i1 %any, label %search, label %over
search:
  %step = phi i64 [0, %turn], [%step.next, %busy]
  %soonest = phi i64 [9223372036854775807, %turn], [%soonest.next, %busy]
  %step.more = icmp slt i64 %step, %running
  br i1 %step.more, label %try, label %idle
idle:
  %soonest.cycle = phi i64 [%soonest, %search]
  br label %turn
try:
  %straight = add i64 %turn.at, %step
  %wraps = icmp sge i64 %straight, %running
  %back = sub i64 %straight, %running
  %place = select i1 %wraps, i64 %back, i64 %straight
  %when = call i64 @turns_when(ptr %core, i64 %place)
  %now = icmp sle i64 %when, %cycle
  br i1 %now, label %chosen, label %busy
busy:
  %sooner = icmp slt i64 %when, %soonest
  %soonest.next = select i1 %sooner, i64 %when, i64 %soonest
  %step.next = add i64 %step, 1
  br label %search
chosen:
  %thread = call ptr @turns_thread(ptr %core, i64 %place)
  {get("last", "number", of="thread")}
  %held = call i64 @turns_issue(ptr %core, ptr %thread, i64 %cycle)
  {count("issued")}
  {get("dual", "dual")}
  %two = icmp ne i64 %dual, 0
  br i1 %two, label %beside, label %issued.one
beside:
  %pairs = call i1 @turns_may_pair(ptr %core, ptr %thread, i64 %last, i64 %cycle)
  br i1 %pairs, label %second, label %issued.one
second:
  %held.beside = call i64 @turns_issue(ptr %core, ptr %thread, i64 %cycle)
  %held.both = call i64 @turns_later(i64 %held, i64 %held.beside)
  {count("paired")}
  br label %issued.one
issued.one:
  %holds = phi i64 [%held, %chosen], [%held, %beside], [%held.both, %second]
  {get("rest", "rest")}
  %rested = add i64 %cycle, %rest
  {get("free", "free", of="thread")}
  %free.next = call i64 @turns_later(i64 %free, i64 %rested)
  {put("%free.next", "free", of="thread")}
  %cycle.after = add i64 %cycle, %holds
  {get("end", "end")}
  %end.cycle = call i64 @turns_later(i64 %end, i64 %cycle.after)
  {get("number", "number", of="thread")}
  %ended = icmp slt i64 %number, 0
  br i1 %ended, label %leave, label %stay
stay:
  store i64 %end.cycle, ptr %end.p
  %place.next = add i64 %place, 1
  br label %followed
leave:
  %end.last = call i64 @turns_later(i64 %end.cycle, i64 %free.next)
  store i64 %end.last, ptr %end.p
  %running.fewer = sub i64 %running, 1
  store i64 %running.fewer, ptr %running.p
  {get("order", "order")}
  %order.there = inttoptr i64 %order to ptr
  br label %shift
shift:
  %s = phi i64 [%place, %leave], [%s.next, %move]
  %s.more = icmp slt i64 %s, %running.fewer
  br i1 %s.more, label %move, label %followed
move:
  %s.next = add i64 %s, 1
  %from.p = getelementptr i64, ptr %order.there, i64 %s.next
  %from = load i64, ptr %from.p
  %to.p = getelementptr i64, ptr %order.there, i64 %s
  store i64 %from, ptr %to.p
  br label %shift
followed:
  %turn.wanted = phi i64 [%place.next, %stay], [%place, %shift]
  %left = phi i64 [%running, %stay], [%running.fewer, %shift]
  %beyond = icmp sge i64 %turn.wanted, %left
  %turn.next = select i1 %beyond, i64 0, i64 %turn.wanted
  br label %turn
over:
  ret void
}}"""
