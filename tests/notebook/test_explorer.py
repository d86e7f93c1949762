"""Does the run explorer of a notebook answer its messages, and does it work in a browser?

The browser gets the widget's own script; what stands between it and the kernel in a notebook (a comm) is a function
here.
"""

from __future__ import annotations

import json
import queue
import shutil
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import pixelflow as pf
from larrabee_bridge.machine import run_program
from larrabee_bridge.vpu.program import assemble_vector
from pixelflow.simd.errors import MissingPackageError
from pixelflow.simd.observe import Bus
from pixelflow.simd.trace import Trace, TraceClock, Tracer, tracks_of_streams

pytest.importorskip("anywidget", reason="needs anywidget: pip install 'pixelflow-sim[notebook]'")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Conversation:
    """A widget whose messages are kept."""

    def __init__(self, widget) -> None:
        self.widget = widget
        self.messages: queue.Queue[bytes] = queue.Queue()
        self._number = 0
        widget.send = lambda content, buffers: self.messages.put(bytes(buffers[0]))

    def hear(self, content: object) -> None:
        """Give the widget a message, as Jupyter does."""
        self.widget._handle_custom_msg(content, [])

    def say(self, text: str) -> None:
        self.hear({"ask": text})

    def ask(self, do: str, **fields) -> tuple[dict, bytes]:
        """Return the answer to a question, past what nobody has asked for."""
        self._number += 1
        self.say(json.dumps({"id": self._number, "do": do, **fields}))
        while True:
            head, body = _parts(self.messages.get(timeout=60))
            if head.get("id") == self._number:
                return head, body


def _parts(message: bytes) -> tuple[dict, bytes]:
    size = int.from_bytes(message[:4], "little")
    return json.loads(message[4 : 4 + size]), message[4 + size :]


@pytest.fixture
def talk() -> Iterator[Conversation]:
    widget = pf.explore(pf.assemble("triangle.mc"))
    yield Conversation(widget)
    widget.close()


