"""Where the figures in the prose of documents come from: each is measured here, held by a test, or a value of the code.

A figure is a number with thousands separators, or one before a unit of the machine; in READMEs of rooms and in the
tutorial, where most numbers before a unit are sizes, one of cycles, MB/s or ms. Those in fenced blocks are what a
command prints (`printed.py`) or what a test runs; a table after `<!-- NAME -->` is made by a test of documents, one
after `<!-- read by: FILE -->` or `<!-- read by: FILE, NAME -->` is read by that test. Wall times of a host stand
between `<!-- host: COMMAND -->` and `<!-- end host -->`, which name the command that measures them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks import larrabee
from microcode import Builder
from pixelflow.cli.sweep import MOST_POINTS
from pixelflow.config import THESIS, load_config
from pixelflow.isa import Unit
from tessellation import Patch, load, tessellate
from tessellation.microprogram.method import TRANSFERS, Method
from tessellation.microprogram.stage_code import emit_exchange
from tessellation.plan.memory_map import FLOAT_BYTES
from tessellation.plan.schedule import Stage
from tessellation.reproduction.bench import ARITHMETIC, ThesisBench, counted, spent
from tessellation.reproduction.thesis import FIGURES
from tessellation.scenes.scene_file import MOST_TRIANGLES
from tessellation.studies import INPUTS, Measurement, pass_of

__all__ = [
    "COVERED",
    "HELD",
    "MEASURED",
    "ROOMS",
    "SAID",
    "SAID_IN_ROOMS",
    "Printed",
    "figures_in",
    "held_in",
    "hosts",
    "missing",
    "readers",
]

ROOT = Path(__file__).parents[2]
COVERED = ("README.md", "docs/pages/thesis.md")
"""Documents all of whose figures have a source, sizes too."""

_PACKAGES = ("pixelflow", "microcode", "tessellation", "larrabee_bridge", "gen6_bridge", "attila_bridge", "pim_kernels")
ROOMS = (
    "TUTORIAL.md",
    *sorted({str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "pages").rglob("*.md")} - {*COVERED}),
    *sorted(str(path.relative_to(ROOT)) for room in _PACKAGES for path in (ROOT / room).rglob("README.md")),
)
"""Documents all of whose results have one."""

_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_HOST = re.compile(r"<!-- host: (?:pixelflow|python -m benchmarks) [^\n]* -->.*?<!-- end host -->", re.DOTALL)
_FIGURE = re.compile(
    r"(?<![\w,.#/-])(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?=\s(?:cycles|MB/s|bytes|MHz|ms|PEs|times)\b))(?![,\d]*\d)"
)
_RESULT = re.compile(r"(?<![\w,.#/-])(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?=\s(?:cycles|MB/s|ms)\b))(?![,\d]*\d)")
_MADE = re.compile(r"^<!-- [a-z-]+ -->\n(?:\|.*\n)+", re.MULTILINE)
_READ = re.compile(r"^<!-- read by: ([^\s,]+)(?:, [\w ]+)? -->\n(?:\|.*\n)+", re.MULTILINE)


def figures_in(document: str) -> list[str]:
    """Return the figures of a document's prose."""
    text = (ROOT / document).read_text(encoding="utf-8")
    for elsewhere in (_FENCED, _HOST, _MADE, _READ):
        text = elsewhere.sub("", text)
    return (_FIGURE if document in COVERED else _RESULT).findall(text)


def _record() -> int:
    return counted(ThesisBench().tessellation(4, schedule="fixed-sums"))


def hosts(document: str) -> list[str]:
    """Return the blocks of a document that tell the speed of a host."""
    return _HOST.findall((ROOT / document).read_text(encoding="utf-8"))


def readers(document: str) -> list[str]:
    """Return the files of tests that read tables of a document."""
    return _READ.findall((ROOT / document).read_text(encoding="utf-8"))


# --- measured now ----------------------------------------------------------------------------------------------------


@cache
def _pass(
    schedule: str, library: str, results: str = "direct", given: str = "full", supply: int = 0, *, apart: bool = False
) -> Measurement:
    gps = None if results == "direct" else 2
    method = Method(schedule=schedule, results=results, gps=gps, transfers=TRANSFERS[apart])
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


