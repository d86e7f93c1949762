"""Trials: each change is made in a copy of the tree, and the tests that carry it out are run until one fails.

Run in the copy. The tests are collected once; each change has a process of its own, forked from there, in which the
functions of the changed file get the changed code. A change to what runs at import is tried in a process that was
forked before anything of the project was imported. The file is changed on disk too, for programs that tests start.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.mutation.learned import Learned
from tests.mutation.replaced import functions_by_file, replacements
from tests.mutation.sites import Site

__all__ = ["Trials"]

_LIBRARIES = ("numpy", "bitarray", "rich.console", "pygments", "hypothesis", "llvmlite.binding", "PIL.Image")
_OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0")
_PATIENCE = (60.0, 20.0)
"""Seconds until a test counts as endless: so many, and so many times what it took."""

_FIRST = 3
"""Files of tests that are collected first for a change to what runs at import."""

_DECIDING = (
    *("pixelflow/simd/", "pixelflow/isa/", "pixelflow/node/", "pixelflow/config.py"),
    *("microcode/", "tessellation/", "larrabee_bridge/vpu/"),
)
"""Files that decide kept things: each change to one begins with an empty store; others share one."""

Note = Callable[[str], object]


class Trials:
    """The tree, what is known of its tests, and the file of verdicts: a line of JSON each."""

    def __init__(self, root: Path, learned: Learned, tests: list[str], longest: float, out: Path) -> None:
        self.root, self.learned, self.tests, self.longest, self.out = root, learned, tests, longest, out
        self._screen = os.dup(2)
        self._fresh = True

    def run(self, sites: list[Site]) -> None:
        """Try the changes that have no verdict yet."""
        known = {(each["file"], each["start"], each["end"], each["new"]) for each in self.verdicts()}
        sites = [each for each in sites if (each.file, each.start, each.end, each.new) not in known]
        for name in _LIBRARIES:
            importlib.import_module(name)
        warm = [each for each in sites if not self.learned.at_import(each)]
        cold = [each for each in sites if self.learned.at_import(each)]
        if warm:
            unclear = self._beside(lambda note: self._collected(lambda items: self._warm(warm, items, note)))
            cold += [warm[int(each)] for each in unclear]
        for site in cold:
            self._verdict(site, self._cold)

    def control(self) -> None:
        """Run each test that failed at a change on the tree as it is; print those that fail there too."""
        names = sorted({each["by"].partition(" ")[2] for each in self.verdicts() if "::" in each["by"]})

        def each_alone(items: Mapping[str, pytest.Item]) -> None:
            for name in names:
                noted = self._beside(lambda note, name=name: self._carried([name], note).go(items))
                if noted[-1:] != ["end"]:
                    self._say(f"fails on the tree as it is: {name}: {noted}")

        self._beside(lambda note: self._collected(each_alone))

    def verdicts(self) -> list[dict[str, str]]:
        """Return what was found so far."""
        return [json.loads(line) for line in self.out.open(encoding="utf-8")] if self.out.exists() else []

    def _collected(self, then: Callable[[Mapping[str, pytest.Item]], None]) -> None:
        pytest.main([*_OPTIONS, *self.tests], plugins=[_Collected(then)])

    def _warm(self, sites: list[Site], items: Mapping[str, pytest.Item], note: Note) -> None:
        """Try each from here; note the numbers of those whose functions cannot be replaced for sure."""
        functions = functions_by_file(self.root)
        gc.freeze()  # else the collector writes on every page that a forked process shares
        for index, site in enumerate(sites):
            path = self.root / site.file
            source = path.read_text(encoding="utf-8")
            changes = replacements(functions[str(path)], source, site.applied(source))
            if changes is None:
                note(str(index))
                continue

            def run(chosen: list[str], note: Note, changes=changes) -> None:
                for function, code in changes:
                    function.__code__ = code
                self._carried(chosen, note).go(items)

            self._verdict(site, run)

    def _cold(self, chosen: list[str], note: Note) -> None:
        carried = self._carried(chosen, note)
        collected = _Collected(carried.go)
        files = sorted({name.partition("::")[0] for name in chosen})
        if pytest.main([*_OPTIONS, *files], plugins=[collected]) and not collected.went:
            note("failed collection")

    def _carried(self, chosen: list[str], note: Note) -> _Carried:
        cache = tempfile.mkdtemp() if self._fresh else str(self.out.parent / "native")
        return _Carried(chosen, self.learned, note, cache)

    def _verdict(self, site: Site, run: Callable[[list[str], Note], None]) -> None:
        """Change the file, run the tests in a process of their own, put the file back, write what was seen."""
        chosen = self.learned.chosen(site, self.tests, self.longest)
        began = time.monotonic()
        path = self.root / site.file
        source = path.read_text(encoding="utf-8")
        noted: list[str] = []
        self._fresh = site.file.startswith(_DECIDING)
        parts = _parted(chosen) if run == self._cold else [chosen]
        if chosen:
            try:
                path.write_text(site.applied(source), encoding="utf-8")
                for part in parts:
                    noted += self._beside(lambda note, part=part: run(part, note))
                    if noted[-1:] != ["end"]:
                        break
            finally:
                path.write_text(source, encoding="utf-8")
        last = noted[-1] if noted else "the process died" if chosen else ""
        verdict = "not covered" if not chosen else "survived" if last == "end" else "killed"
        if last.startswith("trouble"):
            verdict = "error"
        seen = asdict(site) | {"verdict": verdict, "by": last, "tests": len(chosen), "ran": len(noted)}
        with self.out.open("a", encoding="utf-8") as file:
            print(json.dumps(seen | {"seconds": round(time.monotonic() - began, 1)}), file=file)
        self._say(f"{verdict} {site.file}:{site.line} {site.kind} {site.old[:60]!r} {last}")

    def _say(self, text: str) -> None:
        os.write(self._screen, f"{text}\n".encode())

    def _beside(self, run: Callable[[Note], object]) -> list[str]:
        """Run in a process of its own, with folders of its own for what is written; return what it noted."""
        folder = Path(tempfile.mkdtemp(prefix="trial-"))
        (folder / "noted").touch()
        if child := os.fork():
            os.waitpid(child, 0)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # what the tests left running
            noted = (folder / "noted").read_text(encoding="utf-8").splitlines()
            shutil.rmtree(folder, ignore_errors=True)
            return noted
        try:
            os.setpgid(0, 0)
            os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            with (folder / "noted").open("w", encoding="utf-8") as file:
                try:
                    run(lambda text: print(text, file=file, flush=True))
                except Exception as error:
                    print(f"trouble {error!r}", file=file, flush=True)
                    self._say(traceback.format_exc())
        finally:
            os._exit(0)


def _parted(chosen: list[str]) -> list[list[str]]:
    """Return the tests of the first files, then the others: to collect what is not needed takes time."""
    files = list(dict.fromkeys(name.partition("::")[0] for name in chosen))[:_FIRST]
    first = [name for name in chosen if name.partition("::")[0] in files]
    rest = [name for name in chosen if name.partition("::")[0] not in files]
    return [part for part in (first, rest) if part]


class _Collected:
    """A plugin that does something with the collected tests, by name, instead of running them."""

    def __init__(self, then: Callable[[Mapping[str, pytest.Item]], None]) -> None:
        self._then, self.went = then, False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if not session.testsfailed:
            self.went = True
            self._then({item.nodeid: item for item in session.items})
        return True


class _Carried:
    """A plugin for the chosen tests, which are run in their order until one fails; each is noted before it begins."""

    def __init__(self, chosen: list[str], learned: Learned, note: Note, cache: str) -> None:
        self._chosen, self._learned, self._note, self._cache = chosen, learned, note, cache

    def go(self, items: Mapping[str, pytest.Item]) -> None:
        """Run those that are there; a test that takes far longer than it did ends the process."""
        chosen = [name for name in self._chosen if name in items]  # a change may have taken a parameter away
        if not chosen:
            self._note("end")
            return
        items[chosen[0]].config.pluginmanager.register(self)
        os.environ["PIXELFLOW_CACHE"] = self._cache
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        least, times = _PATIENCE
        for name, after in zip(chosen, [*chosen[1:], None], strict=True):
            self._note(f"endless {name}")
            signal.alarm(int(least + times * self._learned.seconds[name]))
            item = items[name]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[after] if after else None)
        signal.alarm(0)
        self._note("end")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._note(f"failed {report.nodeid}")
            os._exit(0)
