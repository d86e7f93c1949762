"""The study of sampling by view: patches of an animated scene beside all of them sampled alike, executed with data."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from pixelflow.cli.draw.numbers import frame_numbers, frames_there
from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.study.record import Study, node_of
from pixelflow.config import NodeConfig
from pixelflow.simd.report import Report
from tessellation.rendering.account import free_feed
from tessellation.scenes import SceneSource, prepare_scene
from tessellation.studies.sampling import sampling_report

__all__ = ["FLIGHT", "SAMPLING", "sampling"]

FLIGHT, _FRAMES = "flight", (0, 20, 30, 40, 59)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scene", default=FLIGHT, metavar="SCENE",
        help=f"a scene with patches that have a tolerance, a file or a name (default: {FLIGHT})")  # fmt: skip
    parser.add_argument("--frames", type=frame_numbers, default=_FRAMES, metavar="N,...",
        help=f"its frames, 0,30 or 0-9 (default: {','.join(map(str, _FRAMES))})")  # fmt: skip


def _run(args: argparse.Namespace, screen: Screen) -> Report:
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
    "sampling", "patches sampled by view beside all sampled alike, frame by frame (about a minute)", _run, _add_options
)
