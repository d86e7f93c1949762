"""The options that say what is drawn, the same for every command that draws."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import PurePath

from pixelflow.cli.shell.arguments import UsageError, count
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.view.camera import CAMERA_TEXT, camera_words, view_told
from pixelflow.cli.view.sampling import add_view_options, check_view_options
from pixelflow.cli.view.size import picture_size
from pixelflow.config import Effective
from tessellation.picture import SIZE, UPS
from tessellation.scenes import MESHES, SCENES, SceneSource
from tessellation.surface.bpt import BUILT_IN, is_patches

_MOST_SAMPLES = 16

__all__ = ["add_scene_options", "scene_source"]


def add_scene_options(parser: argparse.ArgumentParser) -> None:
    """Add the scene, its size, and how named patches and meshes are made."""
    add = parser.add_argument
    names = ", ".join((*SCENES, *MESHES, *BUILT_IN))
    text = f"scene, mesh or patches: a file (.toml, .obj, .ply, .bpt, ...), or one of {names}"
    add("scene", metavar="SCENE", help=text)
    add("--size", type=picture_size, metavar="WxH", help="pixels (default: the scene's own, or 640x480)")
    add("--samples", type=_samples, metavar="K", help="samples along u and v of named patches, 2 to 16 (default: 8)")
    add_view_options(parser)
    add("--camera", type=camera_words, metavar="WHAT=N,...", help=f"for named meshes and patches: {CAMERA_TEXT}")
    add("--up", choices=UPS, default="z", help="the axis of a named mesh or patches that is up (default: z)")
    add("--flat", action="store_true", help="one colour a triangle, for named meshes and patches (default: Gouraud)")


def _samples(text: str) -> int:
    if not 2 <= (value := count(text)) <= _MOST_SAMPLES:
        raise argparse.ArgumentTypeError(f"expected 2 to {_MOST_SAMPLES}, found {text[:40]!r}")
    return value


def scene_source(
    args: argparse.Namespace,
    screen: Screen,
    effective: Effective,
    progress: Progress,
    watch: Callable | None = None,
    *,
    require: Callable | None = None,
) -> SceneSource:
    """Return how the scene of ``args`` is made; raises UsageError for an option that does not go with it.

    ``require`` refuses what the machine does not draw, as `SceneSource.require`.
    """
    described = args.scene in SCENES or PurePath(args.scene).suffix.lower() == ".toml"
    if args.samples is not None and not is_patches(args.scene):
        raise UsageError("--samples", "only patches are sampled; a mesh or a scene has its triangles already")
    if args.tolerance is not None and not is_patches(args.scene):
        raise UsageError("--tolerance", "only patches are sampled; a scene's bodies say their tolerances themselves")
    check_view_options(args)
    if args.flat and described:
        raise UsageError("--flat", "a scene file says itself how its bodies look")
    if args.camera is not None and described:
        raise UsageError("--camera", "a scene file says itself where its camera is: [camera]")
    if args.up != "z" and described:
        raise UsageError("--up", 'a scene file says itself what is up: up = "y" in its [[body]]')
    return SceneSource(
        size=args.size,
        patch_samples=args.samples,
        tolerance=args.tolerance,
        counts=args.counts or "any",
        one_sided=args.one_sided,
        flat=args.flat,
        up=args.up,
        view=None if args.camera is None else view_told(args.camera, *(args.size or SIZE)),
        config=effective.config,
        engine=args.engine,
        progress=progress.tell,
        note=screen.note,
        watch=watch,
        require=require,
    )
