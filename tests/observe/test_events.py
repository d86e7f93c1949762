"""Do watchers hear exactly what happened, and does watching change nothing?"""

from collections import Counter, defaultdict

import numpy as np
import pytest

import microcode
from pixelflow import observe as events
from pixelflow.config import TINY, load_config
from pixelflow.isa import Program
from pixelflow.node import Node, Run
from pixelflow.node.run import perform as on_lanes
from pixelflow.observe import (
    Accessed,
    Blocked,
    Bus,
    Carried,
    EnabledCounted,
    EnablesChanged,
    Event,
    Executed,
    PathUsed,
    Progressed,
    RoutineEntered,
    RoutineLeft,
    RunBegan,
    RunEnded,
    Signalled,
    StageBegan,
    Taken,
    Waited,
)
from pixelflow.simd.errors import CycleLimitError, DeadlockError, MachineFault
from tests.streams import exchanges

KINDS = [kind for kind in vars(events).values() if "cycle" in getattr(kind, "__match_args__", ())]
SMALL = load_config(None, ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=2"], "tiny")
PROGRAMS = [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 9)) for seed in range(25)]


class Heard:
    """Every event of every kind that a node publishes."""

    def __init__(self, bus: Bus, *kinds: type[Event]) -> None:
        self.events: list[Event] = []
        bus.subscribe(self.events.append, *(kinds or KINDS))

    def of(self, kind: type[Event]) -> list:
        return [event for event in self.events if type(event) is kind]


def exchange(seed: int) -> Program:
    return microcode.assemble(exchanges.program(seed))


def run_watched(seed: int, **how) -> tuple[Run, Heard, Node]:
    node = Node(SMALL)
    heard = Heard(node.bus)
    program = exchange(seed)
    node.load(program)
    return node.run(program, **how), heard, node


def account(run: Run) -> list[tuple]:
    return [(r.cycles, r.executed, r.waits, r.stages, r.stage_waits, r.routine_cycles) for r in run.streams]


@pytest.mark.parametrize("seed", PROGRAMS)
def test_watching_changes_neither_cycles_nor_bits(seed: int) -> None:
    watched, _, node = run_watched(seed)
    alone = Node(SMALL)
    alone.load(exchange(seed))
    run = alone.run(exchange(seed))
    assert account(watched) == account(run)
    assert watched.tasic_cycles == run.tasic_cycles and watched.ledger == run.ledger
    assert node.digest() == alone.digest()


def test_an_unwatched_run_builds_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    published = []
    monkeypatch.setattr(Bus, "publish", lambda self, event: published.append(event))
    node = Node(SMALL)
    node.run(exchange(3))
    assert not published
    heard = Heard(node.bus, StageBegan)
    node.run(exchange(3))
    assert published and all(type(event) is StageBegan for event in published)
    assert not heard.events


@pytest.mark.parametrize("function", [True, False], ids=["full", "timing-only"])
@pytest.mark.parametrize("seed", PROGRAMS)
def test_instructions_and_waits_fill_every_cycle_of_a_stream_once(seed: int, function: bool) -> None:
    run, heard, _ = run_watched(seed, function=function)
    for each in run.streams:
        spans = [(e.cycle, e.cycle + e.cycles) for e in heard.of(Executed) if e.stream == each.stream and e.cycles]
        spans += [(e.cycle, e.end) for e in heard.of(Waited) if e.stream == each.stream]
        spans.sort()
        assert [begin for begin, _ in spans] + [each.cycles] == [0, *(end for _, end in spans)]


