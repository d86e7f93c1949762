"""The fixed mix of microinstructions that the engines are timed on.

Weights and memory use are those of a float-heavy program: add with carry and multiply steps dominate, half of the
register writes are gated, operands are anywhere in the 166 bytes of the bicubic memory map. The mix never changes
from one release to the next without a new name, so that figures stay comparable.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from benchmarks.benchmark import Benchmark, Case, Note, peak_megabytes, ratios, rounds_text
from pixelflow.config import THESIS
from pixelflow.isa import INSTRUCTIONS, Imm, Instruction, Mem, Program, Register, Unit, operands
from pixelflow.node.pe_array import PeArray
from pixelflow.simd.errors import InputError
from pixelflow.simd.isa.operands import Count
from pixelflow.simd.lanes import choose
from pixelflow.simd.lanes.engine import Action, Engine
from pixelflow.simd.report import Column, Fact, Part, Table, counted, fixed, number, spread

MIX_NAME = "mix/1"

# fmt: off
_WEIGHTS = {
    "ADD": 8, "ADC": 22, "SBC": 8,
    "AND": 5, "OR": 5, "XOR": 5,
    "LD": 6, "ST": 6, "ROL": 5, "ROR": 5,
    "EC": 5, "EMC_SetEnab": 3,
    "MSTEP": 12, "STI": 3,
    "EMC_PixCopy": 1, "EMC_TreeIntoMem_Li": 1,
}
# fmt: on
_BYTES = 166
_DISTINCT = 2000
_SEED = 1995


def _instruction(rng: random.Random, mnemonic: str) -> Instruction:
    declaration = INSTRUCTIONS[mnemonic]
    given: list[Any] = []
    for spec in declaration.operands:
        match spec.kind:
            case operands.REGISTER:
                given.append(rng.choice(list(Register)))
            case operands.SOURCE | operands.MEMORY:
                given.append(Mem(rng.randrange(_BYTES)))
            case operands.BYTE:
                given.append(Imm(rng.randrange(256)))
            case Count():
                # One byte over one PE or through the LEE: few cycles, so that they stay one instruction in the count.
                given.append(1)
            case operands.COEFFICIENT:
                given.append(rng.randint(-100, 100))
    gated = declaration.gateable and rng.random() < 0.5
    return INSTRUCTIONS.make(mnemonic, *given, gated=gated)


def mix_program(rounds: int) -> Program:
    """Return a program that executes the mix's 2,000 instructions ``rounds`` times."""
    rng = random.Random(_SEED)
    mnemonics = rng.choices(list(_WEIGHTS), list(_WEIGHTS.values()), k=_DISTINCT)
    body = [_instruction(rng, mnemonic) for mnemonic in mnemonics]
    framed = [INSTRUCTIONS.make("LOOP", rounds), *body, INSTRUCTIONS.make("ENDL"), INSTRUCTIONS.make("HALT")]
    return Program(tuple(word for instruction in framed for word in instruction.encode()), name=MIX_NAME)


def instructions() -> list[Instruction]:
    """Return the mix, and one instruction that enables all PEs again."""
    mix = [each for each in mix_program(1).instructions if each.declaration.unit is Unit.PE]
    return [*mix, INSTRUCTIONS.make("EMC_SetEnab")]


# The lane engines on the fixed mix of microinstructions, all in one process, interleaved in every round.
#
# Every engine executes the same prepared actions, without a sequencer: the mix, then one that enables all PEs again.
# Slow engines do it once in a round, fast ones several times, so that no measurement is too short for the clock.
# Ratios are medians of same-round ratios: a busy minute of the host slows both sides.


_SHORTEST = 0.02
"""Seconds that a measurement takes at least."""


@dataclass(slots=True)
class _Runner:
    """One engine with the work of a round."""

    name: str
    how: str
    threads: int
    engine: Any
    actions: list[Action]
    ready_seconds: float
    """From the first action prepared to the first run done; compiling included, in haste where that is possible."""
    bound_seconds: float | None = None
    """Lower bound of a pass over the mix by the count of its vector instructions, on the threads."""
    repeats: int = 1

    def once(self) -> tuple[float]:
        """Return the seconds of one pass over the mix."""
        program = self.actions * self.repeats
        begin = perf_counter()
        self.engine.run(program)
        settle(self.engine)
        return ((perf_counter() - begin) / self.repeats,)


def settle(engine: Engine) -> None:
    """Wait until an engine that works in the background is done."""
    engine.settle()


def _runner(
    name: str, how: str, threads: int, engine: Any, prepare: Callable[[Engine, list[Action]], list[Action]]
) -> _Runner:
    """Return an engine after its first run on the state of a node after start-up."""
    engine.restore(PeArray(THESIS, "rows").engine.snapshot())
    begin = perf_counter()
    actions = prepare(engine, [engine.prepare(each.apply) for each in instructions()])
    engine.run(actions)
    settle(engine)
    runner = _Runner(name, how, threads, engine, actions, perf_counter() - begin)
    if name == "compiled":
        engine.take_care()
    runner.repeats = max(1, round(_SHORTEST / runner.once()[0]))
    return runner


