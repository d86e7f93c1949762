"""Tessellate Bezier patches on one node and send the results to other nodes over the geometry network (thesis 3.8).

PATCHES is a .bpt file, or the name of a model that ships with the package (listed below). Points and normals are read
back from the memories of the clients' GPs.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pixelflow.cli import tessellate
from pixelflow.cli.arguments import add_config_options, add_engine_option, count
from pixelflow.cli.machine_values import configuration, engine_of
from pixelflow.cli.screen import STANDARD_STREAM, Screen, check_writable, output_file, refuse_overwrite
from pixelflow.simd.errors import UsageError
from pixelflow.simd.report import Report
from tessellation import PatchServer, build_mesh
from tessellation.microprogram.method import library_for
from tessellation.reports import Served, served_report
from tessellation.surface.mesh import encode, suffix_of

if TYPE_CHECKING:
    from tessellation.surface.reference import PatchSamples

EXAMPLES = (
    "pixelflow serve teapot --samples 8",
    "pixelflow serve teapot --samples 4 --schedule shared-columns --json",
    "pixelflow serve teapot --samples 4 -o teapot.ply --per-client",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add model, sampling, clients, machine and outputs."""
    tessellate.add_sampling_options(parser)
    parser.add_argument("--clients", type=count, default=4, metavar="N",
        help="nodes that take the results, at most as many as a node has modules (default: 4)")  # fmt: skip
    tessellate.add_method_options(parser)
    # A server sends its results to the clients.
    parser.set_defaults(results="direct", gps=None, cache=None, kept=None)
    add_engine_option(parser)
    add_config_options(parser)
    add = parser.add_argument_group("outputs").add_argument
    add("-o", "--output", metavar="FILE", help="mesh file: .obj, .ply (binary) or .npz")
    add("--per-client", action="store_true", help="a mesh of each client's patches: FILE-1, FILE-2, ...")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Tessellate, deliver, write the meshes, report; fails where a result misses the limits."""
    effective = configuration(args)
    method = tessellate.method_of(args)
    paths = _outputs(args)
    file = tessellate.load_patches(args.patches, screen)
    tessellate.check_trims(args, file.patches)
    library = library_for(args.library, file.patches, finite=method.shares_columns).name
    server = PatchServer(
        Counter(patch.degrees for patch in file.patches),
        clients=args.clients,
        config=effective.config,
        library=library,
        engine=engine_of(args, screen),
        method=method,
    )
    for patch, samples in zip(file.patches, tessellate.sample_counts(args, len(file.patches)), strict=True):
        server.add(patch).mark(samples)
    server.tessellate(screen.note)
    return served_report(Served(effective, file, library, server, _write(paths, server)))


def _outputs(args: argparse.Namespace) -> list[str]:
    """Return the mesh files to be written, one or one for each client; raises for those that could not be written."""
    if args.output is None:
        if args.per_client:
            raise UsageError("--per-client", "there is no mesh to divide", "name one with -o")
        return []
    if args.output == STANDARD_STREAM:
        raise UsageError("-o -", "a mesh does not go to standard output", "name a file")
    suffix_of(args.output)
    file = Path(args.output)
    paths = [args.output]
    if args.per_client:
        paths = [str(file.with_name(f"{file.stem}-{client}{file.suffix}")) for client in range(1, args.clients + 1)]
    for path in paths:
        refuse_overwrite(args.patches, path)
        check_writable(path)
    return paths


def _write(paths: list[str], server: PatchServer) -> list[str]:
    """Write the mesh of all patches, or one for each client that has any; return the names."""
    shares = [server.handles] if len(paths) == 1 else [server.share(client) for client in range(server.clients)]
    written = []
    for path, handles in zip(paths, shares, strict=False):
        if handles:
            with output_file(path, binary=True) as stream:
                samples = cast("list[PatchSamples]", [handle.result for handle in handles])  # all are tessellated
                stream.write(encode(build_mesh(samples, weld=False), path))
            written.append(path)
    return written
