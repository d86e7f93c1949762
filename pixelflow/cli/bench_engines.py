"""The lane engines on the fixed mix of microinstructions, all in one process, interleaved in every round.

Every engine carries out the same prepared actions, without a sequencer: the mix, then one that enables all PEs again.
Slow engines do it once in a round, fast ones several times, so that no measurement is too short for the clock.
Ratios are medians of same-round ratios: a busy minute of the host slows both sides.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from pixelflow.cli.bench_mix import MIX_NAME, mix_program
from pixelflow.cli.screen import Column, Screen, counted, number
from pixelflow.config import THESIS
from pixelflow.isa import INSTRUCTIONS, Instruction, Unit
from pixelflow.node.array.pe_array import PeArray
from pixelflow.simd.lanes import choose
from pixelflow.simd.lanes.engine import Action, Engine

__all__ = ["engines", "instructions", "markdown", "peak_megabytes", "show_engines", "spread"]

_SHORTEST = 0.02
"""Seconds that a measurement takes at least."""


@dataclass(slots=True)
class _Runner:
    """One engine with the work of a round, and the times that it took."""

    name: str
    how: str
    threads: int
    engine: Engine
    actions: list[Action]
    ready_seconds: float
    """From the first action prepared to the first run done; compiling included, in haste where that is possible."""
    bound_seconds: float | None = None
    """What a pass over the mix takes at least by the count of its vector instructions, on the threads."""
    repeats: int = 1
    seconds: list[float] = field(default_factory=list)
    """Of one pass over the mix, round by round."""

    def measure(self) -> None:
        program = self.actions * self.repeats
        begin = perf_counter()
        self.engine.run(program)
        self.engine.settle()
        self.seconds.append((perf_counter() - begin) / self.repeats)


def instructions() -> list[Instruction]:
    """Return the mix, and one instruction that enables all PEs again."""
    mix = [each for each in mix_program(1).instructions if each.declaration.unit is Unit.PE]
    return [*mix, INSTRUCTIONS.make("EMC_SetEnab")]


def _runner(
    name: str, how: str, threads: int, engine: Engine, prepare: Callable[[Engine, list[Action]], list[Action]]
) -> _Runner:
    """Return an engine after its first run on the state of a node after start-up."""
    engine.restore(PeArray(THESIS, "rows").engine.snapshot())
    begin = perf_counter()
    actions = prepare(engine, [engine.prepare(each.apply) for each in instructions()])
    engine.run(actions)
    engine.settle()
    runner = _Runner(name, how, threads, engine, actions, perf_counter() - begin)
    if name == "compiled":
        engine.take_care()
    runner.measure()
    runner.repeats = max(1, round(_SHORTEST / runner.seconds.pop()))
    return runner


def _runners(note: Callable[[str], None]) -> list[_Runner]:
    """Return the engines that work here; the compiled one interpreted and fused, on one thread and on all."""
    found = []
    for name in ("bit-serial", "rows"):
        found.append(_runner(name, "", 1, PeArray(THESIS, name).engine, _one_by_one))
    choice = choose("compiled")
    if choice.note is not None:
        note(f"note: {choice.note}")
        return found
    from pixelflow.simd.lanes.compiled import CompiledEngine
    from pixelflow.simd.lanes.compiled.threads.team import usable_threads

    shape = found[0].engine.shape
    found.append(_runner("compiled", "interpreted", 1, CompiledEngine(shape, threads=1), _chained))
    note("fusing the mix: seconds where its native code is not on disk yet")
    for threads in dict.fromkeys((1, usable_threads())):
        found.append(_runner("compiled", "fused", threads, CompiledEngine(shape, threads=threads), _fused))
    return found


def _bound(runners: list[_Runner], note: Callable[[str], None]) -> None:
    """Count the vector instructions of the fused mix, and measure how fast this processor could carry them out."""
    fused = [runner for runner in runners if runner.how == "fused"]
    if not fused:
        return
    note("counting the vector instructions of the fused mix")
    engine = fused[0].engine
    seconds = engine.vector_operations(fused[0].actions[0]) * engine.tiles / engine.additions_per_second
    for runner in fused:
        runner.bound_seconds = seconds / runner.threads


def _one_by_one(engine: Engine, actions: list[Action]) -> list[Action]:
    return actions


def _chained(engine: Engine, actions: list[Action]) -> list[Action]:
    chain = engine.chain(actions[:-1])
    chain.uses = None  # however often it runs, it stays as it is
    return [chain, actions[-1]]


def _fused(engine: Engine, actions: list[Action]) -> list[Action]:
    chain = engine.chain(actions[:-1])
    engine.fuse(chain)
    return [chain, actions[-1]]


def spread(values: list[float]) -> dict[str, float]:
    """Return median, minimum and maximum."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def engines(rounds: int, note: Callable[[str], None], *, bound: bool = False) -> dict[str, Any]:
    """Return what every engine took, against the rows engine and against the machine.

    With ``bound`` fused code is compared with what its vector instructions must take besides; an estimate.
    """
    runners = _runners(note)
    if bound:
        _bound(runners, note)
    for done in range(rounds):
        for runner in runners:
            runner.measure()
        note(f"round {done + 1} of {rounds}")
    executed = len(instructions())
    rows = next(runner for runner in runners if runner.name == "rows")
    found = []
    for runner in runners:
        rate = executed / statistics.median(runner.seconds)
        found.append(
            {
                "engine": runner.name,
                "how": runner.how or None,
                "threads": runner.threads,
                "against_rows": spread([r / s for r, s in zip(rows.seconds, runner.seconds, strict=True)]),
                "slowdown_against_machine": THESIS.clock_mhz * 1e6 / rate,
                "pe_instructions_per_second": rate * THESIS.lanes,
                "seconds": spread(runner.seconds),
                "ready_seconds": runner.ready_seconds,
                "share_of_counted_bound": _share(runner),
            }
        )
    return {
        "mix": MIX_NAME,
        "rounds": rounds,
        "microinstructions": executed,
        "engines": found,
        "peak_memory_megabytes": peak_megabytes(),
    }


