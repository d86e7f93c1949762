"""What is answered of a trace alone, whoever has it: windows, heat, places, and rows of the listing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from pixelflow.simd.errors import Fault, InputError
from pixelflow.view.explorer.levels import Levels
from pixelflow.view.explorer.listing import CodeListing
from pixelflow.view.explorer.windows import place_answer, window_answer
from pixelflow.view.server.messages import Answer, Given, PageRequest, WholeField

__all__ = ["CYCLE", "LOOK", "Seen", "looking"]

LOOK = "look"
"""The thread that looks at copies of a trace."""
_MOST_CYCLES = 1 << 50
CYCLE = WholeField(0, _MOST_CYCLES)
"""The field of a cycle."""
_MOST_PIXELS = 4096
_MOST_ROWS = 400
_MOST_HEAT = 20_000


class Seen(NamedTuple):
    """A trace to be looked at, the listing of its code, and the tracks that execute it."""

    levels: Levels
    listing: CodeListing
    streams: tuple[str, ...]


def looking(seen: Callable[[], Seen]) -> Mapping[str, PageRequest]:
    """Return what can be asked of a trace; ``seen`` raises InputError where there is none."""

    def window(given: Given) -> Answer:
        levels = seen().levels
        begin, end = _window_of(given)
        return window_answer(levels, begin, end, given.whole("width"))

    def heat(given: Given) -> Answer:
        levels, listing, streams = seen()
        begin, end = _window_of(given)
        rows = listing.heat(levels, streams, begin, end)
        hottest = sorted(rows, key=lambda row: -(row[1] + row[2]))[:_MOST_HEAT]
        return Answer({"begin": begin, "end": end, "rows": sorted(hottest)})

    def place(given: Given) -> Answer:
        return place_answer(seen().levels, given.whole("row"), given.whole("cycle"))

    def rows(given: Given) -> Answer:
        first = given.whole("first")
        return Answer({"first": first, "rows": seen().listing.rows(first, given.whole("count"))})

    cut = {"begin": CYCLE, "end": CYCLE}
    wide = {**cut, "width": WholeField(1, _MOST_PIXELS)}
    some = {"first": WholeField(0, _MOST_CYCLES), "count": WholeField(1, _MOST_ROWS)}
    return {
        "run.window": PageRequest(window, wide, LOOK, latest=True),
        "run.heat": PageRequest(heat, cut, LOOK, latest=True),
        "run.place": PageRequest(place, {"row": WholeField(0, 10_000), "cycle": CYCLE}, LOOK, latest=True),
        "run.rows": PageRequest(rows, some, LOOK),
    }


def _window_of(given: Given) -> tuple[int, int]:
    begin, end = given.whole("begin"), given.whole("end")
    if not begin < end <= begin + (1 << 31) - 1:
        raise InputError(Fault(f"cycles {begin} to {end} are no window", hint="allowed: 1 to 2^31 - 1 cycles"))
    return begin, end
