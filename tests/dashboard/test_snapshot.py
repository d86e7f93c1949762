"""What a frame says of a real run: at every moment of it, at its end, and at any cycle of it taken again."""

from pathlib import Path

import pytest

from microcode import assemble
from pixelflow.cli.dash import Player
from pixelflow.cli.snapshot import NodeDashboard, Watch
from pixelflow.config import THESIS, TINY, load_config
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.node.pe_map import MapView
from pixelflow.node.replay import Recorder, SavedRun
from pixelflow.observe import Accessed, Executed, Progressed, RunEnded, Waited
from pixelflow.observe.dashboard_frame import DashboardState, StreamState, texture
from pixelflow.simd.errors import CycleLimitError, DeadlockError, MachineFault

EXAMPLES = Path("microcode/examples")
ENABLE = MapView("enable", flag="E")


@pytest.fixture
def copy(repository: Path) -> Program:
    """Both streams, with transfers and semaphores in both directions."""
    return assemble(repository / EXAMPLES / "texture_copy.mc")


def watched(program: Program, config=THESIS) -> tuple[list[DashboardState], Node, object]:
    """Run a program; a state at each sign of progress and one at the end, the node, and the account."""
    node, watch, states = Node(config), Watch(), []
    dashboard = NodeDashboard(node, watch, "thesis")
    watch.attach(node.bus)

    def take(_: object = None) -> None:
        states.append(dashboard.state())

    node.bus.subscribe(take, Progressed)
    node.load(program)
    account = node.run(program)
    take()
    return states, node, account


def total(stream: StreamState) -> int:
    return stream.busy + stream.wait + stream.idle + stream.open


def test_at_every_moment_the_parts_of_a_streams_time_are_all_of_it(copy: Program) -> None:
    states, _, _ = watched(copy)
    assert len(states) > 20
    for state in states:
        assert [total(stream) for stream in state.streams] == [state.cycle] * 2


def test_at_the_end_a_frame_and_the_account_agree(copy: Program) -> None:
    states, node, account = watched(copy)
    last = states[-1]
    assert last.cycle == account.total_cycles and last.status == "halt"
    for shown, run in zip(last.streams, account.streams, strict=True):
        assert (shown.busy, dict(shown.waits)) == (run.busy, {why: n for why, n in run.waits.items() if n})
        assert shown.idle == account.total_cycles - run.cycles and shown.open == 0
    assert tuple(each.busy for each in last.modules) == account.tasic_cycles
    assert sum(each.from_emcs for each in last.modules) == account.ledger.inbound.counted
    assert sum(each.to_emcs for each in last.modules) == account.ledger.outbound.counted
    assert [each.count for each in last.semaphores] == [account.ledger.signals[n].left for n in (0, 1)]
    assert sum(each.enabled for each in last.modules) == int(node.flag("E").sum())


def test_bytes_of_other_modules_are_shown_where_they_arrive() -> None:
    """A PE of module 0 sends 32 bytes to module 1."""
    text = "EMC_TreeEQZero_Li 0, 2, 1, 16, 0\nEMC_MarkWrite\nSIGNAL 0\nstream tigc\nWAIT 0\nTAS_MemWrOver4 1, 0\n"
    config = load_config(None, ["array.modules=2"], "tiny")
    last = watched(assemble(text), config)[0][-1]
    assert [(each.from_emcs, each.over, each.accesses) for each in last.modules] == [(32, 0, 0), (0, 32, 1)]
    assert "over 32" in "\n".join(line.plain for line in texture(last, 100, 4))


def test_the_map_is_the_plane_of_the_array(copy: Program) -> None:
    states, node, _ = watched(copy)
    array = states[-1].array
    x, y = node.coordinates()
    enabled = node.flag("E")
    assert (array.width, array.height) == (128, 64)
    assert all(array.cells[y[lane] * 128 + x[lane]] == enabled[lane] for lane in range(0, 8192, 37))


def test_what_is_not_there_is_unknown_and_not_zero(repository: Path) -> None:
    states, _, _ = watched(assemble(repository / EXAMPLES / "vector_add.mc"))
    last = states[-1]
    assert last.texture_missing
    assert {each.busy for each in last.modules} == {each.accesses for each in last.modules} == {None}