def _share(runner: _Runner) -> float | None:
    if runner.bound_seconds is None:
        return None
    return runner.bound_seconds / statistics.median(runner.seconds)


def markdown(found: dict[str, Any]) -> str:
    """Return the ratios as a table for a README."""
    lines = [
        f"{found['mix']} on {THESIS.lanes:,} PEs, {counted(found['rounds'], 'interleaved round')}, medians",
        "",
        "| engine | threads | x rows | x slower than 100 MHz | G PE-instructions/s |",
        "| --- | --: | --: | --: | --: |",
    ]
    for each in found["engines"]:
        lines.append(
            f"| {_name(each)} | {each['threads']} | {each['against_rows']['median']:.1f} "
            f"| {each['slowdown_against_machine']:,.1f} | {each['pe_instructions_per_second'] / 1e9:.1f} |"
        )
    return "\n".join(lines)


def _name(each: dict[str, Any]) -> str:
    return " ".join(filter(None, (each["engine"], each["how"])))


def show_engines(screen: Screen, found: dict[str, Any]) -> None:
    """Print the ratios first, then the times."""
    screen.text(f"{found['mix']} on {THESIS.lanes:,} PEs, {counted(found['rounds'], 'interleaved round')}, medians")
    names = ("threads", "x rows [min..max]", "x slower than 100 MHz", "ms [min..max]")
    screen.table(
        [Column("engine", fixed=True), *(Column(name, numbers=True) for name in names)],
        [
            (
                _name(each),
                number(each["threads"]),
                "{median:.1f} [{min:.1f}..{max:.1f}]".format(**each["against_rows"]),
                f"{each['slowdown_against_machine']:,.1f}",
                "{:.2f} [{:.2f}..{:.2f}]".format(*(1e3 * each["seconds"][k] for k in ("median", "min", "max"))),
            )
            for each in found["engines"]
        ],
    )
    for each in found["engines"]:
        if each["share_of_counted_bound"] is not None:
            screen.text(
                f"{_name(each)}, {counted(each['threads'], 'thread')}: {100 * each['share_of_counted_bound']:.0f} % of "
                "what its vector instructions allow (estimated: counted, at the measured rate of additions)"
            )
    memory = found["peak_memory_megabytes"]
    if memory is not None:
        screen.text(f"peak memory of this process: {memory} MB")


def peak_megabytes() -> int | None:
    """Return the peak resident memory of this process, or None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))
