"""Lessons of one run of the tests: which of them carry out which line, and how long each takes.

The run is made by pytest-cov with a context for each test; this file is its plugin that notes outcomes and times.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import coverage
import pytest

from tests.mutation.sites import Site

__all__ = ["Learned"]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Append outcome and seconds of each phase to the file that the environment names."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with open(os.environ["MUTATION_TIMES"], "a", encoding="utf-8") as file:
            print(json.dumps([report.nodeid, report.outcome, report.duration]), file=file)


class Learned:
    """What is known of the tests that passed: `seconds` of each by name, and which carry out which line."""

    def __init__(self, folder: Path) -> None:
        self._data = coverage.CoverageData(str(folder / "coverage"))
        self._data.read()
        self._lines = cache(self._read)
        self.seconds: dict[str, float] = {}
        failed = set()
        for line in (folder / "times").read_text(encoding="utf-8").splitlines():
            name, outcome, seconds = json.loads(line)
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
            if outcome != "passed":
                failed.add(name)
        for name in failed:
            del self.seconds[name]

    def _read(self, file: str) -> dict[int, set[str]]:
        found = self._data.contexts_by_lineno(file)
        return {line: {each.partition("|")[0] for each in contexts} for line, contexts in found.items()}

    def at_import(self, site: Site) -> bool:
        """Return whether the statement is carried out before any test begins, so that files must be read anew."""
        first, last = site.statement
        lines = self._lines(site.file)
        return not site.function or any("" in lines.get(line, ()) for line in range(first, last + 1))

    def _tests(self, site: Site, first: int, last: float) -> set[str]:
        return {name for line, names in self._lines(site.file).items() if first <= line <= last for name in names}

    def chosen(self, site: Site, folders: Iterable[str], longest: float) -> list[str]:
        """Return the tests to be run, in order, which together take at most `longest` seconds.

        First those that carry out the statement, then those that enter its file; for what runs at import in a file that
        no test enters, all in `folders`. None where the statement does not run at import and no test carries it out.
        """
        near = self._tests(site, *site.statement) & self.seconds.keys()
        if not near and not self.at_import(site):
            return []
        rest = self._tests(site, 0, math.inf) & self.seconds.keys()
        if not near and not rest:
            rest = {name for name in self.seconds if name.startswith(tuple(f"{each}/" for each in folders))}
        taken: list[str] = []
        for group in (near, rest - near):
            for name in self._spread(group):
                if self.seconds[name] <= longest:
                    longest -= self.seconds[name]
                    taken.append(name)
        return taken

    def _spread(self, names: set[str]) -> Iterator[str]:
        """Give tests in the order in which they are likely to find something soon: the quickest three of each file."""
        files: dict[str, list[str]] = {}
        for name in sorted(names, key=lambda name: (self.seconds[name], name)):
            files.setdefault(name.partition("::")[0], []).append(name)
        for first, last in ((0, 3), (3, None)):
            for each in files.values():
                yield from each[first:last]