@pytest.mark.parametrize("seed", PROGRAMS)
def test_the_events_add_up_to_the_account(seed: int) -> None:
    run, heard, _ = run_watched(seed)
    for each in run.streams:
        executed = Counter(e.index for e in heard.of(Executed) if e.stream == each.stream)
        assert [executed[index] for index in range(len(each.executed))] == list(each.executed)
        waits: Counter[str] = Counter()
        for event in heard.of(Waited):
            if event.stream == each.stream:
                waits[event.reason] += event.end - event.cycle
        assert waits == Counter(each.waits)
        stages = [(e.name, e.cycle) for e in heard.of(StageBegan) if e.stream == each.stream]
        assert stages == list(each.stages)
    calls = Counter(event.name for event in heard.of(RoutineLeft))
    assert calls == Counter(
        {name: n for each in run.streams for name, (n, _) in each.routine_cycles.items()}
    )  # no routine is used by both streams
    for module, cycles in enumerate(run.tasic_cycles):
        assert sum(e.end - e.cycle for e in heard.of(Accessed) if e.module == module) == cycles
    carried = sum(e.amount for e in heard.of(Carried) if e.wire.endswith(".outbound"))
    assert carried == run.ledger.outbound.carried


def test_the_nth_signal_of_a_semaphore_is_the_nth_taken_and_comes_a_cycle_before() -> None:
    pairs = 0
    for seed in range(25):
        _, heard, _ = run_watched(seed)
        sent, taken = defaultdict(list), defaultdict(list)
        for event in heard.of(Signalled):
            sent[event.semaphore].append(event.cycle)
        for event in heard.of(Taken):
            taken[event.semaphore].append(event.cycle)
        for semaphore, cycles in taken.items():
            # Every exchange takes what it sends; a signal crosses a wire of one cycle to the other stream.
            assert all(before < after for before, after in zip(sent[semaphore], cycles, strict=True))
            pairs += len(cycles)
    assert pairs > 100


@pytest.mark.parametrize("seed", PROGRAMS)
def test_who_waits_is_named(seed: int) -> None:
    run, heard, _ = run_watched(seed)
    for event in heard.of(Waited):
        instruction = run.program.instructions[event.index]
        if event.reason == "transfer":
            assert instruction.declaration.transfers is not None
        else:
            assert instruction.text() == f"WAIT {event.reason.removeprefix('sem ')}"


@pytest.mark.parametrize("seed", PROGRAMS)
def test_calls_nest(seed: int) -> None:
    _, heard, _ = run_watched(seed)
    open_calls: dict[str, list] = defaultdict(list)
    for event in heard.events:
        if isinstance(event, RoutineEntered):
            open_calls[event.stream].append(event.name)
            assert len(open_calls[event.stream]) == event.depth
        elif isinstance(event, RoutineLeft):
            assert len(open_calls[event.stream]) == event.depth
            assert open_calls[event.stream].pop() == event.name
    assert not any(open_calls.values())


FLOATS = """\
include "float32/tuned.mc"
range a[4]: float
range b[4]: float
EMC_TreeIntoMem_Li a, 4, 0x1000000, 0, 0x3F000001
EMC_TreeIntoMem_Li b, 4, 0, 0x2000000, 0x3F800000
loop 3
EMC_TreeLTZero_Li 0, 1, 1, 0, -3
CALL fadd, a, a, b
EMC_SetEnab
CALL fmul, b, a, b
end
"""
"""Calls of routines; float kernels must not take their place."""


@pytest.mark.parametrize("seed", [*PROGRAMS, FLOATS])
def test_pes_count_what_their_enables_say_skipped_or_not(seed: int | str) -> None:
    program = exchange(seed) if isinstance(seed, int) else microcode.assemble(seed)
    watched, skipping = Node(SMALL), Node(SMALL)
    heard, counted = Heard(watched.bus), Heard(skipping.bus, EnabledCounted)
    watched.run(program)
    skipping.run(program)
    changes = heard.of(EnablesChanged)
    expected = np.zeros(SMALL.array.modules, np.int64)
    for each in heard.of(Executed):
        if each.stream == "eigc" and each.cycles:
            last = [change.counts for change in changes if change.cycle <= each.cycle][-1]
            expected += each.cycles * np.array(last)
    sums = 2 * [tuple(expected.tolist())] if changes else []  # a program of control alone has none
    assert [each.counts for each in (*heard.of(EnabledCounted), *counted.events)] == sums


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 2)) for seed in range(8)])
def test_enabled_pes_are_those_of_the_array_at_every_cycle(seed: int) -> None:
    program = exchange(seed)
    _, heard, _ = run_watched(seed)
    changes = {event.cycle: event.counts for event in heard.of(EnablesChanged)}
    assert min(changes) == 0
    per_module = SMALL.lanes // SMALL.array.modules
    for cycle in sorted(changes):
        node = Node(SMALL)
        node.load(program)
        saved: list = []
        if cycle:
            node.run(program, save_at=cycle, save=saved.append)
            enabled = saved[0].state["array"]["E"]
        else:
            enabled = np.ones(node.lanes, bool)
        counts = tuple(int(n) for n in enabled.reshape(-1, per_module).sum(axis=1))
        assert counts == changes[cycle], cycle


