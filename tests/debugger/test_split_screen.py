"""Does the split screen show source, array, registers and the dialogue at two sizes, and do its keys move the run?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from microcode import assemble
from pixelflow.cli.debug import Debugger
from pixelflow.cli.screen import Screen
from pixelflow.debugger import DebugSession
from pixelflow.node import Node, Replay

pytest.importorskip("textual", reason="the split screen needs Textual (extra `screen`)")

ROOT = Path(__file__).resolve().parents[2]
TEXT = "range n[1]\nLOOP 60000\nLOOP 60000\nLD R, n\nADD R, #1\nST n, R\nENDL\nENDL\n"


def _session(program: str) -> Debugger:
    path = ROOT / program
    assembled = assemble(path) if path.suffix == ".mc" and path.exists() else assemble(program)
    node = Node()
    node.load(assembled)
    return Debugger(DebugSession(Replay(node, assembled)), Screen(80))


def _played(program: str, size: tuple[int, int], *keys: str) -> tuple[Debugger, str]:
    """Return the debugger after keys (commands end in enter), and the lines that are on the screen then."""
    from pixelflow.cli.split_screen import SplitScreen

    debugger = _session(program)

    async def play() -> str:
        app = SplitScreen(debugger)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            for key in keys:
                if " " in key or len(key) == 1:
                    app.query_one("#prompt").value = key
                    key = "enter"
                await pilot.press(key)
                await app.workers.wait_for_complete()
                await pilot.pause()
            strips = app.screen._compositor.render_strips()
            return "\n".join("".join(segment.text for segment in line) for line in strips)

    return debugger, asyncio.run(play())


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_source_array_registers_and_dialogue_are_there(size: tuple[int, int]) -> None:
    keys = ("goto 4000", "map out[0]", "pe 0,100", "bt eigc", "break nowhere")
    _, shown = _played("microcode/examples/texture_copy.mc", size, *keys)
    lines = shown.splitlines()
    assert (len(lines), {len(line) for line in lines}) == (size[1], {size[0]})
    assert lines[0].startswith(" cycle 4,000 ")
    for text in (
        "EIGC  texture_copy.mc:33     waits for sem 1 since cycle 2,872",
        "EIGC ->     50    0  WAIT 1",
        "out[0], 128 x 64 PEs",
        "registers (hexadecimal), carry, enable",
        "0.0.3.4   9  4",
        "routine 'nowhere'",
        "error: the program has no label or",
        "f5 continue",
    ):
        assert text in shown, shown
    both = "TIGC ->     81    0  SIGNAL 1" in shown
    assert both == (size[1] >= 50), "there is room for the code of one stream, or of two"


@pytest.mark.parametrize(("columns", "scale"), [(80, "4 x 8"), (160, "2 x 4")])
def test_a_map_of_a_flag_is_as_fine_as_fits(columns: int, scale: str) -> None:
    _, shown = _played("LD R, #1\n", (columns, 40), "map enable")
    assert shown.count("\u28ff") == 128 * 64 // (int(scale[0]) * int(scale[-1])), "all PEs are enabled"


def test_keys_move_the_run() -> None:
    debugger, shown = _played("microcode/examples/panel_sum.mc", (80, 24), "f9", "f9", "f9", "f7")
    stepped = _session("microcode/examples/panel_sum.mc").session
    stepped.step(2)
    assert debugger.session.replay.position == stepped.replay.position
    assert "=>" in shown and "(pixelflow) back" in shown
    debugger, shown = _played("microcode/examples/panel_sum.mc", (80, 24), "f5")
    assert debugger.session.replay.ended and "the end" in shown


def test_the_other_stream_is_shown_by_a_key() -> None:
    _, shown = _played("microcode/examples/texture_copy.mc", (80, 24), "goto 4000", "f2")
    assert "TIGC ->     81    0  SIGNAL 1" in shown


def test_an_empty_line_is_the_last_command_again_and_quit_leaves() -> None:
    debugger, _ = _played("microcode/examples/panel_sum.mc", (80, 24), "goto 20", "step 1", "enter", "enter")
    stepped = _session("microcode/examples/panel_sum.mc").session
    stepped.goto(20)
    stepped.step(3)
    assert debugger.session.replay.position == stepped.replay.position
    debugger, _ = _played("microcode/examples/panel_sum.mc", (80, 24), "q")
    assert debugger.ended


def test_escape_interrupts_a_long_command() -> None:
    from pixelflow.cli.split_screen import SplitScreen

    debugger = _session(TEXT)

    async def play() -> None:
        app = SplitScreen(debugger)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press("f5")
            while not debugger.session.replay.position:
                await pilot.pause(0.01)
            await pilot.press("f9")  # one command at a time
            await pilot.press("escape")
            await app.workers.wait_for_complete()
            await pilot.pause()

    asyncio.run(play())
    assert 0 < debugger.session.replay.position < 10_000_000_000 and not debugger.session.replay.ended


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--split"], "--split: error: needs a terminal"),
        (["--split", "--cmd", "x"], "--split: error: takes commands from its own line, not from --cmd"),
        (["--split", "--machine", "gen6"], "--split: error: is of PixelFlow's runs"),
    ],
)
def test_where_there_is_no_split_screen(pixelflow: Callable[..., object], options: list[str], message: str) -> None:
    found = pixelflow("debug", ROOT / "microcode/examples/panel_sum.mc", *options)
    assert found.code == 2 and message in " ".join(found.err.split())
