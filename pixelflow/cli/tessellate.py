"""Tessellate Bezier patches by microcode on the simulated array; write points, unit normals and triangles.

PATCHES is a .bpt file, or the name of a model that ships with the package: teapot, enneper.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from pixelflow.cli.arguments import add_config_options, add_engine_option
from pixelflow.cli.machine import configuration, engine_of
from pixelflow.cli.observing import Watching, add_observer_options
from pixelflow.cli.progress import Progress
from pixelflow.cli.screen import Screen
from pixelflow.cli.tessellate_files import check_outputs, write_outputs
from pixelflow.cli.tessellate_method import add_method_options, add_result_options, method_of
from pixelflow.cli.tessellate_object import outcome_object
from pixelflow.cli.tessellate_report import Outcome, show_outcome
from pixelflow.simd.errors import ExpectationError

if TYPE_CHECKING:
    from tessellation.session import PassBegins

EXAMPLES = (
    "pixelflow tessellate teapot --samples 8 -o teapot.obj",
    "pixelflow tessellate enneper --samples 7 --weld -o enneper.ply",
    "pixelflow tessellate teapot --schedule overlapped --samples 4 --json",
)


def add_sampling_options(parser: argparse.ArgumentParser) -> None:
    """Add the patches, how finely they are sampled, and the float routines."""
    from tessellation.libraries import LIBRARIES

    add = parser.add_argument
    add("patches", metavar="PATCHES", help="patch file (.bpt), or a built-in model: teapot, enneper")
    add("--samples", type=_samples, default=[16], metavar="K[,K...]",
        help="samples along u and along v, 2 to 16 (default: 16); a list is dealt to the patches in turn")  # fmt: skip
    add("--library", choices=tuple(LIBRARIES), default=None,
        help="float routines (default: tuned; overlapped: tuned-finite where nothing can overflow)")  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add model, sampling, machine and outputs."""
    add_sampling_options(parser)
    add_method_options(parser)
    add_result_options(parser)
    add_engine_option(parser)
    add_observer_options(parser, passes=True)
    add_config_options(parser)
    group = parser.add_argument_group("outputs")
    add = group.add_argument
    add("-o", "--output", metavar="FILE", help="mesh file: .obj, .ply (binary) or .npz")
    add("--weld", action="store_true", help="one vertex per shared sample, no cracks along shared edges")
    add("--outward", action="store_true",
        help="turn whole parts so that normals point out of the volume (default: along dP/du x dP/dv)")  # fmt: skip
    add("--preview", metavar="FILE.png", help="shaded picture (needs pillow: pip install 'pixelflow-sim[image]')")


def run(args: argparse.Namespace) -> int:
    """Tessellate, write the files, report; raises ExpectationError where a result misses the limits."""
    screen = Screen.of(args)
    effective = configuration(args, screen)
    check_outputs(args)
    method = method_of(args)

    from pixelflow.cli.guesses import note_set_in_vain
    from tessellation import LIMIT, check, load, tessellate

    file = load(args.patches)
    for note in file.notes:
        screen.note(f"note: {file.name}: {note}")
    counts = sample_counts(args, len(file.patches))
    engine = engine_of(args, screen)
    line = Progress(replace(screen, progress=screen.progress and not args.live))
    with Watching(args, screen, effective, args.patches) as watching, line:

        def begin(one: PassBegins) -> None:
            watching.part(one.number, one.total)
            line.part(one.number, one.total, one)

        result = tessellate(
            file.patches,
            counts,
            library=args.library,
            engine=engine,
            config=effective.config,
            method=method,
            progress=begin,
            watch=watching.attach,
        )
    mesh = result.mesh(weld=args.weld, outward=args.outward)
    checked = check(mesh) if args.weld else None
    outcome = Outcome(effective, file, result, mesh, checked, write_outputs(args, screen, mesh))
    if screen.json:
        screen.object("pixelflow.tessellate/1", **outcome_object(outcome))
    elif not screen.quiet:
        show_outcome(screen, outcome)
    if checked is not None and not checked.clean:
        screen.note(f"note: the surface is not closed or not orientable along shared edges: {checked}")
    note_set_in_vain(screen, result.runs, effective)
    if not result.within_limits:
        raise ExpectationError(
            f"a result is further than {LIMIT:g} units from the reference: point {result.worst_point_error:.3g}, "
            f"normal {result.worst_normal_error:.3g}"
        )
    return 0


def sample_counts(args: argparse.Namespace, patches: int) -> list[int]:
    """Return the samples along u and v of each patch."""
    return [args.samples[index % len(args.samples)] for index in range(patches)]


def _samples(text: str) -> list[int]:
    from tessellation.mapping import MAX_SAMPLES, MIN_SAMPLES

    counts = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else 0 for word in text.split(",")]
    if not all(MIN_SAMPLES <= count <= MAX_SAMPLES for count in counts):
        raise argparse.ArgumentTypeError(
            f"expected {MIN_SAMPLES} to {MAX_SAMPLES}, or a list 4,8,16; found {text[:40]!r}"
        )
    return counts
