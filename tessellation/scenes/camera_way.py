"""The way of a camera through the frames of a scene: what it has come to at some of them, on straight lines between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, Place
from tessellation.picture import CAMERA_PLACES, CAMERA_RANGES, NEAR_RANGE, View, apart, camera_contradictions
from tessellation.scenes.kinds import COORDINATES, check, number, whole

__all__ = ["MOST_FRAMES", "CameraKey", "CameraWord", "camera_start", "camera_way", "view_at"]

MOST_FRAMES = 10_000
"""A scene has no more frames."""

CameraWord = float | Sequence[float]
"""What a key of a camera holds: a number, or the coordinates of a place."""

_MOVING = {
    **{name: number(low, high) for name, (low, high) in CAMERA_RANGES.items()},
    **dict.fromkeys(CAMERA_PLACES, COORDINATES),
}
_CAMERA = {**_MOVING, "near": number(*NEAR_RANGE)}
_ANGLES = ("azimuth", "elevation")


@dataclass(frozen=True, slots=True)
class CameraKey:
    """What the camera has come to at a frame."""

    frame: int
    told: Mapping[str, CameraWord]


def camera_start(table: Mapping[str, object], name: str, faults: list[Fault]) -> Mapping[str, CameraWord]:
    """Return what ``[camera]`` says besides ``at``; what cannot be is reported, and nothing of it returned."""
    told = {key: value for key, value in table.items() if key != "at"}
    if not check(told, _CAMERA, "camera.", name, faults, also=("at",)):
        return {}
    contradictions = list(camera_contradictions(told))
    faults += [Fault(f"camera: {message}", Place(name), hint) for message, hint in contradictions]
    return {} if contradictions else {key: _word(value) for key, value in told.items()}


def camera_way(
    tables: object, frames: object, start: Mapping[str, CameraWord], name: str, faults: list[Fault]
) -> tuple[CameraKey, ...]:
    """Return what ``[[camera.at]]`` says, in the order of frames; what cannot be is reported.

    ``frames`` is how many there are, None where the file does not say; ``start`` what ``[camera]`` says.
    """
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        hint = "write [[camera.at]] for a frame; where the camera looks is look_at"
        faults.append(Fault("camera.at is not a table", Place(name), hint))
        return ()
    if frames is None and tables:
        faults.append(Fault("[[camera.at]] without frames", Place(name), "say how many: frames = 60"))
    if frames is not None and not tables:
        hint = "say where the camera comes to: [[camera.at]] with a frame; or leave frames out"
        faults.append(Fault("frames of a camera that stands still", Place(name), hint))
    last = frames - 1 if isinstance(frames, int) and 1 < frames <= MOST_FRAMES else MOST_FRAMES - 1
    found: dict[int, CameraKey] = {}
    for number_, table in enumerate(tables, 1):
        key = _key(table, f"camera.at {number_}", last, start, name, faults)
        if key is not None and key.frame in found:
            faults.append(Fault(f"camera.at {number_}: frame {key.frame} a second time", Place(name), "join the two"))
        elif key is not None:
            found[key.frame] = key
    keys = tuple(found[frame] for frame in sorted(found))
    if "eye" in start:
        eyes, places = (_told(start[what], keys, what, np.arange(last + 1)) for what in CAMERA_PLACES)
        wrong = [frame for frame in range(last + 1) if not apart(tuple(eyes[frame]), tuple(places[frame]))]
        if wrong:
            hint = "lead one of them another way"
            faults.append(Fault(f"at frame {wrong[0]} the eye has come to look_at", Place(name), hint))
    return keys


def _key(
    table: Mapping[str, object], where: str, last: int, start: Mapping[str, CameraWord], name: str, faults: list[Fault]
) -> CameraKey | None:
    if not check(table, {"frame": whole(0, last), **_MOVING}, f"{where}: ", name, faults):
        return None
    told = {key: _word(value) for key, value in table.items() if key != "frame"}
    if "frame" not in table:
        faults.append(Fault(f"{where} has no frame", Place(name), "say when: frame = 0"))
        return None
    if not told:
        faults.append(Fault(f"{where} says nothing of the camera", Place(name), f"allowed: {', '.join(_MOVING)}"))
        return None
    stands = "eye" in start
    wrong = [key for key in (_ANGLES if stands else CAMERA_PLACES) if key in told]
    if wrong:
        hint = "[camera] has an eye: move that" if stands else "give [camera] an eye and look_at to begin with"
        faults.append(Fault(f"{where}: {wrong[0]} of a camera that {_kind(stands)}", Place(name), hint))
        return None
    frame = table["frame"]
    assert isinstance(frame, int)
    return CameraKey(frame, told)


def _kind(stands: bool) -> str:
    return "stands at its eye" if stands else "steps back"


def _word(value: object) -> CameraWord:
    if isinstance(value, list):
        return tuple(float(each) for each in value)
    assert isinstance(value, int | float)
    return float(value)


def _told(start: CameraWord, keys: Sequence[CameraKey], what: str, frames: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what a word of the camera is in some frames: float64[frame, component]."""
    at = {0: np.atleast_1d(start)} | {key.frame: np.atleast_1d(key.told[what]) for key in keys if what in key.told}
    columns = np.array([at[frame] for frame in sorted(at)], np.float64).T
    return np.stack([np.interp(frames, sorted(at), column) for column in columns], axis=1)


def view_at(start: View, keys: Sequence[CameraKey], frame: int) -> View:
    """Return the view of a frame, which ``start`` is at frame 0 unless a key says otherwise.

    A word stays what it was at the first and the last key that names it, before and after these.
    """
    found: dict[str, object] = {}
    for what in _MOVING:
        if any(what in key.told for key in keys):
            values = _told(getattr(start, what), keys, what, np.array([frame]))[0].tolist()
            found[what] = tuple(values) if what in CAMERA_PLACES else values[0]
    return replace(start, **found)
