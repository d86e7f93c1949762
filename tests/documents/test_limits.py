"""Do the page of limits, the table of caveats and what reports print agree?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pixelflow.caveats import CAVEATS, caveat
from pixelflow.cli.main import main
from pixelflow.isa import INSTRUCTIONS
from pixelflow.simd.errors import InputError
from tests.documents.marks import table_after

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/pages/limits.md"
MNEMONIC = re.compile(r"\b(?:TAS|EMC)_\w+")
CODE = re.compile(r"\bPF\d{3}\b")
PACKAGES = ("pixelflow", "tessellation", "larrabee_bridge", "gen6_bridge", "attila_bridge", "pim_kernels")
TABLE = ROOT / "pixelflow/caveats.py"


def entries() -> str:
    """Return the entries as the page has them."""
    return "\n".join(
        f"## {each.code}: {each.title}\n\n{each.meaning}\n\n*What to do:* {each.remedy}\n" for each in CAVEATS.values()
    )


def test_the_page_has_the_table() -> None:
    """Rewrite it with: python -m tests.documents.test_limits"""
    assert PAGE.read_text(encoding="utf-8").endswith("\n" + entries())


def test_every_code_is_printed_somewhere_and_no_other_is() -> None:
    sources = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py") if path != TABLE]
    used = {code for path in sources for code in CODE.findall(path.read_text(encoding="utf-8"))}
    here = set(re.findall(r'coded\([^\n]*"(PF\d{3})"\)', TABLE.read_text(encoding="utf-8")))
    assert used | here == set(CAVEATS)


CHAPTERS = {"2.1": 2, "2.2": 9, "3": 9, "4": 5, "4.1": 4, "5": 2}
"""The numbered parts of each. Introductions and summaries, and parts that their whole covers, have no line."""


def test_every_section_of_the_thesis_has_a_line() -> None:
    parts = [f"{whole}.{part}" for whole, count in CHAPTERS.items() for part in range(1, count + 1)]
    rows = [row.split("|")[1:-1] for row in table_after("docs/pages/limits.md", "sections")[2:]]
    assert [row[0].strip() for row in rows] == [*sorted(["2.1", "5", *parts]), "A", "B"]
    for _, executed, limit in rows:
        assert executed.strip() and limit.strip() and {*CODE.findall(limit)} <= {*CAVEATS}
        assert {*MNEMONIC.findall(executed)} <= {*INSTRUCTIONS}


def test_a_code_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["about", "pf201", "PF302", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["caveats"]
    assert [(each["code"], each["remedy"]) for each in found] == [
        (code, CAVEATS[code].remedy) for code in ("PF201", "PF302")
    ]
    assert main(["about", "--caveats", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["caveats"]
    assert [each["code"] for each in listed] == list(CAVEATS) == sorted(CAVEATS)
    with pytest.raises(InputError):
        caveat("PF999")


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        ("run texture_copy", {"PF101"}),
        ("run texture_copy --function-only", {"PF101", "PF103"}),
        ("run texture_copy --energy", {"PF101", "PF104"}),
        ("tessellate enneper --samples 2", {"PF101", "PF201", "PF202"}),
        ("tessellate enneper --samples 2 --results gp --load gp", {"PF101"}),
        ("render enneper --samples 2 --size 24x16 -o a.png", {"PF101", "PF301", "PF302"}),
    ],
)
def test_codes_where_they_bite(command: str, codes: set[str], tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 0
    assert set(CODE.findall(capsys.readouterr().out)) == codes
    assert main([*command.split(), "-v"]) == 0
    assert set(CODE.findall(capsys.readouterr().out)) == codes | (set() if "function" in command else {"PF102"})


if __name__ == "__main__":
    head = PAGE.read_text(encoding="utf-8").split("\n## PF")[0].rstrip("\n")
    PAGE.write_text(f"{head}\n\n{entries()}", encoding="utf-8")