def _stage(*stages: Stage, key: tuple[str, ...] = ("shared-columns", "tuned-finite")) -> Callable[[], int]:
    return lambda: spent(_pass(*key).runs[0], *stages)


def _whole(points: int) -> Callable[[], int]:
    return lambda: counted(ThesisBench().tessellation(points))


def _both_gps() -> int:
    return _pass("thesis", "plain", "gp").cycles - _pass("thesis", "plain").cycles


def _over_path() -> int:
    """Cycles that a middle pass with shared columns takes longer than the path of its results."""
    runs = _pass("shared-columns", "tuned-finite", "gp-coarse", "three").runs
    return runs[1].total_cycles - 49_152


def _exchange(columns: int) -> int:
    """Cycles of the exchange among PEs of a panel, as declared."""
    builder = Builder("exchange")
    emit_exchange(builder, 0, FLOAT_BYTES, columns)
    return sum(each.cycles for each in builder.build().instructions if each.declaration.unit is not Unit.SEQUENCER)


@cache
def _loaded() -> int:
    patches = [Patch(np.zeros((4, 4, 3), np.float32))] * THESIS.array.blocks
    return tessellate(patches, 4, method=Method(schedule="shared-columns", load="gp")).load_cycles


@cache
def _long(mantissa_bytes: int) -> int:
    method = Method(schedule="shared-columns", mantissa_bytes=mantissa_bytes)
    return tessellate(load("teapot").patches, 4, library="tuned", method=method).cycles


def _in_mesh(name: str, element: str) -> Callable[[], int]:
    head = (ROOT / "tessellation/scenes/data/meshes" / f"{name}.ply").read_bytes()[:1000]
    return lambda: int(re.search(rf"element {element} (\d+)".encode(), head)[1])


MEASURED: dict[str, Callable[[], float]] = {
    "102,656": _cycles("thesis", "plain"),
    "48,166": _cycles("shared-columns", "plain"),
    "33,618": _cycles("shared-columns", "tuned-finite"),
    "15,016": _cycles("fixed-sums", "tuned-finite"),
    "4,006": _stage(Stage.FIRST_STALL, Stage.STALL, key=("fixed-sums", "tuned-finite")),
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
    "8192": lambda: THESIS.lanes,
    "97,000": lambda: FIGURES["bicubic pass"].value,
    "0": lambda: THESIS.igc.supply,
    "200": lambda: THESIS.gni.gp_memory_mb_per_second,
    "10,000": lambda: MOST_POINTS,
    "50,630": lambda: _pass("thesis", "plain", apart=True).cycles - _pass("thesis", "plain").cycles,
    "1,344": lambda: spent(ThesisBench().tessellation(4), Stage.LEE),
    "79,150": _cycles("thesis", "tuned"),
    "155,616": _whole(5),
    "865,452": _whole(12),
    "92": lambda: _exchange(4),
    "32": _stage(Stage.ADDRESSES),
    "6,144": _stage(Stage.ADDRESSES, key=("thesis", "plain")),
    "1,881": _stage(Stage.FIRST_STALL),
    "3,219": _stage(Stage.COPY, Stage.DISTRIBUTION, Stage.EXCHANGE),
    "17,408": lambda: 16 * 8 * 136,
    "49,286": _both_gps,
    "1,388": _over_path,
    "524,378": _loaded,
    "6.84": lambda: counted(ThesisBench().tessellation(4)) / _record(),
    "46,080": lambda: 512 * 48 * 9 * 100 // 480,
    "940": lambda: 16 * 282 * 100 // 480,
    "48,634": lambda: (
        _record() + counted(ThesisBench().tessellation(4, schedule="shared-columns", library="tuned-finite"))
    ),
    "131,008": lambda: (512 * 512 - 4 * 32) // 2,
    "522,496": lambda: 2 * (512 * 1024 - 4 * (1024 - 576)) // 2,
    "52,722": lambda: _long(4),
    "85,234": lambda: _long(6),
    "4,000,000": lambda: MOST_TRIANGLES,
    "1,839": _in_mesh("bunny", "vertex"),
    "3,674": _in_mesh("bunny", "face"),
    "2,452": _in_mesh("airplane", "face"),
    "1,046": _in_mesh("nut", "face"),
    "100,000": lambda: larrabee.TRIANGLES,
}
"""What gives a figure, by the figure as documents print it."""


