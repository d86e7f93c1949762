"""The way of a camera through the frames of a scene: what it has come to at some of them, on straight lines between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pixelflow.simd.errors import Fault, Place
from tessellation.picture import CAMERA_RANGES, View
from tessellation.scenes.kinds import check, number, whole

__all__ = ["CAMERA", "MOST_FRAMES", "CameraKey", "camera_way", "view_at"]

MOST_FRAMES = 10_000
"""A scene has no more frames."""

CAMERA = {name: number(low, high) for name, (low, high) in CAMERA_RANGES.items()}
"""What is said of a camera, at the beginning or at a frame."""


@dataclass(frozen=True, slots=True)
class CameraKey:
    """What the camera has come to at a frame."""

    frame: int
    told: Mapping[str, float]


def camera_way(tables: object, frames: object, name: str, faults: list[Fault]) -> tuple[CameraKey, ...]:
    """Return what ``[[camera.at]]`` says, in the order of frames; what cannot be is reported.

    ``frames`` is how many there are, None where the file does not say.
    """
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        faults.append(Fault("camera.at is not a table", Place(name), "write [[camera.at]]"))
        return ()
    if frames is None and tables:
        faults.append(Fault("[[camera.at]] without frames", Place(name), "say how many: frames = 60"))
    if frames is not None and not tables:
        hint = "say where the camera comes to: [[camera.at]] with a frame; or leave frames out"
        faults.append(Fault("frames of a camera that stands still", Place(name), hint))
    last = frames - 1 if isinstance(frames, int) and 1 < frames <= MOST_FRAMES else MOST_FRAMES - 1
    found: dict[int, CameraKey] = {}
    for number_, table in enumerate(tables, 1):
        key = _key(table, f"camera.at {number_}", last, name, faults)
        if key is not None and key.frame in found:
            faults.append(Fault(f"camera.at {number_}: frame {key.frame} a second time", Place(name), "join the two"))
        elif key is not None:
            found[key.frame] = key
    return tuple(found[frame] for frame in sorted(found))


def _key(table: Mapping[str, float], where: str, last: int, name: str, faults: list[Fault]) -> CameraKey | None:
    if not check(table, {"frame": whole(0, last), **CAMERA}, f"{where}: ", name, faults):
        return None
    told = {key: float(value) for key, value in table.items() if key != "frame"}
    if "frame" not in table:
        faults.append(Fault(f"{where} has no frame", Place(name), "say when: frame = 0"))
        return None
    if not told:
        faults.append(Fault(f"{where} says nothing of the camera", Place(name), f"allowed: {', '.join(CAMERA)}"))
        return None
    return CameraKey(int(table["frame"]), told)


def view_at(start: View, keys: Sequence[CameraKey], frame: int) -> View:
    """Return the view of a frame, which ``start`` is at frame 0 unless a key says otherwise.

    A number stays what it was at the first and the last key that names it, before and after these.
    """
    found = {}
    for what in CAMERA:
        at = {key.frame: key.told[what] for key in keys if what in key.told}
        if at:
            at.setdefault(0, getattr(start, what))
            found[what] = float(np.interp(frame, sorted(at), [at[each] for each in sorted(at)]))
    return replace(start, **found)
