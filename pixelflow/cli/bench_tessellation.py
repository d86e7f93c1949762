"""What a whole tessellation pass costs on each engine, against the time that the simulated machine takes for it.

The passes are those of `bench_pass.py`: 512 bicubic patches at 4x4 samples, in both schedules. All engines carry out
the same program, one after the other in every round. The macro engine goes through every cycle; in a row of its own it
does again what it did before (`pixelflow/node/perform/score.py`), and in another it does so by fused code, as it does
of itself once a program has come often enough; in the last one texture memory is written to before every run, so that
all control points are read anew. One thread works.

What an engine does takes a quarter of a second or a thousandth. A round therefore gives each of them the same time:
after one run that is not counted, as many as fit, and the time of one is their mean.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from pixelflow.cli.bench_pass import PATCHES, nets
from pixelflow.cli.bench_streams import milliseconds, spread
from pixelflow.cli.screen import Column, Screen

if TYPE_CHECKING:
    from pixelflow.isa import Program
    from pixelflow.node import Node, Run

__all__ = ["show_tessellation", "tessellation"]

_LIBRARIES = {"thesis": "thesis", "overlapped": "tuned-finite"}
"""The library of each schedule in the published comparison."""

_ROUND = 0.05
"""Seconds of a round that an engine gets."""

_ANEW = "fused, reading anew"


@dataclass(slots=True)
class _Runner:
    """An engine with a pass, and what its runs took."""

    engine: str
    how: str
    node: Node
    program: Program
    run: Run
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """Add what one run takes: of as many as `_ROUND` has room for, at least one."""
        self._once()
        runs = [self._once()]
        while sum(wall for wall, _ in runs) < _ROUND:
            runs.append(self._once())
        for found, taken in zip((self.wall, self.cpu), zip(*runs, strict=True), strict=True):
            found.append(sum(taken) / len(taken))

    def _once(self) -> tuple[float, float]:
        """Run once; return the seconds that passed, and those of the processor."""
        if self.how == _ANEW:
            _write_to(self.node)
        wall, cpu = perf_counter(), process_time()
        self.run = self.node.run(self.program)
        return perf_counter() - wall, process_time() - cpu


def _write_to(node: Node) -> None:
    """Write a word of each texture memory, as it stands there."""
    from pixelflow.node.texture.addresses import Physical

    for memory in node.texture_memory:
        memory.write(Physical(0, 0, 0, 0), memory.read(Physical(0, 0, 0, 0)))


def _runners(schedule: str, engines: tuple[str, ...]) -> list[_Runner]:
    """Return the engines of a schedule, each after runs that prepare what later ones use."""
    from pixelflow.config import THESIS
    from pixelflow.observe import RunBegan
    from tessellation import Method, Patch
    from tessellation.libraries import library_named
    from tessellation.session import Session

    found = []
    repeated = [("macro", how) for how in ("again", "fused", _ANEW)] if "macro" in engines else []
    for engine, how in [*((name, "") for name in engines), *repeated]:
        session = Session(THESIS, engine, library_named(_LIBRARIES[schedule]), Method(schedule=schedule))
        if engine != "rows":
            session.node.array.engine.threads = 1
        marked = {session.add(Patch(net)): 4 for net in nets()}
        session.run(session.plan(marked)[0])  # the database is there and the LEE is configured from here on
        program = session.program(session.plan(marked)[0])
        if not how:
            session.node.bus.subscribe(lambda event: None, RunBegan)  # who is listened to goes through every cycle
        for _ in range(3):
            run = session.node.run(program)
        if how in ("fused", _ANEW):
            session.node.fuse(program)
        found.append(_Runner(engine, how, session.node, program, run))
    return found


def tessellation(rounds: int, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Return what every engine took for a pass of each schedule; raises InternalError where their cycles differ."""
    from pixelflow.kernels import choose
    from pixelflow.simd.errors import InternalError

    engines: list[str] = []
    for wanted in ("rows", "compiled", "macro"):
        choice = choose(wanted)
        if choice.note is not None:
            note(f"note: {choice.note}")
        elif choice.engine == wanted:
            engines.append(wanted)
    found = []
    for schedule in _LIBRARIES:
        runners = _runners(schedule, tuple(engines))
        for done in range(rounds):
            for runner in runners:
                runner.measure()
            note(f"{schedule}: round {done + 1} of {rounds}")
        if len({runner.run.total_cycles for runner in runners}) > 1:
            raise InternalError("engines disagree about the cycles of a pass")
        found += [_object(schedule, runner, runners[0]) for runner in runners]
    return found


def _object(schedule: str, runner: _Runner, first: _Runner) -> dict[str, Any]:
    simulated = runner.run.seconds_at_clock * runner.run.total_cycles / runner.run.cycles
    return {
        "schedule": schedule,
        "engine": runner.engine,
        "how": runner.how or None,
        "cycles": runner.run.total_cycles,
        "simulated_seconds": simulated,
        "seconds": spread(runner.wall),
        "processor_seconds": spread(runner.cpu),
        "slowdown_against_machine": statistics.median(runner.wall) / simulated,
        "against_rows": spread([r / s for r, s in zip(first.wall, runner.wall, strict=True)]),
    }


def show_tessellation(screen: Screen, found: list[dict[str, Any]]) -> None:
    """Print the ratios first, then the times."""
    simulated = {each["schedule"]: f"{1e3 * each['simulated_seconds']:.3f} ms ({each['schedule']})" for each in found}
    screen.text(f"{PATCHES} bicubic patches at 4x4 samples, simulated time {', '.join(simulated.values())}; medians")
    names = ("x simulated", "x rows", "ms [min..max]", "cpu ms")
    screen.table(
        [Column("pass", fixed=True), *(Column(name, numbers=True) for name in names)],
        [
            (
                " ".join(filter(None, (each["schedule"], each["engine"], each["how"]))),
                f"{each['slowdown_against_machine']:,.1f}",
                f"{each['against_rows']['median']:.1f}",
                milliseconds(each["seconds"]),
                f"{1e3 * each['processor_seconds']['median']:.1f}",
            )
            for each in found
        ],
    )
