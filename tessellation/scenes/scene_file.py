"""Scene files: their keys, the kinds of values, and all faults of a file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.configuration import KeyIndex
from pixelflow.simd.drawing import Blend, DepthTest
from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.files import SCENE, read_text, shipped
from tessellation import picture
from tessellation.sampling import COUNTS, LARGEST_TOLERANCE, LEAST_TOLERANCE, Sampling
from tessellation.scenes.world import Placed
from tessellation.surface.bpt import BUILT_IN

FAR = picture.FARTHEST
"""Largest coordinate and size."""


class ValueKind(NamedTuple):
    """A kind of values, described by ``text``."""

    text: str
    holds: Callable[[object], bool]


def number(low: float, high: float) -> ValueKind:
    """Return the kind of numbers in a range, inclusive."""
    return ValueKind(f"a number from {low:g} to {high:g}", lambda value: is_number(value) and low <= value <= high)


def whole(low: int, high: int) -> ValueKind:
    """Return the kind of whole numbers in a range, inclusive."""
    return ValueKind(
        f"a whole number from {low} to {high}", lambda value: is_number(value, whole=True) and low <= value <= high
    )


def several(count: int, each: ValueKind) -> ValueKind:
    """Return the kind of lists of this many values of a kind."""
    return ValueKind(
        f"{count} of {each.text}",
        lambda value: isinstance(value, list) and len(value) == count and all(each.holds(one) for one in value),
    )


def word(*allowed: str) -> ValueKind:
    """Return the kind of these words."""
    return ValueKind("one of " + ", ".join(allowed), lambda value: value in allowed)


def is_number(value: object, *, whole: bool = False) -> TypeGuard[float]:
    """Return True for a TOML number, or only for a whole one."""
    return isinstance(value, int if whole else int | float) and not isinstance(value, bool)


COLOURS = {
    "black": (0, 0, 0), "grey": (128, 128, 128), "silver": (192, 192, 192), "white": (255, 255, 255),
    "red": (220, 40, 40), "orange": (240, 140, 30), "yellow": (245, 220, 60), "brown": (140, 90, 50),
    "green": (50, 160, 70), "teal": (30, 150, 150), "blue": (50, 90, 210), "navy": (25, 35, 110),
    "purple": (130, 60, 170), "pink": (240, 150, 180),
}  # fmt: skip
"""Colours by name, as bytes of a picture."""


COLOUR = ValueKind(
    "three numbers from 0 to 1, such as [0.8, 0.2, 0.2], three whole numbers from 0 to 255, or a name: "
    + ", ".join(COLOURS),
    lambda value: (
        (isinstance(value, str) and value in COLOURS)
        or several(3, whole(0, 255)).holds(value)
        or several(3, number(0, 1)).holds(value)
    ),
)
"""A colour: linear from 0 to 1, or bytes of a picture if a whole number exceeds 1."""


def _linear(value: str | list[int] | list[float]) -> Sequence[float]:
    """Return a colour as linear red, green and blue."""
    if not isinstance(value, str) and max(value) <= 1:
        return value
    return [(each / 255) ** picture.GAMMA for each in (COLOURS[value] if isinstance(value, str) else value)]


def _bytes(value: str | list[int] | list[float]) -> tuple[int, int, int]:
    """Return a colour as bytes of a picture."""
    red, green, blue = (round(255 * each ** (1 / picture.GAMMA)) for each in _linear(value))
    return red, green, blue


TEXT = ValueKind("text", lambda value: isinstance(value, str) and bool(value))
TRUTH = ValueKind("true or false", lambda value: isinstance(value, bool))
COORDINATES = several(3, number(-FAR, FAR))
"""A place in the world."""


_OTHER_WORDS = {
    **dict.fromkeys(("position", "location", "translate", "at"), "place"),
    **dict.fromkeys(("rotation", "rotate", "angle"), "turn"),
    **dict.fromkeys(("scale", "width", "height", "resolution"), "size"),
    **dict.fromkeys(("file", "model"), "mesh"),
    "fov": "field_of_view", "opacity": "alpha", "target": "look_at",
}  # fmt: skip
"""Keys that other scene languages have, and those here."""


def check(
    table: Mapping[str, object],
    kinds: Mapping[str, ValueKind],
    prefix: str,
    index: KeyIndex,
    faults: list[Fault],
    also: tuple[str, ...] = (),
) -> bool:
    """Report keys not in ``kinds`` or ``also``, and values of a wrong kind; return True if there are none.

    ``prefix`` names the table in messages, ``index`` locates keys in the file.
    """
    before = len(faults)
    for key, value in table.items():
        kind = kinds.get(key)
        if kind is None:
            allowed = (*kinds, *also)
            other = _OTHER_WORDS.get(key)
            near = other if other in allowed else nearest(key, allowed)
            hint = f"did you mean {near}?" if near else "allowed: " + ", ".join(allowed)
            faults.append(Fault(f"{prefix}{key} is not a key of a scene", _place(index, prefix, key), hint))
        elif not kind.holds(value):
            shown = str(value)[:40]
            faults.append(Fault(f"{prefix}{key} is {shown}", _place(index, prefix, key), f"expected {kind.text}"))
    return len(faults) == before


def _place(index: KeyIndex, where: str, key: str = "") -> Place:
    """Return the place of a key in the table that messages call ``where``, such as ``body 2: ``."""
    return index.place(f"{where.strip(': .').replace(' ', '.')}.{key}".strip("."))


# The path of a camera through the frames of a scene: its values at some frames, interpolated linearly.


MOST_FRAMES = 10_000
"""Most frames of a scene."""

CameraWord = float | Sequence[float]
"""Value of a camera's key: a number, or the coordinates of a place."""

