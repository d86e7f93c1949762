"""Command traces as text: what is written is read back, and what is wrong is said with its line."""

import pytest

from pixelflow.node.sdram_commands import HEADER, read_traces, write_traces
from pixelflow.simd.errors import InputError
from tests.sdram.timeline import commands

HEAD = ",".join(HEADER) + "\n"


def test_what_is_written_is_read_back() -> None:
    traces = {0: commands("0:ACT0.17 3:RD0.17@508 8:PRE0 11:REF"), 7: commands("5:ACT1 9:WR1*8")}
    text = write_traces(traces)
    assert text.splitlines()[:3] == ["trace,cycle,cmd,bank,row,col,bl", "0,0,ACT,0,17,0,0", "0,3,RD,0,17,508,4"]
    assert read_traces(text) == traces
    assert read_traces(text.replace("\n", "\r\n").rstrip()) == traces


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv:1: error: expected the columns trace,cycle,cmd,bank,row,col,bl, found nothing"),
        ("a,b\n", "t.csv:1: error: expected the columns trace,cycle,cmd,bank,row,col,bl, found a,b"),
        (
            HEAD + "0,0,AKT,0,0,0,0\n",
            "t.csv:2: error: there is no command 'AKT'\n    2 | 0,0,AKT,0,0,0,0\n    did you mean ACT?",
        ),
        (HEAD + "0,0,X,0,0,0,0\n", "known: ACT, RD, WR, PRE, REF"),
        (HEAD + "0,0,ACT,0\n", "t.csv:2: error: expected 7 values, found 4"),
        (HEAD + "0,-1,ACT,0,0,0,0\n", "t.csv:2: error: cycle must be a whole number, found '-1'"),
        (HEAD + "0,1e3,ACT,0,0,0,0\n", "found '1e3'"),
        (HEAD + "0,0,ACT,0,²,0,0\n", "row must be a whole number"),
        (HEAD + "0,0,ACT,0," + "9" * 5000 + ",0,0\n", "row must be a whole number"),
    ],
)
def test_a_bad_trace(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_traces(text, "t.csv")
    assert message in str(caught.value)


def test_all_faults_up_to_a_limit() -> None:
    with pytest.raises(InputError) as caught:
        read_traces(HEAD + "0,0,ACT,x,0,0,0\n\n0,0,ACT,0,0,0,0\n0,0,NOP,0,0,0,0\n", "t.csv")
    assert [fault.place.line for fault in caught.value.faults] == [2, 5]
    with pytest.raises(InputError) as caught:
        read_traces(HEAD + "?\n" * 1000)
    assert len(caught.value.faults) == 20
