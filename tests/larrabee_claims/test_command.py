"""The command that puts claims beside what is measured."""

import json

import pytest

from larrabee_bridge.claims import paper
from pixelflow.cli.main import main

PAPER, CLAIMS = paper.PAPER, paper.PAPER.claims


def claims(capsys: pytest.CaptureFixture, *words: str) -> dict:
    assert main(["verify", "larrabee", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_object_has_both_columns(capsys) -> None:
    found = claims(capsys, "Table-1", "6.4", "--quick")
    assert found["schema"] == "pixelflow.larrabee-claims/2"
    rows = {row["name"]: row for row in found["claims"]}
    assert set(rows) == {"table-1", "ray-triangle", "ray-tracer", "physics"}
    assert rows["table-1"]["outcome"] == "constant" and rows["table-1"]["classes"] == ["mechanical"]
    assert rows["table-1"]["constants"] == rows["table-1"]["compared"]
    assert (rows["ray-triangle"]["outcome"], rows["physics"]["outcome"]) == ("not reproduced", "not compared")
    assert rows["ray-triangle"]["spans"]["cycles"]["outside"] != []
    assert "ratio" in rows["table-1"]["compared"] and rows["ray-triangle"]["compared"] == []
    assert rows["ray-triangle"]["measured"]["values"]["vector"] == 41
    assert rows["ray-triangle"]["published"]["values"]["cycles"] == 47
    assert rows["ray-tracer"]["measured"] is None and rows["ray-tracer"]["reason"]
    assert found["classes"] == {"mechanical": 1, "not reproducible": 1, "proxy": 1, "reproducible": 1}
    assert all(figure in found["closing"] for figure in ("10", "13", "14", "17 to 20"))


@pytest.mark.parametrize(
    ("given", "found"),
    [("fig. 11", {"bin-balance"}), ("figure20", {"applications-scaling"}), ("Fig9", {"scaling"}), ("2.3", None)],
)
def test_places_are_found_however_they_are_written(given: str, found: set | None) -> None:
    assert set(PAPER.called(given)) == (found or {"single-stream-price"})


def test_classes_choose(capsys) -> None:
    found = claims(capsys, "--class", "n", "--quick")
    assert found["claims"] and all("not reproducible" in row["classes"] for row in found["claims"])
    assert all(row["measured"] is None for row in found["claims"])


@pytest.mark.parametrize("width", [60, 160])
def test_it_fits_the_screen(capsys, width: int) -> None:
    assert main(["verify", "larrabee", "--class", "N", "--quick", "--width", str(width)]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= width
    assert "not reproducible" in shown and "validates" in shown
    assert all(claim.place in shown for claim in CLAIMS if claim.reason and "N" in {k.letter for k in claim.classes})


@pytest.mark.parametrize("width", [80, 160])
def test_quiet_leaves_the_claims_and_what_is_measured(capsys, width: int) -> None:
    words = ["verify", "larrabee", "ray-triangle", "--width", str(width)]
    assert main([*words, "-q"]) == 0
    quiet = capsys.readouterr()
    assert main(words) == 0
    whole = capsys.readouterr()
    assert "41 vector" in " ".join(quiet.out.split()) and "validates" not in quiet.out
    assert quiet.out in whole.out and quiet.err == "" and len(quiet.out) < len(whole.out)


def test_a_wider_table_widens_all_its_texts(capsys) -> None:
    def widths(width: int) -> list[int]:
        assert main(["verify", "larrabee", "--quick", "--class", "R", "-q", "--width", str(width)]) == 0
        head = capsys.readouterr().out.splitlines()[0]
        starts = [head.index(name) for name in ("claim", "published", "measured here", "conditions")]
        return [end - start for start, end in zip(starts, [*starts[1:], width], strict=True)]

    narrow, wide = widths(110), widths(180)
    assert all(1.4 < after / before < 2.0 for before, after in zip(narrow, wide, strict=True))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["7.1"], "is not a claim or a place of one"),
        (["gather-gains"], "did you mean gather-gain?"),
        (["--class", "RX"], "are not classes"),
        (["table1", "--class", "N"], "none of the claims of TABLE is of class N"),
    ],
)
def test_what_is_wrong_is_said(capsys, words: list[str], message: str) -> None:
    assert main(["verify", "larrabee", *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_figure_that_differs_ends_with_1(capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    claim = next(claim for claim in CLAIMS if claim.name == "larrabee-unit")
    wrong = replace(PAPER, claims=(replace(claim, values={"flops_per_cycle": 64}),))
    monkeypatch.setattr(paper, "PAPER", wrong)
    assert main(["verify", "larrabee", "--width", "120"]) == 1
    shown = capsys.readouterr()
    assert "DIFFERS" in shown.out and "larrabee-unit" in shown.err


def test_long_measures_can_be_left_out(capsys) -> None:
    assert main(["verify", "larrabee", "bin-spread", "--quick"]) == 0
    shown = capsys.readouterr()
    assert "left out" in " ".join(shown.out.split()) and "measuring" not in shown.err


def test_the_claims_are_verified_by_the_name_of_the_machine(capsys) -> None:
    assert main(["verify", "larrabee", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"] == [claim.name for claim in CLAIMS]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["7.1"], "TABLE: error: '7.1' is not a claim or a place of one"),
        (["seven"], "all of them: pixelflow verify larrabee --list"),
        (["--frame"], "there is nothing to watch"),
    ],
)
def test_what_the_paper_has_not_is_said(capsys, words: list[str], message: str) -> None:
    assert main(["verify", "larrabee", *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_claims_become_documents(capsys) -> None:
    assert main(["verify", "larrabee", "ray-triangle", "--format", "markdown"]) == 0
    text = capsys.readouterr().out
    assert "41 vector" in text and "validates" in text
