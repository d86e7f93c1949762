"""The exception tree, and the one place that formats what / where / hint.

Every error that a user can cause carries its own exit code, so that the command line never guesses:

====  =================================================================
code  meaning
====  =================================================================
0     done, all expectations met
1     the simulation finished, an expectation failed
2     usage error (argparse)
3     input error: source, configuration or data file; a package that is not installed
4     deadlock
5     cycle limit reached
6     machine fault in the program
70    internal invariant broken
130   interrupted
141   the reader of a pipe went away
====  =================================================================
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

_DISTRIBUTION = "pixelflow-sim"
_PROJECT = "pyproject.toml"
_PACKAGES = Path(__file__).parents[2]
"""The folder of the packages of this process: of a checkout, or of an installation."""


class Place(NamedTuple):
    """Where a fault is: a file, and as much of line, column, key and source text as is known.

    ``line`` and ``column`` count from 1; ``length`` is the number of characters that the caret underlines.
    """

    file: str
    line: int | None = None
    column: int | None = None
    text: str | None = None
    length: int = 1

    def __str__(self) -> str:
        parts = [self.file]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)


class Fault(NamedTuple):
    """One thing that is wrong: what, where, and what would be right."""

    message: str
    place: Place | None = None
    hint: str | None = None

    def __str__(self) -> str:
        message = printable(self.message)
        lines = [f"{printable(str(self.place))}: error: {message}" if self.place else f"error: {message}"]
        if self.place is not None and self.place.text is not None and self.place.line is not None:
            lines.append(f"{self.place.line:>5} | {_shown_line(self.place.text)}")
            if self.place.column is not None:
                # Tabs are kept so that the caret stays under the token however wide the terminal shows them.
                before = _shown_line(self.place.text[: self.place.column - 1])
                pad = "".join("\t" if c == "\t" else " " for c in before)
                lines.append(f"      | {pad}{'^' * max(1, self.place.length)}")
        if self.hint:
            lines.append(f"    {printable(self.hint)}")
        return "\n".join(lines)


_LONGEST_LINE = 500
"""Characters of a line of a file that a message shows."""


def _shown_line(text: str) -> str:
    """Return a line of a file as a message shows it: tabs, and escapes for other control characters."""
    return "\t".join(printable(part.replace("\n", " ")) for part in text[:_LONGEST_LINE].split("\t"))


class SimulatorError(Exception):
    """Anything that the simulator refuses or reports; ``exit_code`` is what the command line returns."""

    exit_code = 70

    def __reduce__(self) -> tuple[Callable[..., SimulatorError], tuple[object, ...]]:
        """Travel to another process as what it is, whatever its constructor takes."""
        return _arrived, (type(self), self.args, dict(self.__dict__))


def _arrived(kind: type[SimulatorError], args: tuple[object, ...], holds: dict[str, object]) -> SimulatorError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(holds)
    return error


class InputError(SimulatorError):
    """A source, configuration or data file that cannot be used: holds every fault that was found."""

    exit_code = 3

    def __init__(self, faults: Fault | str | Iterable[Fault]) -> None:
        if isinstance(faults, str):
            faults = (Fault(faults),)
        elif isinstance(faults, Fault):
            faults = (faults,)
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class MissingPackageError(InputError):
    """A library is not installed that only some work needs; ``extra`` of this distribution brings it."""

    def __init__(self, message: str, extra: str, place: Place | None = None) -> None:
        super().__init__(Fault(message, place, install_command(extra)))


def install_command(extra: str, packages: Path = _PACKAGES) -> str:
    """Return the command that installs an extra of this distribution where its ``packages`` are.

    They come from where they came from before: a checkout whose packages are used, or were installed from it, the
    archive or repository that PEP 610's record next to them names, or else an index.
    """
    if (packages / _PROJECT).is_file():
        return f"pip install -e {_folder(packages, extra)}"
    named = f"{_DISTRIBUTION}[{extra}]"
    origin = _origin(packages)
    url = str(origin.get("url", ""))
    if "dir_info" in origin:
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        checkout = Path(url2pathname(urlsplit(url).path))
        found = _folder(checkout, extra) if (checkout / _PROJECT).is_file() else shlex.quote(named)
    elif url:
        version = origin.get("vcs_info")
        if isinstance(version, dict):
            url = f"{version['vcs']}+{url}@{version['commit_id']}"
        found = shlex.quote(f"{named} @ {url}")
    else:
        found = shlex.quote(named)
    return f"pip install {found}"


def _folder(path: Path, extra: str) -> str:
    """Return a checkout and its extra as the shell takes them, by the shortest name from here."""
    here = Path.cwd()
    name = os.curdir if path.resolve() == here.resolve() else str(path)
    return shlex.quote(f"{name}[{extra}]")


def _origin(packages: Path) -> dict[str, object]:
    """Return the record of a package's origin (PEP 610), empty without one."""
    from importlib.metadata import Distribution

    for each in Distribution.discover(name=_DISTRIBUTION, path=[str(packages)]):
        text = each.read_text("direct_url.json")
        if text:
            record = json.loads(text)
            return record if isinstance(record, dict) else {}
    return {}