def test_banks_are_shown_where_accesses_are_scheduled(copy: Program) -> None:
    states, _, _ = watched(copy, load_config(None, ["sdram.equal_slots=false"]))
    assert all(state.banks_missing is None for state in states)
    assert any(row is not None for state in states for module in state.modules for row in module.open_rows)


def test_a_timing_only_run_has_no_map_and_no_enables() -> None:
    node, watch = Node(TINY), Watch()
    watch.attach(node.bus)
    node.run(assemble("EMC_SetEnab\n"), function=False)
    state = NodeDashboard(node, watch, "tiny").state()
    assert state.array is None and {each.enabled for each in state.modules} == {None}


# --- taken again ---------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(copy: Program) -> SavedRun:
    node = Node(THESIS)
    node.load(copy)
    recorder = Recorder(node, "test")
    recorder.attach(node.bus)
    node.run(copy)
    return recorder.saved


def intervals(program: Program) -> dict[str, list[tuple[int, int]]]:
    """What every track of a run did, from its events: the oracle of the tests below."""
    node, found = Node(THESIS), {}

    def hear(event: object) -> None:
        match event:
            case Executed(cycle, stream, _, cycles) if cycles:
                found.setdefault(f"{stream} busy", []).append((cycle, cycle + cycles))
            case Waited(cycle, stream, _, reason, end):
                found.setdefault(f"{stream} {reason}", []).append((cycle, end))
            case Accessed(cycle, module, end):
                found.setdefault(f"tasic {module}", []).append((cycle, end))

    node.bus.subscribe(hear, Executed, Waited, Accessed)
    node.load(program)
    node.run(program)
    return found


def before(spans: list[tuple[int, int]], cycle: int) -> int:
    return sum(max(0, min(end, cycle) - begin) for begin, end in spans)


def test_the_frame_of_any_cycle_is_the_sum_of_what_happened_before(copy: Program, saved: SavedRun) -> None:
    player, happened = Player(saved, "rows", ENABLE), intervals(copy)
    for cycle in (1, 7, 13, 16, 17, 18, 400, 4_000, 8_641, 12_345, 17_200, 17_216, 17_237):
        state = player.at(cycle)
        assert state.cycle == cycle and state.status == "stopped here"
        for stream in state.streams:
            name = stream.name.lower()
            assert stream.busy == before(happened[f"{name} busy"], cycle)
            waits = {key.removeprefix(f"{name} "): before(spans, cycle) for key, spans in happened.items()
                     if key.startswith(f"{name} ") and not key.endswith("busy")}  # fmt: skip
            assert dict(stream.waits) == {reason: cycles for reason, cycles in waits.items() if cycles}
            assert stream.open == 0 and total(stream) == cycle
        assert [each.busy for each in state.modules] == [before(happened[f"tasic {m}"], cycle) for m in range(4)]


def test_the_bars_over_time_hold_all_that_happened(copy: Program, saved: SavedRun) -> None:
    state = Player(saved, "rows", ENABLE).at(12_345)
    over_time, happened = state.utilisation, intervals(copy)
    assert over_time.cycles == 64  # the least power of two that needs no more than 256 intervals
    starts = range(0, 12_345, over_time.cycles)
    tracks = {track.name: track.shares for track in over_time.tracks}
    assert {len(shares) for shares in tracks.values()} == {len(starts)}
    for name, key in (("EIGC", "eigc busy"), ("TIGC", "tigc busy"), ("TASIC", "tasic 0")):
        for share, begin in zip(tracks[name], starts, strict=True):
            end = min(begin + over_time.cycles, 12_345)
            busy = before(happened[key], end) - before(happened[key], begin)
            assert share == pytest.approx(busy / (end - begin))


