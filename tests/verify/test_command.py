"""Does ``pixelflow verify`` say what it found, to people and programs, and fail when it must?"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from pixelflow.evidence import Row
from pixelflow.evidence.derivation import figure_text
from pixelflow.evidence.paper import Verified
from pixelflow.evidence.rows import deviation_text
from pixelflow.evidence.verification import evidence_report
from pixelflow.simd.report import as_text
from pixelflow.simd.report.html import markdown, page
from tessellation.plan.schedule import Stage
from tessellation.reproduction import PAPER, ThesisBench, results, thesis, whole_passes
from tessellation.reproduction.bench import counted, spent
from tessellation.reproduction.cost_model import pass_cycles

# --- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "name"),
    [
        *((given, "table 7") for given in ("7", "table7", "Table-7", "table_7", "TABLE 7")),
        *((given, "appendix b") for given in ("b", "appendix-b", "Appendix B", "appendixb")),
        *((given, "section 5") for given in ("section5", "section-5", "5.3", "results")),
        *((given, "section 4") for given in ("4.1.4", "section4.1.4", "section 4")),
        ("appendix-a", "table 13"),
        ("2.2.4", "section 2"),
        ("2.2.6", "table 2"),
        ("figure13", "figure 13"),
    ],
)
def test_names_as_users_think_of_them(given, name, verify):
    result = verify("--list", given)
    assert (result.code, result.out.splitlines()[2].startswith(name)) == (0, True)
    assert len(result.out.splitlines()) <= 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("tabel 7", "did you mean table 7?"),
        ("14", "is not a table, figure, section or appendix that is reproduced"),
        ("figure 1", "did you mean figure 13?"),
        ("everything", "all of them: pixelflow verify --list"),
        *((name, "has no figures to verify: ") for name in PAPER.without),
    ],
)
def test_unknown_names(given, message, verify):
    result = verify(given)
    assert result.code == 2 and message in result.err and not result.out


def test_the_list_names_everything_and_executes_nothing(verify, monkeypatch):
    monkeypatch.setattr(ThesisBench, "__init__", None)
    result = verify("--list")
    assert result.code == 0
    names = [claim.name for claim in PAPER.claims]
    assert all(re.search(rf"^{name} ", result.out, re.MULTILINE) for name in names)
    assert json.loads(verify("--list", "--json").out)["tables"] == names


def test_a_printed_place_never_hides_other_digits(verify):
    """Table 11 prints thousands, cut: each of its places has the figure here too, and the heading says so."""
    found = json.loads(verify(11, "--timing-only", "--json").out)["tables"][0]
    shown = verify(11, "--timing-only", "--width", "200").out
    rows = [row for row in found["rows"] if row["published"] is not None]
    assert len(rows) == 6 and found["digits"] == "cut" and "cut" in shown.partition("Table 11")[2].splitlines()[0]
    for row in rows:
        published, here = row["published"], row["measured"] or row["formula"]
        pairs = (f"{published // 1000}K / {here / 1000:.3g}K", f"{published:,} / {here:,.0f}")
        assert here != published and any(pair in shown for pair in pairs), row["item"]
    assert all(note in shown for row in rows for note in row["notes"])


@pytest.mark.parametrize("name", ["figure13", "table10"])
def test_what_has_no_printed_figure_cannot_fail(name, verify):
    result = verify(name, "--timing-only", "--strict")
    found = json.loads(verify(name, "--timing-only", "--json").out)
    assert result.code == 0 and not result.err and " / " not in result.out.replace("10^", "")
    assert set(found["summary"]["outcomes"].items()) <= {(each, 0) for each in found["summary"]["outcomes"]} | {
        ("unpublished", found["summary"]["rows"])
    }


# --- exit codes ------------------------------------------------------------------------------------------------------


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Table 6 with 3,585 instead of 3,584 TASIC cycles for four sends."""
    table = thesis.table(6)
    rows = tuple((sends, emc, tasic + (sends == 4)) for sends, emc, tasic in table.rows)
    tables = tuple(replace(each, rows=rows) if each is table else each for each in thesis.TABLES)
    monkeypatch.setattr(thesis, "TABLES", tables)


