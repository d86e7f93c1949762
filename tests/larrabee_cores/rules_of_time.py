"""Rules of time as a table: a program, its cycles derived by hand, and its cycles with a value or the rule changed.

    python -m tests.larrabee_cores.rules_of_time

names the rules whose cycles differ, and returns 1 then. Caches are off unless a row sets them. "@16" is the cycle in
which an instruction issues; without another reason an instruction issues a cycle after the previous one. A program's
last instruction, halt, issues with the one before it. A line of the L2 slice takes 15 cycles, one of memory 310.

The second table has frames that cores share.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from larrabee_bridge.pipeline.back_end_programs import Attributes, plane_words
from larrabee_bridge.pipeline.schedule import FrameWork, ScheduleConfig, schedule
from larrabee_bridge.vpu import rotation as at
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.core_image import FREE, Queues, Requests, SharedCore, WorkRecord, take_turns
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import VectorProgram, assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.drawing import ScreenTriangles
from pixelflow.simd.lanes.words import ByteMemory
from tests.sabotage.broken_rules import differing

MEMORY = 1 << 19
"""Bytes that programs may touch."""
TAIL = "; ".join(["imul r1, 3"] * 10)
"""100 cycles."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; ``changed`` has other values of the configuration, or other fields of the row."""

    name: str
    source: str
    """Instructions with ``; `` between them."""
    cycles: int
    why: str
    changed: Mapping[str, object]
    then: int
    """Cycles with what is changed."""
    config: Mapping[str, object] = field(default_factory=dict)
    threads: int = 1
    memory: Mapping[int, int] = field(default_factory=dict)
    """Words of the memory by address."""
    requests: Sequence[tuple[int, ...]] = ()
    """Cycles of the texture unit, lines from memory, and the line of the answer if any: each thread executes the
    program, sends a request, and executes the program again when its answer is there."""
    unit: tuple[int, int] = (100, 0)
    """Latency of the texture unit, and cycles of a switch of fibers."""
    phases: Sequence[Sequence[int]] = ()
    """Phases of the pieces of each thread, which execute the program."""
    works: int = 1
    """Pieces of work, each the whole program, of which the last is measured."""
    kept: Sequence[int] = ()
    """Lines that each piece of work finds in the L2 slice."""
    quads: Sequence[int] = ()
    """Work threads for which the last thread deals quads, one a cycle; it then executes `TAIL`. They execute the
    program for each of theirs."""
    triangles: int = 0
    """Not ``source`` but the planes of this number of triangles, sixteen a thread."""

    def measured(self, *, native: bool = False) -> int:
        """Return the cycles of a core whose threads take turns."""
        return self.core(native=native).cycles

    def core(self, *, native: bool = False) -> SharedCore:
        """Return the account of that core."""
        if self.triangles:
            return self._of_planes(CoreConfig(**self.config), native)
        program, config = self._program(), CoreConfig(**self.config)
        if self.quads:
            return self._with_queue(program, config, native)
        note = self._note(program)
        if not (self.requests or self.phases or self.works > 1):
            return take_turns(program, note, config, native=native)
        record = WorkRecord(config, unit=self.unit)
        record.resident |= {*self.kept}
        whole = int(note.starts[-1])
        for work in range(self.works):
            for thread, phases in enumerate(self.phases or [[FREE]] * len(self.requests) or [[FREE]]):
                for order, phase in enumerate(phases):
                    self._add(record, program, note, (work, thread, order, phase), (0, whole))
        if self.requests:
            for thread in range(len(self.requests)):
                self._add(record, program, note, (0, thread, 1, FREE), (0, whole), wait=thread)
            busy, misses, line = np.array([(*each, -1)[:3] for each in self.requests]).T
            record.requests(Requests(0 * busy, busy, misses, line, np.arange(len(busy))))
        return record.count(native=native)[self.works - 1]

    def _add(
        self,
        record: WorkRecord,
        program: VectorProgram,
        note: RunNote,
        place: tuple[int, int, int, int],
        words: tuple[int, int],
        wait: int = -1,
    ) -> None:
        """Add a stretch, whose place is its work, thread, order and phase; with requests it asks, or waits."""
        number = record.program(program)
        work, thread, order = (np.array([each]) for each in place[:3])
        cuts = (np.zeros(1, np.int64), *(np.array([each]) for each in words))
        ask = place[1] if self.requests and wait < 0 else -1
        ranges = record.ranges(number, np.zeros((1, 0, at.RANGE), np.int64), 0)
        record.add(number, note, work, thread, order, ranges, phase=place[3], cuts=cuts, ask=ask, wait=wait)

    def alone(self) -> int | None:
        """Return the cycles by the account of a thread alone; None where threads, a unit or a miss can make it wait.

        Every prediction of that account is right, and two instructions of a cycle may both touch memory.
        """
        if self.threads > 1 or self.requests or self.phases or self.quads or self.triangles or "caches" in self.config:
            return None
        program = self._program()
        core = Core(program, 1, CoreConfig(**self.config))
        core(self._note(program))
        return int(core.cycles[0])

    def _program(self) -> VectorProgram:
        return assemble_vector(self.source.replace("; ", "\n") + "\n")

    def _note(self, program: VectorProgram) -> RunNote:
        memory = ByteMemory(MEMORY)
        unit = VectorUnit(program, self.threads, memory)
        unit.set_scalar(15, np.arange(self.threads))
        unit.set_vector(9, 64 * np.arange(16))
        for address, word in self.memory.items():
            memory.data[:, address : address + 4] = np.frombuffer(int(word).to_bytes(4, "little"), np.uint8)
        notes: list[RunNote] = []
        unit.run(notes.append, lines=True)
        return RunNote.joined(notes)

    def _of_planes(self, config: CoreConfig, native: bool) -> SharedCore:
        corners = np.tile([[0, 0], [999, 70], [50, 999]], (self.triangles, 1, 1))
        triangles = ScreenTriangles(corners, np.ones(corners.shape[:2], int), np.ones((*corners.shape[:2], 3), int))
        made = plane_words(triangles, 1, Attributes(floats=config.planes == "float"), config).done
        return take_turns(made.program, made.note, config, native=native)

    def _with_queue(self, program: VectorProgram, config: CoreConfig, native: bool) -> SharedCore:
        dealer, tail = (assemble_vector(text) for text in ("mov r1, 1\n", TAIL.replace("; ", "\n") + "\n"))
        worker, last = max(self.quads) + 1, len(self.quads)
        record = WorkRecord(config, queue=config.queued_quads, workers=[*range(worker), 0])
        stretches = [(program, whose, order, at.TAKES_A_QUAD) for order, whose in enumerate(self.quads)]
        stretches += [(dealer, worker, order, at.DEALS_A_QUAD) for order in range(last)] + [(tail, worker, last, 0)]
        for each, thread, order, mark in stretches:
            note = self._note(each)
            record.program(each, {0: mark} if mark else None)
            self._add(record, each, note, (0, thread, order, FREE), (0, int(note.starts[-1])))
        record.deal(Queues(np.zeros(last, np.int64), np.array(self.quads)))
        return record.count(native=native)[0]

    def after(self) -> Rule:
        """Return the row with what is changed."""
        own = {key: value for key, value in self.changed.items() if key in FIELDS}
        config = {key: value for key, value in self.changed.items() if key not in own}
        return replace(self, config={**self.config, **config}, cycles=self.then, **own)