_MOVING = {
    **{name: number(low, high) for name, (low, high) in picture.CAMERA_RANGES.items()},
    **dict.fromkeys(picture.CAMERA_PLACES, COORDINATES),
}
_CAMERA = {**_MOVING, "near": number(*picture.NEAR_RANGE)}
_ANGLES = ("azimuth", "elevation")


class CameraKey(NamedTuple):
    """Values of the camera at a frame."""

    frame: int
    told: Mapping[str, CameraWord]


def camera_start(table: Mapping[str, object], index: KeyIndex, faults: list[Fault]) -> Mapping[str, CameraWord]:
    """Return the values of ``[camera]`` except ``at``, or none if there are faults, which are reported."""
    told = {key: value for key, value in table.items() if key != "at"}
    if not check(told, _CAMERA, "camera.", index, faults, also=("at",)):
        return {}
    contradictions = list(picture.camera_contradictions(told))
    faults += [Fault(f"camera: {message}", index.place("camera"), hint) for message, hint in contradictions]
    return {} if contradictions else {key: _word(value) for key, value in told.items()}


def camera_way(
    tables: object, frames: object, start: Mapping[str, CameraWord], index: KeyIndex, faults: list[Fault]
) -> tuple[CameraKey, ...]:
    """Return the values of ``[[camera.at]]`` in the order of frames; faults are reported.

    ``frames`` is the number of frames, or None; ``start`` are the values of ``[camera]``.
    """
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        hint = "write [[camera.at]] for a frame; where the camera looks is look_at"
        faults.append(Fault("camera.at is not a table", index.place("camera.at"), hint))
        return ()
    if frames is None and tables:
        faults.append(Fault("[[camera.at]] without frames", index.place("camera.at"), "say how many: frames = 60"))
    if frames is not None and not tables:
        hint = "say where the camera goes: [[camera.at]] with a frame; or leave frames out"
        faults.append(Fault("frames of a camera that does not move", index.place("frames"), hint))
    last = frames - 1 if isinstance(frames, int) and 1 < frames <= MOST_FRAMES else MOST_FRAMES - 1
    found: dict[int, CameraKey] = {}
    for number_, table in enumerate(tables, 1):
        key = _key(table, f"camera.at {number_}", last, start, index, faults)
        if key is not None and key.frame in found:
            place = index.place(f"camera.at.{number_}.frame")
            faults.append(Fault(f"camera.at {number_}: frame {key.frame} a second time", place, "join the two"))
        elif key is not None:
            found[key.frame] = key
    keys = tuple(found[frame] for frame in sorted(found))
    if "eye" in start:
        eyes, places = (_told(start[what], keys, what, np.arange(last + 1)) for what in picture.CAMERA_PLACES)
        wrong = [frame for frame in range(last + 1) if not picture.apart(tuple(eyes[frame]), tuple(places[frame]))]
        if wrong:
            hint = "lead one of them another way"
            faults.append(Fault(f"at frame {wrong[0]} the eye has come to look_at", index.place("camera.at"), hint))
    return keys


