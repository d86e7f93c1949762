"""Draw the frames of a scene whose camera moves, on one PixelFlow node; write an animated picture.

SCENE is a scene file (.toml) with frames, or the name of one that ships here. Patches with a tolerance stay in texture
memory and are sampled for each frame's camera. The node tessellates the next frame before it scan converts this one,
and the results return to the GPs meanwhile; every frame is compared with the same triangles in 64-bit integers.
Textures, cutouts, sorted glass and four samples are drawn where no patches have a tolerance.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pixelflow.cli.arguments import add_config_options, add_engine_option, count
from pixelflow.cli.camera_options import picture_size
from pixelflow.cli.machine_values import configuration, engine_of
from pixelflow.cli.picture_files import ANIMATED, check_picture, write_animation
from pixelflow.cli.scene_options import frame_numbers, frames_there, scene_name
from pixelflow.cli.screen import Progress, Screen
from pixelflow.simd.drawing import Picture
from pixelflow.simd.errors import UsageError
from pixelflow.simd.report import Report
from tessellation import Method
from tessellation.microprogram.method import SCHEDULES
from tessellation.rendering.animation import RETURNS, AnimationFile, animate, animation_report
from tessellation.rendering.pictures import refused_in_animations
from tessellation.scenes import SCENES, SceneSource, frames_of, prepare_scene, samples_by_view

EXAMPLES = (
    "pixelflow animate flight --frames 0,59 --size 64x48 -o flight.gif",
    "pixelflow animate flight --frames 40-41 --size 64x48 --results after -o o.png",
)

_MOST_MS = 60_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add scene, frames, picture and machine."""
    add = parser.add_argument
    add("scene", type=scene_name, metavar="SCENE", help=f"scene with frames: .toml, or one of {', '.join(SCENES)}")
    add("-o", "--output", metavar="FILE", required=True, help="animated picture to write: .png or .gif (needs pillow)")
    add("--frames", type=frame_numbers, metavar="N,...", help="frames, counted from 0: 0,10,20 or 0-59 (default: all)")
    add("--size", type=picture_size, metavar="WxH", help="pixels (default: the scene's own)")
    add("--schedule", choices=SCHEDULES, default=None,
        help="order of work of passes for each frame, as of tessellate (default: the thesis's)")  # fmt: skip
    add("--results", choices=RETURNS, default=None,
        help="how results reach the GPs: during the scan conversion of the frame before (default), after a frame's "
        "last pass, read at once for no cycles, or with passes and regions of the frame before in turn")  # fmt: skip
    add("--milliseconds", type=_milliseconds, default=40, metavar="MS",
        help="how long the written file shows a frame, 1 to 60000 (default: 40)")  # fmt: skip
    add_engine_option(parser)
    add_config_options(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Tessellate and draw all frames, write the file, report; fails where a pixel differs from the reference."""
    effective = configuration(args)
    check_picture(args.scene, args.output, ANIMATED)
    frames = _chosen(args)
    anew = samples_by_view(args.scene)
    if not anew:
        _refuse_idle(args)
    schedule, way = args.schedule or SCHEDULES[0], args.results or RETURNS[0]
    engine = engine_of(args, screen)
    pictures: list[Picture] = []
    with Progress(screen, counts=False) as progress:
        source = SceneSource(
            size=args.size, config=effective.config, engine=engine, note=screen.note,
            require=refused_in_animations(effective.config, anew=anew),
        )  # fmt: skip
        results = "direct" if way == "direct" else "gp-coarse"
        gps = None if results == "direct" else effective.config.gni.gp_count
        scene = prepare_scene(args.scene, source, Method(schedule=schedule, results=results, gps=gps))
        session = scene.sampled.manager.session if scene.sampled else None
        done = animate(
            scene, session, frames, effective.config, way=way, engine=engine, tell=progress.tell,
            shown=pictures.append,
        )  # fmt: skip
    write_animation(args.output, [each.colours for each in pictures], args.milliseconds)
    size = pictures[0].colours.shape[1], pictures[0].colours.shape[0]
    return animation_report(done, AnimationFile(args.scene, size, args.output, effective, engine))


def _refuse_idle(args: argparse.Namespace) -> None:
    """Raise UsageError for options of per-frame passes where the scene needs no such pass."""
    for option, value in (("--schedule", args.schedule), ("--results", args.results)):
        if value is not None:
            raise UsageError(f"{option} {value}", f"nothing of {args.scene[:60]} is tessellated anew for each frame",
                             "leave it out, or give a body of patches a tolerance")  # fmt: skip


def _chosen(args: argparse.Namespace) -> Sequence[int]:
    """Return the chosen frames; raises UsageError for those that the scene does not have."""
    there = frames_of(args.scene)
    if there == 1:
        raise UsageError(args.scene[:60], "the scene has one frame", "give it frames and [[camera.at]]")
    return frames_there(args.frames, args.scene, there)


def _milliseconds(text: str) -> int:
    if (value := count(text)) > _MOST_MS:
        raise argparse.ArgumentTypeError(f"expected 1 to {_MOST_MS}, found {text[:40]!r}")
    return value
