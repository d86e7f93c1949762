"""What becomes of a figure that is not as published: is a prediction held to the digit, and is nothing excused?"""

from __future__ import annotations

import pytest

from pixelflow.evidence import (
    Basis,
    Bench,
    CellOf,
    Check,
    CheckedClaim,
    Claim,
    ClaimClass,
    Derivation,
    Digits,
    Measured,
    Note,
    Paper,
    PrintedForm,
    PrintedRange,
    Reason,
    Row,
    RowVerdict,
    Verified,
    derived,
    evidence_report,
)
from pixelflow.evidence.rows import measured_text, page_table, printed_table, reason_lines, unplaced
from pixelflow.simd.report import as_text

BASIS = Basis("invented", "a rule")
NOTES = {reason: Note(reason.name.lower(), "1", reason, "text") for reason in Reason}
EQUAL, OFF = RowVerdict.EQUAL, RowVerdict.OFF


def row(published, formula, measured, *reasons: Reason, step=0, digits=Digits.ROUNDED, **derivations) -> Row:
    notes = tuple(NOTES[reason] for reason in reasons)
    return Row("item", published, formula, measured, BASIS, step=step, digits=digits, notes=notes, **derivations)


@pytest.mark.parametrize(
    ("expression", "names", "value", "shown"),
    [
        ("muls * fmul + adds * fadd", {"muls": 9, "fmul": 253, "adds": 7, "fadd": 390}, 5007,
         "muls 9 * fmul 253 + adds 7 * fadd 390"),
        ("max(a, b) - (7 + 4) // 2", {"a": 3, "b": 10}, 5, "max(a 3, b 10) - (7 + 4) // 2"),
        ("rounded(cycles, 1000) + 8000", {"cycles": 89_036}, 97_000, "rounded(cycles 89,036, 1000) + 8000"),
        ("rounded(cycles, 1000)", {"cycles": 89_500}, 90_000, "rounded(cycles 89,500, 1000)"),
        ("98304 / 2", {}, 49_152.0, "98304 / 2"),
    ],
)  # fmt: skip
def test_an_expression_is_evaluated_and_shown_with_its_numbers(expression, names, value, shown) -> None:
    found = derived(expression, **names)
    assert found.value == value and found.shown == shown


@pytest.mark.parametrize(
    "expression", ["a ** 2", "__import__('os')", "a.real", "b", "'9'", "max(a, key=a)", "a if a else a"]
)
def test_nothing_else_is_an_expression(expression: str) -> None:
    with pytest.raises(ValueError, match="is not part of the notation of derivations"):
        Derivation(expression, (("a", 1),)).value  # noqa: B018


def test_a_number_that_the_expression_does_not_use_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing is called fitted"):
        derived("a + 1", a=1, fitted=2)


@pytest.mark.parametrize(
    ("rule", "value", "published", "step", "printed"),
    [
        (Digits.CUT, 4_870, 4_000, 1000, True), (Digits.CUT, 4_870, 5_000, 1000, False),
        (Digits.ROUNDED, 4_870, 5_000, 1000, True), (Digits.ROUNDED, 5_903, 5_000, 1000, False),
        (Digits.ROUNDED, 8.45, 8.5, 0.1, True), (Digits.ROUNDED, 8.45, 8.4, 0.1, False),
        (Digits.CUT, 8.45, 8.4, 0.1, True),
        (Digits.ROUNDED, 5, 5, 0, True), (Digits.CUT, 5.0001, 5, 0, False),
    ],
)  # fmt: skip
def test_few_digits_follow_the_rule_of_their_table(rule, value, published, step, printed) -> None:
    """0.1 is no binary fraction: 8.45 is half way, as a reader computes it."""
    assert rule.prints(value, published, step) is printed


def test_what_is_equal_needs_nothing() -> None:
    assert row(5, 5, 5).verdict is row(5, None, 5).verdict is row(5, 5, None).verdict is EQUAL
    assert row(5_000, 5_260, 5_260, step=1000, digits=Digits.CUT).verdict is EQUAL
    assert row(5, None, None).verdict is RowVerdict.UNCHECKED and row(None, None, 7).verdict is RowVerdict.UNPUBLISHED
    assert row(5, 5, 5).fitted is False and row(5, 5, 5)._replace(basis=Basis("fitted", "")).fitted


