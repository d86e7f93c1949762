"""Studies: one thing measured over axes of values, as tables; sensitivity and labour have special reports."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pkgutil import resolve_name
from typing import NamedTuple

from pixelflow.cli.arguments import add_common_options, add_config_options, add_engine_option, count, parsed
from pixelflow.cli.camera_options import picture_size
from pixelflow.cli.machine_values import (
    PIXELFLOW,
    add_drawing_options,
    add_sides_option,
    chosen_options,
    configuration,
    examples_for,
    sides_of,
)
from pixelflow.cli.scene_options import frame_numbers, frames_there
from pixelflow.cli.screen import Progress, Screen
from pixelflow.config import NodeConfig, load_config
from pixelflow.simd.commands import MachineDrawing
from pixelflow.simd.comparison.grid import WRONG, GridPoint, grid_object, grid_parts
from pixelflow.simd.comparison.triangle_sizes import SIZES, Drawer, sizes_drawn, sizes_report
from pixelflow.simd.drawing import Frame
from pixelflow.simd.errors import UsageError
from pixelflow.simd.machine import commands_of_machines, machine_named
from pixelflow.simd.report import Report, number
from pixelflow.simd.units import whole_number
from tessellation.picture import SAMPLES, SIZE, View
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES
from tessellation.rendering.account import free_feed
from tessellation.rendering.labour import labour_report
from tessellation.rendering.renderer import region_programs
from tessellation.scenes import QUESTIONS, SceneSource, load_scene, prepare_scene, sized
from tessellation.studies import (
    CACHING,
    SCHEDULE_GAIN,
    SUPPLY,
    GridStudy,
    StudyAxis,
    StudyBench,
    Workload,
    sampling_report,
    sensitivity_report,
)


class Study(NamedTuple):
    """One study: its axes are options, and its columns come with the report."""

    name: str
    help: str
    run: Callable[[argparse.Namespace, Screen, Progress], Report]
    axes: tuple[StudyAxis, ...] = ()
    add_options: Callable[[argparse.ArgumentParser], None] = lambda _: None

    @classmethod
    def of(cls, grid: GridStudy) -> Study:
        """Return the study of a grid of passes and pictures, timing only."""

        def run(args: argparse.Namespace, screen: Screen, progress: Progress) -> Report:
            chosen = {axis.name: getattr(args, axis.name) for axis in grid.axes if axis.metavar}
            config = node_of(args)
            if grid is SUPPLY and config.igc.supply:
                raise UsageError(
                    "study supply", f"igc.supply is {config.igc.supply}, and the rates of this study take its place",
                    f"name the rate: --rates {config.igc.supply}",
                )  # fmt: skip
            drawn = picture("the teapot in all its regions") if grid.picture else None
            return grid.report(StudyBench(config, progress.tell, drawn), chosen)

        return cls(grid.name, grid.help, run, grid.axes)


def _add_axis(parser: argparse.ArgumentParser, axis: StudyAxis) -> None:
    """Add the option of an axis: a choice of its values, or a list with commas."""
    add, shown = partial(parser.add_argument, f"--{axis.name}"), ",".join(map(str, axis.values))
    if axis.read is None:
        text = f"which of {shown.replace(',', ', ')} (default: all)"
        add(nargs="+", choices=axis.values, default=list(axis.values), metavar=axis.metavar, help=text)
    else:
        text = f"{axis.help} (default: {shown or 'all'})".strip()
        add(type=partial(parsed, axis.read), default=axis.values or None, metavar=f"{axis.metavar},...", help=text)


def _words(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(each for each in text.split(",") if each))
    if not found:
        raise ValueError("expected scenes with commas between them")
    return found


def node_of(args: argparse.Namespace) -> NodeConfig:
    """Return the node that the options describe; raises UsageError where it lacks the PEs that passes need."""
    config = load_config(args.config, args.overrides, args.preset)
    if config.lanes != 8192:
        raise UsageError(
            "study", f"passes and pictures of a study need 8,192 PEs, this machine has {number(config.lanes)}"
        )
    return config


def picture(name: str, size: tuple[int, int] | None = None) -> Workload:
    """Return the programs with which a node draws the teapot, without its tessellation."""
    return Workload(name, region_programs(load_scene("teapot", SceneSource(size=size)).frame))


def _sensitivity(args: argparse.Namespace, screen: Screen, progress: Progress) -> Report:
    return sensitivity_report(node_of(args), picture("the teapot in one region", (128, 64)), progress.tell)


# The division of labour between EMCs and GPs (thesis 3.1.2), executed in full.


def _add_options_of_labour(parser: argparse.ArgumentParser) -> None:
    bounds = f"{MIN_SAMPLES} to {MAX_SAMPLES}"
    parser.add_argument("--samples", type=_samples, default=SAMPLES, metavar="K",
        help=f"samples of the teapot's patches along u and v, {bounds} (default: {SAMPLES})")  # fmt: skip
    parser.add_argument("--gps", type=count, default=1, metavar="N",
        help="GPs of the node that take what the EMCs send (default: 1)")  # fmt: skip


def _samples(text: str) -> int:
    wanted = f"{MIN_SAMPLES} to {MAX_SAMPLES} samples"
    return parsed(partial(whole_number, least=MIN_SAMPLES, most=MAX_SAMPLES, wanted=wanted), text)


def _labour(args: argparse.Namespace, screen: Screen, progress: Progress) -> Report:
    config = node_of(args)
    if args.gps > config.gni.gp_count:
        raise UsageError(f"--gps {args.gps}", f"this node has {config.gni.gp_count} (gni.gp_count)")
    width, height = SIZE
    return labour_report(config, args.samples, args.gps, View(width=width, height=height), progress.tell)


# Sampling by view: patches of an animated scene compared with all of them sampled alike, executed with data.


FLIGHT, _FRAMES = "flight", (0, 20, 30, 40, 59)


def _add_options_of_sampling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scene", default=FLIGHT, metavar="SCENE",
        help=f"a scene with patches that have a tolerance, a file or a name (default: {FLIGHT})")  # fmt: skip


def _sampling(args: argparse.Namespace, screen: Screen, progress: Progress) -> Report:
    return sampling(node_of(args), args.scene, args.frames, progress.tell)


def sampling(config: NodeConfig, scene: str, frames: Sequence[int], tell: Callable[[str], None]) -> Report:
    """Return the study of a scene's frames; raises UsageError for a scene without patches that are sampled by view."""
    prepared = prepare_scene(scene, SceneSource(config=config))
    sampled = prepared.sampled
    if sampled is None:
        raise UsageError("--scene", f"{scene[:60]} has no patches with a tolerance", "give a body one")
    frames = frames_there(frames, scene, prepared.frames)
    return sampling_report(
        config,
        scene,
        lambda frame: sampled.seen(prepared.standpoint(frame)),
        sampled.manager,
        frames,
        tell,
        lambda words: free_feed(words, 1, config),
    )