@pytest.mark.slow
def test_a_wrong_formula_fails(verify, monkeypatch):
    monkeypatch.setattr(whole_passes, "pass_cycles", lambda n, batches: pass_cycles(n, batches) * 9 // 10)
    result = verify("section5", "--timing-only")
    assert result.code == 1 and "all counted: formula 91,101, derived 101,224 cycles" in result.err


@pytest.mark.slow
def test_a_stage_left_out_fails(verify, monkeypatch):
    left_out = (Stage.DISTRIBUTION, Stage.ADDRESSES, Stage.COPY)
    monkeypatch.setattr(whole_passes, "counted", lambda run: counted(run) - spent(run, *left_out))
    result = verify("section5", "--timing-only")
    assert result.code == 1 and "measured 93,076, predicted 102,656 cycles" in result.err


@pytest.mark.slow
def test_a_slow_float_routine_fails(verify, monkeypatch):
    """200 useless cycles in the multiplication of the library plain: 455 for 253, with right bits."""
    called = ThesisBench.called

    def slower(bench, name, operands, library="plain", size=3):
        run = called(bench, name, operands, library, size)
        return replace(run, cycles=run.cycles + 200) if (name, library) == ("fmul", "plain") else run

    monkeypatch.setattr(ThesisBench, "called", slower)
    result = verify(1, "--timing-only")
    assert result.code == 1 and "table 1: multiply, plain: 79.842 % from the print, allowed 6" in result.err


def test_what_is_off_fails_and_is_named(wrong, verify):
    result = verify(6, "--timing-only")
    assert result.code == 1
    assert "1 row off, neither as published nor as predicted" in result.err
    assert "table 6: 4 sends, TASIC: published 3,585, formula 3,584, measured 3,584 cycles" in result.err
    assert "OFF" in result.out


def test_it_fails_with_json_and_quiet_too(wrong, verify):
    result = verify(6, "--json", "--timing-only")
    assert result.code == 1 and json.loads(result.out)["summary"]["outcomes"]["off"] == 1
    assert verify(6, "--quiet", "--timing-only").code == 1


@pytest.mark.slow
def test_strict_excuses_nothing(verify):
    assert verify("section3", "--timing-only").code == 0
    result = verify("section3", "--strict", "--timing-only")
    assert result.code == 1 and "4 rows off, and --strict excuses none" in result.err
    assert "loads of 128 patches (3.2): published 2,000, formula 1,536, measured 1,536 cycles" in result.err
    assert verify("--strict", 3, "--timing-only").code == 0


def test_a_name_may_be_two_words(verify):
    for words, name in ((("table", 3), "table 3"), (("Appendix", "B"), "appendix b")):
        found = json.loads(verify(*words, 6, "--timing-only", "--json").out)
        assert {each["name"] for each in found["tables"]} == {name, "table 6"}
    assert "table table" not in verify("table", "--timing-only").err and verify("table", "--timing-only").code == 2


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_results_are_computed_unless_only_time_is_wanted(verify):
    found = json.loads(verify("appendix-b", "--json").out)
    assert (found["summary"]["results"], found["summary"]["wrong_results"]) == (5, 0)
    assert {each["outcome"] for each in found["tables"][0]["results"]} == {"held"}
    timed = json.loads(verify("appendix-b", "--timing-only", "--json").out)
    assert timed["summary"]["results"] == 0
    assert verify("larrabee", "--timing-only").code == 2


@pytest.mark.parametrize("option", ["--full", "--explain"])
def test_sentences_are_always_whole(option, verify):
    result = verify("larrabee", option)
    assert result.code == 2 and f"{option}: error: the claims of this paper are sentences" in result.err


@pytest.mark.slow
def test_wrong_bits_fail_and_are_named(verify, monkeypatch, tmp_path):
    """As a routine that rounds wrongly would leave them: the last bit of one number in a thousand."""
    right = results.single_samples

    def wrong(nets, samples):
        points, normals = right(nets, samples)
        found = points.copy()
        found.view(np.uint32).reshape(-1)[::1000] ^= 1
        return found, normals

    monkeypatch.setattr(results, "single_samples", wrong)
    result = verify("appendix-b", "--json", "--html", tmp_path / "report.html")
    assert result.code == 1 and "5 results wrong:" in result.err
    assert "appendix b: kept and brought back, explicit: 32 wrong of 49,152, allowed 0" in result.err
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("WRONG") >= 5
    found = json.loads(result.out)
    assert found["summary"]["wrong_results"] == 5
    assert {each["outcome"] for each in found["tables"][0]["results"]} == {"WRONG"}


# --- what is shown ---------------------------------------------------------------------------------------------------

SOME = ("1", "6", "section2", "section3", "appendix-b", "--timing-only")


@pytest.fixture(scope="module")
def verified() -> Verified:
    bench = ThesisBench()
    bench.timing_only = True
    names = ("table 6", "section 2", "section 3", "appendix b")
    return Verified(PAPER, tuple(PAPER.find(claim, bench) for claim in PAPER.claims if claim.name in names))


@pytest.fixture(scope="module")
def rows(verified: Verified) -> dict[str, tuple[Row, ...]]:
    return {found.claim.name: found.rows for found in verified.findings}


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 80, 132])
def test_no_digit_is_lost_at_any_width(width, rows, verified):
    out = as_text(evidence_report(verified, width, full=True).brief, width)
    assert "\x1b" not in out
    assert width < 60 or all(len(line) <= width for line in out.splitlines())
    shown = re.split(r"\s+", out)
    for row in (row for each in rows.values() for row in each):
        for text in (*map(figure_text, (row.published, row.formula, row.measured)), deviation_text(row.deviation)):
            assert text in shown, (row, width)


