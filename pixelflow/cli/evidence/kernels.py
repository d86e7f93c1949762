"""The action ``pixelflow larrabee kernels``: kernels carried out, beside references, on 1 to 48 cores."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from pixelflow.cli.draw.pictures import write_picture
from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.machine_values import configured
from pixelflow.cli.shell.output import check_writable
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.simd.drawing import Picture
from pixelflow.simd.errors import nearest
from pixelflow.simd.report import Report
from tessellation.picture.preview import require_pillow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which kernels, where pictures go, and values of the core model."""
    add = parser.add_argument
    add("kernels", nargs="*", metavar="KERNEL", help="kernels by name: ray-tracer, matrix-product (default: all)")
    add("--list", action="store_true", help="show the names and places of all kernels, carry out none")
    add("-o", dest="pictures", metavar="FOLDER", help="write the pictures of kernels that have one, as FOLDER/NAME.png")
    add("-D", dest="overrides", action="append", default=[], metavar="KEY=VALUE", help="a value of the core model")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Carry out kernels and report."""
    # Only who carries out kernels waits for these imports.
    from larrabee_bridge.kernels.catalogue import STUDIES
    from larrabee_bridge.kernels.study import kernels_report, list_of
    from larrabee_bridge.vpu.core import CoreConfig

    known = {each.name: each for each in STUDIES}
    for name in args.kernels:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near}?" if near else f"kernels: {', '.join(known)}"
            raise UsageError("KERNEL", f"there is no kernel {name!r}", hint)
    chosen = [known[name] for name in dict.fromkeys(args.kernels)] or list(STUDIES)
    if args.list:
        return list_of(chosen)
    config = configured(CoreConfig, "-D", args.overrides)
    if args.pictures is not None:
        require_pillow()
        if not Path(args.pictures).is_dir():
            raise UsageError("-o", f"{args.pictures!r} is no folder", "make it first")
        for study in chosen:
            check_writable(Path(args.pictures) / f"{study.name}.png")
    found, wrote = [], []
    with Progress(screen, len(chosen)) as progress:
        for study in progress.over(chosen):
            progress.doing(study.name)
            result = study.study(config, progress.doing) if study.study else None
            found.append((study, result))
            if args.pictures is not None and result is not None and result.picture is not None:
                path = str(Path(args.pictures) / f"{study.name}.png")
                rows, columns, _ = result.picture.shape
                write_picture(path, replace(Picture.empty(columns, rows), colours=result.picture))
                wrote.append(path)
    return kernels_report(found, wrote)
