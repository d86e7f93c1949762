"""The study of frames drawn from instruction words, sampled by view and alike, beside other machines."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial

from pixelflow.cli.draw.numbers import frame_numbers, frames_there
from pixelflow.cli.draw.pictures import ANIMATED, check_picture, write_animation
from pixelflow.cli.shell.arguments import UsageError, add_engine_option
from pixelflow.cli.shell.machine_values import PIXELFLOW, add_drawing_options, add_sides_option, told_sides
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.study.record import Study, node_of
from pixelflow.cli.view.size import picture_size
from pixelflow.simd.commands import MachineDrawing
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Report
from tessellation.rendering.labour import Turning, turn, turning_report
from tessellation.scenes import SceneSource, prepare_scene

__all__ = ["TURNING"]

_SCENE, _MILLISECONDS = "turntable", 40


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scene", default=_SCENE, metavar="SCENE",
        help=f"a scene of patches that have a tolerance, a file or a name (default: {_SCENE})")  # fmt: skip
    parser.add_argument("--frames", type=frame_numbers, metavar="N,...",
        help="its frames, 0,10,20 or 0-59 (default: all)")  # fmt: skip
    parser.add_argument("--size", type=picture_size, metavar="WxH", help="pixels (default: the scene's own)")
    parser.add_argument("-o", "--output", metavar="FILE", help="animated picture to write: .png or .gif (needs pillow)")
    machines = add_drawing_options(parser, "compare", PIXELFLOW)  # its one node has drawn already
    add_sides_option(parser, machines, " and ".join(_compared(machines)))
    add_engine_option(parser)


def _run(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    if args.output:
        check_picture(args.scene, args.output, ANIMATED)
    words = told_sides(args, screen, config, _compared(args.machines))
    drawers = {
        args.machines[name].title: partial(draw, **words[name])
        for name in words
        if (draw := machine_named(name).draw) is not None
    }
    with Progress(screen, counts=False) as progress:
        scene = prepare_scene(args.scene, SceneSource(size=args.size, config=config, engine=args.engine))
        if scene.sampled is None:
            raise UsageError("--scene", f"{args.scene[:60]} has no patches with a tolerance", "give a body one")
        chosen = frames_there(args.frames, args.scene, scene.frames)
        sampled, view = scene.sampled, scene.view()
        turning = Turning(args.scene, scene.view, lambda frame: sampled.seen(scene.standpoint(frame)), scene.background)
        frames = list(turn(turning, chosen, config, drawers, engine=args.engine, tell=progress.tell))
    report = turning_report(turning, (view.width, view.height), frames, config, chosen)
    if args.output:
        write_animation(args.output, [each.seen.picture for each in frames], _MILLISECONDS)
    return report


def _compared(machines: Mapping[str, MachineDrawing]) -> list[str]:
    return [name for name, drawing in machines.items() if drawing.compared]


TURNING = Study(
    "turning",
    "frames of a moving camera from instruction words of the EMCs, beside another machine (ten minutes)",
    _run,
    _add_options,
)
