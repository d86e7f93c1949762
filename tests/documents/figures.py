"""Where the figures in the prose of documents come from: each is measured here, held by a test, or a value of the code.

A figure is a number with thousands separators, or one before a unit of the machine. Those in fenced blocks are what a
command prints (`printed.py`); wall times of a host stand between `<!-- host: COMMAND -->` and `<!-- end host -->`,
which name the command that measures them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from larrabee_bridge import rasterizing
from pixelflow.cli.sweep.command import MOST_POINTS
from pixelflow.config import THESIS, load_config
from pixelflow.isa import INSTRUCTIONS
from tessellation.microprogram.passes import Method
from tessellation.published.thesis import FIGURES
from tessellation.rendering.regions import REGION_HEIGHT
from tessellation.reproduction.bench import ARITHMETIC, ThesisBench, spent
from tessellation.studies.workloads import INPUTS, Measurement, pass_of

__all__ = ["COVERED", "HELD", "MEASURED", "figures_in", "held_in"]

ROOT = Path(__file__).parents[2]
COVERED = ("README.md", "GUIDE.md")
"""Documents all of whose figures have a source."""

_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HOST = re.compile(r"<!-- host: pixelflow [^\n]* -->.*?<!-- end host -->", re.DOTALL)
_FIGURE = re.compile(
    r"(?<![\w,.#/-])(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?=\s(?:cycles|MB/s|bytes|MHz|ms|PEs|times)\b))(?![,\d]*\d)"
)


def figures_in(document: str) -> list[str]:
    """Return the figures of a document's prose."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return _FIGURE.findall(_HOST.sub("", _FENCED.sub("", text)))


# --- measured now ----------------------------------------------------------------------------------------------------


@cache
def _pass(schedule: str, library: str, results: str = "direct", given: str = "full", supply: int = 0) -> Measurement:
    method = Method(schedule=schedule, results=results, gps=None if results == "direct" else 2)
    config = load_config(None, [f"igc.supply={supply}"])
    return pass_of(method, library, given=INPUTS[given]).on(config)


def _cycles(*key: str, supply: int = 0) -> Callable[[], int]:
    return lambda: _pass(*key, supply=supply).cycles


def _arithmetic(points: int) -> Callable[[], int]:
    return lambda: spent(ThesisBench().tessellation(points), *ARITHMETIC)


def _coarse() -> int:
    """Cycles that a pass takes longer while the results of the one before leave."""
    runs = _pass("thesis", "plain", "gp-coarse", "three").runs
    return runs[1].total_cycles - _pass("thesis", "plain").cycles


def _address_bytes() -> int:
    """Bytes of the instructions that load a patch's base address."""
    one = pass_of(Method(), "plain").programs[0]
    loads = [each.words for each in one.instructions if each.declaration.mnemonic == "EMC_TreeIntoMem_Li"]
    assert len(set(loads)) == 1
    return 4 * (INSTRUCTIONS["EMC_SetEnab"].words + 2 * INSTRUCTIONS["EMC_TreeGEZero_Li"].words + 2 * loads[0])


MEASURED: dict[str, Callable[[], float]] = {
    "102,656": _cycles("thesis", "plain"),
    "48,166": _cycles("shared-columns", "plain"),
    "33,618": _cycles("shared-columns", "tuned-finite"),
    "2.13": lambda: _pass("thesis", "plain").cycles / _pass("shared-columns", "plain").cycles,
    "127,331": _cycles("thesis", "plain", "gp-fine"),
    "72,841": _cycles("shared-columns", "plain", "gp-fine"),
    "126,223": _cycles("thesis", "plain", "direct", "full", supply=200),
    "82,904": _cycles("shared-columns", "tuned-finite", "gp"),
    "59,184": _cycles("shared-columns", "tuned-finite", "gp-fine"),
    "248,712": _cycles("shared-columns", "tuned-finite", "gp", "three"),
    "160,264": _cycles("shared-columns", "tuned-finite", "gp-both", "three"),
    "52": _coarse,
    "89,479": _arithmetic(4),
    "819,919": _arithmetic(12),
    "116": _address_bytes,
    "64": lambda: REGION_HEIGHT,
    "28": lambda: 4 * INSTRUCTIONS["EMC_TreeIntoMem_Li"].words,
    "8192": lambda: THESIS.lanes,
    "100": lambda: THESIS.clock_mhz,
    "97,000": lambda: FIGURES["bicubic pass"].value,
    "0": lambda: THESIS.igc.supply,
    "200": lambda: THESIS.gni.gp_memory_mb_per_second,
    "10,000": lambda: MOST_POINTS,
    "100,000": lambda: rasterizing.TRIANGLES,
}
"""What gives a figure, by the figure as documents print it."""


# --- held by a test --------------------------------------------------------------------------------------------------

HELD = {
    "98,304": "tests/gni/test_results.py",
    "49,152": "tests/gni/test_results.py",
    "33,792": "tests/texture/test_caching.py",
    "16,896": "tests/texture/test_caching.py",
    "9,216": "tests/texture/test_caching.py",
}
"""The file of tests that asserts a figure on what it executes."""

SAID = {
    "1,024": "threads that a benchmark of the vector unit runs",
    "20,000": "the speed that a command of the guide asks for",
}
"""Figures that are no results: choices of an example, and where they stand."""


def held_in(figure: str) -> Iterator[int]:
    """Yield the lines of the file of tests in which the figure stands."""
    text = (ROOT / HELD[figure]).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(rf"\b{figure.replace(',', '_')}\b", line):
            yield number


@dataclass(frozen=True, slots=True)
class Printed:
    """A figure as text, beside the value that it stands for."""

    text: str
    value: float

    @property
    def same(self) -> bool:
        """Whether the value, rounded to the digits of the text, is the text."""
        digits = len(self.text.partition(".")[2])
        return f"{self.value:,.{digits}f}".replace(",", "") == self.text.replace(",", "")


def missing(document: str) -> Sequence[str]:
    """Return the figures of a document that have no source."""
    return [each for each in figures_in(document) if each not in MEASURED and each not in HELD and each not in SAID]