@dataclass(frozen=True, slots=True)
class Frames:
    """A rule of frames that cores share; fields as those of `Rule`."""

    name: str
    works: Sequence[tuple[Sequence[int], Sequence[int]]]
    """Cycles of the PrimSets and of the bins of each work."""
    cycles: int
    why: str
    changed: Mapping[str, object]
    then: int
    config: Mapping[str, object] = field(default_factory=dict)
    """Two cores, one frame in flight, no locks and memory without limit, where it does not say so."""
    numbers: Sequence[int] = ()
    """Frames of the works, if they are not 0, 1, 2 and so on."""
    moved: Sequence[tuple[Sequence[int], Sequence[int]]] = ()
    """Bytes of the PrimSets and of the bins of each work."""

    def measured(self) -> int:
        """Return the cycles until the last core is done."""
        works = []
        for at, (front, back) in enumerate(self.works):
            moved = map(np.array, self.moved[at]) if self.moved else (None, None)
            number = self.numbers[at] if self.numbers else at
            works.append(FrameWork("x", np.array(front), np.array(back), number, *moved))
        usual = {"cores": 2, "frames_in_flight": 1, "lock_cycles": 0, "memory_bytes": 0}
        return schedule(works, ScheduleConfig(**{**usual, **self.config})).makespan

    def after(self) -> Frames:
        """Return the row with what is changed."""
        own = {key: value for key, value in self.changed.items() if key in ("works", "numbers", "moved")}
        config = {key: value for key, value in self.changed.items() if key not in own}
        return replace(self, config={**self.config, **config}, cycles=self.then, **own)


FIELDS = ("source", "threads", "works", "kept", "phases", "requests", "unit", "quads", "memory")
"""Fields of a row that ``changed`` may replace."""


def many(count: int, text: str) -> str:
    """Return an instruction ``count`` times, with the number of each."""
    return "; ".join(text.format(number) for number in range(1, count + 1))


CHAIN = many(8, "vaddps v1, v1, v3")
APART = many(4, "vaddps v{0}, v20, v21")
"""Four independent instructions."""
MAKE, USE, LAST, MORE = "vaddps v1, v2, v3", "vaddps v2, v1, v3", "vaddps v4, v5, v6", "vaddps v7, v8, v9"
MIXED = f"{MAKE}; add r1, 1; {LAST}; add r2, 1"
A, B, C = "vloadps v1, [0]", "vloadps v2, [4096]", "vloadps v3, [8192]"
D, E = "vloadps v8, [12288]", "vloadps v7, [16384]"
NEXT, FAR_LINE = "vloadps v2, [65536]", "vloadps v2, [131072]"
STORE = "vstored [0], v1"
SEND = f"{LAST}; vstored [131072], v1; {MORE}"
"""A line of the same set is stored to."""
PART = "vcmpeqpi k1, v1, v1; vstored [0]{k1}, v1"
TAKEN, NOT_TAKEN = (f"mov r4, {value}; cmp r1, r4; jz over; add r3, 1; over: {LAST}" for value in (0, 1))
NEST = "mov r1, 3; outer: mov r2, 3; inner: sub r2, 1; jnz inner; sub r1, 1; jnz outer"
ALTERNATING = "mov r1, 3; again: sub r1, 1; jnz again"
REAL = {"caches": True}
ONE_WAY = {"caches": True, "ways": 1, "l1_bytes": 8192, "l2_bytes": 131072}
"""Sets of one line: 128 in the L1 cache, 2,048 in the L2 slice."""
TWO_WAYS = {**ONE_WAY, "ways": 2}
"""64 sets of two lines in the L1 cache, 1,024 in the L2 slice."""
FOUR_WAYS = {**REAL, "ways": 4, "l1_bytes": 16384}
FOUR = "; ".join([*(f"vprefetch1 [{4096 * number}]" for number in (0, 1, 2, 3, 0)), "vevict [4096]"])
"""Lines of one set in the L1 cache, of which the first is used again and the second evicted."""
WAIT = "; ".join(["imul r9, 3"] * 15)
LONG_WAIT = f"{WAIT}; {WAIT}; {WAIT}"
GATHER = "vgatherd v1, v9, [0]"
"""Sixteen lines."""
STRAIGHT = "; ".join(["add r1, 1"] * 135)
"""136 instructions with halt: seventeen lines of eight."""
SMALL_CODE = {"caches": True, "code_bytes": 1024}
"""Two sets of eight lines: the nine even lines of `STRAIGHT` push one another out, the eight odd ones fit."""
TWICE = "; ".join(["mov r3, 2; again: add r1, 1", *["add r1, 1"] * 9, "sub r3, 1; jnz again", *["add r1, 1"] * 122])
"""As many instructions; the lines 0 and 1 are executed twice."""
PAIRS = many(80, f"{MAKE}; add r2, 1")
LEARNING = "mov r1, 3; again: cmp r1, r1; jz over; add r3, 1; over: sub r1, 1; jnz again"
SEVERAL = ("mov r5, 64; mov r6, 0; mov r7, 116; again: load r4, [r5]; cmp r4, r6; jz over; add r3, 1; over: add r5, 4; "
           "cmp r5, r7; jnz again")  # fmt: skip
