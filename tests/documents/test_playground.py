"""Does the playground of the site run every example with the cycles and bits of the library, on nothing but numpy?"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from shutil import which
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from microcode import assemble
from pixelflow.node import Node

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "microcode" / "examples").glob("*.mc"))
LONG = [each for each in EXAMPLES if each.stem in ("life", "mandelbrot", "maze", "newton", "waves")]

ASKED = """
import importlib.machinery, json, sys
sys.path.insert(0, sys.argv[1])
there = importlib.machinery.PathFinder.find_spec
absent = {"rich", "pygments", "bitarray", "llvmlite", "starlette", "uvicorn", "fcntl", "termios"}
class Browser:
    find_spec = staticmethod(lambda name, path=None, of=None: None if name in absent else there(name, path, of))
kept = [each for each in sys.meta_path if "PathFinder" not in str(each) and "editable" not in str(each)]
sys.meta_path[:] = [*kept, Browser]
from driver import answer
for text in json.load(sys.stdin):
    print(answer(json.dumps({"text": text, "map": "R"})))
own = ("pixelflow", "microcode", "tessellation", "larrabee_bridge", "gen6_bridge", "attila_bridge", "pim_kernels")
elsewhere = {name: each.__file__ for name, each in sys.modules.items() if name.partition(".")[0] in own
             and not (each.__file__ or sys.argv[1]).startswith(sys.argv[1])}
assert not elsewhere, elsewhere
"""


def hooks() -> ModuleType:
    pytest.importorskip("mkdocs", reason="the site needs the extra docs")
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the page unpacks, with nothing else of the repository."""
    folder = tmp_path_factory.mktemp("playground")
    with zipfile.ZipFile(BytesIO(hooks().simulator())) as found:
        found.extractall(folder)
    return folder


@pytest.mark.parametrize(
    "examples",
    [[each for each in EXAMPLES if each not in LONG], pytest.param(LONG, marks=pytest.mark.slow)],
    ids=["short", "long"],
)
def test_the_archive_runs_every_example_on_numpy_alone(examples: list[Path], archive: Path) -> None:
    """Texts as in the editor, executed by the archive alone, without other packages of the base install."""
    texts = [path.read_text(encoding="utf-8") for path in examples]
    ran = subprocess.run(
        [sys.executable, "-c", ASKED, str(archive)],
        input=json.dumps(texts), capture_output=True, text=True, cwd=archive, check=False,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    for path, found in zip(examples, answers, strict=True):
        node = Node()
        cycles = node.run(assemble(path)).cycles
        assert (found["end"], found["error"]) == (cycles, None), path.name
        assert found["pe"]["registers"] == {name: int(node.register(name)[0]) for name in "RSM"}, path.name


def test_a_run_goes_forward_and_back_and_a_fault_is_said(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "playground"))
    driver = importlib.import_module("driver")

    def ask(**request: object) -> dict:
        return json.loads(driver.answer(json.dumps(request)))

    text = "range x[1]\nLD R, #7\nADD R, #1\nST x, R"  # a cycle each
    end = ask(text=text, map="x")
    assert end["end"] == end["cycle"] == 3 and end["pe"]["ranges"][0]["values"] == ["8"]
    assert ask(back=1)["lines"] == {"eigc": 4} and ask(back=1)["pe"]["registers"]["R"] == 7
    assert ask(step=1)["pe"]["registers"]["R"] == 8 and ask(go=0)["pe"]["registers"]["R"] == 0
    shades = base64.b64decode(ask(go=3, map="enable")["map"]["shades"])
    assert np.frombuffer(shades, np.uint8).tolist() == [255] * 8192
    assert "line 1" in ask(text="LDX R, #7")["error"] or "1:" in ask(text="LDX R, #7")["error"]


STAND_IN = """
window.Worker = class {
  constructor() { setTimeout(() => this.onmessage({ data: { ready: true } })); }
  postMessage(data) { answer(JSON.stringify(data)).then((found) => this.onmessage({ data: JSON.parse(found) })); }
  terminate() {}
};
"""


@pytest.mark.slow
@pytest.mark.parametrize("python", ["pyodide", "native"])
def test_the_page_in_a_browser(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples chosen, run, and moved by its buttons; with the worker, or with this Python in place of it."""
    site = hooks()
    if python == "pyodide" and (reason := site.playground_lacks()):
        pytest.skip(reason)
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install 'pixelflow-sim[test]'"
    )
    program = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := which(name))), None
    )
    if program is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "playground"))
    files = site.playground_files() if python == "pyodide" else site.playground_own_files()
    files["index.html"] = files["playground.md"]
    complaints: list[str] = []

    def serve(route: Any) -> None:
        name = route.request.url.split("/", 3)[3] or "index.html"
        kind = {"js": "text/javascript", "mjs": "text/javascript", "wasm": "application/wasm", "html": "text/html"}
        found = kind.get(name.rpartition(".")[2], "application/octet-stream")
        route.fulfill(body=files[name], content_type=found) if name in files else route.fulfill(status=404)

    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.route("**/*", serve)
        if python == "native":
            page.expose_function("answer", importlib.import_module("driver").answer)
            page.add_init_script(STAND_IN)
        page.goto("http://playground.test/")
        page.click("[name=start]")
        for path in EXAMPLES:
            page.select_option("[name=example]", path.stem)
            cycles = f"{Node().run(assemble(path)).cycles:,}"
            page.wait_for_function(
                f"document.querySelector('[name=status]').textContent == 'cycle {cycles} of {cycles}'"
            )
            assert page.evaluate("document.querySelector('[name=map]').width") == 128
        page.select_option("[name=example]", "mandelbrot")
        page.wait_for_function("document.querySelector('[name=status]').textContent == 'cycle 44,537 of 44,537'")
        page.click("[name=first]")
        page.wait_for_function("document.querySelector('[name=status]').textContent.startsWith('cycle 0 of')")
        assert page.text_content("[name=line]").startswith("next: line ")
        browser.close()
    assert complaints == []
