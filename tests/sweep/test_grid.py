"""What does `--set NAME=VALUES` mean, and which of it is refused with what message?"""

from __future__ import annotations

import pytest

from pixelflow.cli.arguments import Parser
from pixelflow.cli.registry import COMMANDS
from pixelflow.cli.sweep import SWEPT
from pixelflow.cli.sweep_table import Grid, axis_of, option_name
from pixelflow.simd.errors import UsageError, format_error

PARSER = Parser()
PARSER.add_argument("--engine")
PARSER.add_argument("--hybrid", action="store_true")
OPTIONS = [action for action in PARSER.declared if option_name(action) != "help"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("sdram.trp_cycles=3", (3,)),
        ("sdram.trp_cycles=2,4,9", (2, 4, 9)),
        ("sdram.trp_cycles=2:5", (2, 3, 4, 5)),
        ("sdram.trp_cycles=2:9:3", (2, 5, 8)),
        ("sdram.trp_cycles=2:4,9, 7", (2, 3, 4, 9, 7)),
        ("param.x=-2:1", (-2, -1, 0, 1)),
        ("sdram.refresh=true,false", (True, False)),
        ("lee.arrangement=figure9,zero", ("figure9", "zero")),
        ("param.SCALE=1.5,2", ("1.5", 2)),
    ],
)
def test_values(text: str, values: tuple) -> None:
    found = axis_of(text, OPTIONS, parameters=True).values
    assert found == values and [type(value) for value in found] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sdram.refresh=true", ["-D", "sdram.refresh=true"]),
        ("engine=rows", ["--engine", "rows"]),
        ("hybrid=true", ["--hybrid"]),
        ("hybrid=false", []),
        ("param.N=4", ["-P", "N=4"]),
    ],
)
def test_a_value_is_words_of_the_command_line(text: str, words: list[str]) -> None:
    axis = axis_of(text, OPTIONS, parameters=True)
    assert axis.words(axis.values[0]) == words


def test_the_last_axis_varies_fastest() -> None:
    grid = Grid(tuple(axis_of(text, OPTIONS, parameters=True) for text in ("param.A=1,2", "param.B=5:7")))
    assert len(grid) == 6
    assert [tuple(point.values()) for point in grid.points()] == [(1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (2, 7)]
    assert grid.words({"param.A": 2, "param.B": 6}) == ["-P", "A=2", "-P", "B=6"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sdrm.trp_cycles=3", "did you mean sdram.trp_cycles?"),
        ("engin=rows", "did you mean engine?"),
        ("xyzzy=3", "neither a configuration key nor an option"),
        ("sdram.trp_cycles", "expected NAME=VALUE"),
        ("sdram.trp_cycles=", "expected NAME=VALUE"),
        ("sdram.trp_cycles=2,,3", "a value is empty"),
        ("sdram.trp_cycles=2,2", "the value 2 comes twice"),
        ("sdram.trp_cycles=2:4,3", "the value 3 comes twice"),
        ("sdram.trp_cycles=4:2", "an empty range"),
        ("sdram.trp_cycles=2:4:0", "an empty range"),
        ("param.N=1:1000000000000", "1,000,000,000,000 values"),
        ("param.N=1:9999999999999999999", "too long"),
        ("hybrid=1", "its values are true and false"),
    ],
)
def test_refusals_name_the_axis_and_the_reason(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        axis = axis_of(text, OPTIONS, parameters=True)
        [axis.words(value) for value in axis.values]
    assert message in format_error(caught.value)
    assert text[:40] in format_error(caught.value)


@pytest.mark.parametrize("command", SWEPT)
def test_every_swept_option_is_one_of_the_command(command: str) -> None:
    parser = Parser()
    COMMANDS[command].load().add_arguments(parser)
    assert set(SWEPT[command]) <= {option_name(action) for action in parser.declared if action.option_strings}
