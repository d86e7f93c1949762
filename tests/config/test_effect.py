"""Is a user told of values that were set in vain, and of them only?"""

from __future__ import annotations

from pathlib import Path

import pytest

from pixelflow.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "microcode" / "examples"
NOTE = "made no difference: nothing that was executed depends on it"


@pytest.mark.parametrize(
    ("program", "keys", "vain"),
    [
        ("triangle.mc", ["sdram.trp_cycles=2", "array.modules=2"], ["sdram.trp_cycles"]),
        ("triangle.mc", ["tasic.read_overhead_cycles=0", "igc.call_depth=9"], ["tasic.read_overhead_cycles"]),
        ("texture_copy.mc", ["sdram.trp_cycles=2", "tasic.read_overhead_cycles=0"], []),
        ("texture_copy.mc", ["sdram.refresh_interval_cycles=1000"], ["sdram.refresh_interval_cycles"]),
        ("texture_copy.mc", ["sdram.refresh_interval_cycles=1000", "sdram.refresh=true"], []),
        ("vector_add.mc", [], []),
    ],
)  # fmt: skip
def test_values_that_made_no_difference(
    program: str, keys: list[str], vain: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    overrides = [word for key in keys for word in ("-D", key)]
    command = ["run", str(EXAMPLES / program), "--timing-only", *overrides]
    assert main(command) == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if NOTE in line]
    assert sorted(line.split()[1] for line in notes) == vain
    assert all("-D" in line for line in notes)
