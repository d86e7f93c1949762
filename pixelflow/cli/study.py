"""A study as the command knows it: its line of help, its options, and what executes it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from pkgutil import resolve_name

from pixelflow.cli.arguments import add_common_options, add_config_options, add_engine_option, count, parsed
from pixelflow.cli.camera_options import picture_size
from pixelflow.cli.machine_config import configuration
from pixelflow.cli.machine_values import (
    PIXELFLOW,
    add_drawing_options,
    add_sides_option,
    examples_for,
    sides_of,
    told_sides,
)
from pixelflow.cli.picture_files import ANIMATED, check_figure, check_picture, write_animation
from pixelflow.cli.scene_options import frame_numbers, frames_there
from pixelflow.cli.screen import Progress, Screen, output_file
from pixelflow.config import NodeConfig, load_config
from pixelflow.simd.commands import MachineDrawing, whole_number
from pixelflow.simd.comparison.comparison_figure import save_grid, save_sizes
from pixelflow.simd.comparison.grid import WRONG, GridPoint, grid_object, grid_parts
from pixelflow.simd.comparison.triangle_sizes import SIZES, sizes_drawn, sizes_report
from pixelflow.simd.drawing import Frame
from pixelflow.simd.errors import UsageError
from pixelflow.simd.machine import commands_of_machines, machine_named
from pixelflow.simd.report import Report, number
from tessellation.microprogram.method import SCHEDULES as _ORDERS
from tessellation.picture import SAMPLES, SIZE, View
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES
from tessellation.rendering.account import free_feed
from tessellation.rendering.labour import Turning, labour_report, turn, turning_report
from tessellation.rendering.renderer import region_programs
from tessellation.scenes import QUESTIONS, SceneSource, load_scene, prepare_scene, sized
from tessellation.studies import (
    INPUTS,
    RATES,
    Workload,
    caching_report,
    sampling_report,
    schedules_report,
    sensitivity_report,
    supply_report,
)


def no_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the study has no options of its own."""


@dataclass(frozen=True, slots=True)
class Study:
    """One study."""

    name: str
    help: str
    run: Callable[[argparse.Namespace, Screen], Report]
    add_options: Callable[[argparse.ArgumentParser], None] = no_options


def node_of(args: argparse.Namespace) -> NodeConfig:
    """Return the node that the options describe; raises UsageError where it has not the PEs that passes need."""
    config = load_config(args.config, args.overrides, args.preset)
    if config.lanes != 8192:
        raise UsageError(
            "study", f"passes and pictures of a study need 8,192 PEs, this machine has {number(config.lanes)}"
        )
    return config


# The study of the division of labour between EMCs and GPs (thesis 3.1.2), executed in full.


def _add_options(parser: argparse.ArgumentParser) -> None:
    bounds = f"{MIN_SAMPLES} to {MAX_SAMPLES}"
    parser.add_argument("--samples", type=_samples, default=SAMPLES, metavar="K",
        help=f"samples of the teapot's patches along u and v, {bounds} (default: {SAMPLES})")  # fmt: skip
    parser.add_argument("--gps", type=count, default=1, metavar="N",
        help="GPs of the node that take what the EMCs send (default: 1)")  # fmt: skip


def _samples(text: str) -> int:
    wanted = f"{MIN_SAMPLES} to {MAX_SAMPLES} samples"
    return parsed(partial(whole_number, least=MIN_SAMPLES, most=MAX_SAMPLES, wanted=wanted), text)