# Several machines: scenes of several kinds, and triangles size by size.


_SIZE = (160, 120)
_SCENES = (*QUESTIONS, "still", "glass")
"""One scene for each question that a picture puts to a machine, and the two that ship with all of it at once."""
_COUNT, _SCREEN = 2000, (640, 480)
"""Triangles of each size, equilateral, anywhere on the screen at any angle."""


def _compared(machines: Mapping[str, MachineDrawing]) -> list[str]:
    return [name for name, drawing in machines.items() if drawing.compared]


def _add_machines(parser: argparse.ArgumentParser, default: str = "") -> None:
    """Add the machines that draw, by default those that are compared."""
    machines = add_drawing_options(parser, "compare")
    add_sides_option(parser, machines, default or " and ".join(_compared(machines)))
    add_engine_option(parser)


def _drawers(args: argparse.Namespace, screen: Screen, config: NodeConfig) -> dict[str, Drawer]:
    """Return what draws a frame on each machine that was chosen, by its title."""
    words = chosen_options(args, screen, config, _compared(args.machines))
    drawers = {name: machine_named(name).draw for name in words}
    return {args.machines[name].title: partial(draw, **words[name]) for name, draw in drawers.items() if draw}


def _add_options_of_machines(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--size", type=picture_size, default=_SIZE, metavar="WxH", help="pixels of each ({}x{})".format(*_SIZE)
    )
    _add_machines(parser, default="all")