def test_the_least_deviation_is_off() -> None:
    assert row(89_036, 89_036, 89_037).verdict is row(5144, 5007, None).verdict is row(0, 0, 1).verdict is OFF


def test_a_prediction_must_hold_to_the_digit() -> None:
    right, wrong = derived("a + 1", a=89_478), derived("a + 2", a=89_478)
    assert row(89_036, 89_036, 89_479, predicted=right).verdict is RowVerdict.PREDICTED
    assert row(89_036, 89_036, 89_479, predicted=wrong).verdict is OFF
    assert row(89_479, 89_479, 89_479, predicted=wrong).verdict is OFF, "also where the figure is as published"
    assert row(None, None, 89_479, predicted=wrong).verdict is OFF, "and where none is published"
    for reason in Reason:
        assert row(89_036, 89_036, 89_479, reason, predicted=wrong).verdict is OFF, reason


def test_no_note_alone_excuses_a_measured_figure() -> None:
    """A model's own way needs a prediction; a reading or a contradiction is of the print, not of the machine."""
    for reason in (Reason.MODEL, Reason.READING, Reason.CONTRADICTION):
        assert row(100, 100, 101, reason).verdict is OFF, reason
        assert row(100, None, 101, reason).verdict is OFF, reason


def test_few_digits_do_not_hide_what_is_measured() -> None:
    """Both would be printed as 5K; that they differ needs a prediction all the same."""
    one = {"step": 1000, "digits": Digits.CUT}
    assert row(5_000, 5_260, 5_280, **one).verdict is OFF
    assert row(5_000, 5_260, 5_280, predicted=derived("n * 10", n=528), **one).verdict is EQUAL


def test_a_contradiction_is_what_the_other_place_gives() -> None:
    other = derived("muls * 253 + adds * 390", muls=9, adds=7)
    assert row(5144, 5007, 5007, Reason.CONTRADICTION, derived=other).verdict is RowVerdict.CONTRADICTION
    assert row(5144, 5008, 5008, Reason.CONTRADICTION, derived=other).verdict is OFF, "the formula is another"
    assert row(5144, 5007, 5025, Reason.CONTRADICTION, derived=other).verdict is OFF, "nothing predicts it"
    assert row(5144, 5007, 5007, Reason.CONTRADICTION).verdict is OFF, "there is no other place"


def test_a_reading_must_give_what_is_printed() -> None:
    reading, predicted = derived("a + 8000", a=89_000), derived("b", b=102_656)
    found = row(97_000, 97_000, 102_656, Reason.READING, derived=reading, predicted=predicted)
    assert found.verdict is RowVerdict.READING
    assert row(98_000, 97_000, 102_656, Reason.READING, derived=reading, predicted=predicted).verdict is OFF


def test_what_is_unexplained_says_so_and_counts_as_that() -> None:
    assert row(157, None, 153, Reason.UNEXPLAINED).verdict is RowVerdict.UNEXPLAINED
    assert row(157, None, 153, Reason.UNEXPLAINED, predicted=derived("a", a=154)).verdict is OFF


def verified(*rows: Row, checks: tuple[Check, ...] = ()) -> Verified:
    claim = Claim("table 1", "2.1", "Loads")
    paper = Paper("essay", "Somebody, 1997", (claim,), {}, lambda watch: None)
    return Verified(paper, (CheckedClaim(claim, Measured(rows=rows, checks=checks)),))