PRODUCT = "imul r1, 3; add r1, 1"
ASK = "mov r1, 1"
READ_ANSWER = "load r1, [36992]; add r1, 1"
"""The line is 578."""

RULES = (
    # One thread: latencies and pairs.
    Rule("a vector result is used after 4 cycles", f"{MAKE}; {USE}", 5, "@0, @4", {"vector_latency": 6}, 7),
    Rule("independent instructions do not wait", f"{MAKE}; {LAST}", 2, "@0, @1", {"source": f"{MAKE}; {USE}"}, 5),
    Rule("a scalar result is used after 1 cycle", "add r1, 1; add r1, 1; add r1, 1", 3, "@0, @1, @2",
         {"scalar_latency": 2}, 5),
    Rule("a product of scalars is used after 10", "imul r1, 3; add r1, 1", 11, "@0, @10", {"multiply_latency": 4}, 5),
    Rule("a vector instruction that reads memory takes no longer", f"vaddps v1, v2, [64]; {USE}", 5, "@0, @4",
         {"load_op_cycles": 2}, 7),
    Rule("nor does a scalar one", "load r1, [64]; add r1, 1; add r1, 1", 3, "@0, @1, @2", {"scalar_latency": 2}, 5,
         config={"load_op_cycles": 2}),
    Rule("a scalar result is part of an address a cycle later", "mov r1, 64; load r2, [r1]", 3, "@0, 1 + 1: @2",
         {"address_cycles": 3}, 5),
    Rule("a register that nothing wrote is part of one at once", f"load r2, [r3]; {LAST}", 2, "@0, @1",
         {"source": f"mov r3, 0; load r2, [r3]; {LAST}"}, 4),
    Rule("an instruction waits for addresses and for operands", f"{MAKE}; mov r3, 64; vaddps v2, v1, [r3]", 5,
         "@0 both, v1 at 4: @4", {"vector_latency": 6}, 7),
    Rule("a scalar instruction issues with a vector one", MIXED, 3, "@0 both, @1 both, halt @2",
         {"dual_issue": False}, 5),
    Rule("two vector instructions do not pair", f"{MAKE}; {LAST}; {MORE}", 3, "@0, @1, @2",
         {"source": f"{MAKE}; mov r1, 1; {LAST}"}, 2),
    Rule("a vector instruction is the first of a pair only", f"mov r1, 1; {LAST}; {MORE}", 3, "@0, @1, @2",
         {"source": f"{LAST}; mov r1, 1; {MORE}"}, 2),
    Rule("two scalar ones pair", "mov r1, 1; mov r2, 1; mov r3, 1; mov r4, 1", 3, "@0 both, @1 both, halt @2",
         {"source": "add r1, 1; add r2, 1; add r3, 1; add r4, 1"}, 4),
    Rule("two of a cycle do not write the same register", "mov r1, 1; mov r1, 2; mov r1, 3", 3, "@0, @1, @2",
         {"source": "mov r1, 1; mov r2, 2; mov r3, 3"}, 2),
    Rule("a shift issues in the first pipe", f"{MAKE}; shl r1, 1; {LAST}", 3, "@0, @1, @2", {"shifts_beside": True}, 2),
    Rule("two of a cycle may both touch memory", f"vloadps v1, [0]; load r1, [64]; {LAST}", 2, "@0 both, @1",
         {"two_accesses": False}, 3),
    Rule("other two still pair, then", "mov r1, 1; mov r2, 1; mov r3, 1; mov r4, 1", 3, "@0 both, @1 both, halt @2",
         {"source": "load r1, [0]; load r2, [64]; load r3, [128]; load r4, [192]"}, 4, {"two_accesses": False}),
    Rule("its result comes after the last one", f"{GATHER}; {USE}", 20, "held to 16, v1 at 15 + 4: @19",
         {"gather_line_cycles": 2}, 36),
    Rule("two that issue together hold the pipes as long as the longer", f"{GATHER}; vstored [60], v12; {LAST}", 17,
         "sixteen lines and two: @16", {"source": f"vstored [60], v12; {LAST}"}, 3),
    Rule("a thread rests while it holds them", f"{GATHER}; {LAST}", 18, "@16, and one cycle of rest",
         {"back_to_back": True}, 17, {"back_to_back": False}),
    Rule("a gather of no lane takes a cycle", f"vgatherd v1{{k1}}, v9, [0]; {LAST}", 2, "@0, @1",
         {"source": f"{GATHER}; {LAST}"}, 17),
    Rule("a thread issues in consecutive cycles", APART, 4, "@0 to @3", {"back_to_back": False}, 8),
    Rule("each line of a gather holds the pipes for a cycle", GATHER, 16, "sixteen lines", {"gather_line_cycles": 2},
         32),
    Rule("but not of another access", f"vstored [60], v12; {LAST}", 3, "two lines: @2",
         {"source": f"{GATHER}; {LAST}"}, 33, {"gather_line_cycles": 2}),
    # Branches.
    Rule("a wrong prediction costs 4 cycles", TAKEN, 8, "@0, @1, jz @2 taken for the first time, @2 + 1 + 4 = @7",
         {"mispredicted_cycles": 0}, 4),
    Rule("a branch ahead is predicted not taken, nothing pairs with it", NOT_TAKEN, 5, "@0, @1, jz @2, add @3, @4",
         {"source": TAKEN}, 8),
    Rule("a branch back is predicted taken", ALTERNATING, 12, "@0, sub and jnz @1 to @6, the last +4, halt @11",
         {"mispredicted_cycles": 0}, 8),
    Rule("a branch waits for its flags", ALTERNATING, 12, "as above; if they pair, @1, @2, @3 + 5, halt @8",
         {"flags_pair": True}, 9),
    Rule("but nothing else does, even so", f"sub r1, 1; mov r2, r1; {LAST}", 3, "@0, @1, @2",
         {"source": f"sub r1, 1; mov r2, r3; {LAST}"}, 2, {"flags_pair": True}),
    Rule("one other way does not change a prediction", NEST, 44,
         "inner jnz wrong at each of three exits, outer at one: 28 cycles of instructions and 4 x 4; with one bit two "
         "more, 52", {"mispredicted_cycles": 0}, 28),
    Rule("a branch that was taken is predicted taken", LEARNING, 22,
         "@0, cmp @1, jz @2 wrong, sub @7, jnz @8, four a round, jz right; the last jnz @16 + 5, halt @21",
         {"mispredicted_cycles": 0}, 14),
    Rule("counters have four states", SEVERAL, 111,
         "first load @2; taken 4 times, 6 not, 3 taken: rounds of 6, or 7, and 4 more for wrong predictions: "
         "the first, two each as it turns, and the end; halt @110", {"mispredicted_cycles": 0}, 87,
         memory=dict.fromkeys(range(80, 104, 4), 1)),
    # Threads that take turns.
    Rule("ready threads take turns", f"{APART}; {A}; {APART}", 327,
         "loads @8 and @9 of one line, at 318; eight instructions in turns @319 to @326; if a thread went on as long "
         "as it can, its load would be @4: 323", {"threads": 1}, 319, REAL, threads=2),
    Rule("threads fill each other's latencies", CHAIN, 32, "four chains of eight: a cycle each", {"threads": 1}, 29,
         threads=4),
    Rule("the pipes that an access holds are the core's", GATHER, 32, "2 x 16", {"threads": 1}, 16, threads=2),
    Rule("for a cycle where no lane is enabled", f"vgatherd v1{{k1}}, v9, [0]; {LAST}", 4, "@0 and @1, @2 and @3",
         {"threads": 1}, 2, threads=2),
    Rule("so are those that the second of a pair holds", f"{LAST}; vstored [60], v12; {MORE}; {LAST}", 16,
         "four pairs of 2 cycles, for two lines; eight instructions",
         {"source": f"{LAST}; vstored [0], v12; {MORE}; {LAST}"},
         12, threads=4),
    Rule("a phase begins when the one before has ended", PRODUCT, 22, "@0, @10; the second thread @11, @21",
         {"phases": [[0], [0]]}, 12, phases=[[0], [1]]),
    Rule("the next thread follows one that has ended", "imul r1, 3", 22, "@0; the second @1, @11, @21; the third @2",
         {"phases": [[0], [0] * 2, [0]]}, 12, phases=[[0], [0] * 3, [0]]),
    Rule("with all of its pieces", PRODUCT, 34, "@0, @1, @10, @11; @12, @22; second thread @23, @33",
         {"phases": [[0, 0], [0, 0]]}, 24, phases=[[0, 0], [0, 1]]),
    Rule("a phase waits for each before it", PRODUCT, 33, "@0, @10; @11, @21; the third @22, @32",
         {"phases": [[0], [1], [1]]}, 23, phases=[[0], [1], [2]]),
    Rule("a phase without pieces is passed over", PRODUCT, 22, "@0, @10; the second thread @11, @21",
         {"phases": [[0], [0]]}, 12, phases=[[0], [2]]),
    Rule("even the first", PRODUCT, 22, "@0, @10; the second thread @11, @21", {"phases": [[1], [1]]}, 12,
         phases=[[1], [2]]),
    # Caches and memory.
    Rule("without caches every access hits", f"{A}; {LAST}", 2, "@0, @1", {"caches": True}, 312),
    Rule("a line of memory takes 300 and the ring both ways", f"{A}; {LAST}", 312, "@0, @311", {"memory_cycles": 100},
         112, REAL),
    Rule("the ring takes 5 cycles each way", f"{A}; {LAST}", 312, "@0, @311", {"ring_cycles": 20}, 342, REAL),
    Rule("a core takes a line in every other cycle", GATHER, 356, "16 held + 15 x 2 + 310", {"memory_line_cycles": 16},
         566, REAL),
    Rule("an access waits for its slowest line", f"vloadps v8, [960]; {GATHER}; {LAST}", 666,
         "311, 16 held, 14 x 2 + 310 for the last but one, @665", {"memory_cycles": 100}, 266, REAL),
    Rule("a line of the L2 slice takes 15", f"{A}; {C}; {A}; {LAST}", 639, "@0, @311, @622 + 15, @638",
         {"l2_cycles": 30}, 654, ONE_WAY),
    Rule("a line in the L1 cache takes none", f"{A}; {C}; {A}; {LAST}", 624, "@0, @311, @622, @623", {"ways": 1}, 639,
         TWO_WAYS),
    Rule("a cache has as many sets as its bytes give", f"{A}; {C}; {A}; {LAST}", 639, "one set of one line: @638",
         {"l1_bytes": 16384}, 624, ONE_WAY),
    Rule("a piece of work begins with empty caches", f"{A}; {LAST}", 312, "as the work before it: @0, @311",
         {"warm_caches": True}, 2, REAL, works=2),  # @0, @1: the line of the work before
    Rule("what each piece finds is used before what the last one left",
         "mov r1, 0; vloadps v1, [r1]; mov r1, 65536; vloadps v1, [r1]; mov r1, 4096; vloadps v1, [r1]; mov r1, 8192; "
         "vloadps v1, [r1]", 656, "line 0 has no place beside 2048 and 1024, which it pushes out: @2 + 310, "
         "@313 + 310, @624 + 15, @640 + 15", {"kept": ()}, 66, {**TWO_WAYS, "warm_caches": True}, works=2, kept=[2048]),
    Rule("each set has its own lines", f"{A}; {B}; vloadps v8, [64]; {A}; {LAST}", 935,
         "3 x 311 and a hit: 0 and 4096 share a set, 64 is in the next one",
         {"source": f"{A}; {B}; {C}; {A}; {LAST}"}, 950,
         TWO_WAYS),
    Rule("the L2 slice too", f"{A}; {FAR_LINE}; {A}; {LAST}", 934, "3 x 311, @933", {"l2_bytes": 262144}, 639, ONE_WAY),
    Rule("and each set of the L2 slice",
         f"{A}; vloadps v8, [64]; {NEXT}; vloadps v7, [4160]; vloadps v6, [8256]; vloadps v8, [64]; {LAST}", 1572,
         "5 x 311; 64 has left the L1 cache alone, 65536 shares a set with 0: 16, @1571", {"l2_cycles": 30}, 1587,
         TWO_WAYS),
    Rule("the line that was used last stays", f"{A}; {B}; {A}; {C}; {A}; {LAST}", 936,
         "3 x 311 and two hits; first in, first out would be 951", {"source": f"{A}; {B}; {C}; {A}; {LAST}"}, 950,
         TWO_WAYS),
    Rule("the line that was used last stays in the L2 slice",
         f"{A}; {NEXT}; {B}; {C}; {A}; {FAR_LINE}; {B}; {C}; {A}; {LAST}", 1620,
         "0, 65536 and 131072 share a set; B and C push A out of the L1 cache: 5 x 311, 4 x 16; first in, first out "
         "1915", {"source": f"{A}; {NEXT}; {B}; {C}; {FAR_LINE}; {B}; {C}; {A}; {LAST}"}, 1899, TWO_WAYS),
    Rule("a line may leave the L2 slice and stay in the L1 cache", f"{A}; {NEXT}; {A}; {FAR_LINE}; {A}; {LAST}", 936,
         "3 x 311 and two hits", {"ways": 1}, 1261, TWO_WAYS),
    Rule("an evicted line leaves first", f"{A}; {B}; vevict [4096]; {C}; {A}; {LAST}", 935,
         "3 x 311, vevict with B, A hits", {"source": f"{A}; {B}; {C}; {A}; {LAST}"}, 950, TWO_WAYS),
    Rule("from the L2 slice too",
         "vloadps v1, [128]; vloadps v2, [65664]; vevict [65664]; vloadps v3, [131200]; vloadps v5, [4224]; "
         f"vloadps v6, [8320]; vloadps v1, [128]; {LAST}", 1572, "5 x 311; 128 has left the L1 cache alone: 16, @1571",
         {"l2_cycles": 30}, 1587, TWO_WAYS),
    Rule("until then it is there", f"{A}; {B}; vevict [0]; {A}; {LAST}", 624, "2 x 311, A hits, @623",
         {"memory_cycles": 100}, 224, TWO_WAYS),
    Rule("one that is not there cannot be evicted", f"{A}; {B}; vevict [8192]; {A}; {B}; {LAST}", 625,
         "2 x 311, both hit, @624", {"memory_cycles": 100}, 225, TWO_WAYS),
    Rule("lines of the next set stay", f"{A}; {B}; vloadps v8, [64]; vevict [64]; {A}; {LAST}", 935,
         "3 x 311, vevict with the third, A hits", {"source": f"{A}; {B}; {C}; vevict [8192]; {A}; {LAST}"}, 950,
         TWO_WAYS),
    Rule("an evicted line leaves before the one used longest ago",
         f"{A}; {B}; {C}; {D}; vevict [4096]; {E}; {A}; {C}; {D}; {LAST}", 1559, "5 x 311, three hit, @1558",
         {"source": f"{A}; {B}; {C}; {D}; {E}; {A}; {C}; {D}; {LAST}"}, 1574, FOUR_WAYS),
    Rule("a prefetch brings a line into the L1 cache", f"vprefetch1 [64]; {LONG_WAIT}; load r8, [64]; {LAST}", 443,
         "@0, 45 products @1 to @441, load with the last one, @442",
         {"source": f"{LAST}; {LONG_WAIT}; load r8, [64]; {LAST}"}, 753, REAL),
    Rule("or from the slice", f"{A}; {C}; {LAST}; vprefetch1 [0]; load r8, [0]; {MORE}", 639,
         "2 x 311, asked for @622, there 15 later: load @623, @638", {"l2_cycles": 30}, 654, ONE_WAY),
    Rule("the other one into the L2 slice, even if it is in the L1 cache",
         f"{A}; {NEXT}; {A}; {FAR_LINE}; vprefetch2 [0]; {B}; {C}; {A}; {LAST}", 1573,
         "0 has left the slice at 623, is asked for then, and leaves the L1 cache at 1245: 5 x 311, @622, @1556 + 15",
         {"l2_cycles": 30}, 1588, TWO_WAYS),
    Rule("where it is, it takes no place among the misses under way",
         f"{A}; {LAST}; vprefetch2 [0]; vprefetch1 [64]; {MORE}", 314, "@0, @311 both, @312, @313",
         {"source": f"{A}; {LAST}; vprefetch2 [4096]; vprefetch1 [64]; {MORE}"}, 623, {**REAL, "misses_under_way": 1}),
    Rule("the other one into the L2 slice", f"vprefetch2 [64]; {LONG_WAIT}; load r8, [64]; {LAST}", 458,
         "@441 + 15, @457", {"source": f"vprefetch1 [64]; {LONG_WAIT}; load r8, [64]; {LAST}"}, 443, REAL),
    Rule("lines under way keep their times in a set",
         f"vprefetch1 [0]; {WAIT}; vprefetch1 [8192]; load r8, [0]; load r7, [8192]; {LAST}", 453,
         "@141 asked for the second; loads @142 and, the first there at 310, @311; the other 141 + 310, @452",
         {"memory_cycles": 400}, 553, TWO_WAYS),
    Rule("so do all of a larger set, used and evicted", f"{FOUR}; load r8, [0]; {LAST}", 312,
         "there at 310, 326, 342, 358; used and evicted @2; load @3, @311",
         {"source": f"{FOUR}; load r8, [8192]; {LAST}"}, 344, {**FOUR_WAYS, "memory_line_cycles": 16}),
    Rule("and each of the others", f"{FOUR}; load r8, [12288]; {LAST}", 360, "@359",
         {"source": f"{FOUR}; load r8, [4096]; {LAST}"}, 328, {**FOUR_WAYS, "memory_line_cycles": 16}),
    Rule("a line under way that is asked for again keeps its time",
         f"vprefetch1 [0]; {WAIT}; vprefetch1 [8192]; vprefetch1 [0]; load r8, [0]; {LAST}", 312,
         "there at 310: @311", {"memory_cycles": 400}, 412, TWO_WAYS),
    Rule("a line that is evicted on its way does, and the others",
         f"vprefetch1 [0]; {WAIT}; vprefetch1 [8192]; vevict [8192]; load r8, [0]; {TAIL}; load r8, [8192]; {LAST}",
         453, "the first there at 310, products @311 to @401, the second there at 141 + 310, @452",
         {"memory_cycles": 400}, 553, TWO_WAYS),
    Rule("a load waits for the rest of that, and the L2 slice", f"vprefetch2 [0]; {A}; {USE}", 330,
         "in the slice at 310; load @1, v1 at 310 + 15 + 4, @329", {"memory_cycles": 100}, 130, REAL),
    Rule("a load waits for the rest of a prefetch", f"vprefetch1 [64]; {WAIT}; load r8, [64]; {LAST}", 312,
         "the line is there at 310: load @141, @311", {"memory_cycles": 400}, 412, REAL),
    Rule("a thread waits for room among 32 prefetches", f"vprefetch1 [0]; vprefetch1 [64]; {LAST}", 2, "@0 both, @1",
         {"misses_under_way": 1}, 312, REAL),
    Rule("for the latest place that its lines need",
         f"{A}; {C}; {LAST}; vprefetch1 [64]; vprefetch1 [0]; vstored [188], v12; {MORE}", 935,
         "@0, @311, @622 both; prefetch and store @623, there at 932 and 638; two lines wait for these: 2 + 309, @934",
         {"misses_under_way": 4}, 626, {**ONE_WAY, "misses_under_way": 2}),
    Rule("which is taken until the latest of its lines is there",
         "vstored [8192], v12; vprefetch1 [128]; vprefetch1 [0]; vprefetch2 [128]", 329,
         "@0 both, the prefetch 15 after the store for its place, there at 310; @1 both, which the lines there at 15 "
         "and 310 leave taken to 310: 309; @16 both, 294 for 0, there at 326, and 310 for 128, which leaves it taken "
         "to 326; @311 both, 15 for 0; halt @327, @328", {"misses_under_way": 2}, 314,
         {**REAL, "misses_under_way": 1}, threads=2),
    Rule("a store waits for no line", f"{PART}; {LAST}", 6, "@0, @4, @5", {"stores_wait": True}, 316, REAL),
    Rule("a store of a whole line reads none", f"{STORE}; {LAST}", 17, "@0 + 15 for the place, @16",
         {"full_stores_read": True}, 312, {**REAL, "stores_wait": True}),
    Rule("a store to two lines reads both", f"vstored [60], v1; {LAST}", 315, "2 held, 2 + 310 for the second, @314",
         {"source": f"{STORE}; {LAST}"}, 17, {**REAL, "stores_wait": True}),
    Rule("a line that was stored to is sent to memory when it leaves", f"{STORE}; {SEND}", 33,
         "@0 + 15, @16 + 15, in which the first line is sent, @32", {"write_line_cycles": 100}, 118,
         {**ONE_WAY, "stores_wait": True}),
    Rule("a line that was only read leaves at once", f"{A}; {SEND}", 331, "v1 is there at 314, + 15, @330",
         {"source": f"{STORE}; {SEND}"}, 118,
         {**ONE_WAY, "stores_wait": True, "write_line_cycles": 100}),
    Rule("however often it was read", f"{A}; {A}; {SEND}", 332, "@311, v1 at 315, @315 + 15, @331",
         {"l2_cycles": 30}, 347, {**ONE_WAY, "stores_wait": True, "write_line_cycles": 100}),
    Rule("memory takes one line after the other",
         f"{STORE}; vstored [64], v1; vstored [131072], v1; vstored [131136], v1; vloadps v2, [512]; {LAST}", 513,
         "@0 both, @1 both: 1 + 100, + 100, then 310, @512", {"write_line_cycles": 50}, 413,
         {**ONE_WAY, "write_line_cycles": 100}),
    Rule("a store in the L1 cache marks the line, too", f"{A}; {STORE}; {SEND}", 417,
         "v1 is there at 314, @315 + 100, @416", {"write_line_cycles": 2}, 332,
         {**ONE_WAY, "stores_wait": True, "write_line_cycles": 100}),
    Rule("a line stored to twice is sent as well", f"{STORE}; {STORE}; {SEND}", 118, "@0 both + 15, @16 + 100, @117",
         {"write_line_cycles": 2}, 33, {**ONE_WAY, "stores_wait": True, "write_line_cycles": 100}),
    Rule("of a set only the line that was stored to is sent",
         f"{A}; {NEXT}; {STORE}; {SEND}; vstored [196608], v1; {MORE}", 741,
         "2 x 311, @622, @623 + 100 as 0 leaves, @724 + 15 as 65536 leaves, @740", {"write_line_cycles": 200}, 841,
         {**TWO_WAYS, "stores_wait": True, "write_line_cycles": 100}),
    Rule("a line that is stored to keeps its time behind another one",
         f"vprefetch1 [0]; vprefetch1 [65536]; {STORE}; vprefetch1 [8192]; vprefetch1 [4096]; load r8, [0]; {LAST}",
         327, "@0, @1, @2 both each; 0 is there at 310, the other 16 later, and has left the L1 cache: + 15, @326",
         {"memory_cycles": 100}, 127, {**TWO_WAYS, "memory_line_cycles": 16}),
    Rule("a line that was stored to keeps its time", f"{PART}; vprefetch1 [8192]; load r8, [0]; {LAST}", 331,
         "stored to @4, in the slice at 314, pushed out of the L1 cache: 314 + 15, @330", {"memory_cycles": 100}, 131,
         ONE_WAY),
    Rule("instructions beyond their cache come from the L2 slice", STRAIGHT, 271, "135 + 9 lines x 15 + 1",
         {"code_bytes": 2048}, 135, SMALL_CODE),
    Rule("an instruction is 8 bytes", STRAIGHT, 271, "17 lines for sixteen places", {"instruction_bytes": 4}, 135,
         SMALL_CODE),
    Rule("a line of code that came stays", TWICE, 286,
         "16 for the first line; mov and ten adds @16 to @25, sub @26, jnz @27; again @28 to @39, wrong, + 5; 122 adds "
         "@44 on, 8 lines x 15", {"code_bytes": 2048}, 150, SMALL_CODE),
    Rule("an instruction that is still to come does not pair", f"add r1, 1; {PAIRS}", 417,
         "16 for the first line, add, 80 pairs, of which the line ends within 20: 1 + 15 more each",
         {"source": f"mov r1, 1; mov r3, 1; {PAIRS}"}, 398, SMALL_CODE),  # 16, 81 pairs, 20 x 15, halt
    # Texture unit, queues of quads.
    Rule("the texture unit takes a request at a time", ASK, 133,
         "asked @0 and @1; begun at 0 + 1 + 15 = 16 and at 24; answers at 124 and 132", {"requests": [(8, 0)]}, 125,
         requests=[(8, 0), (8, 0)]),
    Rule("an answer takes the unit's latency", ASK, 125, "16 + 8 + 100 = @124", {"unit": (200, 0)}, 225,
         requests=[(8, 0)]),
    Rule("texels come from memory like other lines", ASK, 445, "16 + 9 x 2 + 310 + 100 = @444",
         {"memory_line_cycles": 16}, 571, requests=[(8, 10)]),
    Rule("those of the next request come after them", ASK, 465, "begun at 24, 36 + 9 x 2 + 310 + 100 = @464",
         {"requests": [(8, 10)]}, 445, requests=[(8, 10), (8, 10)]),
    Rule("an answer waits for the unit and for its texels", ASK, 517, "16 + 400 + 100 = @516", {"unit": (200, 0)}, 617,
         requests=[(400, 1)]),
    Rule("an answer is read from the L2 slice", READ_ANSWER, 452,
         "load @0, sum @311; 312 + 15 + 8 + 100 = 435: load @435 + 15, sum @451, though the line was in the L1 cache",
         {"l2_cycles": 30}, 482, REAL, requests=[(8, 0, 578)]),
    Rule("other lines of its set stay in the L1 cache", READ_ANSWER, 437, "load @435, sum @436",
         {"requests": [(8, 0, 578)]}, 452, REAL, requests=[(8, 0, 1090)]),
    Rule("a line is on its way until the answer is there", READ_ANSWER, 853,
         "sums @311, @312; answers at 435 and 335 + 400 + 100; loads @435, @835 until 835 + 15, sums @851, @852",
         {"l2_cycles": 30}, 883, REAL, requests=[(8, 0), (400, 0, 578)]),
    Rule("an answer may take the place of a line of the slice",
         "load r1, [36992]; load r2, [r1 + 168064]", 951,
         "@0, @312, answer at 436; from 623 on, 15, @640, which has left both", {"memory_cycles": 100}, 364, ONE_WAY,
         requests=[(8, 0, 578)]),
    Rule("the next fiber begins after a switch", ASK, 18, "answered at 17", {"unit": (0, 30)}, 32, requests=[(1, 0)],
         unit=(0, 0)),
    Rule("a set-up thread waits for room in a queue", CHAIN, 95,
         "deals @0, @2, @3, ten products @4 to @94", {"queued_quads": 1}, 123, quads=(0, 0, 0)),  # the third deal @31
    Rule("in the queue of the thread that gets the quad", CHAIN, 125,
         "deals @0, @2, @4; chains @1 and @3 to @31, the second @32, so the fourth is dealt @33; ten products to @124",
         {"queued_quads": 2}, 99,  # dealt @6, products @8 to @98
         {"queued_quads": 1}, quads=(0, 1, 1, 1)),
    Rule("a work thread waits for quads", CHAIN, 95, "chains @1, @33 and @65 to @93", {"quads": (0,) * 4}, 126,
         quads=(0, 0, 0)),
    Rule("each takes those of its own queue", CHAIN, 128, "chains @1, @33, @65, @97 and @3, @35, @67, @99 to @127",
         {"quads": (0, 1) * 5}, 160, quads=(0, 1) * 4),
    Rule("planes are integers, or floats", "", 1484, "four threads leave no cycle; 131 and "
         "fifteen stores of sixteen lines are 371 each: 2, corners 20, the pixel 6, the area's reciprocal 17, planes "
         "4 x 20, the colour 6",
         {"planes": "exact"}, 6412, {"planes": "float"}, triangles=64),
)  # fmt: skip
"""Every rule, and every value of the configuration."""


