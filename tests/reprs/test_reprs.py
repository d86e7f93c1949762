"""Do programs, runs, statistics, nodes and configurations show themselves in a terminal and in a notebook, unharmed?"""

from __future__ import annotations

import copy
import io
import pickle
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from microcode import assemble
from pixelflow.config import THESIS, TINY
from pixelflow.isa import Program
from pixelflow.node import Node, Run
from pixelflow.observe.node_statistics import Collector, RunStatistics
from pixelflow.observe.node_tracer import NodeTracer
from pixelflow.simd.report import Report, Shown, overview, plain_table
from pixelflow.simd.trace import Selection, Trace, TraceClock, known_tracks
from tessellation import load, tessellate
from tessellation.surface.mesh import build_mesh

HOSTILE = "<script>alert(1)</script> [bold]x[/bold] mem[p] &amp; \x1b[2J"
SOURCE = f"""\
range x[4]
MARK "{HOSTILE[:40]}"
EMC_TreeLTZero_Li 0, 2, 1, 0, -64
CALL twice, x
routine twice(d)
    LD R, d
    ADD R, d
    ST d, R
end
"""


class _Reader(HTMLParser):
    """Collects the text of a page, its cells, and its tags; refuses tags that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.tags, self.open = "", set(), []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def page(item: Shown) -> _Reader:
    reader = _Reader()
    reader.feed(item._repr_html_())
    reader.close()
    assert reader.open == []
    return reader


def terminal(item: Shown, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(item)
    return out.getvalue()


@pytest.fixture(scope="module")
def machine() -> tuple[Program, Node, Run, RunStatistics]:
    program = assemble(SOURCE)
    node = Node(THESIS, "rows")
    collector = Collector()
    collector.attach(node.bus)
    return program, node, node.run(program), collector.runs[0]


def test_reprs_are_short_and_say_what_it_is(machine) -> None:
    program, node, run, _ = machine
    assert repr(program).startswith("Program('program', ") and program.sha256[:12] in repr(program)
    assert repr(run).startswith("Run('program', eigc, 7 ")
    assert repr(TINY).startswith("NodeConfig(256 ") and TINY.sha256[:12] in repr(TINY)
    assert repr(node).startswith(f"Node({THESIS!r}, ")
    assert repr(node.array).startswith("PeArray(4096 of 8192 ")


def test_a_run_shows_the_cycles_that_were_executed(machine) -> None:
    run = machine[2]
    for text in (terminal(run), page(run).text):
        assert f" {run.total_cycles} cycles" in text
        for family, cycles in run.by_family.items():
            assert family.value in text and str(cycles) in text


def test_the_array_is_a_map_of_enabled_pes(machine) -> None:
    node = machine[1]
    drawing = node.report().parts[-1].split("\n")
    assert len(drawing) == 16 and {len(line) for line in drawing} == {64}
    dots = sum((ord(character) - 0x2800).bit_count() for line in drawing for character in line)
    assert dots == int(node.flag("E").sum()) == 4096, "x < 64 of 128 columns"
    assert all(line[:32] == "⣿" * 32 and line[32:] == "\u2800" * 32 for line in drawing)
    assert "4,096 PEs" in terminal(node) and drawing[0] in page(node).text


class _Hostile(Shown):
    def report(self) -> Report:
        drawing = (HOSTILE.replace("\x1b", ""), "")
        return overview(HOSTILE, ((HOSTILE, HOSTILE),), (plain_table((HOSTILE,), ((HOSTILE,),)),), drawing)


def test_hostile_text_is_shown_as_it_is_in_a_terminal() -> None:
    text = terminal(_Hostile(), 300)
    assert "\x1b" not in text
    assert text.count("<script>alert(1)</script> [bold]x[/bold] ") == 6
    assert text.count("\\x1b[2J") == 5


def test_hostile_text_is_escaped_in_html() -> None:
    reader = page(_Hostile())
    assert reader.tags == {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "pre"}
    assert reader.text.count("<script>alert(1)</script> [bold]x[/bold] ") == 6
    assert "\x1b" not in _Hostile()._repr_html_()


def test_names_of_programs_reach_html_escaped() -> None:
    program = Program((), name="<b>&[p]")
    assert "&lt;b&gt;&amp;[p]" in program._repr_html_()
    assert "<b>&[p]" in terminal(program)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_digit_is_cropped(machine, width: int) -> None:
    text = terminal(machine[2], width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_values_stay_values(machine) -> None:
    program, _, _, statistics = machine
    assert pickle.loads(pickle.dumps(TINY)) == TINY == copy.copy(TINY)
    sent = pickle.loads(pickle.dumps(program))
    assert sent == program and sent.instructions == program.instructions
    assert pickle.loads(pickle.dumps(statistics)) == statistics


def test_nothing_of_it_is_imported_before_it_is_shown() -> None:
    ask = "import sys; import pixelflow.isa, pixelflow.config, pixelflow.node; print('rich' in sys.modules)"
    root = Path(__file__).parents[2]
    result = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, cwd=root, timeout=600)
    assert result.stdout == "False\n", result.stderr


def test_a_trace_shows_its_tracks_with_the_cycles_of_the_account() -> None:
    node = Node(TINY)
    tracer = NodeTracer(Trace(TraceClock(100), {"tool": HOSTILE}), Selection())
    tracer.attach(node.bus, known_tracks(("eigc", "tigc"), 1, (), 16))
    run = node.run(assemble(SOURCE))
    table = tracer.trace.report().parts[-1]
    assert {row[0]: row[2] for row in table.rows}["eigc"] == run.cycles
    assert HOSTILE[:20] in page(tracer.trace).text and "script" not in page(tracer.trace).tags


def test_results_of_a_tessellation_are_short_in_a_notebook() -> None:
    file = load("teapot")
    made = tessellate(file.patches[:2], 4, config=TINY)
    mesh = build_mesh(made.patches, weld=False)
    run = made.runs[0]
    for each in (file, made, made.patches[0], mesh, run.by_line):
        assert len(repr(each)) < 500, repr(each)
    assert repr(made).startswith("Tessellation(2 patches, 32 ") and f" {made.cycles} " in repr(made)
    assert re.findall(r"\d+", repr(mesh)) == [str(len(mesh.points)), str(len(mesh.triangles))]
    assert repr(file) == "PatchFile('teapot', 32 patches)"
    assert f"{made.cycles:,}" in made._repr_html_() and len(made._repr_html_()) < 20_000
    assert "32" in file._repr_html_() and sum(run.by_line.values()) == run.busy