FAULT = "range x[4]\nLOOP 10\nLD R, #1\nENDL\nCALL f, [380]\n"
CALLED = "proc f(a)\nLD R, a[3]\nLD R, a[4]\nend\n"
STOPPED = {
    "fault": (FAULT + CALLED, MachineFault),
    "fault beside a stream that waits": (FAULT + "HALT\nstream tigc\nWAIT 4\nHALT\n" + CALLED, MachineFault),
    "fault in the control": ("LD R, #1\nLD R, #2\nRET\n", MachineFault),
    "fault of a transfer": (
        "overlay out[32] at 352\nSTI out, #7\nEMC_MarkWrite\nSIGNAL 0\nLOOP 5\nLD R, #1\nENDL\nSTI out, #0\n"
        "WAIT 1\nstream tigc\nWAIT 0\nTAS_MemWrBlock4 2\nSIGNAL 1\n",
        MachineFault,
    ),
    "deadlock of one": ("LD R, #1\nWAIT 1\n", DeadlockError),
    "deadlock": ("EMC_SetEnab\nWAIT 3\nHALT\nstream tigc\nWAIT 4\nHALT\n", DeadlockError),
    "deadlock behind an end": ("LD R, #1\nLD R, #2\nHALT\nstream tigc\nWAIT 4\nHALT\n", DeadlockError),
    "cycle limit": ("LOOP 100\nEMC_TreeLTZero_Li 0, 2, 1, 0, -8\nENDL\n", CycleLimitError),
    "cycle limit of two": ("LOOP 100\nLD R, #1\nENDL\nHALT\nstream tigc\nWAIT 3\nHALT\n", CycleLimitError),
}


@pytest.mark.parametrize("kind", STOPPED)
def test_the_end_of_a_stopped_run_is_what_its_statistics_say(kind: str) -> None:
    """The oracle is the account of the run itself, from which its statistics are made."""
    text, error = STOPPED[kind]
    program, node, ended = assemble(text), Node(TINY), []
    recorder = Recorder(node, "test")
    recorder.attach(node.bus)
    node.bus.subscribe(ended.append, RunEnded)
    with pytest.raises(error):
        node.load(program)
        node.run(program, max_cycles=50)
    account = ended[-1].account
    state = Player(recorder.saved, "rows", ENABLE).at(1 << 40)
    assert (state.cycle, state.total, state.status) == (account.total_cycles, account.total_cycles, account.reason)
    for shown, run in zip(state.streams, account.streams, strict=True):
        assert (shown.busy, dict(shown.waits)) == (run.busy, {why: n for why, n in run.waits.items() if n})
        assert shown.open == 0 and total(shown) == state.cycle


def test_an_instruction_that_runs_says_how_long_it_still_does(saved: SavedRun, copy: Program) -> None:
    """The first instruction that takes several cycles, in the middle of it."""
    begin, index, cycles = next((begin, index, cycles) for begin, index, cycles in executed(copy) if cycles > 2)
    state = Player(saved, "rows", ENABLE).at(begin + 1)
    stream = state.streams[0]
    assert stream.remaining == cycles - 1
    assert stream.place == copy.where(index) and stream.instruction == copy.instructions[index].text()
    assert [row.text for row in stream.source if row.here] == [copy.line_at(index).text]


def executed(program: Program) -> list[tuple[int, int, int]]:
    node, found = Node(THESIS), []
    node.bus.subscribe(lambda e: found.append((e.cycle, e.index, e.cycles)) if e.stream == "eigc" else None, Executed)
    node.run(program)
    return found


def test_who_waits_is_shown_with_the_semaphore(saved: SavedRun) -> None:
    state = Player(saved, "rows", ENABLE).at(400)
    eigc, tigc = state.streams
    assert (eigc.waiting_for, eigc.since) == ("sem 1", 17)
    assert tigc.waiting_for == "transfer"
    assert {each.number: each.waiting for each in state.semaphores} == {0: None, 1: "EIGC"}


def test_a_run_that_goes_on_from_a_saved_state_keeps_its_account(copy: Program) -> None:
    """What was busy before the state counts; accesses, which nobody has counted then, are unknown."""
    kept = []
    node = Node(THESIS)
    node.load(copy)
    whole = node.run(copy, save_at=9_000, save=kept.append)
    again, watch = Node(THESIS), Watch()
    watch.attach(again.bus)
    again.resume(copy, kept[0])
    state = NodeDashboard(again, watch, "thesis").state()
    assert tuple(each.busy for each in state.modules) == whole.tasic_cycles
    assert [stream.busy for stream in state.streams] == [run.busy for run in whole.streams]
    assert {each.accesses for each in state.modules} == {None}
