"""Does the explorer of a run that is known by its trace show what the machine did: Larrabee, Gen6, ATTILA, files?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gen6_bridge.machine import run_program as run_eu
from gen6_bridge.program import assemble_eu
from gen6_bridge.time import EuConfig
from larrabee_bridge.machine import run_program as run_vector
from larrabee_bridge.vpu.program import assemble_vector
from pixelflow.cli.main import main
from pixelflow.cli.view import trace_run, traced_file, traced_run
from pixelflow.simd.errors import InputError
from pixelflow.simd.machine import machine_named
from pixelflow.simd.observe import Bus
from pixelflow.simd.trace import Trace, TraceClock, Tracer, tracks_of_streams
from pixelflow.view import TracedRun, TraceRoom
from pixelflow.view.server import Desk
from tests.attila.recorded import drawn, quad, scene_of
from tests.view.test_rooms import Asking, asking

CHAIN = "vaddps v1, v2, v3\nvaddps v4, v1, v1\nvmulps v5, v4, v4\n"
"""Each needs the result of the one before, which is there 4 cycles after its issue (the default configuration)."""
LOOP = """\
.data g10 D 1, 2, 3, 4, 5, 6, 7, 8
mov (8) g20<1>D 0D
TOP:
add (8) g20<1>D g20<8,8,1>D 1D
cmp.l.f0.0 (8) null<1>D g20<8,8,1>D g10<8,8,1>D
(+f0.0) while (8) TOP
nop
"""


@pytest.fixture
def desks() -> Iterator[list[Desk]]:
    found: list[Desk] = []
    yield found
    for each in found:
        each.close()


def talk(run: TracedRun, desks: list[Desk]) -> Asking:
    desks.append(Desk(lambda tell: (TraceRoom(run),)))
    return asking(desks[-1])


def of_larrabee(threads: int = 1) -> TracedRun:
    program = assemble_vector(CHAIN)
    if threads == 1:
        return trace_run(machine_named("larrabee"), program, "chain.mc")
    trace, bus = Trace(TraceClock(1000)), Bus()
    tracer: Tracer = Tracer(trace)
    tracer.attach(bus, tracks_of_streams(("main",)))
    run_vector(program, bus=bus, threads=threads)
    return traced_run(trace, "", "Larrabee", program)


def test_a_chain_on_larrabee_is_stepped_through(desks: list[Desk]) -> None:
    """The rows are worked out by hand: issues in cycles 0, 4, 8, waits between them, `halt` in no cycle."""
    ask = talk(of_larrabee(), desks)
    opened, _ = ask("run.open")
    assert (opened["machine"], opened["file"], opened["end"], opened["maps"]) == ("Larrabee", "chain.mc", 9, [])
    assert opened["streams"] == ["main"]
    seen = []
    for _ in range(6):
        state, _ = ask("run.step", to="next")
        seen.append((state["cycle"], state["streams"][0]["doing"]))
    texts = CHAIN.splitlines()
    wait = "wait result"
    assert seen == [(1, wait), (4, texts[1]), (5, wait), (8, texts[2]), (9, "halt"), (9, "halt")]
    assert state["ended"]
    back = [ask("run.step", to="before")[0]["cycle"] for _ in range(6)]
    assert back == [8, 5, 4, 1, 0, 0]


def test_the_source_of_larrabee_s_program_is_hot_where_its_cycles_are(desks: list[Desk]) -> None:
    ask = talk(of_larrabee(), desks)
    rows = ask("run.rows", first=0, count=50)[0]["rows"]
    lines = [("".join(piece for _, piece in row["text"])) for row in rows if row["form"] == "line"]
    assert lines == CHAIN.splitlines()
    heat = {row: cycles for row, *cycles in ask("run.heat", begin=0, end=9)[0]["rows"]}
    assert [heat[at] for at, row in enumerate(rows) if row["form"] == "line"] == [[1, 0], [1, 3], [1, 3]]
    heat = {row: cycles for row, *cycles in ask("run.heat", begin=2, end=5)[0]["rows"]}
    assert heat == {3: [1, 2], 4: [1, 2]}, "cycles 2, 3 of the wait, cycle 4 of the issue"
    state, _ = ask("run.goto", cycle=3)
    assert rows[state["streams"][0]["row"]]["address"] == 3 and state["where"] == "cycle 3 of 9"
    place, _ = ask("run.place", row=0, cycle=2)
    assert (place["track"], place["name"], place["start"], place["end"]) == ("main", "wait result", 1, 4)


def test_each_thread_of_larrabee_has_a_row(desks: list[Desk]) -> None:
    ask = talk(of_larrabee(threads=3), desks)
    window, _ = ask("run.window", begin=0, end=10, width=90)
    assert [row["track"] for row in window["rows"]] == ["main0", "main1", "main2"]
    assert all(row["count"] == 6 for row in window["rows"]), "three issues, two waits, and the end"


def test_threads_of_gen6_do_one_thing_at_a_time_and_fill_their_time(desks: list[Desk]) -> None:
    """Issues and waits of a thread cover its cycles once; its waits are those that the account of the run counts."""
    program, config = assemble_eu(LOOP), EuConfig(count=2)
    run = trace_run(machine_named("gen6"), program, "loop.mc", config=config)
    account = run_eu(program, config=config).account
    ask = talk(run, desks)
    opened, _ = ask("run.open")
    assert opened["streams"] == ["main0", "main1"] and opened["end"] == max(each.end for each in account.threads)
    waits = 0
    for track, thread in zip(opened["streams"], account.threads, strict=True):
        (spans,) = [found for each, found in run.trace.spans.items() if each.name == track]
        ends = [span.end for span in spans]
        assert [span.start for span in spans] == [0, *ends[:-1]] and ends[-1] == thread.end
        waits += sum(span.end - span.start for span in spans if span.label.name.startswith("wait "))
    rows = ask("run.rows", first=0, count=50)[0]["rows"]
    heat = ask("run.heat", begin=0, end=opened["end"])[0]["rows"]
    lines = [row for row in heat if rows[row[0]]["form"] == "line"]
    assert sum(waiting for _, _, waiting in lines) == waits
    assert sum(busy for _, busy, _ in lines) + waits == sum(each.end for each in account.threads)
    adds = [row for row in rows if row["form"] == "line" and row["place"].endswith(":4")]
    assert adds and adds[0]["text"][0][1].startswith("add (8) ")


def test_boxes_of_attila_have_their_queues_and_a_frame_its_steps(desks: list[Desk]) -> None:
    draw = drawn(quad(0, 0, 8, 8, 0.3), [[1.0, 0.0, 0.0, 1.0]] * 6)
    scene = scene_of(draw, size=(16, 16), clear={"color": [0, 0, 0, 1], "depth": 1.0})
    run = trace_run(machine_named("attila"), scene, "scene.json")
    ask = talk(run, desks)
    opened, _ = ask("run.open")
    window, _ = ask("run.window", begin=0, end=opened["end"], width=200)
    tracks = [row["track"] for row in window["rows"]]
    assert {"vertex", "fragment"} <= set(tracks) and sum(name.startswith("queue ") for name in tracks) > 1
    texts = [row["text"][0][1] for row in ask("run.rows", first=0, count=50)[0]["rows"]]
    assert "draw 0" in texts and "clear colour" in texts
    state, _ = ask("run.goto", cycle=opened["end"] // 2)
    units = {part["name"]: part["doing"] for part in state["streams"]}
    assert " of " in units["queue Clipper triangles"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "chain.mc"
    file.write_text(CHAIN)
    return file


def test_a_trace_file_shows_what_it_holds(source: Path, desks: list[Desk]) -> None:
    pytest.importorskip("perfetto", reason="needs perfetto: pip install 'pixelflow-sim[trace]'")
    file = source.with_suffix(".pftrace")
    assert main(["run", "--machine", "larrabee", str(source), "--trace", str(file), "-q"]) == 0
    ask = talk(traced_file(str(file)), desks)
    opened, _ = ask("run.open")
    assert (opened["machine"], opened["run"], opened["end"]) == ("Larrabee", "chain", 9)
    rows = ask("run.rows", first=0, count=50)[0]["rows"]
    assert [row["place"] for row in rows if row["form"] == "line"] == ["chain.mc:1", "chain.mc:2", "chain.mc:3"]
    heat = {row: cycles for row, *cycles in ask("run.heat", begin=0, end=9)[0]["rows"]}
    assert [heat[at] for at, row in enumerate(rows) if row["form"] == "line"] == [[1, 0], [1, 3], [1, 3]]


def test_pages_have_cursors_of_their_own(desks: list[Desk]) -> None:
    run = of_larrabee()
    one, other = talk(run, desks), talk(run, desks)
    one("run.goto", cycle=4)
    assert other("run.state")[0]["cycle"] == 0 and one("run.state")[0]["cycle"] == 4
    assert one("run.goto", cycle=1 << 40)[0]["cycle"] == 9, "past the end is the end"


@pytest.mark.parametrize(
    "what, fields, complaint",
    [
        ("run.map", {"what": "enable"}, "unknown request"),
        ("run.command", {"text": "step"}, "unknown request"),
        ("run.step", {"to": "left"}, "one of next, before"),
        ("run.step", {}, "one of next, before"),
        ("run.goto", {"cycle": -1}, "a whole number from 0"),
        ("run.window", {"begin": 9, "end": 9, "width": 9}, "not a window"),
        ("draw.offers", {}, "unknown request"),
    ],
)
def test_what_a_trace_has_not_is_refused(desks: list[Desk], what: str, fields: dict, complaint: str) -> None:
    head, body = talk(of_larrabee(), desks)(what, **fields)
    assert complaint in head["error"] and not body


def test_an_empty_trace_is_no_run() -> None:
    with pytest.raises(InputError, match="the trace is empty"):
        traced_run(Trace(TraceClock(100)), "")


@pytest.mark.parametrize(
    "words, code, complaint",
    [
        (["--machine", "larabee", "FILE"], 3, "did you mean larrabee?"),
        (["--machine", "larrabee"], 2, "a program is missing"),
        (["--machine", "attila"], 2, "a scene is missing"),
        (["--machine", "larrabee", "FILE", "--max-cycles", "5"], 2, "--max-cycles: error: is PixelFlow's"),
        (["--machine", "larrabee", "FILE", "-D", "vektor_latency=2"], 3, "vector_latency"),
        (["--machine", "larrabee", "x.pftrace"], 2, "says itself"),
        (["none.pftrace"], 3, "none.pftrace: error: cannot be read"),
        (["none.pftrace", "-P", "A=1"], 2, "-P: error: a trace is of a run with its own parameters"),
        (["BAD.kanata"], 3, "not a trace of a known format"),
    ],
)
def test_bad_input_is_said(
    words: list[str], code: int, complaint: str, source: Path, require_server: None, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = source.with_name("bad.kanata")
    bad.write_text("nothing")
    places = {"FILE": str(source), "BAD.kanata": str(bad)}
    assert main(["view", "--no-open", *(places.get(word, word) for word in words)]) == code
    assert complaint in capsys.readouterr().err


def test_a_trace_of_a_format_that_loses_too_much_is_refused(
    source: Path, require_server: None, capsys: pytest.CaptureFixture[str]
) -> None:
    file = source.with_suffix(".kanata")
    assert main(["run", "--machine", "larrabee", str(source), "--trace", str(file), "-q"]) == 0
    assert main(["view", "--no-open", str(file)]) == 3
    assert "Perfetto" in capsys.readouterr().err


@pytest.mark.slow
def test_answers_are_json(desks: list[Desk]) -> None:
    head, _ = talk(of_larrabee(), desks)("run.state")
    assert json.loads(json.dumps(head, allow_nan=False)) == head