def _machines(args: argparse.Namespace, screen: Screen, progress: Progress) -> Report:
    effective = configuration(args)
    words = chosen_options(args, screen, effective.config, list(args.machines))
    points = []
    for name in args.scenes:
        machines = sides_of(args, words, effective.config, progress.tell)
        source = SceneSource(
            size=args.size,
            config=effective.config,
            engine=args.engine,
            progress=progress.tell,
            note=screen.note,
            require=machines.require,
        )
        points.append(GridPoint(name, machines.compared(name, load_scene(name, source).frame)))
    size = "{}x{}".format(*args.size)
    return Report(
        "scenes by machines",
        (size, effective.label),
        results=list(grid_parts(points, "scene")),
        schema="pixelflow.study.machines/1",
        data={"size": list(args.size), "config": effective.as_object(), "scenes": grid_object(points, "name")},
        failure=WRONG if any(each.found.wrong for each in points) else None,
    )


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(whole_number, text.split(",")))


def _add_options_of_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=count, default=_COUNT, metavar="N",
        help=f"triangles of each size (default: {_COUNT})")  # fmt: skip
    _add_machines(parser)


def _triangle_sizes(args: argparse.Namespace, screen: Screen, progress: Progress) -> Report:
    effective = configuration(args)

    def frame(pixels: int) -> Frame:
        return Frame(*_SCREEN, (0, 0, 0), (sized(*_SCREEN, count=args.count, pixels=pixels),))

    rows = sizes_drawn(_drawers(args, screen, effective.config), frame, progress.tell, args.sizes)
    return sizes_report(rows, (effective.label,))


EXAMPLES = (
    "pixelflow study supply --rates 400",
    "pixelflow study schedules --inputs full --json",
    "pixelflow study labour --samples 16 --gps 2",
    "pixelflow study triangle-sizes --sizes 1,1000 --count 20 --cores 2",
    "pixelflow study machines --scenes layers --size 32x24 --machine gen6",
    *examples_for("study", PIXELFLOW),
)

_STUDIES = {
    each.name: each
    for each in (
        Study("sensitivity", "move every guess, and say what it changes, the largest first (about 20 s)", _sensitivity),
        *map(Study.of, (SCHEDULE_GAIN, SUPPLY, CACHING)),
        Study(
            "sampling",
            "patches sampled by view compared with uniform sampling, frame by frame (about a minute)",
            _sampling,
            (StudyAxis("frames", _FRAMES, "N", "its frames, 0,30 or 0-9", frame_numbers),),
            _add_options_of_sampling,
        ),
        Study(
            "labour",
            "points, projected points or instruction words from the EMCs, side by side (about 20 s)",
            _labour,
            add_options=_add_options_of_labour,
        ),
        Study(
            "triangle-sizes",
            "triangles of 1 to 8,000 pixels on several machines, and where these cross (minutes)",
            _triangle_sizes,
            (StudyAxis("sizes", SIZES, "PIXELS", "pixels of a triangle", _sizes),),
            _add_options_of_sizes,
        ),
        Study(
            "machines",
            "scenes of several kinds on every machine that draws them (minutes)",
            _machines,
            (StudyAxis("scenes", _SCENES, "SCENE", read=_words),),
            _add_options_of_machines,
        ),
    )
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the studies."""
    of_machines = {name: each.studies for name, each in commands_of_machines(PIXELFLOW).items()}
    studies = parser.add_subparsers(dest="study", required=True, metavar="|".join(_STUDIES))
    for name, study in _STUDIES.items():
        each = studies.add_parser(name, help=study.help, description=study.help[0].upper() + study.help[1:] + ".")
        for axis in (axis for axis in study.axes if axis.metavar):
            _add_axis(each, axis)
        study.add_options(each)
        others = {machine: places[name] for machine, places in of_machines.items() if name in places}
        each.set_defaults(others=others, machine=PIXELFLOW)
        if others:
            each.add_argument("--machine", choices=(PIXELFLOW, *others), default=PIXELFLOW,
                help=f"of which machine (default: {PIXELFLOW})")  # fmt: skip
        add_config_options(each)
        add_common_options(each)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Execute the study."""
    if args.machine in args.others:
        return _of_another(args, screen)
    with Progress(screen, counts=False) as progress:
        return _STUDIES[args.study].run(args, screen, progress)


def _of_another(args: argparse.Namespace, screen: Screen) -> Report:
    if args.config or args.overrides or args.preset:
        raise UsageError(f"study {args.study}", f"values of a node change nothing on {args.machine}", "leave them out")
    with Progress(screen, counts=False) as progress:
        report: Report = resolve_name(args.others[args.machine])(progress.tell)
    return report