def test_every_run_begins_and_ends_with_its_account() -> None:
    run, heard, node = run_watched(5)
    began, ended = heard.events[0], heard.events[-1]
    assert isinstance(began, RunBegan) and isinstance(ended, RunEnded)
    assert began.entries == ("eigc", "tigc") and began.function
    assert ended.reason == "halt" and ended.account is not None
    assert ended.cycles == {each.stream: each.cycles for each in run.streams}
    assert account(ended.account) == account(run)
    list(node.steps(microcode.assemble("STI [3], #1")))
    assert [type(e) for e in heard.events if isinstance(e, RunBegan | RunEnded)] == [RunBegan, RunEnded] * 2


LOADS = """\
SIGNAL 0
WAIT 1
stream tigc
WAIT 0
TAS_SetGpAddress 1, 0
TAS_MemLoad 1, 40, 0
SIGNAL 1
"""


def test_paths_of_the_gni_are_heard() -> None:
    node = Node(SMALL)
    heard = Heard(node.bus, PathUsed)
    run = node.run(microcode.assemble(LOADS))
    found: Counter[str] = Counter()
    for event in heard.events:
        found[event.path] += event.end - event.cycle
    assert found == Counter(run.gni_cycles) and found
    assert sum(event.amount for event in heard.events if event.path == "from_gni0") == 40 * 32


@pytest.mark.parametrize(
    ("text", "error", "reason", "busy"),
    [
        ("STI [3], #1\nWAIT 2", DeadlockError, "deadlock", 1),
        ("loop 9\nSTI [3], #1\nend", CycleLimitError, "cycle limit", 5),
        ("STI [3], #1\nSTI [4], #1\nEPOP", MachineFault, "fault", 2),
    ],
)
def test_a_run_that_is_stopped_ends_with_what_there_was_of_it(
    text: str, error: type[Exception], reason: str, busy: int
) -> None:
    node = Node(TINY)
    heard = Heard(node.bus, RunEnded, Blocked)
    with pytest.raises(error):
        node.run(microcode.assemble(text), max_cycles=5)
    ended = heard.of(RunEnded)[0]
    assert (ended.reason, ended.account.reason) == (reason, reason)
    assert ended.account.busy >= busy and ended.account.ledger is None
    assert len(heard.of(Blocked)) == (reason == "deadlock")


def test_an_interrupted_run_ends_too() -> None:
    node = Node(TINY)
    heard = Heard(node.bus, RunEnded)

    def interrupt(event: Event) -> None:
        if event.cycle >= 3:
            raise KeyboardInterrupt

    node.bus.subscribe(interrupt, Executed)
    with pytest.raises(KeyboardInterrupt):
        node.run(microcode.assemble("loop 9\nSTI [3], #1\nend"))
    assert heard.events[0].reason == "interrupted" and heard.events[0].account.busy == 3


def test_long_code_of_one_stream_tells_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each turn of the loop is 5 instructions of a cycle: at least 8 are carried out at the end of every second one."""
    monkeypatch.setattr(on_lanes, "_LARGE_BATCH", 8)
    node = Node(TINY, "rows")
    told: list[int] = []
    node.bus.subscribe(lambda event: told.append(event.cycle), Progressed)
    assert node.run(microcode.assemble("LOOP 6\nrepeat i in 0 .. 4\nADD R, #1\nend\nENDL\n")).cycles == 30
    assert told == [10, 20, 30]