def test_notes_and_the_source_of_figures(verify):
    found = json.loads(verify("section3", "--timing-only", "--json").out)
    notes = found["notes"]
    assert (notes["section3-loads"]["reason"], notes["section3-loads"]["section"]) == ("unexplained", "3.2")
    assert notes["section3-bytes"]["reason"] == "reading"
    outcomes = {name: count for name, count in found["summary"]["outcomes"].items() if count}
    assert outcomes == {"equal": 6, "predicted": 1, "reading": 1, "unexplained": 2, "unpublished": 3}
    assert (found["summary"]["measured"], found["summary"]["formula_only"]) == (12, 1)
    explained = " ".join(verify("section3", "--timing-only", "--explain").out.split())
    assert "slot 11 + overhead 1 = 12" in explained
    assert found["tables"][0]["rows"][2]["basis"] in explained and found["notes"]["section3-loads"]["text"] in explained


def figures(text: str) -> set[str]:
    """The numbers of a text."""
    return set(re.findall(r"(?<![\w.,])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?(?![\w,]*\d)", text))


def test_no_figure_is_lost_in_any_form(verified):
    """What all rows show as text is on the page, in Markdown and, but for how it is rounded, in JSON."""
    report = evidence_report(verified, 100, full=True)
    text = as_text(report.brief, 100)
    shown = set(re.split(r"\s+", text))
    for found in verified.findings:
        for row in found.rows:
            wanted = {figure_text(value) for value in (row.published, row.formula, row.measured, row.busy)}
            assert wanted | {deviation_text(row.deviation)} <= shown, row
    assert figures(text) <= figures(re.sub(r"<[^>]+>", " ", page(report, "verify")).replace("&#x27;", "'"))
    assert figures(text) <= figures(markdown(evidence_report(verified, 110)))
    data = [row for table in report.data["tables"] for row in table["rows"]]
    rows = [row for found in verified.findings for row in found.rows]
    assert [(each["published"], each["formula"], each["measured"], each["deviation"]) for each in data] == [
        (row.published, row.formula, row.measured, row.deviation) for row in rows
    ]
    explained = as_text(evidence_report(verified, 100, explain=True).brief, 100)
    assert figures(explained) <= figures(text)


@pytest.mark.slow
def test_json_is_stable_and_byte_identical(rows, verify):
    rows = rows | {"table 1": PAPER.rows("table 1", ThesisBench())}
    assert verify("6", "--timing-only", "--json").out == verify("6", "--timing-only", "--json").out
    found = json.loads(verify(*SOME, "--json").out)
    assert found["schema"] == "pixelflow.verify/2"
    assert set(found) == {
        "schema",
        "tool",
        "thesis",
        "config",
        "tables",
        "notes",
        "delivery",
        "without_figures",
        "summary",
    }
    assert found["delivery"]["rate_mb_per_second"] is None and found["delivery"]["executed_words"] > 0
    row = found["tables"][0]["rows"][0]
    assert row == {
        "item": "int_to_float, plain",
        "unit": "cycles",
        "published": 157,
        "printed_step": None,
        "formula": None,
        "busy": None,
        "measured": rows["table 1"][0].measured,
        "deviation": rows["table 1"][0].measured - 157,
        "deviation_percent": rows["table 1"][0].percent,
        "standing": "invented",
        "basis": "this project's instruction set and float routines, library `plain`",
        "outcome": "unexplained",
        "notes": ["own-library"],
        "detail": None,
        "predicted": None,
        "derived": None,
    }
    named = {name for table in found["tables"] for each in table["rows"] for name in each["notes"]}
    assert named <= set(found["notes"])
    count = sum(len(each) for each in rows.values())
    assert found["summary"]["rows"] == sum(found["summary"]["outcomes"].values()) == count


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--stats", "missing/report.csv"), 3, "does not exist"),
        (("--stats", "one.csv", "--trace", "vcd:one.csv"), 3, "name the same"),
        (("--record", "run.npz"), 2, "unknown option --record"),
        (("--record-pass", 1), 2, "unknown option --record-pass"),
    ],
)
def test_bad_outputs_are_refused_before_anything_runs(options, code, message, verify, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ThesisBench, "__init__", None)
    result = verify(6, *options)
    assert result.code == code and message in result.err and not list(tmp_path.iterdir())
