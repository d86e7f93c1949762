"""Are reports one screen by default, and is all of them behind -v, in JSON and in HTML?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from pixelflow.simd.report import largest

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "run mandelbrot": "",
    "run texture_copy": "",
    "run texture_copy --function-only": "",
    "tessellate teapot -o teapot.obj": "",
    "tessellate rosette --samples 3 --cache base --texture checker": "",
    "render enneper --samples 2 --size 24x16 --nodes 3 --shaders 1 -o a.png": "",
    "render enneper --samples 2 --size 24x16 --projection emc-words -o a.png": "",
    "render enneper --samples 2 --size 24x16 --machine larrabee -o a.png": "",
    "render enneper --samples 2 --size 24x16 --machine attila -o a.png": "",
    "render enneper --samples 2 --size 24x16 --machine gen6 -o a.png": "",
    "run blocks --machine larrabee --threads 8 --per-core 4 -D caches=true": "",
    "run half.g6a --machine gen6 -D count=3": ".data g10 F 1.0, 2.0\n    add (8) g20<1>F g10<8,8,1>F 0.5F {align1}\n",
}
"""Command lines, and the program that is written first."""
LONG = {
    each
    for each in COMMANDS
    if "emc-words" in each or "nodes" in each or "attila" in each or "teapot" in each or "rosette" in each
}
COUNT = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,.])")
"""A figure that has thousands; others are shares, sizes and names too."""


def numbers(value: object) -> Iterator[int]:
    """Yield the whole numbers of an object of JSON, those in its texts too."""
    if isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, str):
        yield from (int(found.replace(",", "")) for found in COUNT.findall(value))
    elif isinstance(value, int | float) and value == int(value):
        yield int(value)


@pytest.mark.parametrize(
    "command", [pytest.param(each, marks=[pytest.mark.slow] * (each in LONG)) for each in COMMANDS]
)
def test_a_report_is_one_screen_and_nothing_is_lost(command: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    if COMMANDS[command]:
        Path(command.split()[1]).write_text(COMMANDS[command])

    def shown(*more: str) -> str:
        assert main(["--width", "80", *command.split(), *more]) == 0
        return capsys.readouterr().out

    brief, whole = shown(), shown("-v", "--html", "page.html")
    lines = brief.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert not re.search(r"(?m)^ *0 ", brief), "a row of zeros"
    page = unescape(re.sub(r"<[^>]*>", " ", Path("page.html").read_text(encoding="utf-8")))
    figures = set(COUNT.findall(whole))
    assert figures <= set(COUNT.findall(page))
    held = set(numbers(json.loads(shown("--json"))))
    assert {int(each.replace(",", "")) for each in figures} - held == set()


def test_the_largest_are_kept_in_their_order() -> None:
    assert largest({"a": 5, "b": 0, "c": 900, "d": 40, "e": 30}, 2) == [("c", 900), ("d", 40), ("2 others", 35)]
    assert largest({"a": 5, "b": 4}, 1) == [("a", 5), ("b", 4)], "one that is left has its name"
    assert largest([("a", 10_000), ("b", 3), ("a", 2)], 5) == [("a", 10_000), ("2 others", 5)]
