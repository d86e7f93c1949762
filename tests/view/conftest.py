"""A page that is served, and a browser to open it in; tests without them are skipped with the reason."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pixelflow.cli.main import main

ROOT = Path(__file__).parents[2]
END = 17_238
"""Cycles of the saved run, which `pixelflow run texture_copy` prints too."""
TRACED = f"#timeline[data-known='{END}']"
"""A page that has all of it."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def served(*words: str, folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve a page; yield its address and the process, which an interrupt ends."""
    command = [sys.executable, "-m", "pixelflow", "view", "--no-open", *words]
    log = (folder / "view.log").open("w", encoding="utf-8")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), (folder / "view.log").read_text(encoding="utf-8")
        yield address, process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(30)
        process.stdout.close()
        log.close()


def until(page, expression: str, seconds: float = 60) -> None:
    """Wait until an expression is true; Playwright's own way evaluates it where the page's policy forbids that."""
    limit = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < limit, f"still not: {expression}"
        page.wait_for_timeout(30)


@pytest.fixture(scope="session")
def require_server() -> None:
    """Skip where the libraries of the server are not installed."""
    for name in ("starlette", "uvicorn", "websockets"):
        pytest.importorskip(name, reason=f"needs {name}: pip install 'pixelflow-sim[view]'")


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved run of 17,238 cycles: two streams, transfers, semaphores, stages, a routine."""
    path = tmp_path_factory.mktemp("recorded") / "copy.npz"
    assert main(["run", "texture_copy", "--record", str(path), "-q"]) == 0
    return path


@pytest.fixture(scope="module")
def page_of_run(require_server: None, recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page with the saved run."""
    with served(str(recorded), folder=tmp_path_factory.mktemp("served")) as (address, _):
        yield address


@pytest.fixture(scope="session")
def browser(require_server: None) -> Iterator[object]:
    """A headless Chromium of this host, driven by Playwright."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs playwright: pip install 'pixelflow-sim[test]'"
    )
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def opened(browser) -> Iterator[Callable[..., object]]:
    """Open an address in a page of its own; a complaint in its console, or a request elsewhere, fails the test."""
    contexts, complaints = [], []

    def open_page(address: str, *, width: int = 1280, height: int = 720, colours: str = "light"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=colours)
        contexts.append(context)
        page = context.new_page()
        host = "/".join(address.split("/")[:3])
        page.on("console", lambda message: message.type in ("error", "warning") and complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: request.url.startswith(host) or complaints.append(f"asks {request.url}"))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints
