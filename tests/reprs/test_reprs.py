"""Do programs, runs, statistics, nodes and configurations show themselves in a terminal and in a notebook, unharmed?"""

from __future__ import annotations

import copy
import io
import pickle
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
from pixelflow.observe.node_tracer import NodeTracer
from pixelflow.observe.stats import Collector, RunStatistics
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
    assert repr(program) == f"Program('program', {len(program.words)} words, sha256 {program.sha256[:12]})"
    assert repr(run) == "Run('program', eigc, 7 cycles, halt, engine rows)"
    assert repr(TINY) == f"NodeConfig(256 PEs at 100 MHz, sha256 {TINY.sha256[:12]})"
    assert repr(node) == f"Node(NodeConfig(8192 PEs at 100 MHz, sha256 {THESIS.sha256[:12]}), engine rows)"
    assert repr(node.array) == "PeArray(4096 of 8192 PEs enabled, engine rows)"


def test_a_program(machine) -> None:
    program = machine[0]
    for text in (terminal(program), page(program).text):
        assert program.sha256 in text and "twice" in text and "EMC_TreeLTZero_Li 0, 2, 1, 0, -64" in text


def test_a_run_shows_the_cycles_that_were_executed(machine) -> None:
    run = machine[2]
    for text in (terminal(run), page(run).text):
        assert f"run of {run.total_cycles} cycles" in text
        for family, cycles in run.by_family.items():
            assert family.value in text and str(cycles) in text


def test_statistics(machine) -> None:
    statistics = machine[3]
    text = terminal(statistics, 100)
    for name, value in statistics.values.items():
        (line,) = (line for line in text.splitlines() if line.split()[:1] == [name.split()[0]] and name in line)
        assert ("-" if value is None else f"{value:,}") in line
    assert "run.cycles" in page(statistics).text


def test_the_array_is_a_map_of_enabled_pes(machine) -> None:
    node = machine[1]
    drawing = node.report().parts[-1].split("\n")
    assert len(drawing) == 16 and {len(line) for line in drawing} == {64}
    dots = sum((ord(character) - 0x2800).bit_count() for line in drawing for character in line)
    assert dots == int(node.flag("E").sum()) == 4096, "x < 64 of 128 columns"
    assert all(line[:32] == "⣿" * 32 and line[32:] == "\u2800" * 32 for line in drawing)
    assert "4,096 PEs" in terminal(node) and drawing[0] in page(node).text


def test_an_array_whose_pes_share_a_place_has_no_map() -> None:
    from pixelflow.config import load_config

    node = Node(load_config(overrides=["lee.arrangement=zero"]), "rows")
    assert not any("⣿" in str(part) for part in node.report().parts)
    assert "8,192 PEs" in terminal(node)


def test_a_configuration_shows_every_value() -> None:
    text = page(TINY).text
    for key, value in TINY.values.items():
        assert key in text and str(value) in text


class _Hostile(Shown):
    def report(self) -> Report:
        drawing = (HOSTILE.replace("\x1b", ""), "")
        return overview(HOSTILE, ((HOSTILE, HOSTILE),), (plain_table((HOSTILE,), ((HOSTILE,),)),), drawing)


def test_hostile_text_is_shown_as_it_is_in_a_terminal() -> None:
    text = terminal(_Hostile(), 300)
    assert "\x1b" not in text
    assert text.count("<script>alert(1)</script> [bold]x[/bold] mem[p] &amp;") == 6
    assert text.count("\\x1b[2J") == 5


def test_hostile_text_is_escaped_in_html() -> None:
    reader = page(_Hostile())
    assert reader.tags == {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "pre"}
    assert reader.text.count("<script>alert(1)</script> [bold]x[/bold] mem[p] &amp;") == 6
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
    assert repr(made) == f"Tessellation(2 patches, 32 samples, 1 pass, {made.cycles} cycles, engine {made.engine})"
    assert repr(mesh) == f"Mesh({len(mesh.points)} vertices, {len(mesh.triangles)} triangles)"
    assert repr(file) == "PatchFile('teapot', 32 patches)"
    assert f"{made.cycles:,}" in made._repr_html_() and len(made._repr_html_()) < 20_000
    assert "32" in file._repr_html_() and sum(run.by_line.values()) == run.busy


def test_a_run_of_several_stages_shows_them_in_time() -> None:
    program = assemble("texture_copy.mc")
    run = Node(THESIS, "rows").run(program)
    shown = page(run)
    assert "svg" in shown.tags and "read: 14,3" in shown.text and "stages in time" in shown.text
    assert "svg" not in page(Node(TINY).run(assemble("LD R, #1"))).tags, "one span is no picture"
    assert "stages in time" not in terminal(run)


def test_surfaces_show_pictures() -> None:
    pytest.importorskip("PIL", reason="images need Pillow (extra `image`)")
    file = load("enneper")
    made = tessellate(file.patches, 4, config=TINY)
    for each in (file, made, made.mesh()):
        assert "img" in page(each).tags and "data:image/png;base64," in each._repr_html_()


def test_a_sweep_shows_its_curves() -> None:
    from pixelflow.cli.sweep import sweep

    found = sweep("tessellate", "enneper", {"samples": (2, 4), "schedule": ("thesis", "shared-columns")})
    shown = page(found)
    assert {"polyline", "circle"} <= shown.tags and "schedule = shared-columns" in shown.text
    for row in found.rows:
        assert f"samples {row['samples']}, cycles {row['run.cycles']:,}" in shown.text
