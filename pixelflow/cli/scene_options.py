"""Options for what is drawn, shared by every command that draws."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from microcode.places import example_file
from pixelflow.cli.arguments import count
from pixelflow.cli.camera_options import (
    CAMERA_TEXT,
    add_view_options,
    camera_words,
    check_view_options,
    picture_size,
    view_from,
)
from pixelflow.cli.screen import Progress, Screen
from pixelflow.config import NodeConfig
from pixelflow.simd.configuration import Effective
from pixelflow.simd.errors import Fault, InputError, Place, UsageError
from tessellation.picture import SIZE, UPS
from tessellation.scenes import MESHES, SCENES, SceneSource, is_scene, overruled
from tessellation.surface.bpt import BUILT_IN, is_patches

if TYPE_CHECKING:
    from pixelflow.node import Node
    from pixelflow.simd.drawing import State

# Numbers of frames on the command line.


def frame_numbers(text: str) -> tuple[int, ...]:
    """Return the frames of ``0,10,20`` or ``0-59``, in order; raises ArgumentTypeError for other texts."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part, re.ASCII)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise argparse.ArgumentTypeError(f"expected frames as 0,10,20 or 0-59; found {text[:40]!r}")
        found |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(found))


def frames_there(chosen: Sequence[int] | None, scene: str, frames: int) -> Sequence[int]:
    """Return the ``chosen`` frames of a scene that has this many, or all; raises UsageError for one it does not
    have.
    """
    if chosen and chosen[-1] >= frames:
        allowed = f"0 to {frames - 1}" if frames > 1 else "0 alone; it does not move"
        raise UsageError("--frames", f"{scene[:60]} has no frame {chosen[-1]}", f"allowed: {allowed}")
    return chosen or range(frames)


_MOST_SAMPLES = 16


def add_scene_options(parser: argparse.ArgumentParser) -> None:
    """Add the scene, its size, and how named patches and meshes are made."""
    add = parser.add_argument
    names = ", ".join((*SCENES, *MESHES, *BUILT_IN))
    text = f"scene, mesh or patches: a file (.toml, .obj, .ply, .bpt, ...), or one of {names}"
    add("scene", type=scene_name, metavar="SCENE", help=text)
    add("--size", type=picture_size, metavar="WxH", help="pixels (default: the scene's own, or 640x480)")
    add("--samples", type=_samples, metavar="K", help="samples along u and v of named patches, 2 to 16 (default: 8)")
    add_view_options(parser)
    add("--camera", type=camera_words, metavar="WHAT=N,...", help=f"for named meshes and patches: {CAMERA_TEXT}")
    add("--up", choices=UPS, default="z", help="the axis of a named mesh or patches that is up (default: z)")
    add("--antialias", type=int, choices=(1, 4), help="samples a pixel (default: the scene's own, or 1)")
    add("--floor", action="store_true", help="a floor under a named mesh or patches")
    add("--flat", action="store_true", help="one colour a triangle, for named meshes and patches (default: Gouraud)")


def scene_name(text: str) -> str:
    """Return the name of a scene; raises InputError for that of a program."""
    if PurePath(text).suffix in (".mc", ".mco") or (example_file(text) and not is_scene(text)):
        raise InputError(Fault("is a program, not a scene", Place(text), f"run it: pixelflow run {text}"))
    return text


def refuse_scene(name: str, wanted: str) -> None:
    """Raise InputError for the name of a scene, a mesh or patches in the place of what is ``wanted``."""
    if is_scene(name):
        hint = f"draw it: pixelflow render {name} -o {PurePath(name).stem}.png"
        raise InputError(Fault(f"is a scene or a model, not {wanted}", Place(name), hint))


def _samples(text: str) -> int:
    if not 2 <= (value := count(text)) <= _MOST_SAMPLES:
        raise argparse.ArgumentTypeError(f"expected 2 to {_MOST_SAMPLES}, found {text[:40]!r}")
    return value


def scene_source(
    args: argparse.Namespace,
    screen: Screen,
    effective: Effective[NodeConfig],
    progress: Progress,
    watch: Callable[[Node], None] | None = None,
    *,
    require: Callable[[Sequence[tuple[str, State]], int], None] | None = None,
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
    source = SceneSource(
        size=args.size,
        samples=args.antialias,
        patch_samples=args.samples,
        tolerance=args.tolerance,
        counts=args.counts or "any",
        one_sided=args.one_sided,
        flat=args.flat,
        up=args.up,
        floor=args.floor,
        view=None if args.camera is None else view_from(args.camera, *(args.size or SIZE)),
        config=effective.config,
        engine=args.engine,
        progress=progress.tell,
        note=screen.note,
        watch=watch,
        require=require,
    )
    for option, what, key in overruled(source) if described else ():
        raise UsageError(option, f"a scene file determines {what}: {key}")
    return source
