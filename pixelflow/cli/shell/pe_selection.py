"""State of PEs as options name it: which PEs (``--pe 0,5,32-39`` or ``--pe 0.1.*.4-7``), ranges and maps."""

from __future__ import annotations

from itertools import product

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.config import ArrayConfig
from pixelflow.isa import Program
from pixelflow.node.pe_report import MAP_FLAGS, REGISTERS, ByteForm, MapView, RangeView
from pixelflow.simd.errors import nearest

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
    name, colon, form_name = text.partition(":")
    option = f"--range {text}"
    found = next((each for each in program.ranges if each.name == name), None)
    if found is None:
        names = [each.name for each in program.ranges]
        close = nearest(name, names)
        hint = f"did you mean {close}?" if close else f"ranges: {', '.join(names) or 'none'}"
        raise UsageError(option, f"the program has no memory range {name!r}", hint)
    forms = [form.value for form in ByteForm]
    if colon and form_name not in forms:
        raise UsageError(option, f"{form_name!r} is not a form", f"allowed: {', '.join(forms)}")
    form = ByteForm(form_name) if colon else (ByteForm.WORD if found.size <= 8 else ByteForm.BYTES)
    if form is ByteForm.WORD and found.size > 8:
        raise UsageError(option, f"{name} has {found.size} bytes", "a word has 1 to 8; use :bytes or :float")
    if form is ByteForm.FLOAT and found.size % 4:
        raise UsageError(option, f"{name} has {found.size} bytes", "binary32 numbers have 4 each; use :bytes")
    return RangeView(found, form)


def map_view(text: str, program: Program, option: str = "--show-map") -> MapView:
    """Return what ``enable``, ``carry``, a register, ``NAME`` or ``NAME[i]`` asks for; raises UsageError."""
    flag = MAP_FLAGS.get(text)
    if flag is not None or text in REGISTERS:
        return MapView(text, flag=flag, register=None if flag else text)
    name, bracket, index = text.partition("[")
    found = next((each for each in program.ranges if each.name == name), None)
    if found is None:
        names = [*MAP_FLAGS, *REGISTERS, *(each.name for each in program.ranges)]
        close = nearest(name, names)
        hint = f"did you mean {close}?" if close else f"allowed: {', '.join(names)}"
        raise UsageError(f"{option} {text}", f"{name!r} is neither a flag nor a register nor a memory range", hint)
    digits = index.removesuffix("]")
    offset = int(digits[:9]) if digits.isascii() and digits.isdigit() else 0
    if (bracket and index != f"{offset}]") or offset >= found.size:
        raise UsageError(f"{option} {text}", "no such byte", f"allowed: {name}[0] to {name}[{found.size - 1}]")
    return MapView(text, address=found.start + offset)