class UsageError(InputError):
    """An option whose value can be judged only when the program or the machine is known; exit code 2."""

    exit_code = 2

    def __init__(self, option: str, message: str, hint: str | None = None) -> None:
        super().__init__(Fault(message, Place(option if len(option) <= 60 else option[:57] + "..."), hint))


class ExpectationError(SimulatorError):
    """The simulation finished, but not with what the user said it must give."""

    exit_code = 1


class DeadlockError(SimulatorError):
    """No instruction stream can advance, and nothing in flight could change that."""

    exit_code = 4


class CycleLimitError(SimulatorError):
    """The program was still running when the cycle limit was reached."""

    exit_code = 5


class MachineFault(SimulatorError):
    """The program did what the machine cannot do: an address outside the PE, a stack overflow."""

    exit_code = 6


class InternalError(SimulatorError):
    """An invariant of the simulator itself is broken; never the user's fault."""

    exit_code = 70


def printable(text: str) -> str:
    """Return a text with escapes for control characters, which could move the cursor or give a terminal orders."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def must_be(value: object, kind: type | tuple[type, ...], what: str, hint: str | None = None) -> None:
    """Raise InputError unless an argument is of a kind; ``what`` says what it should be: ``a Program``."""
    if not isinstance(value, kind):
        shown = repr(value)
        found = f"{type(value).__name__} {shown}" if len(shown) <= 40 else type(value).__name__
        raise InputError(Fault(f"expected {what}, found {found}", hint=hint))


def nearest(word: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed word most like ``word`` (case does not count), or None where none is close.

    Two letters that changed places are the likeliest slip: such a word wins.
    """
    import difflib

    by_folded = {candidate.lower(): candidate for candidate in allowed}
    for at in range(len(word) - 1):
        swapped = (word[:at] + word[at + 1] + word[at] + word[at + 2 :]).lower()
        if swapped in by_folded:
            return by_folded[swapped]
    found = difflib.get_close_matches(word.lower(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def suggestion(word: str, allowed: Iterable[str], otherwise: str | None = None) -> str | None:
    """Return the hint with the allowed word that was most likely meant, ``otherwise`` where none is close."""
    found = nearest(word, allowed)
    return f"did you mean {found}?" if found else otherwise


def format_error(error: SimulatorError) -> str:
    """Return the text that a user reads: one block per fault, without a traceback."""
    if isinstance(error, InputError):
        text = "\n".join(str(fault) for fault in error.faults)
        if len(error.faults) > 1:
            text += f"\n{len(error.faults)} errors"
        return text
    return printable(f"error: {error}")
