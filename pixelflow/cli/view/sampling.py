"""The options that sample patches by view, the same for every command that has patches and a camera."""

from __future__ import annotations

import argparse
import math

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.view.camera import CAMERA_TEXT, camera_words, view_told
from pixelflow.cli.view.size import picture_size
from tessellation.picture import SIZE, View
from tessellation.sampling.choice import COUNTS, LARGEST_TOLERANCE, LEAST_TOLERANCE, TOLERANCES, Sampling

__all__ = ["add_camera_options", "add_view_options", "check_view_options", "sampling_of", "view_of"]


def add_view_options(parser: argparse.ArgumentParser) -> None:
    """Add the tolerance, which numbers of samples there may be, and whether patches have a back that is seen."""
    add = parser.add_argument
    add("--tolerance", type=_tolerance, metavar="PX",
        help="instead of --samples: for each patch the fewest that keep its triangles within so many pixels of the "
        "surface; patches outside the picture are dropped")  # fmt: skip
    add("--counts", choices=tuple(COUNTS), default=None,
        help="with --tolerance: any number of samples from 2 to 16 (default), or powers of two alone")  # fmt: skip
    add("--one-sided", action="store_true",
        help="with --tolerance: drop patches that face away; for surfaces whose inside nobody sees")  # fmt: skip


def add_camera_options(parser: argparse.ArgumentParser) -> None:
    """Add the camera and the size of its picture."""
    add = parser.add_argument
    add("--camera", type=camera_words, metavar="WHAT=N,...", help=f"with --tolerance: {CAMERA_TEXT}")
    add("--size", type=picture_size, metavar="WxH", help="with --tolerance: pixels of the picture (default: 640x480)")


def check_view_options(args: argparse.Namespace) -> None:
    """Raise UsageError for a tolerance beside samples, and for options that have no effect without one."""
    if args.tolerance is None:
        for option, told in (("--counts", args.counts), ("--one-sided", args.one_sided or None)):
            if told is not None:
                raise UsageError(option, "it belongs to sampling by view", "add --tolerance")
    elif args.samples is not None:
        raise UsageError("--tolerance", "it chooses the samples", "leave out --tolerance or --samples")


def view_of(args: argparse.Namespace) -> View:
    """Return the camera of ``args``; raises UsageError where nobody looks through it."""
    if args.tolerance is None:
        for option, told in (("--camera", args.camera), ("--size", args.size)):
            if told is not None:
                raise UsageError(option, "without a tolerance nothing depends on the view", "add --tolerance")
    width, height = args.size or SIZE
    return view_told(args.camera or {}, width, height)


def sampling_of(args: argparse.Namespace) -> Sampling | None:
    """Return how patches are sampled by view, None where they are not."""
    return None if args.tolerance is None else Sampling(args.tolerance, args.counts or "any")


def _tolerance(text: str) -> float:
    value = _number(text)
    if not LEAST_TOLERANCE <= value <= LARGEST_TOLERANCE:
        raise argparse.ArgumentTypeError(f"expected {TOLERANCES}; found {text[:40]!r}")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
