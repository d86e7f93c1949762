"""Is a Kanata log in order, with a row for every instruction?"""

import pytest

from tests.trace.runs import PING_PONG, checked, exchanges, traced, written


def test_a_row_is_an_instruction_with_its_waiting() -> None:
    """The WAIT of the texture stream: its stall in lane 1 with the reason, then its execution in lane 0, one R."""
    lines = written(traced(PING_PONG).trace, "kanata").decode().splitlines()
    row = next(line.split("\t")[1] for line in lines if line.startswith("L\t") and line.endswith(": WAIT 0"))
    own = [line.split("\t") for line in lines if line.split("\t")[1:2] == [row] and line[0] in "ISEWR"]
    assert [fields[0] for fields in own] == ["I", "S", "E", "S", "E", "W", "R"]
    assert own[0][3] == "1", "the thread of TIGC"
    assert own[1][2:] == own[2][2:] == ["1", "wait sem 0"]
    assert own[3][2:] == own[4][2:] == ["0", "X"]
    giver = own[5][2]
    assert any(line.startswith(f"L\t{giver}\t0\t") and line.endswith(": SIGNAL 0") for line in lines)


@pytest.mark.parametrize("seed", range(3))
def test_there_is_a_row_for_every_instruction(seed: int) -> None:
    seen = traced(exchanges(seed))
    found = checked(written(seen.trace, "kanata"), "kanata")
    assert found.counts["rows"] == sum(each.instructions for each in seen.run.streams)
    assert found.counts["arrows"] == sum(flow.taken for flow in seen.run.ledger.signals.values())
