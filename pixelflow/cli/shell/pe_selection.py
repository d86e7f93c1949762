"""State of PEs as options name it: which PEs (``--pe 0,5,32-39`` or ``--pe 0.1.*.4-7``), ranges and maps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.config import ArrayConfig
from pixelflow.isa import Program
from pixelflow.node.named_ranges import find_range
from pixelflow.node.pe_map import MapView
from pixelflow.node.pe_report import RangeView
from pixelflow.simd.errors import InputError

__all__ = ["map_view", "range_view", "select_lanes"]

_FORMS = "forms: 5 | 32-39 | all | module.emc.panel.pe, where each part may be a number, a-b or *"


def select_lanes(text: str, array: ArrayConfig) -> list[int]:
    """Return the chosen lanes in the order written, each once; raises UsageError for what does not exist."""
    lanes: dict[int, None] = {}
    for item in text.split(","):
        parts = item.strip().split(".")
        if parts == ["all"]:
            chosen = range(array.lanes)
        elif len(parts) == 1:
            chosen = _numbers(parts[0], array.lanes, "PE", text)
        elif len(parts) == 4:
            names = ("module", "EMC", "panel", "PE")
            axes = [_numbers(*each, text) for each in zip(parts, array.shape, names, strict=True)]
            chosen = [_lane(place, array) for place in product(*axes)]
        else:
            raise UsageError(f"--pe {text}", f"{item!r} is not a choice of PEs", _FORMS)
        lanes.update(dict.fromkeys(chosen))
    return list(lanes)


def _lane(place: tuple[int, ...], array: ArrayConfig) -> int:
    lane = 0
    for part, size in zip(place, array.shape, strict=True):
        lane = lane * size + part
    return lane


def _numbers(part: str, size: int, name: str, text: str) -> range:
    if part == "*":
        return range(size)
    first, dash, last = part.partition("-")
    if not first.isascii() or not first.isdigit() or (dash and not (last.isascii() and last.isdigit())):
        raise UsageError(f"--pe {text}", f"{part!r} is not a number or a range of numbers", _FORMS)
    low = int(first[:9])
    high = int(last[:9]) if dash else low
    if high < low:
        raise UsageError(f"--pe {text}", f"{part}: the upper end is below the lower", f"write: {high}-{low}")
    if high >= size:
        raise UsageError(f"--pe {text}", f"{part} does not exist", f"allowed: {name} 0 to {size - 1}")
    return range(low, high + 1)


def range_view(text: str, program: Program) -> RangeView:
    """Return what ``NAME`` or ``NAME:bytes|word|float`` asks for; raises UsageError for what the program lacks."""
    with _blaming(f"--range {text}"):
        return RangeView(*find_range(text, program))


def map_view(text: str, program: Program, option: str = "--show-map") -> MapView:
    """Return what ``enable``, ``carry``, a register, ``NAME`` or ``NAME[i]`` asks for; raises UsageError."""
    with _blaming(f"{option} {text}"):
        return MapView.named(text, program)


@contextmanager
def _blaming(option: str) -> Iterator[None]:
    """Make what is wrong with a name a fault of the option that has it."""
    try:
        yield
    except InputError as error:
        (fault,) = error.faults
        raise UsageError(option, fault.message, fault.hint) from None
