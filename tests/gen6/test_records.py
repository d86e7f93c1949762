"""Are recorded kernels, programs, runs and regions what this machine makes of them?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gen6_bridge.time import schedule
from pixelflow.simd.errors import InputError
from tests.gen6.recorded import folder
from tests.recorded.__main__ import main
from tests.recorded.gen6 import judge

KERNEL = {
    "name": "own/add", "simd": 8, "dispatch_mask": "ffff", "asm": ["add (8) g20<1>D g10<8,8,1>D 5D {align1}"],
    "words": ["00000005008d014022801ca500600040"], "disasm": ["add(8) g20<1>D g10<8,8,1>D 5D { align1 WE_normal 1Q };"],
    "init": {"r10": "01000000" * 8}, "flags_in": "00000000", "expect": {"r10": "01000000" * 8, "r20": "06000000" * 8},
    "flags_out": "00000000", "issued": 1,
}  # fmt: skip


def written(path: Path, record: dict[str, object]) -> Path:
    (path / "kernels.json").write_text(json.dumps({"about": {}, "records": [record]}))
    return path


def test_an_equal_record_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gen6", "--data", str(written(tmp_path, KERNEL)), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equal"] == 6 and found["different"] == 0 and "programs*.json" in found["skipped"]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"expect": {"r20": "07000000" * 8}}, "kernels: registers"),
        ({"flags_out": "00000001"}, "kernels: registers"),
        ({"issued": 2}, "kernels: registers"),
        ({"expect_mrf": {"r3": "01" * 32}}, "kernels: registers"),
        ({"disasm": ["nop ;"]}, "kernels: text"),
        ({"asm": ["add (8) g20<1>D g10<8,8,1>D 6D {align1}"]}, "kernels: sources"),
    ],
)
def test_a_difference_is_found_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], kind: str
) -> None:
    assert main(["gen6", "--data", str(written(tmp_path, KERNEL | change)), "--json"]) == 1
    (difference,) = json.loads(capsys.readouterr().out)["differences"]
    assert difference["kind"] == kind and difference["name"] == "own/add" and "recorded" in difference["difference"]


def test_a_field_that_records_have_not_is_skipped_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = {key: value for key, value in KERNEL.items() if key not in ("asm", "disasm")}
    assert main(["gen6", "--data", str(written(tmp_path, bare)), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equal"] == 4 and found["skipped"]["kernels.json: disasm"] == "not in every record"


def test_regions_are_judged_by_their_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "exec,vert,width,horz,size,sub,legal,rules\n8,8,8,1,4,0,1,\n8,16,8,1,4,0,0,S2\n8,8,8,1,4,4,1,\n"
    (tmp_path / "regions_source.csv").write_text(rows)
    assert main(["gen6", "--data", str(tmp_path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["records"]["regions of sources"] == {"equal": 2, "different": 1}
    assert "breaks S6, recorded none" in found["differences"][0]["difference"]


def test_a_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder of records"):
        judge(tmp_path / "absent")
    (tmp_path / "kernels.json").write_text("[]")
    with pytest.raises(InputError, match="no list of records"):
        judge(tmp_path)
    written(tmp_path, {"name": "half"})
    with pytest.raises(InputError, match="record 0, half"):
        judge(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("kernels.json", json.dumps({"records": [KERNEL | {"words": 7}]}), "record 0, own/add: words is no list"),
        ("kernels.json", json.dumps({"records": [KERNEL | {"disasm": "nop"}]}), "disasm is no list"),
        ("kernels.json", json.dumps({"records": [KERNEL | {"expect": [1]}]}), "expect is no object"),
        ("kernels.json", json.dumps({"records": [KERNEL | {"init": {"r128": "00" * 32}}]}), "init: register 128"),
        ("kernels.json", json.dumps({"records": [KERNEL | {"expect": {"r20": "00"}}]}), "register 20 with 1 byte"),
        ("kernels.json", json.dumps({"records": [KERNEL | {"tolerance": {"r20": 1}}]}), "r20 is no object"),
        ("kernels.json", json.dumps({"records": [KERNEL | {"dispatch_mask": "x"}]}), "own/add: invalid literal"),
        ("programs.json", json.dumps({"records": [{"name": "a", "words": ["0"], "rules_broken": [1]}]}), "no object"),
        ("regions_source.csv", "exec,vert\n1,2\n", "record 0, .*: no 'sub'"),
        ("regions_instructions.csv", "word,legal\nzz,1\n", "record 0, : invalid literal"),
        ("regions_mesa.csv", "case,op\nx,add\n", "record 0, x: no 'mode'"),
        ("kernels.json.gz", "no gzip", "cannot be read"),
    ],
)
def test_a_record_of_another_form_is_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=message):
        judge(tmp_path)


def test_kernels_by_hand_are_equal() -> None:
    """22 of unusual types, sizes and regions, nested flow, indirect operands and messages; the words are the public
    assembler's.
    """
    found = judge(Path(__file__).parent / "own_kernels")
    assert not found.different, found.different[:3]
    assert found.counts()["kernels: registers"] == (22, 22) and found.counts()["kernels: SIMD16 as SIMD8"] == (7, 7)


@pytest.mark.parametrize("size", [6, 8])
def test_a_word_that_names_no_register_is_a_difference(tmp_path: Path, size: int) -> None:
    """As sixteen channels and as eight: the report continues, and names the refusals."""
    words = [f"00000000008d16002020000000{size}00001"]
    found = judge(written(tmp_path, {"name": "own/none", "words": words, "expect": {}})).different
    assert {each.kind for each in found} == {"kernels: registers", "kernels: watched"}
    assert all("there is no architecture register 0xb0" in each.difference for each in found)


def test_a_watcher_that_changes_something_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def later(*rest: object, watcher: object = None, carrier: object = None) -> object:
        account = schedule(*rest, watcher=watcher, carrier=carrier)
        account.threads[0].end += watcher is not None
        return account

    monkeypatch.setattr("tests.recorded.gen6.schedule", later)
    (found,) = judge(written(tmp_path, KERNEL)).different
    assert found.kind == "kernels: watched" and found.difference.startswith("cycles: ")


def test_every_record_of_the_folder_is_equal() -> None:
    """3,002 instructions and those of 413 kernels in text and words, all regions, rules, kernels, runs and colours."""
    found = judge(folder())
    assert not found.different, found.different[:3]
    counts = {kind: equal for kind, (equal, _) in found.counts().items()}
    assert counts["kernels: SIMD16 as SIMD8"] == 74 and counts["kernels: SIMD8 as SIMD16"] == 256
    assert counts["runs: SIMD16 as SIMD8"] == 26 and counts["kernels: watched"] == 413
    assert counts["kernels: registers"] == 413 and counts["programs: text"] == 19
    assert counts["regions of sources"] == 39_200 and counts["instructions: text and rules"] == 6_000
    assert counts["cases of rules"] == 79 and counts["runs of programs"] == 38 and counts["colours"] == 8