def test_the_summary_counts_each_kind() -> None:
    other, predicted = (
        derived(
            "6",
        ),
        derived("a", a=7),
    )
    fitted = row(5, 5, 5)._replace(basis=Basis("fitted", ""))
    found = verified(
        row(5, 5, 5), fitted, row(5_000, 5_260, 5_260, step=1000), row(5, 5, 7, predicted=predicted),
        row(5, 6, 6, Reason.CONTRADICTION, derived=other), row(5, 5, 7, Reason.READING, predicted=predicted),
        row(5, None, 6, Reason.UNEXPLAINED), row(5, 5, 6), row(None, None, 3),
        row(None, None, 7, predicted=predicted),
    )  # fmt: skip
    summary = evidence_report(found, 80).data["summary"]
    assert {name: count for name, count in summary["outcomes"].items() if count} == {
        "equal": 3, "predicted": 1, "contradiction": 1, "reading": 1, "unexplained": 1, "off": 1, "unpublished": 2,
    }  # fmt: skip
    assert (summary["rows"], summary["equal_and_fitted"], summary["equal_in_few_digits"]) == (10, 1, 1)
    assert (summary["measured"], summary["compared_with_nothing"], summary["results"]) == (10, 1, 0)
    assert [found.findings[0].rows[at].met for at in range(6)] == [True, True, True, False, False, False]


def test_a_table_is_shown_as_it_is_printed() -> None:
    """A figure alone where both have its digits, else both, with the deviation where it is not met; in a page apart."""
    layout = PrintedForm(
        ("Size of Load", "Cycles", "Rate"),
        (("one", CellOf("a"), CellOf("a", "10^3/s", " K")), ("two", CellOf("b", suffix="K", scale=1000), "")),
    )
    predicted = derived("a", a=7)
    rows = (
        Row("a", 5, 5, 7, BASIS, predicted=predicted), Row("a", 636, None, 653.594, BASIS, "10^3/s", notes=(WHY,)),
        Row("b", 5_000, None, 5_260, BASIS, step=1000, digits=Digits.CUT), Row("c", 8, 8, 8, BASIS),
    )  # fmt: skip
    found = CheckedClaim(Claim("table 1", "2.1", "Loads", layout=layout), Measured(rows=rows))
    assert printed_table(found).rows == [["one", "5 / 7 +40.00 %", "636 K / 654 K +2.77 %"], ["two", "5K / 5.26K", ""]]
    page = page_table(found)
    assert [column.heading for column in page.columns][3:] == ["here: Cycles", "here: Rate"]
    assert page.rows == [["one", "5", "636 K", "7 +40.00 %", "654 K +2.77 %"], ["two", "5K", "", "5.26K", ""]]
    assert list(unplaced(found)) == ["c 8"]
    assert list(reason_lines(found)) == ["predicted: a", "unexplained (unexplained): text"]


WHY = NOTES[Reason.UNEXPLAINED]


def test_what_is_off_and_what_is_wrong_fails_and_is_named() -> None:
    assert evidence_report(verified(row(5, None, 6, Reason.UNEXPLAINED)), 80).failure is None
    off = evidence_report(verified(row(5, 5, 6, predicted=derived("a", a=7))), 80).failure
    assert off == (
        "1 row off, neither as published nor as predicted:\n"
        "    table 1: item: published 5, formula 5, measured 6, predicted 7 cycles"
    )
    held, wrong = Check("fmul", 0, 0, "wrong of 8", "numpy"), Check("fadd", 1, 0, "wrong of 8", "numpy")
    assert evidence_report(verified(row(5, 5, 5), checks=(held,)), 80).failure is None
    failure = evidence_report(verified(row(5, 5, 5), checks=(held, wrong)), 80).failure
    assert failure == "1 result wrong:\n    table 1: fadd: 1 wrong of 8, allowed 0"
    assert not Check("normal", float("nan"), 8, "", "").held


def test_strict_excuses_nothing() -> None:
    found = verified(row(5, 5, 5), row(5, None, 6, Reason.UNEXPLAINED), row(5, 5, 7, predicted=derived("a", a=7)))
    assert len(found.failures()) == 0 and len(found.failures(strict=True)) == 2


def sentence(name: str, found: int, **more: object) -> CheckedClaim:
    claim = Claim(name, "1", "It takes five.", (ClaimClass.MECHANICAL,), "5", values={"cycles": 5}, **more)
    return CheckedClaim(claim, Measured("as executed", {"cycles": found}))