ONE = [((0,), (100, 40, 100))]
SCHEDULES = (
    Frames("bins begin when the last PrimSet is done", [((30, 10, 10), (5, 20, 5))], 54,
           "listed 1; 31 beside 11 and 11; listed @32; 6 and 6 beside 21 from @33", {"lock_cycles": 0}, 50,
           {"lock_cycles": 1}),
    Frames("bins are taken in the order of tiles", [((0,), (4, 4, 4, 12))], 16, "4 and 4 beside 4 and 12",
           {"longest_first": True}, 12),
    Frames("a core takes one at a time", [((7, 7, 7), (5, 5, 5))], 24, "two rounds of each", {"cores": 3}, 12),
    Frames("a frame waits for the one before", [((10,), (5, 30))] * 2, 80, "2 x (10 + 30)",
           {"frames_in_flight": 2}, 50),  # both PrimSets; then 5, 5 and 30 beside 30
    Frames("and the third for the first", [((10,), (10,))] * 3, 40, "two at once, then the third",
           {"frames_in_flight": 3}, 20, {"cores": 4, "frames_in_flight": 2}),
    Frames("and for those before, whatever their numbers", [((100,), (100,))] * 2, 480,
           "2 x (10 + 110 + 10 + 110): frame 2 waits for 0", {"frames_in_flight": 3}, 240, {"lock_cycles": 10}, (0, 2)),
    Frames("for all works of its frame", [((10,), (10,)), ((10,), (50,)), ((10,), (10,))], 80,
           "the longer one of frame 0 takes 60", {"numbers": (0, 0, 0)}, 60, {"cores": 3}, (0, 0, 1)),
    Frames("bins go before PrimSets", [((2, 2), (10,)), ((6, 6), (20,))], 34,
           "@2 the bin beside the first PrimSet of 6, @8 the second, @14 its bin", {"front_first": True}, 28,
           {"frames_in_flight": 2}),  # @2 and @2 to 8, then 20 beside 10
    Frames("bins of the frame before go first", [((0,), (10, 10, 10)), ((0,), (30,))], 40,
           "two of 10, then the third beside that of 30", {"works": [((0,), (30,)), ((0,), (10, 10, 10))]}, 30,
           {"frames_in_flight": 2}),
    Frames("lists go first", [((0,), (100, 100)), ((20,), (100,))], 250,
           "listed @0, PrimSets to @20 and @40, bins listed @20 and @40: 110 from @30 and @50, the third from @140",
           {"lock_cycles": 0}, 200, {"lock_cycles": 10, "frames_in_flight": 2}),
    Frames("locks of different cores overlap", [((0,), (50, 50, 50))], 90, "10 + 10 + 10 + 60",
           {"exclusive_locks": True}, 110, {"cores": 3, "lock_cycles": 10}),  # bins from @30, @40, @50
    Frames("bins are listed under the lock of bins", [((27,), (12,)), ((13,), (7,))], 105,
           "PrimSets listed @0, @10, taken @20, @30, done @57, @53; bins listed @53, @63, taken @73, @83 + 22",
           {"exclusive_locks": False}, 79,  # done @47, @33; listed, 22 from @57
           {"cores": 3, "lock_cycles": 10, "frames_in_flight": 2, "exclusive_locks": True}),
    Frames("bins share the memory", ONE, 140, "200 bytes a cycle for 100: 40 done @80; 60 left, alone",
           {"memory_bytes": 50}, 280,  # @160; 60 at half of its speed
           {"cores": 3, "memory_bytes": 100}, moved=[((0,), (10_000, 4_000, 0))]),
    Frames("what asks for no bytes is as fast as ever", [((0,), (100, 40, 200))], 200, "200",
           {"moved": [((0,), (10_000, 4_000, 20_000))]}, 340,  # a third: 40 done @120; half: 60 @240; 100 left
           {"cores": 3, "memory_bytes": 100}, moved=[((0,), (10_000, 4_000, 0))]),
    Frames("memory that is enough for all slows none", ONE, 100, "200 of 200", {"memory_bytes": 100}, 140,
           {"cores": 3, "memory_bytes": 200}, moved=[((0,), (10_000, 4_000, 0))]),
    Frames("so do PrimSets", [((10, 10), (5,))], 45, "80 bytes at 2, and 5", {"memory_bytes": 0}, 15,
           {"memory_bytes": 2}, moved=[((40, 40), (0,))]),
    Frames("what is under way becomes slower", [((0,), (100, 50, 50))], 150,
           "@50 the first has 50 left; both at half speed", {"memory_bytes": 20}, 100, {"memory_bytes": 10},
           moved=[((0,), (1_000, 0, 500))]),
    Frames("what begins then is as slow", [((0,), (100, 20, 20))], 140, "20 take 40 twice; @80 60 left, alone",
           {"memory_bytes": 20}, 100, {"memory_bytes": 10}, moved=[((0,), (1_000, 200, 200))]),
    Frames("bytes are spread over the lock, too", [((0,), (90,))], 230, "3 x 10; 200 bytes at 1",
           {"memory_bytes": 2}, 130, {"cores": 1, "lock_cycles": 10, "memory_bytes": 1}, moved=[((0,), (200,))]),
    Frames("ends are whole cycles", [((0,), (3,))], 5, "9 bytes at 2", {"memory_bytes": 3}, 3, {"memory_bytes": 2},
           moved=[((0,), (9,))]),
    Frames("of what begins and what becomes faster, too", [((0,), (100, 3, 3))], 104,
           "6 for 4: 3 take 4.5, so @5 and @10; 140 of 150 left, which take 93 1/3", {"memory_bytes": 6}, 100,
           {"memory_bytes": 4}, moved=[((0,), (300, 9, 9))]),
)  # fmt: skip
"""Every rule of the schedule, and every value of its configuration."""


if __name__ == "__main__":
    sys.exit(differing(RULES) | differing(SCHEDULES))
