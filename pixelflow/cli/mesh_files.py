"""The files that `pixelflow tessellate` writes: a mesh and its picture."""

from __future__ import annotations

import argparse

from pixelflow.cli.screen import STANDARD_STREAM, Screen, check_writable, output_file, refuse_overwrite
from pixelflow.simd.errors import InputError, UsageError
from tessellation import Mesh
from tessellation.picture.preview import png, require_pillow
from tessellation.surface.mesh import encode, suffix_of


def check_outputs(args: argparse.Namespace) -> None:
    """Refuse outputs that could not be written before any work is done."""
    if STANDARD_STREAM in (args.output, args.preview):
        raise UsageError("-o -", "a mesh or a picture does not go to standard output", "name a file")
    if args.output is not None:
        suffix_of(args.output)
    if args.preview is not None:
        if not args.preview.lower().endswith(".png"):
            raise UsageError(f"--preview {args.preview[:60]}", "the picture is a PNG", "name a file that ends in .png")
        require_pillow()
    for path in (args.output, args.preview):
        if path is not None:
            refuse_overwrite(args.patches, path)
            check_writable(path)


def write_outputs(args: argparse.Namespace, screen: Screen, mesh: Mesh) -> list[str]:
    """Write the requested files; return their names. A mesh that cannot be drawn is a note, not a failure."""
    written = []
    if args.output is not None:
        with output_file(args.output, binary=True) as stream:
            stream.write(encode(mesh, args.output))
        written.append(args.output)
    if args.preview is not None:
        screen.note("drawing the preview")
        try:
            picture = png(mesh)
        except InputError as error:  # mesh and report are still good
            screen.note(f"note: no preview: {error.faults[0].message}")
            return written
        with output_file(args.preview, binary=True) as stream:
            stream.write(picture)
        written.append(args.preview)
    return written