def test_a_printed_figure_that_does_not_hold_is_counted_apart() -> None:
    """It must be exactly what is said to stand in its place, and --strict excuses it no more than others."""
    instead = {"cycles": derived("base + one", base=6, one=1)}
    same, other = sentence("a", 5), sentence("b", 7, instead=instead)
    off, unlike, idle = sentence("c", 6), sentence("d", 6, instead=instead), CheckedClaim(same.claim, None, "no scene")
    found = (same, other, off, unlike, idle)
    assert [each.verdict.value for each in found] == [
        *("reproduced", "contradicted", "differs", "differs", "not compared")
    ]
    paper = Paper("essay", "An essay", tuple(each.claim for each in found), {}, lambda watch: Bench())
    text = as_text(evidence_report(Verified(paper, found), 200).results, 200)
    assert "5 claims: 5 mechanical; 1 printed figure met, 1 contradicted, 2 differs, 1 not compared." in text
    assert "(printed 5, here 7)" in " ".join(measured_text(other).split())
    assert evidence_report(Verified(paper, found), 80).failure == "figures that must be the same are others here: c, d"
    fine = Verified(paper, (same, other))
    assert evidence_report(fine, 80).failure is None
    assert evidence_report(fine, 80, strict=True).failure == "figures that must be the same are others here: b"
    data = evidence_report(Verified(paper, found), 80).data["summary"]
    assert {name: count for name, count in data["outcomes"].items() if count} == {
        "reproduced": 1,
        "contradicted": 1,
        "differs": 2,
        "not compared": 1,
    }


def spanned(found: dict[str, float], **more: object) -> CheckedClaim:
    claim = Claim("a", "1", "It is about 70 %.", (ClaimClass.PROXY,), "70 %", spans=SPANS, **more)
    return CheckedClaim(claim, Measured("as executed", {}, {"share": found}))


SPANS = {"share": PrintedRange.digits(0.7, 0.1)}


@pytest.mark.parametrize(
    ("found", "missed", "verdict"),
    [
        ({"one": 0.65, "two": 0.75}, "", "in range"),
        ({"one": 0.7, "two": 0.649}, "", "differs"),
        ({"one": 0.7, "two": 0.751}, "it is another scene", "not reproduced"),
        ({"one": 0.7, "two": 0.7}, "it is another scene", "differs"),
        ({}, "it is another scene", "not compared"),
    ],
)
def test_a_range_is_kept_by_all_or_missed_by_what_is_said(found: dict[str, float], missed: str, verdict: str) -> None:
    """The scenes that keep it excuse none that does not; a reason for a miss that is none is no reason either."""
    assert spanned(found, missed=missed).verdict.value == verdict


def test_what_is_missed_is_told_with_its_reason_and_fails_where_nothing_is_excused() -> None:
    claim = spanned({"one": 0.7, "two": 0.5}, missed="unexplained")
    text = "NOT in range in share (0.5 to 0.7; 1 of 2 are); reason: unexplained: as executed"
    assert measured_text(claim) == text
    paper = Paper("essay", "An essay", (claim.claim,), {}, lambda watch: Bench())
    report = evidence_report(Verified(paper, (claim,)), 80)
    assert report.failure is None and evidence_report(Verified(paper, (claim,)), 80, strict=True).failure is not None
    (found,) = report.data["claims"]
    assert found["outcome"] == "not reproduced" and found["missed"] == "unexplained"
    assert found["spans"] == {
        "share": {"least": 0.65, "most": 0.75, "found": {"one": 0.7, "two": 0.5}, "outside": ["two"]}
    }


def test_what_is_read_back_is_no_measurement() -> None:
    """One figure that was executed makes a claim a measurement; where nothing measures it, the reason says which."""
    read = {"constants": frozenset(("cycles",))}
    assert sentence("a", 5, **read).verdict.value == "constant" and sentence("a", 6, **read).verdict.value == "differs"
    both = sentence("a", 5, expected={"held_up": 0}, **read).claim
    assert CheckedClaim(both, Measured("", {"cycles": 5, "held_up": 0})).verdict.value == "reproduced"
    needs = Claim("b", "1", "It is.", reason="needs it")
    assert CheckedClaim(needs, None, "needs it").verdict.value == "not measurable"
    assert CheckedClaim(Claim("b", "1", "It is."), None, "takes seconds").verdict.value == "not compared"