def _runners(note: Note) -> list[_Runner]:
    """Return the engines that work here; the compiled one interpreted and fused, on one thread and on all."""
    found = []
    for name in ("bit-serial", "rows"):
        found.append(_runner(name, "", 1, PeArray(THESIS, name).engine, lambda engine, actions: actions))
    choice = choose("compiled")
    if choice.note is not None:
        note(f"note: {choice.note}")
        return found
    from pixelflow.simd.lanes.native.compiled_engine import CompiledEngine  # needs llvmlite
    from pixelflow.simd.workers import usable_threads

    shape = found[0].engine.shape
    found.append(_runner("compiled", "interpreted", 1, CompiledEngine(shape, threads=1), _chained))
    note("fusing the mix: seconds where its native code is not on disk yet")
    for threads in dict.fromkeys((1, usable_threads())):
        found.append(_runner("compiled", "fused", threads, CompiledEngine(shape, threads=threads), prepared_chain))
    return found


def _bound(runners: list[_Runner], note: Note) -> None:
    """Count the vector instructions of the fused mix, and measure how fast this processor could execute them."""
    fused = [runner for runner in runners if runner.how == "fused"]
    if not fused:
        return
    from benchmarks.vector_bound import additions_per_second, vector_operations
    from pixelflow.simd.lanes.native.toolchain import toolchain

    note("counting the vector instructions of the fused mix")
    engine = fused[0].engine
    operations = sum(map(vector_operations, engine.assembly(fused[0].actions[0]))) * engine.strips * engine.tiles
    seconds = operations / additions_per_second(toolchain())
    for runner in fused:
        runner.bound_seconds = seconds / runner.threads


def _chained(engine: Engine, actions: list[Action]) -> list[Action]:
    chain = engine.chain(actions[:-1])
    chain.uses = None  # however often it runs, it stays as it is
    return [chain, actions[-1]]


def prepared_chain(engine: Any, actions: list[Action]) -> list[Action]:
    """Return actions as one fused chain, and the last of them."""
    chain = engine.chain(actions[:-1])
    engine.fuse(chain)
    return [chain, actions[-1]]


