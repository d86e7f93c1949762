"""Blocks of documents that show what a command prints: found, compared, and written anew.

A fenced block of text after `<!-- printed: COMMAND -->` is the output of that command; a line of dots alone stands for
lines that are left out, and lines with wall times are not compared. `python -m tests.documents.printed` writes the
blocks without dots anew.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pixelflow.cli.main import main
from tests.documents.pages import PAGES, TUTORIALS, renewed

ROOT = Path(__file__).parents[2]
GUIDE = tuple(str(path.relative_to(ROOT)) for path in sorted((PAGES / "guide").glob("*.md")))
DOCUMENTS = ("README.md", *GUIDE, "docs/pages/machine.md", "TUTORIAL.md", *(
    str(path.relative_to(ROOT)) for room in ("pixelflow", "microcode", "tessellation", "larrabee_bridge")
    for path in sorted((ROOT / room).rglob("README.md"))
))  # fmt: skip
_BLOCK = re.compile(r"<!-- printed: (pixelflow [^\n]*?) -->\n```text\n(.*?)```", re.DOTALL)
_LEFT_OUT = "..."
_WALL = ("wall time",)


@dataclass(frozen=True, slots=True)
class Printed:
    """A block of a document."""

    document: str
    command: str
    lines: tuple[str, ...]


def printed_blocks() -> Iterator[Printed]:
    """Yield all of them."""
    for document in DOCUMENTS:
        for command, text in _BLOCK.findall((ROOT / document).read_text(encoding="utf-8")):
            yield Printed(document, command, tuple(text.splitlines()))


def output_of(command: str) -> list[str]:
    """Return what a command prints on standard output, 80 columns wide; raises AssertionError where it fails."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(io.StringIO()):
        code = main(["--width", "80", *shlex.split(command)[1:]])
    assert code == 0, command
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def differences(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Return the shown lines that are not printed in their place; dots stand for any number of lines."""
    expected = [line for line in printed if not line.startswith(_WALL)]
    wrong, at, anywhere = [], 0, False
    for line in (line.rstrip() for line in shown if not line.startswith(_WALL)):
        if line == _LEFT_OUT:
            anywhere = True
            continue
        ahead = expected[at:] if anywhere else expected[at : at + 1]
        if line in ahead:
            at += ahead.index(line) + 1
        else:
            wrong.append(line)
            at += not anywhere
        anywhere = False
    if not anywhere and at < len(expected):
        wrong.append(f"(the end is missing, from: {expected[at]!r})")
    return wrong


def renew() -> None:
    """Write every block without dots anew."""
    for document in DOCUMENTS:
        path = ROOT / document
        text = path.read_text(encoding="utf-8")

        def block(found: re.Match[str]) -> str:
            if _LEFT_OUT in found[2].splitlines():
                return found[0]
            return f"<!-- printed: {found[1]} -->\n```text\n" + "\n".join(output_of(found[1])) + "\n```"

        new = _BLOCK.sub(block, text)
        if new != text:
            path.write_text(new, encoding="utf-8")
            print(f"{document}: written anew", file=sys.stderr)
    for name in TUTORIALS:
        path = PAGES / f"{name}.md"
        if (new := renewed(name)) != path.read_text(encoding="utf-8"):
            path.write_text(new, encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: written anew", file=sys.stderr)


if __name__ == "__main__":
    renew()
