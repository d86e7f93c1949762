"""Does the page get what the machine holds: positions, maps, PEs, the debugger's words, pictures?"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.trace_files import known_of
from pixelflow.node import SavedRun
from pixelflow.simd.drawing import Frame, draw, draw_frame
from pixelflow.simd.workers import kept_processes
from pixelflow.view import DrawingRoom, ExplorerRoom
from pixelflow.view.alive import PIXELFLOW, FrameMaker, FrameOrder
from pixelflow.view.server import Answer, Desk
from tessellation import format_bpt, load, tessellate
from tessellation.microprogram.method import SCHEDULES
from tessellation.picture import BACKGROUND, View, lit_triangles
from tessellation.plan.schedule import Stage
from tessellation.scenes import Body, draws_of

Asking = Callable[..., tuple[dict, bytes]]


def asking(desk: Desk) -> Asking:
    answers: queue.Queue[bytes] = queue.Queue()

    def ask(what: str, /, **fields: object) -> tuple[dict, bytes]:
        desk.ask(json.dumps({"id": 1, "do": what, **fields}), answers.put)
        message = answers.get(timeout=60)
        length = int.from_bytes(message[:4], "little")
        return json.loads(message[4 : 4 + length]), message[4 + length :]

    return ask


@pytest.fixture(scope="module")
def desk(recorded: Path) -> Iterator[Desk]:
    def furnish(tell):
        explorer = ExplorerRoom(SavedRun.load(recorded), lambda run: known_of(run.config), tell)
        return explorer, DrawingRoom(None, explorer.explore)

    found = Desk(furnish)
    yield found
    found.close()


@pytest.fixture(scope="module")
def ask(desk: Desk) -> Asking:
    found = asking(desk)
    found("run.open")
    return found


@pytest.fixture(scope="module")
def replay(recorded: Path):
    return SavedRun.load(recorded).replay()


@pytest.mark.parametrize("cycle", [3000, 1, 17_236, 17_215])
def test_a_cycle_shows_the_state_of_that_cycle(ask: Asking, replay, cycle: int) -> None:
    replay.goto(cycle)
    node = replay.node
    state, _ = ask("run.goto", cycle=cycle)
    assert state["cycle"] == cycle
    for name, what in (("R", node.register("R")), ("byte 353", node.read_memory(353)[0])):
        head, shades = ask("run.map", what=name)
        x, y = node.coordinates()
        plane = np.zeros((head["height"], head["width"]))
        plane[y, x] = what
        span = max(1, int(what.max()) - int(what.min()))
        expected = np.rint((plane - int(what.min())) * 255 / span)
        assert (np.frombuffer(shades, np.uint8).reshape(plane.shape) == expected).all()
    head, shades = ask("run.map", what="enable")
    assert shades.count(255) == node.flag("E").sum() and shades.count(0) == 8192 - node.flag("E").sum()
    waits = {each["name"]: each["waits"] for each in state["streams"]}
    assert waits == {name: replay.runner.waits_for(name, cycle) for name in replay.streams}
    for name, reason in waits.items():
        (line,) = (each for each in state["where"].splitlines() if each.strip().startswith(name.upper()))
        assert ("waits for" in line) == (reason is not None) and f"{reason or ''}" in line
    head, memory = ask("run.element", x=77, y=33)
    assert memory == node.memory[:, head["lane"]].tobytes()
    assert head["registers"]["R"] == node.register("R")[head["lane"]]
    assert head["flags"]["E"] == node.flag("E")[head["lane"]]
    at = [int(each[head["lane"]]) for each in node.coordinates()]
    assert at == [77, 33]


def test_a_stream_that_waits_for_its_transfer_says_so(ask: Asking) -> None:
    """`texture_copy` reads until cycle 17,205 or so: the EIGC waits for the signal, the TIGC for the transfer."""
    state, _ = ask("run.goto", cycle=10_000)
    assert {each["name"]: each["waits"] for each in state["streams"]} == {"eigc": "sem 1", "tigc": "transfer"}


def test_the_buttons_are_the_debugger_s_commands(ask: Asking, replay) -> None:
    ask("run.goto", cycle=2)
    replay.goto(2)
    for command, move in (("step", replay.step), ("step", replay.step), ("back", replay.back)):
        state, _ = ask("run.command", text=command)
        move()
        assert state["cycle"] == replay.position
    state, _ = ask("run.command", text="break sem 1")
    assert "stop 1: sem 1" in state["said"] or "sem 1" in state["stops"]
    state, _ = ask("run.command", text="continue")
    assert "sem 1" in state["said"] and state["cycle"] > 2
    ask("run.command", text="delete all")
    state, _ = ask("run.command", text="print R pe 5")
    assert "R" in state["said"]


@pytest.mark.parametrize(
    "what, fields, complaint",
    [
        ("run.command", {"text": "flurb"}, "unknown command 'flurb'"),
        ("run.command", {"text": " "}, "a command is missing"),
        ("run.command", {"text": "poke R = 1"}, "another run"),
        ("run.map", {"what": "byte 500"}, "outside the PE"),
        ("run.map", {"what": "enabel"}, "did you mean enable?"),
        ("run.element", {"x": 128, "y": 0}, "there is no PE at x 128"),
        ("run.window", {"begin": 9, "end": 9, "width": 9}, "not a window"),
        ("draw.frame", {"model": "kettle"}, "models: teapot, enneper"),
        ("draw.patches", {"name": "a.bpt", "text": "1\n2"}, "a.bpt"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(ask: Asking, what: str, fields: dict, complaint: str) -> None:
    head, body = ask(what, **fields)
    assert complaint in head["error"] and not body


def test_a_frame_is_what_the_machines_make_bit_by_bit(ask: Asking) -> None:
    """The node that keeps its patches, and the picture, against a fresh tessellation and 64-bit integers."""
    chosen = {"model": "enneper", "samples": 3, "size": "160x120", "azimuth": 33.5, "elevation": 10, "zoom": 1.5}
    first, _ = ask("draw.frame", **chosen)
    head, pixels = ask("draw.frame", **chosen)
    fresh = tessellate(load("enneper").patches, 3)
    mesh = fresh.mesh(weld=True)
    view = View(azimuth=33.5, elevation=10, zoom=1.5, width=160, height=120)
    expected = draw(lit_triangles(mesh.points, mesh.normals, mesh.triangles, view), 160, 120, BACKGROUND)
    assert pixels == expected.colours.tobytes()
    tessellation, drawing = head["steps"]
    # The LEE is configured once before all pictures, 1,344 cycles, as `animate` has it: the first is as the second.
    assert first["steps"] == head["steps"] and first["machine_ms"] == head["machine_ms"]
    assert first["lee_configuration_cycles"] == head["lee_configuration_cycles"] == 32 * 42 == 1344
    assert tessellation["cycles"] == sum(cycles for _, cycles in tessellation["stages"]) == fresh.cycles - 1344
    assert Stage.LEE.value not in dict(tessellation["stages"])
    assert drawing["cycles"] == sum(cycles for _, cycles in drawing["stages"])
    assert head["machine_ms"] == pytest.approx((tessellation["cycles"] + drawing["cycles"]) / 1e5)
    # Another schedule is another node, which is configured as well.
    head, _ = ask("draw.frame", **chosen, schedule="shared-columns")
    assert head["lee_configuration_cycles"] == 1344


def test_a_picture_at_rest_has_four_samples_a_pixel_where_the_machine_has_them(ask: Asking) -> None:
    chosen = {"model": "enneper", "samples": 2, "size": "160x120", "antialias": 4}
    head, pixels = ask("draw.frame", **chosen)
    mesh = tessellate(load("enneper").patches, 2).mesh(weld=True)
    body = Body("enneper", mesh.points.astype(float), mesh.normals.astype(float), mesh.triangles)
    view = View(width=160, height=120)
    expected = draw_frame(Frame(160, 120, BACKGROUND, tuple(draws_of([body], view)), 4))
    assert head["samples_a_pixel"] == 4 and pixels == expected.colours.tobytes()
    head, _ = ask("draw.frame", **chosen, machine="attila")
    assert "ATTILA draws one sample a pixel" in head["error"]


def test_a_picture_at_rest_is_given_up_when_it_is_turned() -> None:
    """The second request comes when the first has drawn its first regions."""
    begun, answers = threading.Event(), queue.Queue[bytes]()

    def tell(name: str, answer: Answer) -> None:
        if "region 2" in str(answer.head["text"]):
            begun.set()
            assert turned.wait(20)

    turned = threading.Event()
    desk = Desk(lambda _: (DrawingRoom(None, lambda run: None, tell=tell),))
    still = {"do": "draw.frame", "model": "enneper", "samples": 2, "size": "160x120", "antialias": 4}
    desk.ask(json.dumps({"id": 1, **still}), answers.put)
    assert begun.wait(20)
    desk.ask(json.dumps({"id": 2, **still, "antialias": 1}), answers.put)
    turned.set()
    heads = [
        json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")]) for message in (answers.get(), answers.get())
    ]
    desk.close()
    assert heads[0] == {"superseded": True, "id": 1}
    assert heads[1]["id"] == 2 and heads[1]["samples_a_pixel"] == 1


def test_a_picture_by_another_process_is_the_one_made_here() -> None:
    maker = FrameMaker("enneper", load("enneper").patches)
    order = FrameOrder(3, SCHEDULES[0], None, PIXELFLOW, View(azimuth=33.5, width=160, height=120), False)
    here = maker.draw(order)
    with kept_processes(1) as processes:
        there = maker.draw_apart(order, processes)
    assert there.body == here.body
    assert [there.head[name] for name in ("steps", "notes", "triangles")] == [
        here.head[name] for name in ("steps", "notes", "triangles")
    ]


def test_a_patch_file_is_dropped_and_drawn(ask: Asking) -> None:
    text = format_bpt(load("enneper").patches[:2])
    head, _ = ask("draw.patches", name="two.bpt", text=text)
    assert (head["model"], head["patches"]) == ("dropped", 2)
    head, pixels = ask("draw.frame", model="dropped", samples=2, size="160x120")
    assert head["triangles"] == 4 and len(pixels) == 160 * 120 * 3


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["larrabee", "attila", "gen6"])
def test_other_machines_draw_the_same_patches(ask: Asking, machine: str) -> None:
    chosen = {"model": "enneper", "samples": 3, "size": "160x120"}
    _, expected = ask("draw.frame", **chosen)
    head, pixels = ask("draw.frame", machine=machine, **chosen)
    apart = np.frombuffer(pixels, np.uint8) != np.frombuffer(expected, np.uint8)
    assert head["steps"][1]["cycles"] > 0
    assert apart.mean() < (0.05 if any(note.startswith("pixels:") for note in head["notes"]) else 1e-9)


@pytest.mark.slow
def test_a_frame_is_looked_into(desk: Desk) -> None:
    """The tessellation, and a region, of what is drawn are runs; the explorer has their cycles."""
    ask = asking(desk)
    chosen = {"model": "enneper", "samples": 3, "size": "160x120"}
    frame, _ = ask("draw.frame", **chosen)
    head, _ = ask("draw.record", **chosen, **{"pass": 2})
    assert head["run"] == "region 128,0"
    head, _ = ask("run.open")
    assert head["run"] == "region 128,0" and 0 < head["end"] < frame["steps"][1]["cycles"]
    head, _ = ask("draw.record", **chosen, **{"pass": 99})
    assert "regions: 1 to 4" in head["error"]


def test_a_page_hears_what_is_being_done_for_its_picture() -> None:
    said: list[str] = []
    room = DrawingRoom(None, lambda run: None, tell=lambda name, answer: said.append(f"{name}: {answer.head['text']}"))
    desk = Desk(lambda tell: (room,))
    asking(desk)("draw.frame", model="enneper", samples=2, size="160x120")
    desk.close()
    assert said[0] == "doing: pass 1 of 1: 4 patches of 4x4 control points" and any("rows" in each for each in said)
