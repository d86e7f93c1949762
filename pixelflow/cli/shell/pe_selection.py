"""Which PEs a report shows: ``--pe 0,5,32-39`` by lane, or ``--pe 0.1.*.4-7`` by module.emc.panel.pe."""

from __future__ import annotations

from itertools import product

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.config import ArrayConfig

__all__ = ["position", "select_lanes"]

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


def position(lane: int, array: ArrayConfig) -> str:
    """Return ``module.emc.panel.pe`` of a lane."""
    parts = []
    for size in reversed(array.shape):
        lane, part = divmod(lane, size)
        parts.append(part)
    return ".".join(str(part) for part in reversed(parts))


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
