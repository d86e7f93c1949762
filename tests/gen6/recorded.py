"""Records of the public assembler and disassembler, and the folder of further ones, if there is one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

_FOLDER = "GEN6_RECORDS"
"""Names the folder of records in the environment."""


def recorded() -> list[dict[str, str]]:
    """Return source, word and text of instructions."""
    found: list[dict[str, str]] = json.loads((Path(__file__).parent / "recorded.json").read_text())["records"]
    return found


def recorded_sources() -> list[tuple[str, str, list[str]]]:
    """Return whole sources with directives: name, text, words of the public assembler."""
    found = json.loads((Path(__file__).parent / "recorded_sources.json").read_text())["records"]
    return [(each["name"], each["source"], each["words"]) for each in found]


def folder() -> Path:
    """Return the folder of records; skips the test with the reason where there is none."""
    named = os.environ.get(_FOLDER, "")
    if not named or not Path(named).is_dir():
        pytest.skip(f"{_FOLDER} names no folder of records (kernels.json, programs.json, regions_*.csv.gz, ...)")
    return Path(named)