def engines(*, bound: bool = False, markdown: bool = False) -> Benchmark:
    """Return what measures every engine, against the rows engine and against the machine.

    With ``bound`` fused code is also compared with the least time of its vector instructions; an estimate.
    """

    def prepare(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
        runners = _runners(note)
        if bound:
            _bound(runners, note)
        yield (
            "",
            [
                Case(
                    " ".join(filter(None, (runner.name, runner.how))),
                    runner.once,
                    {
                        "engine": runner.name,
                        "how": runner.how or None,
                        "threads": runner.threads,
                        "ready": runner.ready_seconds,
                        "bound": runner.bound_seconds,
                    },
                )
                for runner in runners
            ],
        )

    return Benchmark(prepare, _markdown if markdown else _parts)


_COLUMNS = (
    Column("engine", fixed=True),
    Column(None, key="engine"),
    Column(None, key="how"),
    Column("threads", number, "threads"),
    Column("x rows [min..max]", spread(1), "against_rows"),
    Column("x slower than 100 MHz", fixed(1), "slowdown_against_machine"),
    Column("ms [min..max]", spread(2, 1e3), "seconds", optional=True),
    Column(None, key="pe_instructions_per_second"),
    Column(None, key="ready_seconds"),
    Column(None, key="share_of_counted_bound"),
)


def _rows(cases: Sequence[Case]) -> Iterator[tuple[Any, ...]]:
    executed = len(instructions())
    rows = next(case for case in cases if case.name == "rows")
    for case in cases:
        about, rate = case.about, executed / case.median()
        slowdown = THESIS.clock_mhz * 1e6 / rate
        share = None if about["bound"] is None else about["bound"] / case.median()
        yield (
            case.name, about["engine"], about["how"], about["threads"], ratios(case, rows), slowdown, case.spread(),
            rate * THESIS.lanes, about["ready"], share,
        )  # fmt: skip


def _head(case: Case) -> str:
    return f"{MIX_NAME} on {number(THESIS.lanes)} PEs, {rounds_text(case)}"


def _parts(cases: Sequence[Case]) -> list[Part]:
    """Return the ratios first, then the times."""
    rows = [*_rows(cases)]
    shares = [
        Fact(
            f"{row[0]}, {counted(row[3], 'thread')}: {fixed(0)(100 * row[-1])} % of what its vector instructions allow "
            "(estimated: counted, at the measured rate of additions)",
            wrap=False,
        )
        for row in rows
        if row[-1] is not None
    ]
    return [
        Fact(_head(cases[0]), key="engine.mix", value=MIX_NAME),
        Fact(None, key="engine.rounds", value=len(cases[0].times)),
        Fact(None, key="engine.microinstructions", value=len(instructions())),
        Table(_COLUMNS, rows, key="engine.engines"),
        *shares,
        memory_line("engine"),
    ]


def memory_line(what: str) -> Fact:
    """Return the peak memory of this process; no text where the system does not report it."""
    memory = peak_megabytes()
    text = None if memory is None else f"peak memory of this process: {memory} MB"
    return Fact(text, key=f"{what}.peak_memory_megabytes", value=memory)


def _markdown(cases: Sequence[Case]) -> list[Part]:
    """Return the ratios as a table for a README."""
    lines = [
        _head(cases[0]),
        "",
        "| engine | threads | x rows | x slower than 100 MHz | G PE-instructions/s |",
        "| --- | --: | --: | --: | --: |",
    ]
    for row in _rows(cases):
        name, threads, against, slowdown, rate = row[0], row[3], row[4]["median"], row[5], row[7] / 1e9
        lines.append(f"| {name} | {threads} | {fixed(1)(against)} | {fixed(1)(slowdown)} | {fixed(1)(rate)} |")
    return ["\n".join(lines)]


# Many nodes in one process: what a node costs among others, and what a second thread gives.
#
# The nodes' arrays are separate engines that are given the fused mix one after the other; each spreads its lanes
# over the threads, and the next one begins when all lanes of the last have been taken. The clock stops when all are
# done.
# Rounds interleave one node and all of them, on one thread and on all.


_REPEATS = 10
"""Passes over the mix between two looks at the clock."""

_UNCOUNTED = 4
"""Rounds before those that count: it takes some tenths of a second until the system has new threads on processors of
their own."""


def nodes(count: int) -> Benchmark:
    """Return what measures one node and ``count``; it raises InputError where the compiled engine does not work."""

    def prepare(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
        choice = choose("compiled")
        if choice.note is not None:
            raise InputError(f"this measures the compiled engine: {choice.note.partition(';')[0]}")
        from pixelflow.simd.lanes.native.compiled_engine import CompiledEngine  # needs llvmlite
        from pixelflow.simd.workers import usable_threads

        start = PeArray(THESIS, "rows").engine
        state = start.snapshot()
        note("fusing the mix: seconds where its native code is not on disk yet")
        arrays = [_ready(CompiledEngine(start.shape), state) for _ in range(count)]
        yield (
            "",
            [
                Case("", partial(_once, arrays, some, threads), {"nodes": some, "threads": threads})
                for threads in dict.fromkeys((1, usable_threads()))
                for some in (1, count)
            ],
        )

    return Benchmark(prepare, _nodes_parts, _UNCOUNTED)


def _ready(engine: Engine, state: Any) -> tuple[Engine, list[Action]]:
    engine.restore(state)
    program = prepared_chain(engine, [engine.prepare(each.apply) for each in instructions()]) * _REPEATS
    engine.run(program)
    settle(engine)
    return engine, program


def _once(arrays: list[tuple[Any, list[Action]]], some: int, threads: int) -> tuple[float]:
    for engine, _ in arrays:
        engine.threads = threads
    begin = perf_counter()
    for engine, program in arrays[:some]:
        engine.run(program)
    for engine, _ in arrays[:some]:
        settle(engine)
    return ((perf_counter() - begin) / some / _REPEATS,)


def _median(digits: int) -> Callable[[Mapping[str, float]], str]:
    return lambda values: fixed(digits)(values["median"])


def _nodes_parts(cases: Sequence[Case]) -> list[Part]:
    """Return what a node costs among others, and what threads give."""
    by = {(case.about["nodes"], case.about["threads"]): case for case in cases}
    count = max(nodes for nodes, _ in by)
    columns = (
        Column("nodes", key="nodes", fixed=True),
        Column("threads", number, "threads"),
        Column("x one node", _median(3), "against_one_node"),
        Column("x one thread", _median(2), "speed_up_by_threads"),
        Column("ms per node [min..max]", spread(3, 1e3), "seconds_per_node"),
    )
    rows = [
        (some, threads, ratios(by[1, threads], case), ratios(case, by[some, 1]), case.spread())
        for (some, threads), case in by.items()
    ]
    slowdown = by[count, 1].median() * THESIS.clock_mhz * 1e6 / len(instructions())
    pes = count * THESIS.lanes
    return [
        Fact(
            f"{MIX_NAME} on {count} nodes, {number(pes)} PEs, {rounds_text(cases[0])}", key="nodes.mix", value=MIX_NAME
        ),
        Fact(None, key="nodes.rounds", value=len(cases[0].times)),
        Fact(None, key="nodes.nodes", value=count),
        Fact(None, key="nodes.pes", value=pes),
        Table(columns, rows, key="nodes.runs"),
        Fact(None, key="nodes.slowdown_against_machine", value=slowdown),
        memory_line("nodes"),
    ]
