"""Does every bad command line end in a message: no traceback, no code 70, no half file, within 5 s and 1 GB?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.files.child import CPU_SECONDS, MEMORY_BYTES, outcome
from tests.files.command_lines import LINES, bad_line

if not hasattr(os, "fork"):
    pytest.skip("needs processes that fork", allow_module_level=True)

FEW, ALL = 6, 75
"""Inputs of each kind; 75 of seven kinds are more than 500."""
CODES = {0, 1, 2, 3, 4, 5, 6}
AFTER_A_RUN = {0, 1, 4, 5, 6}
"""Exit codes of commands that may have written what was asked for."""


@pytest.fixture(scope="module", autouse=True)
def _everything_is_imported() -> None:
    from pixelflow.cli import completion

    completion.whole_parser()


def judge(kind: str, number: int, folder: Path) -> list[str]:
    """Return what is wrong with how an input ended."""
    line = bad_line(kind, number)
    found = outcome(line, folder)
    wrong = []
    if found.code not in CODES:
        wrong.append(f"ends with {found.code}")
    if b"Traceback" in found.out + found.err or b"internal error" in found.err:
        wrong.append("shows a traceback")
    if found.code and not (found.err or found.out):
        wrong.append("says nothing")
    if found.seconds > CPU_SECONDS:
        wrong.append(f"takes {found.seconds:.1f} s")
    if found.peak_bytes > MEMORY_BYTES:
        wrong.append(f"takes {found.peak_bytes >> 20} MB")
    if found.left and found.code not in AFTER_A_RUN:
        wrong.append(f"leaves {found.left}")
    if any(name.endswith(".tmp") or name.startswith(".pixelflow-") for name in found.left):
        wrong.append(f"leaves a file under a temporary name: {found.left}")
    if any(byte < 32 and byte not in b"\n\t" for byte in found.err):
        wrong.append("sends orders to the terminal")
    return [f"{kind} {number}: {each}: {line.words!r:.300}\n{found.err[-600:]!r}" for each in wrong]


@pytest.mark.parametrize("kind", LINES)
def test_a_bad_command_line_ends_in_a_message(kind: str, tmp_path: Path) -> None:
    wrong = [each for number in range(FEW) for each in judge(kind, number, tmp_path / str(number))]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LINES)
def test_500_bad_command_lines_end_in_messages(kind: str, tmp_path: Path) -> None:
    wrong = [each for number in range(FEW, ALL) for each in judge(kind, number, tmp_path / str(number))]
    assert not wrong, "\n\n".join(wrong)
