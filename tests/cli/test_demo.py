"""Does the show do what it says: the same work without a terminal, pictures of any size, keys that skip and end it?"""

from __future__ import annotations

import json

import numpy as np
import pytest

from pixelflow.cli import demo
from pixelflow.cli.main import main
from pixelflow.cli.screen import Screen


@pytest.mark.slow
def test_without_a_terminal_the_figures_are_those_of_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["cycles"] for each in found["parts"]] == [74_734, 44_537, 44_536]
    assert {each["machine"] for each in found["race"]} == {"PixelFlow", "Larrabee", "Gen6", "ATTILA"}
    times = [each["milliseconds"] for each in found["race"]]
    assert times == sorted(times) and next(e for e in found["race"] if e["machine"] == "PixelFlow")["cycles"] == 4104


@pytest.mark.parametrize(("width", "lines", "shape"), [(80, 16, (64, 16)), (128, 40, (128, 32)), (3, 1, (3, 1))])
def test_a_picture_fills_the_terminal_and_keeps_its_proportions(width: int, lines: int, shape: tuple[int, int]) -> None:
    colours = np.zeros((64, 128, 3), np.uint8)
    drawn = demo.blocks(colours, width, lines, colour=True)
    assert (len(drawn[0].plain.strip()), len(drawn)) == shape and all(len(line.plain) <= width for line in drawn)
    colours[:, 64:] = 255
    assert demo.blocks(colours, 80, 16, colour=False)[0].plain.strip() == "@" * 32


def test_a_recording_keeps_pictures_of_80_by_24_and_its_own_time() -> None:
    pytest.importorskip("PIL.Image", reason="the letters are Pillow's (extra `image`)")
    recording = demo.RecordedShow()
    show = demo.Show(Screen(80, quiet=True), recording)
    colours = np.zeros((64, 128, 3), np.uint8)
    colours[:, :64], colours[32:, 64:] = (255, 0, 0), (0, 0, 255)
    for _ in show.passing(2):
        show.picture("a title", colours, "below")
    images = recording.images()
    assert len(images) == 5 and {image.shape for image in images} == {(24 * 24, 80 * 12, 3)}, "every half second"
    found = {tuple(colour) for colour in images[0][48:400].reshape(-1, 3).tolist()}
    assert {(255, 0, 0), (0, 0, 255), (0, 0, 0)} <= found
    assert len({tuple(colour) for colour in images[0][:24].reshape(-1, 3).tolist()}) == 2, "letters on the title's bar"


class Terminal:
    """Display and keyboard of a show; each picture is answered by the next key."""

    def __init__(self, keys: str) -> None:
        self.keys, self.shown = iter(keys), list[str]()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass

    def show(self, drawing) -> None:
        lines = drawing(80, 24).renderables
        assert len(lines) <= 24
        self.shown.append(lines[0].plain.strip())

    def pressed(self, seconds: float) -> str | None:
        return next(self.keys, "q")


@pytest.mark.parametrize(("keys", "parts"), [("q", "1"), ("x x q", "12")])
def test_a_space_goes_to_the_next_part_and_q_ends_it(
    keys: str, parts: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal(keys)
    monkeypatch.setattr(demo, "takes_live", lambda: True)
    monkeypatch.setattr(demo, "InPlaceDisplay", lambda screen: terminal)
    monkeypatch.setattr(demo, "Keys", lambda: terminal)
    assert main(["demo"]) == 0
    assert "".join(dict.fromkeys(title[0] for title in terminal.shown)) == parts
    assert "pixelflow verify table6" in capsys.readouterr().out
    assert not demo.Show(Screen(80, quiet=True)).live