# --- held by a test --------------------------------------------------------------------------------------------------

HELD = {
    "30,000": "tests/files/test_fuzz.py",
    "16,820": "tests/studies/test_studies.py",
    "868": "tests/rendering/test_node.py",
    "22,528": "tests/rendering/test_shading.py",
    "32,768": "tests/rendering/test_shading.py",
    "34,976": "tests/rendering/test_shading.py",
    "24,195": "tests/rendering/test_shading.py",
    "24,954": "tests/rendering/test_shading.py",
    "64,302": "tests/tessellation/test_fixed_sums.py",
    "49,996": "tests/tessellation/test_fixed_sums.py",
    "99,282": "tests/tessellation/test_fixed_sums.py",
    "98,304": "tests/gni/test_results.py",
    "49,152": "tests/gni/test_results.py",
    "33,792": "tests/texture/test_caching.py",
    "16,896": "tests/texture/test_caching.py",
    "9,216": "tests/texture/test_caching.py",
    "303": "tests/tessellation/test_kept_beside.py",
    "9,601": "tests/tessellation/test_kept_beside.py",
    "2,176": "tests/studies/test_studies.py",
    "3,072": "tests/studies/test_studies.py",
    "3,584": "tests/studies/test_studies.py",
    "89,036": "tests/library/test_cycles.py",
    "131,930": "tests/tessellation/test_gp_traffic.py",
    "98,414": "tests/tessellation/test_gp_traffic.py",
    "49,236": "tests/tessellation/test_gp_traffic.py",
    "24,672": "tests/tessellation/test_write_back.py",
    "50,540": "tests/tessellation/test_write_back.py",
    "24,576": "tests/gni/test_results.py",
    "4,096": "tests/gni/test_results.py",
    "5,467": "tests/gni/test_results.py",
    "122,880": "tests/gni/test_results.py",
    "9": "tests/trimming/test_parity.py",
    "42,770": "tests/trimming/test_parity.py",
    "768": "tests/rendering/test_composition.py",
    "39,200": "tests/gen6/test_records.py",
    "450": "tests/gen6/rules_of_time.py",
    "6,000": "tests/gen6/test_records.py",
    "13": "TUTORIAL.md",
}
"""The file of tests that asserts a figure on what it executes."""

SAID = {
    "1,024": "threads that a benchmark of the vector unit runs",
    "20,000": "the speed that a command of a how-to page asks for",
}
"""Figures that are no results: choices of an example, and where they stand."""

SAID_IN_ROOMS = {
    "1": "what a step or a microinstruction takes",
    "2": "a compare, hand-worked, and a value of the composition network",
    "3": "a compare of the LEE, hand-worked",
    "4": "a constant of four bytes; a latency of Larrabee's configuration",
    "6": "a depth that is stored, byte by byte",
    "12": "a base address of table 3",
    "16": "a latency of the Gen6 EU's configuration",
    "27": "a flat triangle, by the sum that follows it",
    "30": "a rough figure",
    "128": "a read of a PE's own four bytes in all SDRAMs of a module",
    "256": "the steps of a search",
    "1,000": "a quotation of the paper",
    "2,048": "a size in the code",
    "3,000": "statements of a check that was made once",
    "5,298": "vertices of a scene at 320x240, which its command prints",
    "44,140": "vertices of a scene at 320x240, which its command prints",
    "76,800": "the pixels of 320x240",
    "3,002": "counts of recorded programs, which are not part of the distribution",
    "8,000": "words of a check that was made once",
    "8,192": "the PEs of a node",
    "262,144": "all pairs of exponents and signs, 512 x 512",
    "10,000,000": "operands of a slow test",
}
"""The same of rooms and tutorial: sizes, costs that stand beside their sum, quotations."""


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
    known = {*MEASURED, *HELD, *SAID, *(SAID_IN_ROOMS if document in ROOMS else ())}
    return [each for each in figures_in(document) if each not in known]
