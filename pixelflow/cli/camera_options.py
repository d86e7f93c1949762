"""Options that say from where something is seen, how large its picture is, and how finely patches are sampled."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping

from pixelflow.simd.errors import UsageError, nearest
from tessellation.picture import CAMERA_PLACES, CAMERA_RANGES, FARTHEST, NEAR_RANGE, SIZE, View, camera_contradictions
from tessellation.sampling import COUNTS, LARGEST_TOLERANCE, LEAST_TOLERANCE, TOLERANCES, Sampling

# The size of a picture, as an option says it.


_MOST_PIXELS = 4096
_MOST_SIZES = 16


def picture_size(text: str) -> tuple[int, int]:
    """Return width and height of WxH, 1 to 4096 each; for argparse."""
    width, _, height = text.partition("x")
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else 0 for word in (width, height)]
    if not all(1 <= each <= _MOST_PIXELS for each in numbers):
        raise argparse.ArgumentTypeError(f"expected WxH, 1 to {_MOST_PIXELS} each (640x480); found {text[:40]!r}")
    return numbers[0], numbers[1]


def picture_sizes(text: str) -> tuple[tuple[int, int], ...]:
    """Return the sizes of a comma-separated list, each once, at most 16; for argparse."""
    found = tuple(dict.fromkeys(picture_size(each) for each in text.split(",")))
    if len(found) > _MOST_SIZES:
        raise argparse.ArgumentTypeError(f"expected at most {_MOST_SIZES} sizes, found {len(found)}")
    return found


# The option that says where the camera is, the same for every command that has one.


_NUMBERS: Mapping[str, tuple[float, float]] = {**CAMERA_RANGES, "near": NEAR_RANGE}

CAMERA_TEXT = (
    "azimuth, elevation, field_of_view in degrees, and zoom (default: "
    "azimuth=-62,elevation=24,field_of_view=28,zoom=1); it moves back until all is in the picture, or is placed at "
    "eye=X/Y/Z, looks at look_at=X/Y/Z, and nearer than near=N all is cut away"
)


def view_from(words: Mapping[str, float | tuple[float, float, float]], width: int, height: int) -> View:
    """Return the view that words of `camera_words` say, of a picture of this many pixels."""
    told = {"width": width, "height": height, **words}
    return View(**told)  # type: ignore[arg-type]  # each word is of its field's kind


def camera_words(text: str) -> dict[str, float | tuple[float, float, float]]:
    """Return what an option says of the camera, word by word; raises ArgumentTypeError for what cannot be."""
    found: dict[str, float | tuple[float, float, float]] = {}
    allowed = (*_NUMBERS, *CAMERA_PLACES)
    for part in text.split(","):
        name, _, word = part.partition("=")
        if name not in allowed:
            near = nearest(name, allowed)
            hint = f"did you mean {near}?" if near else f"allowed: {', '.join(allowed)}"
            raise argparse.ArgumentTypeError(f"{name[:40]!r} is nothing of a camera; {hint}")
        if name in found:
            raise argparse.ArgumentTypeError(f"{name}: expected one of each; found {word[:40]!r}")
        found[name] = _place(name, word) if name in CAMERA_PLACES else _within(name, word)
    for message, hint in camera_contradictions(found):
        raise argparse.ArgumentTypeError(f"{message}; {hint}")
    return found


def _within(name: str, word: str) -> float:
    value, (low, high) = _number(word), _NUMBERS[name]
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"{name}: expected a number from {low} to {high}; found {word[:40]!r}")
    return value


def _place(name: str, word: str) -> tuple[float, float, float]:
    values = [_number(each) for each in word.split("/")]
    if len(values) != 3 or not all(-FARTHEST <= each <= FARTHEST for each in values):
        expected = f"X/Y/Z, three numbers from {-FARTHEST} to {FARTHEST}"
        raise argparse.ArgumentTypeError(f"{name}: expected {expected}; found {word[:40]!r}")
    x, y, z = values
    return x, y, z


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


# The options that sample patches by view, the same for every command that has patches and a camera.


def add_view_options(parser: argparse.ArgumentParser) -> None:
    """Add the tolerance, which numbers of samples there may be, and whether patches have a back that is seen."""
    add = parser.add_argument
    add("--tolerance", type=_tolerance, metavar="PX",
        help="instead of --samples: for each patch the fewest that keep its triangles within this many pixels of the "
        "surface; patches outside the picture are dropped")  # fmt: skip
    add("--counts", choices=tuple(COUNTS), default=None,
        help="with --tolerance: any number of samples from 2 to 16 (default), or powers of two alone")  # fmt: skip
    add("--one-sided", action="store_true",
        help="with --tolerance: drop patches that face away; for surfaces whose inside is never visible")  # fmt: skip


def add_camera_options(parser: argparse.ArgumentParser) -> None:
    """Add the camera and the size of its picture."""
    add = parser.add_argument
    add("--camera", type=camera_words, metavar="WHAT=N,...", help=f"with --tolerance: {CAMERA_TEXT}")
    add("--size", type=picture_size, metavar="WxH", help="with --tolerance: pixels of the picture (default: 640x480)")


def check_view_options(args: argparse.Namespace) -> None:
    """Raise UsageError for a tolerance given together with samples, and for options that have no effect without one."""
    if args.tolerance is None:
        for option, told in (("--counts", args.counts), ("--one-sided", args.one_sided or None)):
            if told is not None:
                raise UsageError(option, "it belongs to sampling by view", "add --tolerance")
    elif args.samples is not None:
        raise UsageError("--tolerance", "it chooses the samples", "leave out --tolerance or --samples")


def view_of(args: argparse.Namespace) -> View:
    """Return the camera of ``args``; raises UsageError where nothing uses it."""
    if args.tolerance is None:
        for option, told in (("--camera", args.camera), ("--size", args.size)):
            if told is not None:
                raise UsageError(option, "without a tolerance nothing depends on the view", "add --tolerance")
    width, height = args.size or SIZE
    return view_from(args.camera or {}, width, height)


def sampling_of(args: argparse.Namespace) -> Sampling | None:
    """Return how patches are sampled by view, None where they are not."""
    return None if args.tolerance is None else Sampling(args.tolerance, args.counts or "any")


def _tolerance(text: str) -> float:
    value = _number(text)
    if not LEAST_TOLERANCE <= value <= LARGEST_TOLERANCE:
        raise argparse.ArgumentTypeError(f"expected {TOLERANCES}; found {text[:40]!r}")
    return value