def _run(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    if args.gps > config.gni.gp_count:
        raise UsageError(f"--gps {args.gps}", f"this node has {config.gni.gp_count} (gni.gp_count)")
    width, height = SIZE
    with Progress(screen, counts=False) as progress:
        return labour_report(config, args.samples, args.gps, View(width=width, height=height), progress.tell)


LABOUR = Study(
    "labour",
    "points, projected points or instruction words from the EMCs, side by side (about 20 s)",
    _run,
    _add_options,
)


# The study of machines: several scenes, each drawn by every machine that draws it, as one table.


_SIZE = (160, 120)
_SCENES = (*QUESTIONS, "still", "glass")
"""One scene for each question that a picture puts to a machine, and the two that ship with all of it at once."""


def _add_options_of_machines(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--scenes", type=_scenes, default=_SCENES, metavar="SCENE,...", help=f"(default: {','.join(_SCENES)})")
    add("--size", type=picture_size, default=_SIZE, metavar="WxH", help="pixels of each ({}x{})".format(*_SIZE))
    add("--figure", metavar="FILE", help="draw it, .png or .svg (needs matplotlib: extra plot)")
    add_sides_option(parser, add_drawing_options(parser, "compare"), "all")
    add_engine_option(parser)


def _scenes(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(each for each in text.split(",") if each))
    if not found:
        raise argparse.ArgumentTypeError("expected scenes with commas between them")
    return found


def _run_of_machines(args: argparse.Namespace, screen: Screen) -> Report:
    effective = configuration(args, screen)
    if args.figure:
        check_figure(args.figure)
    words = told_sides(args, screen, effective.config, list(args.machines))
    points = []
    with Progress(screen, counts=False) as progress:
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
    if args.figure:
        with output_file(args.figure, binary=True) as stream:
            save_grid(stream, PurePath(args.figure).suffix.lower()[1:], points, f"scenes of {size}", lines=False)
    return Report(
        "scenes by machines",
        (size, effective.label),
        results=list(grid_parts(points, "scene")),
        schema="pixelflow.study.machines/1",
        data={"size": list(args.size), "config": effective.as_object(), "scenes": grid_object(points, "name")},
        failure=WRONG if any(each.found.wrong for each in points) else None,
    )


MACHINES = Study(
    "machines",
    "scenes of several kinds on every machine that draws them (minutes)",
    _run_of_machines,
    _add_options_of_machines,
)


# Studies of passes and pictures, timing only: guesses moved, schedules side by side, words at a rate, kept results.


def picture(name: str, size: tuple[int, int] | None = None) -> Workload:
    """Return the programs with which a node draws the teapot; its tessellation is no part of them."""
    return Workload(name, region_programs(load_scene("teapot", SceneSource(size=size)).frame))


def _sensitivity(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    with Progress(screen, counts=False) as progress:
        return sensitivity_report(config, picture("the teapot in one region", (128, 64)), progress.tell)


def _add_schedules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS), metavar="INPUT",
        help=f"which of {', '.join(INPUTS)} (default: all)")  # fmt: skip


def _schedules(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    with Progress(screen, counts=False) as progress:
        return schedules_report(config, args.inputs, progress.tell)


def _add_supply(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rates", type=_rates, default=RATES, metavar="MB/S,...",
        help=f"rates of the path to each IGC (default: {','.join(map(str, RATES))})")  # fmt: skip


def _rates(text: str) -> tuple[int, ...]:
    return tuple(count(each) for each in text.split(","))


def _supply(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    if config.igc.supply:
        raise UsageError(
            "study supply", f"igc.supply is {config.igc.supply}, and the rates of this study take its place",
            f"name the rate as one of its own: --rates {config.igc.supply}",
        )  # fmt: skip
    with Progress(screen, counts=False) as progress:
        return supply_report(config, args.rates, picture("the teapot in all its regions"), progress.tell)


def _add_caching(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schedules", nargs="+", choices=_ORDERS, default=list(_ORDERS), metavar="SCHEDULE",
        help=f"which of {', '.join(_ORDERS)} (default: all)")  # fmt: skip


def _caching(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    with Progress(screen, counts=False) as progress:
        return caching_report(config, args.schedules, progress.tell)


SENSITIVITY = Study(
    "sensitivity", "move every guess, and say what it changes, the largest first (about 20 s)", _sensitivity
)
SCHEDULES = Study(
    "schedules",
    "schedule x library x results x input, and the gain by its causes (one to two minutes)",
    _schedules,
    _add_schedules,
)
SUPPLY = Study("supply", "passes and a picture where instruction words come at a rate", _supply, _add_supply)
CACHING = Study(
    "caching",
    "results kept in texture memory after their pass and beside the next, by way and schedule (about a minute)",
    _caching,
    _add_caching,
)


# The study of sampling by view: patches of an animated scene beside all of them sampled alike, executed with data.


FLIGHT, _FRAMES = "flight", (0, 20, 30, 40, 59)


def _add_options_of_sampling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scene", default=FLIGHT, metavar="SCENE",
        help=f"a scene with patches that have a tolerance, a file or a name (default: {FLIGHT})")  # fmt: skip
    parser.add_argument("--frames", type=frame_numbers, default=_FRAMES, metavar="N,...",
        help=f"its frames, 0,30 or 0-9 (default: {','.join(map(str, _FRAMES))})")  # fmt: skip


def _run_of_sampling(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    with Progress(screen, counts=False) as progress:
        return sampling(config, args.scene, args.frames, progress.tell)


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


SAMPLING = Study(
    "sampling",
    "patches sampled by view beside all sampled alike, frame by frame (about a minute)",
    _run_of_sampling,
    _add_options_of_sampling,
)


# The study of sizes: triangles of one size drawn by several machines, size by size.


_COUNT, _SCREEN = 2000, (640, 480)
"""Triangles of each size, equilateral, anywhere on the screen at any angle."""


def _add_options_of_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=_sizes, default=SIZES, metavar="PIXELS,...",
        help=f"pixels of a triangle (default: {','.join(map(str, SIZES))})")  # fmt: skip
    parser.add_argument("--count", type=count, default=_COUNT, metavar="N",
        help=f"triangles of each size (default: {_COUNT})")  # fmt: skip
    parser.add_argument("--figure", metavar="FILE", help="draw it, .png or .svg (needs matplotlib: extra plot)")
    machines = add_drawing_options(parser, "compare")
    add_sides_option(parser, machines, " and ".join(name for name, each in machines.items() if each.compared))
    add_engine_option(parser)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(count(each) for each in text.split(","))


def _run_of_sizes(args: argparse.Namespace, screen: Screen) -> Report:
    effective = configuration(args, screen)
    if args.figure:
        check_figure(args.figure)
    words = told_sides(args, screen, effective.config, [n for n, each in args.machines.items() if each.compared])
    drawers = {name: machine_named(name).draw for name in words}
    sides = {args.machines[name].title: partial(drawer, **words[name]) for name, drawer in drawers.items() if drawer}
    with Progress(screen, counts=False) as progress:
        rows = sizes_drawn(sides, partial(_of_size, args.count), progress.tell, args.sizes)
    if args.figure:
        with output_file(args.figure, binary=True) as stream:
            save_sizes(stream, PurePath(args.figure).suffix.lower()[1:], rows)
    return sizes_report(rows, (effective.label,))


def _of_size(triangles: int, pixels: int) -> Frame:
    return Frame(*_SCREEN, (0, 0, 0), (sized(*_SCREEN, count=triangles, pixels=pixels),))


TRIANGLE_SIZES = Study(
    "triangle-sizes",
    "triangles of 1 to 8,000 pixels on several machines, and where these cross (minutes)",
    _run_of_sizes,
    _add_options_of_sizes,
)


# The study of frames drawn from instruction words, sampled by view and alike, beside other machines.


_SCENE, _MILLISECONDS = "turntable", 40


def _add_options_of_turning(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scene", default=_SCENE, metavar="SCENE",
        help=f"a scene of patches that have a tolerance, a file or a name (default: {_SCENE})")  # fmt: skip
    parser.add_argument("--frames", type=frame_numbers, metavar="N,...",
        help="its frames, 0,10,20 or 0-59 (default: all)")  # fmt: skip
    parser.add_argument("--size", type=picture_size, metavar="WxH", help="pixels (default: the scene's own)")
    parser.add_argument("-o", "--output", metavar="FILE", help="animated picture to write: .png or .gif (needs pillow)")
    machines = add_drawing_options(parser, "compare", PIXELFLOW)  # its one node has drawn already
    add_sides_option(parser, machines, " and ".join(_compared(machines)))
    add_engine_option(parser)


def _run_of_turning(args: argparse.Namespace, screen: Screen) -> Report:
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
    _run_of_turning,
    _add_options_of_turning,
)


# Execute a study: what the thesis's pass and others take where something that nobody printed is another.
#
# sensitivity moves every guess of the machine, one at a time: each value that is fitted or invented, each ability of
# the
# ALU, each start-up. schedules puts the schedules beside each other, library by library, with results and without.
# supply lets the instructions' words come at a rate. caching keeps results in texture memory, after the passes and
# beside them; all these are executed at that moment, timing only. labour is the
# division of labour between EMCs and GPs, executed in full. triangle-sizes draws triangles of one size on several
# machines, size by size; machines draws scenes of several kinds on every machine that draws them. sampling puts patches
# sampled by view beside all sampled alike, executed with data; turning draws the frames of a moving camera from
# instruction words that the EMCs make, in both ways, beside other machines.


EXAMPLES = (
    "pixelflow study supply --rates 400",
    "pixelflow study schedules --inputs full --json",
    "pixelflow study labour --samples 16 --gps 2",
    "pixelflow study turning --frames 0,40 --size 64x48 --cores 2",
    "pixelflow study triangle-sizes --sizes 1,1000 --count 20 --cores 2",
    "pixelflow study machines --scenes layers --size 32x24 --machine gen6",
    *examples_for("study", PIXELFLOW),
)

_STUDIES = {
    each.name: each
    for each in (SENSITIVITY, SCHEDULES, SUPPLY, CACHING, SAMPLING, LABOUR, TURNING, TRIANGLE_SIZES, MACHINES)
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the studies."""
    of_machines = {name: each.studies for name, each in commands_of_machines(PIXELFLOW).items()}
    studies = parser.add_subparsers(dest="study", required=True, metavar="|".join(_STUDIES))
    for name, study in _STUDIES.items():
        each = studies.add_parser(name, help=study.help, description=study.help[0].upper() + study.help[1:] + ".")
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
    return _of_another(args, screen) if args.machine in args.others else _STUDIES[args.study].run(args, screen)


def _of_another(args: argparse.Namespace, screen: Screen) -> Report:
    if args.config or args.overrides or args.preset:
        raise UsageError(f"study {args.study}", f"values of a node change nothing on {args.machine}", "leave them out")
    with Progress(screen, counts=False) as progress:
        report: Report = resolve_name(args.others[args.machine])(progress.tell)
    return report
