"""Do the three ways of 3.1.2 stand side by side as executed, and is the table what the README prints?"""

import pytest

from pixelflow.cli.main import main
from pixelflow.config import THESIS
from tessellation.picture import View
from tessellation.rendering.labour import labour_report
from tests.documents.marks import table_after
from tests.studies.test_studies import as_json, nothing

WAYS = ("points", "projected", "words")


@pytest.mark.slow
def test_the_table_of_the_readme_is_what_is_executed() -> None:
    found = as_json(labour_report(THESIS, 8, 1, View(width=640, height=480), nothing))["stages"]
    lines = table_after("docs/pages/emc-words.md", "read by: tests/studies/test_labour.py")[2:]
    shown = [[cell.strip(" *") for cell in line.strip("|\n").split("|")] for line in lines]
    assert [[row["stage"], *(_text(row[way]) for way in WAYS)] for row in found] == shown
    by_stage = {row["stage"]: row for row in found}
    # 24 bytes of each of 8 x 4 EMCs' PEs that lie left of the last patch: 2,048 PEs, at 2 bytes a cycle to one GP.
    path = by_stage["bytes to the GPs"]["points"] // 2
    assert by_stage["bytes to the GPs"]["points"] == 2048 * 24
    for way in ("points", "projected"):
        assert path < by_stage["to the GPs"][way] < path + 150
    # 256 bytes a record, at 2 bytes a cycle; the rest are copies into the ports and what begins and ends a transfer.
    records = by_stage["bytes to the GPs"]["words"] // 256
    assert 128 * records < by_stage["to the GPs"]["words"] < 1.02 * 128 * records
    for way in WAYS:
        *stages, total, _ = [row[way] for row in found]
        assert total == sum(each for each in stages if isinstance(each, int))


def _text(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def test_as_many_bytes_of_projected_points_go_to_a_gp_as_of_points() -> None:
    """24 of each; the stage takes as long."""
    report = labour_report(THESIS, 2, 1, View(width=64, height=48), nothing)
    found = {row["stage"]: (row["points"], row["projected"]) for row in as_json(report)["stages"]}
    assert found["bytes to the GPs"] == (1024 * 24, 1024 * 24)
    cycles = found["to the GPs"]
    assert cycles[0] == cycles[1] > 1024 * 24 // 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--samples", "17"], "expected 2 to 16 samples, found '17'"),
        (["--samples", "many"], "expected 2 to 16 samples, found 'many'"),
        (["--gps", "3"], "this node has 2 (gni.gp_count)"),
        (["-D", "array.emcs_per_module=4"], "passes and pictures of a study need 8,192 PEs"),
    ],
)
def test_what_cannot_be_studied_is_refused(more: list[str], message: str, capsys) -> None:
    assert main(["study", "labour", *more]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
