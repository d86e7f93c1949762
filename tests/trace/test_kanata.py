"""Is a Kanata log in order, and is refused what Konata would pass over in silence?"""

import pytest

from pixelflow.simd.errors import InputError
from tests.trace.runs import PING_PONG, checked, exchanges, traced, written

HEAD = ["Kanata\t0004", "C=\t0"]
ROW = ["I\t0\t0\t0", "L\t0\t0\t0: LD R, #1", "S\t0\t0\tX", "C\t1", "E\t0\t0\tX", "R\t0\t0\t0"]


def log(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_the_smallest_log() -> None:
    found = checked(log(*HEAD, *ROW), "kanata")
    assert (found.end, found.totals, found.counts) == (1, {"eigc": {"busy": 1}}, {"rows": 1, "arrows": 0})


WRONG = {
    "no header": (log(*HEAD[1:], *ROW), "expected the header"),
    "another version": (log("Kanata\t0003", *HEAD[1:], *ROW), "expected the header"),
    "no first cycle": (log(HEAD[0], *ROW), "expected the first cycle"),
    "cycles go back": (log(*HEAD, *ROW[:3], "C\t-1", *ROW[4:]), "expected a number, found '-1'"),
    "no time passes": (log(*HEAD, *ROW, "C\t0"), "C passes no time"),
    "used before I": (log(*HEAD, "L\t0\t0\ttext", *ROW), "row 0 has no I yet"),
    "used after R": (log(*HEAD, *ROW, "L\t0\t0\tmore"), "row 0 has its R already"),
    "two R": (log(*HEAD, *ROW, ROW[-1]), "row 0 has its R already"),
    "no R": (log(*HEAD, *ROW[:-1]), "row 0 has no R"),
    "I twice": (log(*HEAD, ROW[0], *ROW), "expected 1"),
    "numbers skipped": (log(*HEAD, *(line.replace("\t0\t0\t0", "\t5\t5\t0") for line in ROW)), "expected 0"),
    "a tab in a label": (log(*HEAD, ROW[0], "L\t0\t0\tLD\tR", *ROW[2:]), "a tab in a text"),
    "a line end in a label": (log(*HEAD, ROW[0], "L\t0\t0\tLD\nR", *ROW[2:]), "unknown command 'R'|takes 3 fields"),
    "a control character": (log(*HEAD, ROW[0], "L\t0\t0\tLD\x07", *ROW[2:]), "a control character"),
    "a field missing": (log(*HEAD, "I\t0\t0", *ROW[1:]), "I takes 3 fields, found 2"),
    "an unknown command": (log(*HEAD, "X\t0", *ROW), "unknown command 'X'"),
    "an unknown thread": (log(*HEAD, "I\t0\t0\t7", *ROW[1:]), "thread 7 is neither"),
    "no E": (log(*HEAD, *ROW[:4], ROW[5]), "before the E of stage 'X'"),
    "E of another stage": (log(*HEAD, *ROW[:4], "E\t0\t0\tF", ROW[5]), "is in no stage 'F'"),
    "two stages at once": (log(*HEAD, *ROW[:3], "S\t0\t0\tF", *ROW[3:]), "has no E yet"),
    "an arrow from nowhere": (log(*HEAD, *ROW[:-1], "W\t0\t9\t0", ROW[-1]), "row 9, which has no I yet"),
    "an arrow after R": (log(*HEAD, *ROW, "W\t0\t0\t0"), "row 0 has its R already"),
    "flushed": (log(*HEAD, *ROW[:-1], "R\t0\t0\t1"), "nothing is flushed"),
    "out of order": (log(*HEAD, *ROW[:-1], "R\t0\t3\t0"), "expected 0"),
    "cut off": (log(*HEAD, *ROW)[:-2], "has no end"),
    "empty": (b"", "the file is empty"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_log_is_refused(name: str) -> None:
    data, message = WRONG[name]
    with pytest.raises(InputError, match=message):
        checked(data, "kanata")


def test_a_fault_says_in_which_line() -> None:
    with pytest.raises(InputError, match=r"test\.kanata:3: error: unknown command 'X'") as caught:
        checked(log(*HEAD, "X\t0", *ROW), "kanata")
    assert "    3 | X\t0" in str(caught.value)


def test_only_the_first_faults_are_shown() -> None:
    with pytest.raises(InputError) as caught:
        checked(log(*HEAD, *(["X\t0"] * 50)), "kanata")
    assert len(caught.value.faults) == 11
    assert caught.value.faults[-1].message == "and 40 more"


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