def _key(
    table: Mapping[str, object],
    where: str,
    last: int,
    start: Mapping[str, CameraWord],
    index: KeyIndex,
    faults: list[Fault],
) -> CameraKey | None:
    if not check(table, {"frame": whole(0, last), **_MOVING}, f"{where}: ", index, faults):
        return None
    told = {key: _word(value) for key, value in table.items() if key != "frame"}
    if "frame" not in table:
        faults.append(Fault(f"{where} has no frame", _place(index, where), "say when: frame = 0"))
        return None
    if not told:
        faults.append(
            Fault(f"{where} says nothing of the camera", _place(index, where), f"allowed: {', '.join(_MOVING)}")
        )
        return None
    fixed = "eye" in start
    wrong = [key for key in (_ANGLES if fixed else picture.CAMERA_PLACES) if key in told]
    if wrong:
        hint = "[camera] has an eye: move that" if fixed else "give [camera] an eye and look_at to begin with"
        kind = "has an eye" if fixed else "steps back"
        faults.append(Fault(f"{where}: {wrong[0]} of a camera that {kind}", _place(index, where), hint))
        return None
    frame = table["frame"]
    assert isinstance(frame, int)
    return CameraKey(frame, told)


def _word(value: object) -> CameraWord:
    if isinstance(value, list):
        return tuple(float(each) for each in value)
    assert isinstance(value, int | float)
    return float(value)


