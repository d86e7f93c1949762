"""Is every cell of the thesis's tables reproduced, by what is executed, and does every deviation have a note?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from pixelflow.config import THESIS
from pixelflow.evidence import Reason, Row, RowVerdict, Verified, evidence_report
from pixelflow.node import Node
from pixelflow.simd.report import as_text
from tessellation import Method, load
from tessellation.host.session import Session
from tessellation.microprogram.method import library_named
from tessellation.plan.schedule import Stage
from tessellation.reproduction import PAPER, ThesisBench, arithmetic, whole_passes
from tessellation.reproduction.arithmetic import routine_excess
from tessellation.reproduction.bench import counted, spent
from tessellation.reproduction.cost_model import THESIS_CYCLES, pass_cycles
from tessellation.reproduction.predictions import batches
from tessellation.reproduction.thesis import FIGURES, NOTES, TABLES, PrintedTable

QUICK = ("table 1", "table 2", "table 6", "table 13", "section 1", "section 2", "section 3", "appendix b")

NAMES = {claim.name for claim in PAPER.claims}


@pytest.fixture(scope="module")
def bench() -> ThesisBench:
    return ThesisBench()


@pytest.fixture(scope="module")
def everything(bench) -> dict[str, tuple[Row, ...]]:
    return {claim.name: PAPER.rows(claim.name, bench) for claim in PAPER.claims}


# --- every cell ------------------------------------------------------------------------------------------------------

DESCRIBED = {2: ("Bytes Transferred",), 11: ("times",)}
"""Columns that say what a row is about and are no result."""


def cells(of_thesis: PrintedTable) -> Iterator[Fraction]:
    """The numbers of a table as printed, its first column and what describes a row left out."""
    for values in of_thesis.rows:
        entries = dict(zip(of_thesis.columns, values, strict=True))
        first = of_thesis.columns[0]
        for name, value in entries.items():
            if name in DESCRIBED.get(of_thesis.number, ()) or (name == first and name != "Address"):
                continue
            if name == "Usage":
                continue
            scale = 1000 if name == "thousands of cycles" else 1
            text = value.split()[0] if isinstance(value, str) else str(value)
            yield Fraction(text) * scale


def test_every_table_and_figure_is_reproduced_or_has_none():
    named = {f"table {each.number}" for each in TABLES} | {f"figure {number}" for number in (7, *range(10, 16))}
    assert {name for name in (*NAMES, *PAPER.without) if name.startswith(("table", "figure"))} == named
    assert not NAMES & PAPER.without.keys()


@pytest.mark.slow
def test_everything(everything):
    """The whole of it once: every printed cell has a row, nothing is off, every figure has a run or a formula."""
    for each in TABLES:
        if each.number == 10:
            continue  # the table of the application interface has no figures
        rows = everything[f"table {each.number}"]
        missing = Counter(cells(each)) - Counter(Fraction(str(one.published)) for one in rows if one.published)
        assert not missing - Counter({Fraction(0): 2}), f"cells of table {each.number} without a row: {missing}"
    text = [one for name, rows in everything.items() if not name.startswith("table") for one in rows]
    published = Counter((Fraction(str(one.published)), one.unit) for one in text if one.published is not None)
    assert published == Counter((Fraction(str(figure.value)), figure.unit) for figure in FIGURES.values())

    every = [(name, one) for name, rows in everything.items() for one in rows]
    assert [(name, one) for name, one in every if one.verdict in (RowVerdict.OFF, RowVerdict.UNCHECKED)] == []
    assert sum(one.measured is None for _, one in every) == 5
    used = {note.name for _, one in every for note in one.notes}
    used |= {note.name for claim in PAPER.claims for note in claim.notes}
    assert used == NOTES.keys(), "a note that nothing refers to"


@pytest.mark.slow
def test_what_is_equal_and_what_is_unexplained(everything):
    """A change lock: what no derivation gives is known by name, and an equality that was fitted is called that."""
    of_verdict = {
        verdict: Counter(name for name, rows in everything.items() for one in rows if one.verdict is verdict)
        for verdict in RowVerdict
    }
    assert of_verdict[RowVerdict.UNEXPLAINED] == {
        "table 1": 10, "table 12": 2, "table 13": 8, "section 3": 2,
    }  # fmt: skip
    fitted = Counter(name for name, rows in everything.items() for one in rows if one.fitted)
    assert fitted == {"table 2": 4, "table 3": 6, "table 4": 20, "table 6": 10, "section 2": 1, "appendix b": 1}
    contradictions = {
        one.item for rows in everything.values() for one in rows if one.verdict is RowVerdict.CONTRADICTION
    }
    assert len(contradictions) == 6 and "n = 8" in contradictions


@pytest.mark.parametrize("name", QUICK)
def test_no_row_is_off(name, bench):
    rows = PAPER.rows(name, bench)
    assert rows and all(one.verdict is not RowVerdict.OFF for one in rows)


def test_every_note_says_what_its_kind_needs():
    """A contradiction quotes two places by section, a reading names another one."""
    for note in NOTES.values():
        assert note.section and note.text and len(note.name) <= 16, "names fit into a table of 80 columns"
        assert (len(note.places) >= 2) is (note.reason is Reason.CONTRADICTION), note.name
        assert bool(note.readings) is (note.reason is Reason.READING), note.name
        assert all(place.section[0].isdigit() and place.quote for place in note.places)


def test_the_readings_of_97000_give_what_their_notes_say():
    """By hand from tables 3, 4, 6 and 7."""
    assert 6_144 + 2_296 + 89_036 == 97_476 and 6_144 + 328 + 15 * 164 + 89_036 == 97_968
    assert 6 + 2 + 15 * 5 + 7 == 90
    printed = [cycles for _, cycles, _ in TABLES[11].rows]
    seven = [cycles for _, cycles in TABLES[6].rows]
    assert [1000 * (round(one / 1000) + 8) == other for one, other in zip(seven, printed, strict=True)].count(True) == 7
    spread = [(one + 6_144 + 15 * 164) // 1000 * 1000 for one in seven]
    assert [one == other for one, other in zip(spread, printed, strict=True)].count(True) == 7
    sizes = (2_296, 2_856, 3_416, 3_976, 4_536)
    whole = [(one + 6_144 + each) // 1000 * 1000 for one, each in zip(seven, sizes, strict=False)]
    assert [one == other for one, other in zip(whole, printed, strict=False)] == [True, True, False, False, False]


# --- errors that no note may hide ------------------------------------------------------------------------------------


def off(rows: tuple[Row, ...], unit: str = "cycles") -> set[str]:
    """The rows that are off in a unit, by item."""
    return {one.item for one in rows if one.verdict is RowVerdict.OFF and one.unit == unit}


NETS = {f"{n}x{n} net" for n in range(4, 13)}


@pytest.mark.parametrize(
    "stages",
    [
        (Stage.DISTRIBUTION, Stage.ADDRESSES, Stage.COPY),
        *((stage,) for stage in (Stage.DISTRIBUTION, Stage.ADDRESSES, Stage.COPY, Stage.MARKS, Stage.FIRST_STALL)),
    ],
    ids=lambda stages: ", ".join(stages),
)
def test_a_stage_that_is_not_counted_is_off(stages, bench, monkeypatch):
    monkeypatch.setattr(whole_passes, "counted", lambda run: counted(run) - spent(run, *stages))
    assert off(PAPER.rows("table 12", bench)) == NETS
    assert "bicubic pass (5)" in off(PAPER.rows("section 5", bench))


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(99, 100), Fraction(101, 100)])
def test_a_wrong_formula_of_a_pass_is_off(factor, bench, monkeypatch):
    monkeypatch.setattr(whole_passes, "pass_cycles", lambda n, count: int(pass_cycles(n, count) * factor))
    assert off(PAPER.rows("section 5", bench)) == {"the same at the costs of the thesis, all counted"}


def test_wrong_costs_of_routines_are_off(bench, monkeypatch):
    monkeypatch.setattr(arithmetic, "THESIS_CYCLES", THESIS_CYCLES._replace(multiply=240))
    rows = PAPER.rows("table 5", bench)
    assert off(rows) == {one.item for one in rows if one.unit == "cycles"} and len(off(rows)) == 5


@pytest.mark.parametrize("cycles", [-1, 1])
def test_a_single_cycle_of_a_pass_counts(cycles, bench, monkeypatch):
    monkeypatch.setattr(whole_passes, "counted", lambda run: counted(run) + cycles)
    assert off(PAPER.rows("table 12", bench)) == NETS


@pytest.mark.slow
@pytest.mark.parametrize("port_bytes", [2, 4])
def test_the_prediction_holds_on_another_machine(port_bytes):
    """With wider ports the transfers are shorter; no figure of the prediction was taken from a pass."""
    tasic = replace(THESIS.tasic, port_bytes_per_cycle=port_bytes, read_overhead_cycles=3)
    bench = ThesisBench()
    bench.config = replace(THESIS, tasic=tasic)
    assert {one.verdict for one in PAPER.rows("schedules", bench)} == {RowVerdict.UNPUBLISHED}
    assert RowVerdict.OFF not in {one.verdict for one in PAPER.rows("section 4", bench)}
    assert RowVerdict.OFF not in {one.verdict for one in PAPER.rows("appendix b", bench)}


@pytest.mark.slow
def test_times_are_those_of_the_machine_s_clock(bench):
    """Cycles stay, so at half the clock every time is double and every rate half, measured as predicted."""
    other = ThesisBench()
    other.config = replace(THESIS, clock_mhz=50)
    seen = 0
    for name in ("table 1", "table 12", "section 5", "section 2"):
        for slow, own in zip(PAPER.rows(name, other), PAPER.rows(name, bench), strict=True):
            factor = {"ms": 2, "cycles": 1, "percent": 1, "MB": 1}.get(own.unit, 0.5)
            if own.predicted is not None:
                assert slow.measured == pytest.approx(factor * own.measured), own.item
                assert slow.predicted.value == pytest.approx(factor * own.predicted.value), own.item
                assert slow.formula == own.formula and slow.verdict is not RowVerdict.OFF, own.item
                seen += factor != 1
    assert seen == 10 + 9 + 8 + 1


@pytest.mark.slow
def test_passes_by_schedule_and_library(everything):
    """A change lock: what the schedules take, like for like (48,166 for 102,656 with the same library)."""
    assert {one.item: one.measured for one in everything["schedules"]} == {
        "thesis schedule, library tuned": 79_150,
        "thesis schedule, library tuned-finite": 72_994,
        "thesis schedule, library plain": 102_656,
        "thesis schedule, library generic": 144_904,
        "thesis schedule, library generic-finite": 128_380,
        "shared-columns schedule, library tuned": 36_771,
        "shared-columns schedule, library tuned-finite": 33_618,
        "shared-columns schedule, library plain": 48_166,
        "shared-columns schedule, library generic": 68_550,
        "shared-columns schedule, library generic-finite": 60_801,
        "fixed-sums schedule": 15_016,
    }


# --- single figures --------------------------------------------------------------------------------------------------


def test_the_mappings_of_linear_addresses_are_those_of_figures_11_and_12(bench):
    found = {name: [one.measured for one in PAPER.rows(name, bench)] for name in ("figure 11", "figure 12")}
    assert found == {"figure 11": [0, 1, 2], "figure 12": [6]}, "three SDRAMs, and the bit of the bank"


def test_the_libraries_are_shown_with_their_claims(bench):
    rows = {(one.item, one.unit): one for name in ("table 1", "libraries") for one in PAPER.rows(name, bench)}
    for name, published, *_ in TABLES[0].rows:
        assert abs(rows[f"{name}, plain", "cycles"].percent) <= 6
        assert rows[f"{name}, tuned", "cycles"].measured <= published
        assert rows[f"{name}, tuned", "cycles"].published is None, "not a figure of the thesis"
        assert [rows[f"{name}, {library}", "start-ups"].measured for library in ("plain", "tuned")] == [1, 1]
        assert rows[f"{name}, generic", "start-ups"].measured > 40


@pytest.mark.slow
def test_every_table_has_its_printed_layout(everything):
    """Each place has a row, and each printed figure a place, but for those that are compared with a table as well."""
    claims = {claim.name: claim for claim in PAPER.claims}
    for each in TABLES:
        layout, rows = claims[f"table {each.number}"].layout, everything[f"table {each.number}"]
        assert all(len(row) == len(layout.heads) for row in layout.rows)
        assert {(cell.item, cell.unit) for cell in layout.cells} <= {(one.item, one.unit) for one in rows}
        assert {cell.printed for cell in layout.cells} - {""} <= {one.item for one in rows}
        assert len(layout.rows) == len(each.rows) + 14 * (each.number == 11), "a line for each of fifteen batches"
    placed = {(name, cell.item) for name, claim in claims.items() if claim.layout for cell in claim.layout.cells}
    others = {
        (name, one.item)
        for name, rows in everything.items()
        for one in rows
        if name.startswith("table") and one.published is not None and (name, one.item) not in placed
    }
    assert others == {
        *(("table 2", f"{size} bytes, {way}, read") for size in (4, 8) for way in ("random", "alternate banks")),
        ("table 6", "a read of table 6"), ("table 11", "a batch, mean of 15"), ("table 11", "all steps of the EMCs"),
    }  # fmt: skip


@pytest.mark.slow
def test_the_whole_fits_a_screen(everything, bench):
    """Sixty lines of 80 columns, each word whole; a table in 27, table 11, which has nineteen steps, in 36."""
    bench.timing_only = True
    verified = Verified(PAPER, tuple(PAPER.find(claim, bench) for claim in PAPER.claims))
    report = evidence_report(verified, 80)
    lines = as_text(report.brief_parts, 80).splitlines()
    assert len(lines) <= 60 and max(map(len, lines)) <= 80
    named = [each.claim for each in verified.findings if any(row.published is not None for row in each.rows)]
    shown = {word.rstrip(":") for line in lines for word in line.split()}
    assert {word for claim in named for word in claim.title.split()} <= shown, "a word is folded"
    for found in verified.findings[:13]:
        one = as_text(evidence_report(Verified(PAPER, (found,)), 80).brief_parts, 80).splitlines()
        assert len(one) <= (36 if found.claim.name == "table 11" else 27) and max(map(len, one)) <= 80, found.claim.name


def test_a_slower_routine_breaks_a_limit():
    """By hand beside a print of 100: 106 and 94 are within 6 %, 107 is not; 80 is at or below, 101 is not."""
    held = [*arithmetic.limits([executed(106, 150)]), *arithmetic.limits([executed(94, 150)])]
    assert [each.held for each in held] == [True] * 4 and {each.item.split()[0] for each in held} == {"add,"}
    slow = arithmetic.limits([executed(107, 150)._replace(tuned=101)])
    assert (slow[0].found, slow[0].most, slow[0].held) == (101, 100, False) and not slow[1].held
    exact = arithmetic.limits([executed(100, 150)._replace(tuned=100)])
    assert all(each.held for each in exact)


def executed(plain: int, generic: int, finite: int | None = None, start_ups: int = 40) -> arithmetic.RoutineCounts:
    """Counts beside a print of 100 cycles; the tuned routine takes 80."""
    return arithmetic.RoutineCounts("add", 100, plain, 80, generic, generic if finite is None else finite, start_ups)


def test_the_reading_follows_from_the_counts():
    """In proportion: 104 is nearer to 100 than 150, and 80 farther away than 124."""
    one, other = executed(104, 150), executed(80, 124)
    assert "start-up each, not" in arithmetic.reading([one, one])
    assert " generic " in arithmetic.reading([other, other])
    mixed = arithmetic.reading([one, other])
    assert "1 of 2 rows" in mixed
    assert "-20.0 to +4.0 %" in mixed and "+24.0 to +50.0 %" in mixed
    assert "-16.0 to +10.0 %" in mixed
    assert "1.55 to 1.88" in mixed, "124 / 80 and 150 / 80"
    assert "0 of 1 rows" in arithmetic.reading([executed(104, 150, 103)]), "an entry for finite operands counts too"


def test_the_erratum_of_table_5(bench):
    """A column of eight takes 9 multiplications and 7 additions, as printed, and these no 5144 cycles."""
    points = [batch for batch in batches(bench.tessellation(8)) if batch.stages == {Stage.POINTS}]
    least = min(points, key=lambda batch: batch.cycles)
    assert (least.operations.multiplies, least.operations.adds) == (9, 7)
    assert 9 * 253 + 7 * 390 == 5007 and 8 * 253 + 8 * 390 == 5144


def test_table_7_differs_by_what_the_routines_take_and_nothing_else(bench):
    assert routine_excess(bench.tessellation(4)) == {"fmul": 324, "fadd": 0, "fsub": 6, "fsqrt": 5, "fdiv": 108}


def test_operations_of_the_batches_are_those_of_the_pass(bench):
    run = bench.tessellation(4)
    found = [batch.operations for batch in batches(run)]
    uses = run.by_routine
    assert len(found) == 15
    assert sum(each.multiplies for each in found) + 9 == uses["fmul"].calls
    assert sum(each.adds for each in found) + 5 == uses["fadd"].calls + uses["fsub"].calls


def test_bytes_touched_are_fewer_than_those_reserved(bench):
    rows = PAPER.rows("table 9", bench)
    assert [one.measured for one in rows if one.measured != one.published] == [165]


def test_the_bicubic_pass_is_reported_and_not_bent(bench):
    assert counted(bench.tessellation(4)) == 102_656 == 101_224 + 976 + 4 + 9 + 443


def test_runs_are_made_anew_on_every_bench(monkeypatch):
    """Nothing measured outlives its bench: another machine's SDRAM gives other cycles at once."""
    before = PAPER.rows("table 2", ThesisBench())[0].measured
    run = Node.run

    def slower(node, program, **known):
        monkeypatch.undo()
        slow = THESIS.sdram.__class__(trcd_cycles=6)
        return run(Node(THESIS.__class__(sdram=slow)), program, **known)

    monkeypatch.setattr(Node, "run", slower)
    assert (before, PAPER.rows("table 2", ThesisBench())[0].measured) == (11, 14)


def test_a_bench_runs_everything_once_and_says_so():
    bench, said = ThesisBench(), []
    bench.progress = said.append
    assert PAPER.rows("table 6", bench) == PAPER.rows("table 6", bench)
    assert said == [f"one transfer, {sends} sends" for sends in (16, 8, 4, 2, 1)]


@pytest.mark.parametrize("schedule", ["thesis", pytest.param("shared-columns", marks=pytest.mark.slow)])
def test_timing_only_runs_take_the_cycles_of_full_runs(schedule, bench):
    session = Session(THESIS, "rows", library_named("plain"), Method(schedule=schedule))
    marked = {session.add(patch): 4 for patch in [*load("teapot").patches] * 16}
    (plan,) = session.plan(marked)
    full, timed = session.run(plan).run, bench.tessellation(4, (4,), schedule)
    assert full.cycles == timed.cycles and full.by_stage == timed.by_stage and full.waits == timed.waits
    assert full.tasic_cycles == timed.tasic_cycles
    assert Node(THESIS).run(session.program(plan), function=False, shuffle_seed=7).cycles == full.cycles
