"""Attempts: a command line in this process, or a message of the page, on a damaged file, and how that ends."""

from __future__ import annotations

import io
import json
import queue
import random
import shlex
import signal
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

from pixelflow.cli.main import main
from pixelflow.cli.trace_files import known_of
from pixelflow.node import SavedRun
from pixelflow.view import DrawingRoom, ExplorerRoom
from pixelflow.view.server import Desk
from tests.files.damage import damaged
from tests.files.kinds_of_files import KINDS, PAGE, furnish, good

__all__ = ["Attempts"]

CODES = {0, 1, 3, 4, 5, 6}
REFUSED = 3
TOO_LONG = -1
SECONDS = 30
"""Of the processor."""
LONGEST_MESSAGE = 40_000
MARKS = ("Traceback", "internal error", "Warning: ")
"""What no input leads to."""


class TooLong(BaseException):
    """The attempt goes on and on; no `except Exception` takes it for its own."""


class Attempts:
    """A folder in which command lines are tried, one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with chdir(folder):
            furnish()
        self._there = _contents(folder)

    def good(self, name: str) -> list[int]:
        """Return how each line of a kind ends on a file that is whole."""
        return [self._ended(name, line, good(name))[0] for line in KINDS[name].lines]

    def damaged(self, name: str, number: int) -> tuple[bool, list[str]]:
        """Try a damaged file, always the same one of a number; return whether it was refused, and what is wrong."""
        rng = random.Random(f"{name} {number}")
        data, line = damaged(good(name), rng), rng.choice(KINDS[name].lines)
        code, wrong = self._ended(name, line, data)
        # A damaged solution is a row of a table, not a refusal of the command.
        refused = code == (1 if line.startswith("grade ") else REFUSED)
        return refused, [f"{name} {number}: {each}: {line or 'a message'}" for each in wrong]

    def _ended(self, name: str, line: str, data: bytes) -> tuple[int, list[str]]:
        """Return the exit code, and what is wrong."""
        if line == PAGE:
            text = _answered(data.decode("utf-8", "replace"))
            return REFUSED if text else 0, _said(text)
        with chdir(self._folder), _limited():
            Path(name).write_bytes(data)
            self._there[whole := f"whole-{name}"] = good(name)
            Path(whole).write_bytes(good(name))
            out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", how) for how in ("strict", "backslashreplace"))
            with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
                warnings.simplefilter("default")
                try:
                    code = main(shlex.split(line.format(name, name)))
                except TooLong:
                    code = TOO_LONG
            out.flush()
            err.flush()
            shown, text = (each.buffer.getvalue().decode("utf-8") for each in (out, err))
            left, changed = self._taken_away(name, data)
        wrong = _said(shown) + _said(text)
        if len(text) > LONGEST_MESSAGE:
            wrong.append(f"says {len(text)} characters")
        if code not in CODES:
            wrong.append(f"ends with {code}: {text[-600:]}")
        if code and not (text or shown):
            wrong.append(f"ends with {code} and says nothing")
        if code == REFUSED and (left or changed):
            wrong.append(f"is refused and writes {sorted(left) or name}")
        wrong += [f"writes a part of {each}" for each, content in left.items() if not _whole(each, content)]
        return code, wrong

    def _taken_away(self, name: str, data: bytes) -> tuple[dict[str, bytes], bool]:
        """Return what the command has written, and whether it changed the file; take all of it away."""
        found = _contents(self._folder)
        changed = found.pop(name, b"") != data
        (self._folder / name).unlink()
        left = {each: content for each, content in found.items() if self._there.get(each) != content}
        for each in left:
            (self._folder / each).unlink()
        for each in (self._there.keys() - found.keys() - {name}) | (self._there.keys() & {name, *left}):
            (self._folder / each).write_bytes(self._there[each])
        return left, changed


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def _said(text: str) -> list[str]:
    """Return what is wrong with a message."""
    wrong = [f"says {mark!r}: {text[-600:]}" for mark in MARKS if mark in text]
    if not all(c.isprintable() or c in "\n\t" for c in text):
        wrong.append(f"gives the terminal orders: {ascii(text)[-600:]}")
    return wrong


def _whole(name: str, content: bytes) -> bool:
    """Return whether a file that was written is complete, as far as its form tells."""
    match Path(name).suffix:
        case ".png":
            return content.endswith(b"IEND\xaeB`\x82")
        case ".gif":
            return content.endswith(b";")
        case ".npz":
            return zipfile.ZipFile(io.BytesIO(content)).testzip() is None
        case ".json" | ".mco":
            return isinstance(json.loads(content), dict)
        case ".svg":
            return content.rstrip().endswith(b"</svg>")
        case ".ply":
            return content.startswith(b"ply")
        case ".lock":
            return name.startswith(".sweep")
    return content.endswith(b"\n")


@contextmanager
def _limited() -> Iterator[None]:
    """Raise TooLong in what takes too long."""

    def ring(*_: object) -> None:
        raise TooLong

    if not hasattr(signal, "SIGPROF"):
        yield
        return
    former = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS, 1)  # again and again: libraries swallow any exception
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


@cache
def _asking() -> Callable[[str], bytes]:
    """Return what asks the rooms of a page, in which a run is open."""
    saved = SavedRun.from_bytes(good("run.npz"))

    def furnish_page(tell: object) -> tuple[ExplorerRoom, DrawingRoom]:
        explorer = ExplorerRoom(saved, lambda run: known_of(run.config), tell)
        return explorer, DrawingRoom(None, explorer.explore)

    desk = Desk(furnish_page)
    answers: queue.Queue[bytes] = queue.Queue()

    def ask(text: str) -> bytes:
        desk.ask(text, answers.put)
        found = answers.get(timeout=10 * SECONDS)
        assert answers.empty(), "a message with two answers"
        return found

    ask('{"id": 1, "do": "run.open"}')
    return ask


def _answered(text: str) -> str:
    """Return what the answer to a message says is wrong."""
    message = _asking()(text)
    head = json.loads(message[4 : 4 + int.from_bytes(message[:4], "little")])
    return str(head.get("error", ""))
