"""Copies of the tree with one thing broken, and tables of rules of time that are run in them.

A table is a program that ends with `sys.exit(differing(RULES))`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol, Self

TREE = Path(__file__).parents[2]
LONGEST = 600
"""Seconds until what runs on and on counts as noticed."""


class Rule(Protocol):
    """A row of a table: a program, its cycles derived by hand, and the row with a value or the program changed."""

    @property
    def name(self) -> str: ...
    @property
    def cycles(self) -> int: ...
    @property
    def why(self) -> str: ...
    def measured(self) -> int: ...
    def after(self) -> Self: ...


def differing(rules: Iterable[Rule]) -> bool:
    """Print the rules whose cycles are others than by hand; return whether there are any."""
    wrong = False
    for row in (row for rule in rules for row in (rule, rule.after())):
        if (measured := row.measured()) != row.cycles:
            print(f"{row.name}: {measured} cycles, by hand {row.cycles} ({row.why})")
            wrong = True
    return wrong


def stands_once(file: str, old: str, new: str) -> bool:
    """Return whether a change can be made: its text is in a file of the tree once, and becomes another."""
    return (TREE / file).read_text(encoding="utf-8").count(old) == 1 and old != new


def copied(folder: Path, *parts: str) -> Path:
    """Copy parts of the tree into a folder, without what was made in them."""
    for part in parts:
        if (TREE / part).is_dir():
            shutil.copytree(TREE / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(TREE / part, folder / part)
    return folder


def change(folder: Path, file: str, old: str, new: str) -> None:
    """Make a change in a copy of the tree."""
    text = (folder / file).read_text(encoding="utf-8")
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")


def carried_out(folder: Path, *command: str, path: str = "") -> tuple[int | None, str]:
    """Run Python in a copy of the tree; return exit code, None for one that does not end, and what it printed."""
    try:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{folder}{path}", "HOME": str(folder)},
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def noticed(table: str, file: str, old: str, new: str, folder: Path) -> bool:
    """Return whether a table of rules prints a difference when its package is broken so."""
    change(copied(folder, Path(file).parts[0]), file, old, new)
    code, printed = carried_out(folder, "-m", table, path=f":{TREE}")
    return code == 1 and "by hand" in printed