def test_a_run_is_opened_moved_and_looked_at(talk: Conversation) -> None:
    opened, _ = talk.ask("run.open")
    assert opened["run"] == "triangle" and opened["command"] == "pf.explore" and opened["streams"] == ["eigc"]
    state, _ = talk.ask("run.goto", cycle=8)
    assert state["cycle"] == 8 and not state["ended"]
    state, _ = talk.ask("run.command", text="continue")
    assert state["ended"] and state["end"] == 15, "as the tour's run: 15 cycles"
    head, body = talk.ask("run.map", what="colour")
    node = pf.Node()
    node.run(pf.assemble("triangle.mc"))
    # What a node has after the same program, PE by PE: 128 x 64, x to the right; 0 is black, 200 white.
    x, y = node.coordinates()
    wanted = np.zeros((64, 128), np.uint8)
    wanted[y, x] = node["colour"]
    assert "colour" in head["caption"] and set(node["colour"]) == {0, 200}
    assert np.array_equal(np.frombuffer(body, np.uint8).reshape(64, 128) // 255 * 200, wanted)
    window, _ = talk.ask("run.window", begin=0, end=15, width=100)
    assert window["id"] > 0 and "error" not in window


def test_what_cannot_be_done_is_the_answer(talk: Conversation) -> None:
    talk.ask("run.open")
    assert "poke" in talk.ask("run.command", text="poke R 3")[0]["error"]
    assert talk.ask("draw.frame")[0]["error"]
    talk.say("no json")
    assert "JSON" in _parts(talk.messages.get(timeout=60))[0]["error"]
    for content in (None, [], {"ask": 3}, {}):
        talk.hear(content)
        assert "error" in _parts(talk.messages.get(timeout=60))[0]


def test_a_node_is_left_alone_and_what_it_holds_is_where_the_run_begins() -> None:
    node, program = pf.Node(pf.TINY), pf.assemble("range count[1]\nLD R, count[0]\nADD R, #1\nST count[0], R")
    node.load(program)
    node["count"] = 41
    before = node.digest()
    talk = Conversation(pf.explore(program, node, height=500))
    talk.ask("run.open")
    talk.ask("run.command", text="continue")
    element, memory = talk.ask("run.element", x=3, y=2)
    talk.widget.close()
    assert element["ranges"][0]["values"] == ["42"] and memory[0] == 42
    assert node.digest() == before and not node.array.exact
    assert talk.widget.height == 500


def test_programs_and_traces_of_other_machines_have_a_cursor(tmp_path) -> None:
    """Larrabee issues one instruction a cycle where none waits for another: two of them, and `halt` in none."""
    program = assemble_vector("vaddps v1, v2, v3\nvaddps v4, v5, v6\n")
    trace, bus = Trace(TraceClock(1000)), Bus()
    tracer: Tracer = Tracer(trace)
    tracer.attach(bus, tracks_of_streams(("main",)))
    run_program(program, bus=bus)
    for run in (program, trace):
        talk = Conversation(pf.explore(run))
        opened, _ = talk.ask("run.open")
        cycles = [talk.ask("run.step", to="next")[0]["cycle"] for _ in range(3)]
        talk.widget.close()
        assert (opened["end"], opened["maps"], cycles) == (2, [], [1, 2, 2])
    with pytest.raises(pf.InputError, match="a node runs PixelFlow's programs"):
        pf.explore(program, pf.Node(pf.TINY))
    with pytest.raises(pf.InputError, match=r"none\.pftrace.*cannot be read"):
        pf.explore(tmp_path / "none.pftrace")


def test_a_closed_explorer_has_no_threads() -> None:
    before = threading.active_count()
    talk = Conversation(pf.explore(pf.assemble("triangle.mc")))
    talk.ask("run.open")
    assert threading.active_count() > before
    talk.widget.close()
    assert threading.active_count() == before
    talk.widget.close()
    talk.say('{"id": 9, "do": "run.step", "to": "next"}')  # too late: nobody is there who could be answered
    assert threading.active_count() == before


def test_arguments_and_a_missing_package_are_said(monkeypatch, tmp_path) -> None:
    with pytest.raises(pf.InputError, match="a trace, a saved run, its file, or a program, found int"):
        pf.explore(3)
    with pytest.raises(pf.InputError, match=r"none\.npz"):
        pf.explore(tmp_path / "none.npz")
    for height in (199, 4001, 500.5, True):
        with pytest.raises(pf.InputError, match="200 to 4000 pixels"):
            pf.explore(pf.assemble("triangle.mc"), height=height)
    monkeypatch.setattr("pixelflow.view.explorer.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="anywidget"):
        pf.explore(pf.assemble("triangle.mc"))


MODEL = """async ([text, traits]) => {
    const heard = new Map();
    window.model = {
        get: (name) => traits[name],
        send: (content) => window.toKernel(JSON.stringify(content)),
        on: (name, call) => heard.set(name, call),
        off: (name) => heard.delete(name),
    };
    window.change = (name, value) => {
        traits[name] = value;
        heard.get(`change:${name}`)?.();
    };
    const view = (bytes) => new DataView(Uint8Array.from(bytes).buffer);
    window.fromKernel = (bytes) => heard.get("msg:custom")?.({ answer: true }, [view(bytes)]);
    const script = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    window.end = await (await import(script)).default.render({ model: window.model, el: document.body });
}"""


@pytest.mark.slow
def test_the_explorer_works_in_a_browser(talk: Conversation) -> None:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install 'pixelflow-sim[test]'"
    )
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    complaints: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 800})
        page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.route(
            "http://notebook.test/", lambda route: route.fulfill(body="<title>n</title>", content_type="text/html")
        )
        page.goto("http://notebook.test/")
        page.expose_function("toKernel", lambda content: talk.hear(json.loads(content)))
        page.evaluate(MODEL, [talk.widget._esm, {"assets": talk.widget.assets, "height": 700}])

        def until(what: str, wanted: str) -> None:
            for _ in range(600):
                while not talk.messages.empty():
                    page.evaluate("(bytes) => window.fromKernel(bytes)", list(talk.messages.get()))
                if page.frames[1].evaluate(f"document.getElementById('{what}')?.textContent ?? ''").find(wanted) >= 0:
                    return
                page.wait_for_timeout(50)
            raise AssertionError(f"{what} never says {wanted!r}; {complaints}")

        until("run-name", "triangle")
        until("streams", "EIGC")
        inside = page.frames[1]
        inside.click("button[data-command=continue]")
        until("streams", "ended")
        assert inside.evaluate("document.getElementById('timeline').dataset.cycle") == "15"
        assert inside.evaluate("document.querySelectorAll('#listing *').length") > 5
        inside.fill("#what", "colour")
        inside.press("#what", "Enter")
        until("map-caption", "colour")
        sizes = []
        for height in (700, 400):
            page.evaluate("(height) => window.change('height', height)", height)
            sizes.append(page.evaluate("document.querySelector('iframe').clientHeight"))
        page.evaluate("window.end()")
        browser.close()
    assert complaints == [] and sizes == [700, 400]