def _told(start: CameraWord, keys: Sequence[CameraKey], what: str, frames: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the values of a key of the camera in some frames: float64[frame, component]."""
    at = {0: np.atleast_1d(start)} | {key.frame: np.atleast_1d(key.told[what]) for key in keys if what in key.told}
    columns = np.array([at[frame] for frame in sorted(at)], np.float64).T
    return np.stack([np.interp(frames, sorted(at), column) for column in columns], axis=1)


def view_at(start: picture.View, keys: Sequence[CameraKey], frame: int) -> picture.View:
    """Return the view of a frame; ``start`` is that of frame 0 unless a key overrides it.

    A value is constant before the first and after the last key that names it.
    """
    found: dict[str, CameraWord] = {}
    for what in _MOVING:
        if any(what in key.told for key in keys):
            values = _told(getattr(start, what), keys, what, np.array([frame]))[0].tolist()
            found[what] = values if what in picture.CAMERA_PLACES else values[0]
    return _seen(start, found)


def _seen(view: picture.View, told: Mapping[str, CameraWord]) -> picture.View:
    """Return a view with values of a camera replaced."""
    numbers = {what: word for what, word in told.items() if isinstance(word, int | float)}
    places = {what: (word[0], word[1], word[2]) for what, word in told.items() if not isinstance(word, int | float)}
    return view._replace(
        azimuth=numbers.get("azimuth", view.azimuth),
        elevation=numbers.get("elevation", view.elevation),
        field_of_view=numbers.get("field_of_view", view.field_of_view),
        zoom=numbers.get("zoom", view.zoom),
        eye=places.get("eye", view.eye),
        look_at=places.get("look_at", view.look_at),
        near=numbers.get("near", view.near),
    )


# Scene files: TOML that describes bodies, their appearance, and the camera; docs/pages/scene-files.md has all keys.


MOST_TRIANGLES = 4_000_000
"""Most triangles of a scene, including copies and generated families."""

_DATA = shipped("tessellation.scenes", "data")

MESHES = {path.stem: path for path in sorted((_DATA / "meshes").glob("*.ply"))}
"""Shipped meshes by name; LICENSES.md in their folder has the terms of third parties."""

QUESTIONS = {path.stem: path for path in sorted((_DATA / "questions").glob("*.toml"))}
"""Scene files that test one aspect each: small triangles, depth, stencil, texels, cutouts, sampling."""

SCENES = {path.stem: path for path in sorted(_DATA.rglob("*.toml"))}
"""Shipped scene files by name, including those with moving cameras."""

_LARGEST_SIDE = 4096
_MOST_COPIES = 10000


_SCENE = {
    "size": several(2, whole(1, _LARGEST_SIDE)),
    "background": COLOUR,
    "frames": whole(2, MOST_FRAMES),
    "samples": ValueKind("1 or 4", lambda value: is_number(value, whole=True) and value in (1, 4)),
    "interpolation": word("perspective", "affine"),
}
_BODY = {
    "name": TEXT,
    "mesh": TEXT,
    "patches": TEXT,
    "samples": whole(2, 16),
    "tolerance": number(LEAST_TOLERANCE, LARGEST_TOLERANCE),
    "counts": word(*COUNTS),
    "one_sided": TRUTH,
    "up": word(*picture.UPS),
    "place": COORDINATES,
    "size": number(1e-6, FAR),
    "turn": number(-360, 360),
    "grid": several(2, whole(1, _MOST_COPIES)),
    "spacing": several(2, number(-FAR, FAR)),
    "turns": number(-360, 360),
    "colour": COLOUR,
    "flat": TRUTH,
    "blend": word(*(blend.name.lower() for blend in Blend)),
    "alpha": whole(0, 255),
    "texture": TEXT,
    "repeats": number(0.01, 100),
    "mipmaps": TRUTH,
    "cutout": whole(0, 255),
    "depth_test": word(*(test.name.lower() for test in DepthTest)),
    "depth_write": TRUTH,
    "colour_write": TRUTH,
}
_OF_TEXTURES = ("repeats", "mipmaps", "cutout")
_SEED = {"seed": whole(0, 2**31 - 1)}
FAMILIES = {
    "sized": {"count": whole(1, 1_000_000), "pixels": number(0.01, 1e7), **_SEED},
    "layers": {"depth": whole(1, 256), "columns": whole(1, 256), "rows": whole(1, 256), **_SEED},
    "volumes": {"count": whole(1, 100_000), "size": number(1, _LARGEST_SIDE), **_SEED},
}
"""Keys of each generated family."""
_NEEDED = {"sized": ("count", "pixels"), "layers": ("depth",), "volumes": ("count", "size")}
_TRIANGLES = {
    "sized": lambda told: told["count"],
    "layers": lambda told: 2 * told["depth"] * told.get("columns", 8) * told.get("rows", 6),
    "volumes": lambda told: 8 * told["count"] + 2,
}


class Generated(NamedTuple):
    """A generated family and its parameters."""

    family: str
    told: Mapping[str, Any]

    @property
    def triangles(self) -> int:
        """Triangles of the family, including those without an area."""
        return _TRIANGLES[self.family](self.told)


@dataclass(frozen=True, slots=True)
class SceneFile:
    """A valid scene file; its paths are relative to ``folder``."""

    size: tuple[int, int] = picture.SIZE
    background: tuple[int, int, int] = picture.BACKGROUND
    samples: int = 1
    view: picture.View = field(default_factory=picture.View)
    frames: int = 1
    keys: tuple[CameraKey, ...] = ()
    bodies: tuple[Placed, ...] = ()
    generated: tuple[Generated, ...] = ()
    folder: Path = Path()
    affine: bool = False
    """True if colours and texture coordinates of bodies are linear on the screen, not perspective-correct."""

    def view_at(self, frame: int) -> picture.View:
        """Return the view of a frame, numbered from 0; raises InputError for one that does not exist."""
        if not 0 <= frame < self.frames:
            raise InputError(Fault(f"the scene has no frame {frame}", hint=f"allowed: 0 to {self.frames - 1}"))
        return view_at(self.view, self.keys, frame)


def read_scene(path: str | Path) -> SceneFile:
    """Read a scene file; raises InputError with all its faults."""
    return parse_scene(read_text(path, SCENE), str(path))


def parse_scene(text: str, name: str = "scene") -> SceneFile:
    """Parse the text of a scene file; raises InputError with all its faults, placed in ``name``."""
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: TOMLDecodeError, and numbers of 5000 digits
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        at = re.search(r"\(at line (\d+), column (\d+)\)", reason)
        place = Place(name, int(at[1]), int(at[2])) if at else Place(name)
        raise InputError(Fault(f"not TOML: {reason.partition(' (at ')[0]}", place)) from None
    index = KeyIndex(name, text)
    faults: list[Fault] = []
    tables = {"camera": dict, "body": list, "generated": list}
    scalars = {key: value for key, value in found.items() if key not in tables}
    check(scalars, _SCENE, "", index, faults, also=tuple(tables))
    parts: dict[str, Any] = {}
    for key, kind in tables.items():
        parts[key] = found.get(key, kind())
        if not isinstance(parts[key], kind) or not all(isinstance(each, dict) for each in parts[key] if kind is list):
            hint = f"write {'[[' if kind is list else '['}{key}..."
            faults.append(Fault(f"{key} is not a table", index.place(key), hint))
            parts[key] = kind()
    camera = dict(camera_start(parts["camera"], index, faults))
    keys = camera_way(parts["camera"].get("at", []), found.get("frames"), camera, index, faults)
    bodies = [_body(each, number, index, faults) for number, each in enumerate(parts["body"], 1)]
    generated = [_generated(each, number, index, faults) for number, each in enumerate(parts["generated"], 1)]
    _check_order(bodies, generated, index, faults)
    if (many := sum(each.triangles for each in generated if each)) > MOST_TRIANGLES:
        hint = f"up to {MOST_TRIANGLES} in a scene"
        faults.append(Fault(f"{many} generated triangles", index.place("generated"), hint))
    if "interpolation" in found and not bodies:
        hint = "generated triangles are defined on the screen, where all is linear"
        faults.append(Fault("interpolation without a [[body]]", index.place("interpolation"), hint))
    if not bodies and not generated:
        faults.append(Fault("there is nothing to draw", Place(name), "a scene has a [[body]] or a [[generated]]"))
    if faults:
        raise InputError(faults)
    size = tuple(found.get("size", picture.SIZE))
    return SceneFile(
        size,
        _bytes(found["background"]) if "background" in found else picture.BACKGROUND,
        found.get("samples", 1),
        _seen(picture.View(width=size[0], height=size[1]), camera),
        found.get("frames", 1),
        keys,
        tuple(each for each in bodies if each),
        tuple(each for each in generated if each),
        Path(name).parent,
        found.get("interpolation") == "affine",
    )


def _body(table: Mapping[str, Any], number: int, index: KeyIndex, faults: list[Fault]) -> Placed | None:
    where = f"body {number}"
    if not check(table, _BODY, f"{where}: ", index, faults):
        return None
    sources = [key for key in ("mesh", "patches") if key in table]
    if len(sources) != 1:
        faults.append(Fault(f"{where} has {len(sources)} sources", _place(index, where), "give it a mesh or patches"))
        return None
    told = [key for key in ("samples", "tolerance", "counts", "one_sided") if key in table]
    if sources == ["mesh"] and told:
        hint = "a mesh has its triangles already"
        faults.append(Fault(f"{where}: {told[0]} with a mesh", _place(index, where, told[0]), hint))
        return None
    source = table[sources[0]]
    contradictions = [*_unknown(sources[0], source), *_without_effect(table)]
    if contradictions:
        faults += [Fault(f"{where}: {message}", _place(index, where), hint) for message, hint in contradictions]
        return None
    across, down = table.get("grid", (1, 1))
    if across * down > _MOST_COPIES:
        faults.append(Fault(f"{where}: {across * down} copies", _place(index, where), f"up to {_MOST_COPIES}"))
        return None
    x, y, z = table.get("place", (0, 0, 0))
    step_x, step_y = table.get("spacing", (1.0, 1.0))
    turn, turns = table.get("turn", 0.0), table.get("turns", 0.0)
    places = tuple(
        ((x + column * step_x, y + row * step_y, z), turn + turns * (row * across + column))
        for row in range(down)
        for column in range(across)
    )
    sampling = Sampling(table["tolerance"], table.get("counts", "any")) if "tolerance" in table else None
    samples = table.get("samples", 8) if sources == ["patches"] and sampling is None else None
    used = {"name", "mesh", "patches", "place", "size", "turn", "grid", "spacing", "turns", "up", *told}
    rest = {key: value for key, value in table.items() if key not in used}
    if "colour" in rest:
        rest["colour"] = _linear(rest["colour"])
    return Placed(
        table.get("name", Path(source).stem), source, samples, places, table.get("size"), rest,
        table.get("up", "z"), sampling, table.get("one_sided", False),
    )  # fmt: skip


def _unknown(kind: str, source: str) -> list[tuple[str, str]]:
    """Return message and hint for a name without a suffix that no shipped mesh or patches have."""
    known, others = (MESHES, BUILT_IN) if kind == "mesh" else (BUILT_IN, MESHES)
    if source in known or Path(source).suffix:
        return []
    if source in others:
        hint = f'write {"patches" if kind == "mesh" else "mesh"} = "{source}"'
    else:
        near = nearest(source, known)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}; or a file with its suffix"
    return [(f"{kind} is {source[:40]}, which does not ship here", hint)]


def _without_effect(table: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return message and hint for each key of a body that has no effect or contradicts another."""
    found = [
        (f"{key} without {other}", f"give it {other}, or leave {key} out")
        for key, other in (
            *((key, "texture") for key in _OF_TEXTURES), ("spacing", "grid"), ("turns", "grid"),
            ("counts", "tolerance"), ("one_sided", "tolerance"),
        )
        if key in table and other not in table
    ]  # fmt: skip
    if "samples" in table and "tolerance" in table:
        found.append(("samples and a tolerance", "leave one of them out"))
    if "tolerance" in table and "texture" in table:
        hint = "it would move with the samples: give it samples"
        found.append(("a texture on patches that are sampled by view", hint))
    blend = table.get("blend", "replace")
    if "alpha" in table and blend in ("replace", "multiply"):
        found.append((f"alpha with blend {blend}", "alpha is for over, add and sorted"))
    if blend == "sorted" and (table.get("depth_write") or not table.get("colour_write", True)):
        found.append(("is sorted, and so writes colour and no depth", "leave depth_write and colour_write out"))
    return found


def _check_order(
    bodies: list[Placed | None], generated: list[Generated | None], index: KeyIndex, faults: list[Fault]
) -> None:
    """Report unsorted draws that follow sorted bodies."""
    first = next((each for each in bodies if each and each.rest.get("blend") == "sorted"), None)
    if first is None:
        return
    place, last = bodies.index(first), f"sorted bodies come last; {first.name} is sorted"
    for at, body in enumerate(bodies[place:], place + 1):
        if body and body.rest.get("blend") != "sorted":
            faults.append(Fault(f"body {at} follows a sorted body and is not sorted", index.place(f"body.{at}"), last))
    if generated:
        hint = "generated families are drawn after all bodies and are not sorted"
        faults.append(Fault(f"[[generated]] with a sorted body: {first.name}", index.place("generated"), hint))


def _generated(table: Mapping[str, object], number: int, index: KeyIndex, faults: list[Fault]) -> Generated | None:
    where = f"generated {number}"
    family = table.get("family")
    if not isinstance(family, str) or family not in FAMILIES:
        near = nearest(str(family), FAMILIES)
        hint = f"did you mean {near}?" if near else "allowed: " + ", ".join(FAMILIES)
        faults.append(Fault(f"{where}: family is {str(family)[:40]}", _place(index, where, "family"), hint))
        return None
    told = {key: value for key, value in table.items() if key != "family"}
    if not check(told, FAMILIES[family], f"{where}: ", index, faults):
        return None
    missing = [key for key in _NEEDED[family] if key not in told]
    if missing:
        faults.append(Fault(f"{where}: {family} needs {' and '.join(missing)}", _place(index, where)))
        return None
    return Generated(family, told)
