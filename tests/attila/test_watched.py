"""Does a watched run stay the run that it is, and does a frame show what is in the machine?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from attila_bridge.run import run_scene
from attila_bridge.time.config import CASE, PAPER
from attila_bridge.watched import WatchedFrame, watch
from pixelflow.cli.main import main
from pixelflow.simd.observe import Bus, QueueFilled
from pixelflow.simd.trace import TraceClock
from pixelflow.simd.trace.vcd import time_unit
from tests.attila.recorded import drawn, quad, scene_body, scene_of

LESS = {"state": {"depth": {"func": "less", "write": True}}}
CLEAR = {"color": [0, 0, 0, 1], "depth": 1.0}
DRAWS = (drawn(quad(0, 0, 48, 48, 0.3), **LESS), drawn(quad(8, 8, 64, 64, 0.6), **LESS))
SCENE = scene_of(*DRAWS, size=(64, 64), clear=CLEAR)
PLAIN = run_scene(SCENE)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "two.json"
    path.write_text(json.dumps(scene_body(*DRAWS, size=(64, 64), clear=CLEAR)))
    return str(path)


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 64, 777, 10**6])
def test_a_watched_run_takes_the_same_cycles_and_counts(step: int) -> None:
    watched = watch(SCENE)
    cycle = 0
    while not watched.ended:
        cycle += step
        watched.advance(cycle)
        watched.state()
    assert watched.finish().data == PLAIN.report().data


def test_a_watched_frame_is_traversed_as_it_is_configured() -> None:
    lines = PAPER.with_values({"traversal.recursive": False})
    assert watch(SCENE, config=lines).finish().data == run_scene(SCENE, config=lines).report().data


def at(cycle: int) -> WatchedFrame:
    watched = watch(SCENE)
    watched.advance(cycle)
    return watched


def test_phases_add_up_to_the_cycle() -> None:
    watched = watch(SCENE)
    for cycle in (0, 1, 100, 700, 1200, 2000, 2300):
        watched.advance(cycle)
        state = watched.state()
        assert state.cycle == cycle and sum(each.cycles for each in state.phases) == cycle
        assert [each.running for each in state.phases].count(True) == 1


def test_no_queue_holds_more_than_its_room() -> None:
    watched, filled = watch(SCENE), set[str]()
    for cycle in range(0, PLAIN.cycles, 7):
        watched.advance(cycle)
        for box in watched.state().boxes:
            assert box.busy is None or 0 <= box.busy <= 1, (cycle, box)
            assert all(0 <= queue.fill <= queue.capacity for queue in box.queues), (cycle, box)
            filled |= {f"{box.name} {queue.name}" for queue in box.queues if queue.fill}
    assert {"FIFO gen0", "shader 1 threads", "depth 0 fetch", "colour 1 in", "memory req", "display blocks"} <= filled


def test_the_end_shows_what_the_account_has() -> None:
    watched = at(10**9)
    state, columns, statistics = watched.state(), PLAIN.columns, PLAIN.statistics
    assert state.status == "halt" and state.cycle == PLAIN.cycles
    assert {f"cp_{each.name}": each.cycles for each in state.phases} == {
        key: value for key, value in columns.items() if key.startswith("cp_")
    }
    assert all(not queue.fill for box in state.boxes for queue in box.queues if box.name != "fetch")
    bytes_of = {each.client: (each.read, each.written) for each in state.memory}
    assert bytes_of["colour"] == (columns["color_read_bytes"], columns["color_write_bytes"])
    assert bytes_of["depth and stencil"] == (columns["z_read_bytes"], columns["z_write_bytes"])
    carried = {each.name: each.carried for each in state.wires}
    assert carried["HZOutput"] == columns["InputFragments_FFU"]
    assert carried["SU0::ColorWriteInput"] == statistics["InputFragments_CW-SU0"]
    hits = {each.name: (each.hits, each.fills) for each in state.caches}
    assert hits["vertices"] == (columns["Hits_StOC"], columns["Misses_StOC"])
    busy = {each.name: each.busy for each in state.boxes}
    assert busy["colour 0"] == pytest.approx(statistics["OperatedFragments_CW-SU0"] / columns["cycles_drawing"])
    assert state.utilisation is not None and all(
        0 <= share <= 1 for track in state.utilisation.tracks for share in track.shares
    )


def test_bars_over_time_add_up_to_what_was_done() -> None:
    state = at(10**9).state()
    over = state.utilisation
    assert over is not None
    colour = next(track.shares for track in over.tracks if track.name == "colour")
    lengths = [min(over.cycles, state.cycle - begin) for begin in range(0, state.cycle, over.cycles)]
    done = sum(share * length for share, length in zip(colour, lengths, strict=True))
    quads = [PLAIN.statistics[f"OperatedFragments_CW-SU{rop}"] for rop in range(2)]
    assert done == pytest.approx(sum(quads) / 2, abs=len(lengths) / 1000)


def test_other_machines_have_other_boxes() -> None:
    state = watch(SCENE, config=CASE).state()
    names = [each.name for each in state.boxes]
    assert names.count("shader 0") == 1 and {"texture 0.0", "texture 0.2", "depth 0"} <= set(names)
    assert state.config == "case" and "depth 1" not in names


def test_a_later_draw_is_shown_as_the_first_one() -> None:
    watched = watch(SCENE, from_draw=1)
    watched.advance(200)
    assert "of 1" in " ".join(watched.state().progress)


def test_events_of_queues_are_what_a_look_sees() -> None:
    bus = Bus()
    last: dict[str, int] = {}
    seen: list[QueueFilled] = []
    bus.subscribe(seen.append, QueueFilled)
    watched = watch(SCENE, bus=bus)
    watched.advance(1500)
    for event in seen:
        assert 0 <= event.fill <= event.capacity and event.cycle < 1500
        last[event.queue] = event.fill
    totals = sum(queue.fill for box in watched.state().boxes for queue in box.queues)
    assert totals == sum(last.values()) > 0
    assert watched.finish().data == PLAIN.report().data


# --- commands --------------------------------------------------------------------------------------------------------


def test_dash_shows_a_cycle(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dash", file, "--machine", "attila", "--at", "1500", "--color", "never"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 and lines[0].startswith("ATTILA · own 64x64")
    assert lines[1].startswith("cycle 1,500 · stopped")


def test_dash_gives_an_object(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--machine", "attila", "--preset", "case", "-D", "color.read_queue=8", "--json"]
    assert main(["dash", file, *options, "--at", "900"]) == 0
    found = json.loads(capsys.readouterr().out)
    colour = next(each for each in found["boxes"] if each["name"] == "colour 0")
    assert (
        found["cycle"] == 900
        and {"name": "read", "fill": colour["queues"][2]["fill"], "capacity": 8} in colour["queues"]
    )


def test_a_run_ends_with_a_frame(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", file, "--machine", "attila", "--frame", "--color", "never"]) == 0
    text = capsys.readouterr().out
    assert f"cycle {PLAIN.cycles:,} · halt" in text
    assert f"{PLAIN.cycles:,} cycles" in text, "the report follows"


def test_live_without_a_terminal_says_so(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", file, "--machine", "attila", "--live"]) == 0
    assert "--live needs a terminal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["run", "--live", "--frame"], "--live shows the last frame already"),
        (["run", "--frame", "--json"], "a dashboard goes to standard output"),
        (["dash", "--show", "R"], "is PixelFlow's; this is ATTILA"),
        (["dash", "--preset", "papier"], "ATTILA has no such preset"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    file: str, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([options[0], file, "--machine", "attila", *options[1:]]) == 2
    assert said in capsys.readouterr().err


def test_a_machine_without_boxes_has_no_dashboard(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dash", file, "--machine", "gen6"]) == 2
    assert "there is no dashboard of" in capsys.readouterr().err


def test_a_dump_has_wires_and_queues(file: str, tmp_path: Path) -> None:
    """What a wire carries in a dump adds up to the statistic; a queue in it never holds more than its room."""
    dump = tmp_path / "two.vcd"
    only = ["--only", "wire SU0::ColorWriteInput", "--only", "queue SU0::ColorWrite *"]
    assert main(["run", file, "--machine", "attila", "--trace", f"vcd:{dump}", *only]) == 0
    text = dump.read_text(encoding="ascii")
    code_of = {name: code for code, name in re.findall(r"\$var reg 32 (\S+) (\S+) \$end", text)}
    assert set(code_of) == {
        "SU0::ColorWriteInput",
        *(f"SU0::ColorWrite_{queue}" for queue in ("in", "fetch", "read", "op", "write")),
    }
    per_second, _ = time_unit(TraceClock(600))
    values: dict[str, list[tuple[int, int]]] = {code: [] for code in code_of.values()}
    cycle = 0
    for line in text.partition("$enddefinitions $end")[2].splitlines():
        if line.startswith("#"):
            cycle = TraceClock(600).cycle(int(line[1:]), per_second)
        elif found := re.fullmatch(r"b([01]+) (\S+)", line):
            values[found.group(2)].append((cycle, int(found.group(1), 2)))
    wire = values[code_of["SU0::ColorWriteInput"]]
    ends = [cycle for cycle, _ in wire[1:]] + [PLAIN.cycles]
    sent = sum(amount * (end - begin) for (begin, amount), end in zip(wire, ends, strict=True))
    assert sent == PLAIN.statistics["InputFragments_CW-SU0"]
    assert max(fill for _, fill in values[code_of["SU0::ColorWrite_in"]]) <= 8
    assert max(fill for _, fill in values[code_of["SU0::ColorWrite_read"]]) <= 16
