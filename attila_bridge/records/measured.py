"""Measures of records: each recorded scene drawn and timed here, and its picture laid beside the recorded one."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attila_bridge.drawing.run import SceneRun, run_scene
from attila_bridge.function.work import DrawWork
from attila_bridge.records.files import RecordedRun, Records
from attila_bridge.scene.load import load_scene
from attila_bridge.time.config import PRESETS, overridden
from pixelflow.simd.errors import Fault, InputError, MachineFault, Place
from pixelflow.simd.files import TEXTURE, read_bytes
from pixelflow.simd.telling import Counting, unseen
from pixelflow.simd.workers import HERE, Workers

__all__ = ["RunFigures", "measure"]

_BYTES_MOST = 255
_SHADERS = 4
"""More than any machine here has."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What a recorded run gives here."""

    columns: Mapping[str, float] = field(default_factory=dict)
    statistics: Mapping[str, float] = field(default_factory=dict)
    refilled: Mapping[str, int] = field(default_factory=dict)
    """Lines that came into a cache more than once, by kind of cache: ``z``, ``color``, ``texture``."""
    different: int | None = None
    """Pixels of the picture that differ from the recorded one; None where there is none."""
    worst: int = 0
    """The largest difference of a colour, in 255ths."""
    refused: str = ""
    """Why there is nothing of this."""


def measure(
    records: Records, workers: Workers = HERE, progress: Counting = unseen
) -> Iterator[tuple[RecordedRun, RunFigures]]:
    """Yield every run of a folder with what it gives here; who makes them is ``workers``' affair."""
    found = workers.each(_measured, [(run, records) for run in records.runs], lambda work: f"the run {work[0].name}")
    for number, run in enumerate(records.runs, 1):
        progress(number, len(records.runs), run.name)
        yield run, next(found)


def _measured(work: tuple[RecordedRun, Records]) -> RunFigures:
    run, records = work
    try:
        # The recorded machine cannot be told to draw frames whole that are higher than wide.
        config = overridden(PRESETS[run.machine], run.overrides).with_values({"traversal.square": True})
        found = run_scene(load_scene(records.scene(run)), config=config)
        different, worst = _beside(found.image, records, run)
    except (InputError, MachineFault) as error:
        return RunFigures(refused=str(error))
    return RunFigures(dict(found.columns), dict(found.statistics), refilled(found), different, worst)


def refilled(found: SceneRun) -> dict[str, int]:
    """Return how many lines each kind of cache took in beyond the different ones that a run touches."""
    draws = found.work.draws
    kinds = {
        "z": ("_FC_ZST-", {block for each in draws for block in each.quads.block.tolist()}),
        "color": ("_FC_CW-", {block for each in draws for block in each.quads.block.tolist()}),
        "texture": ("_FC64_TU-", _texture_lines(draws, found.config.texture.line)),
    }
    again = {}
    for kind, (unit, lines) in kinds.items():
        taken = sum(count for name, count in found.statistics.items() if name.startswith("MissOK") and unit in name)
        again[kind] = max(0, round(taken) - len(lines))
    return again


def _texture_lines(draws: Sequence[DrawWork], size: int) -> set[int]:
    """Return the lines of texels that draws read, each with the shader that reads it."""
    found: set[int] = set()
    for draw in draws:
        for read in draw.textures:
            shader = np.repeat(draw.quads.shader[read.quads >> 4].astype(np.int64), np.diff(read.loops))
            lines = read.texels.reshape(len(shader), -1).astype(np.int64) // size
            found.update(np.unique(lines * _SHADERS + shader[:, None]).tolist())
    return found


def _beside(image: NDArray[np.uint8], records: Records, run: RecordedRun) -> tuple[int | None, int]:
    """Return how many pixels of a picture differ from the recorded one, and by how much at most.

    Raises InputError where the recorded one cannot be read.
    """
    path = records.frame(run)
    if path is None:
        return None, 0
    from PIL import Image, UnidentifiedImageError

    content = read_bytes(path, TEXTURE)
    try:
        with Image.open(io.BytesIO(content)) as picture:
            if picture.size != (image.shape[1], image.shape[0]):  # before it is decoded
                return image.shape[0] * image.shape[1], _BYTES_MOST
            recorded = np.asarray(picture.convert("RGB"))
    except UnidentifiedImageError:  # its message has an address of memory
        raise InputError(Fault("not a picture that can be read: no format that is known", Place(str(path)))) from None
    except Exception as error:  # the library's readers raise whatever the damage leads to
        raise InputError(Fault(f"not a picture that can be read: {error}"[:300], Place(str(path)))) from None
    apart = np.abs(image.astype(np.int16) - recorded.astype(np.int16))
    return int((apart.max(axis=2) > 0).sum()), int(apart.max(initial=0))
