"""Is the manual in the repository the one that the declarations give?"""

from __future__ import annotations

from pathlib import Path

import pixelflow.isa
from pixelflow.cli.main import main


def test_manual_is_up_to_date(capsys) -> None:
    """Rewrite it with: pixelflow isa --md > pixelflow/isa/MANUAL.md"""
    assert main(["isa", "--md"]) == 0
    manual = Path(pixelflow.isa.__file__).with_name("MANUAL.md")
    assert capsys.readouterr().out == manual.read_text(encoding="utf-8")
