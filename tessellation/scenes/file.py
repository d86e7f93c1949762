"""Scene files: TOML that says what stands where, how it is drawn, and from where it is seen.

    size = [640, 480]              # pixels; may be given anew where the file is read
    background = [222, 224, 230]
    samples = 1                    # or 4
    interpolation = "perspective"  # of colours and texture coordinates; or "affine": linear on the screen
    [camera]                       # degrees; it moves back until all bodies are in the picture
    azimuth = -62.0
    elevation = 24.0
    field_of_view = 28.0
    zoom = 1.0                     # magnifies around the middle: what is outside then is not drawn
    # eye = [4, -3, 1.5]           # instead of azimuth and elevation: it stands here, and
    # look_at = [0, 0, 1]          #   looks here; triangles are cut
    # near = 0.05                  #   where they come so near (default: a hundredth of all bodies' extent)
    [[camera.at]]                  # with `frames = 60` at the top: what the camera has come to at a
    frame = 59                     #   frame, on a straight line from what it was before
    azimuth = 298.0
    [[body]]
    mesh = "bunny"                 # a mesh that ships here, or a file beside this one; or
    patches = "teapot"             # patches that a PixelFlow node tessellates, at
    samples = 8                    #   so many samples along u and along v; or, from view to view, at
    tolerance = 0.5                #   as many as keep triangles within so many pixels of the surface;
    counts = "any"                 #   "powers": 2, 4, 8 and 16 alone
    one_sided = false              #   drops what faces away: of closed surfaces, whose inside nobody sees
    up = "y"                       # which axis of the file is up: "z", or "y", as many programs write them
    place = [0, 0, 0]              # where it stands; z is up
    size = 1.0                     # its longest extent; without, as it is
    turn = 30.0                    # degrees around z
    grid = [4, 3]                  # copies along x and y
    spacing = [1.5, 1.2]           #   so far apart along x and along y (default: 1 and 1), from `place` on
    turns = 12.0                   #   each turned by so many degrees more than the one before it
    colour = [0.66, 0.37, 0.21]    # linear red, green, blue
    flat = false                   # one colour a triangle
    blend = "over"                 # replace, over, add, multiply, sorted
    alpha = 110                    # 0 to 255; for over, add and sorted
    texture = "checker"            # or a PNG file; `repeats` times over the body; `cutout` 0 to 255
    mipmaps = true                 # smaller levels of the texture, filtered trilinearly; without, bilinearly
    depth_write = true             # without, true for "replace" alone; likewise colour_write, always true
    depth_test = "less"            # or "always"
    [[generated]]
    family = "sized"               # count, pixels, seed; or "layers": depth, columns, rows, seed;
                                   #   or "volumes": count, size, seed

Bodies are drawn in the order of the file, generated families after them. Sorted bodies come last of all: they are not
followed by others, and write colour and no depth. A key that would have no effect is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pixelflow.simd.drawing import Blend, DepthTest
from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.files import SCENE, read_text
from pixelflow.simd.packaged import shipped
from tessellation.picture import BACKGROUND, SIZE, UPS, View
from tessellation.sampling.choice import COUNTS, LARGEST_TOLERANCE, LEAST_TOLERANCE, Sampling
from tessellation.scenes.camera_way import MOST_FRAMES, CameraKey, camera_start, camera_way, view_at
from tessellation.scenes.kinds import (
    COORDINATES,
    FAR,
    TEXT,
    TRUTH,
    ValueKind,
    check,
    is_number,
    number,
    several,
    whole,
    word,
)
from tessellation.scenes.world import Placed
from tessellation.surface.bpt import BUILT_IN

__all__ = [
    "BACKGROUND",
    "FAMILIES",
    "MESHES",
    "MOST_TRIANGLES",
    "QUESTIONS",
    "SCENES",
    "SIZE",
    "Generated",
    "SceneFile",
    "parse_scene",
    "read_scene",
]

MOST_TRIANGLES = 4_000_000
"""A scene has no more triangles, its copies and generated families counted."""

_DATA = shipped("tessellation.scenes", "data")

MESHES = {path.stem: path for path in sorted((_DATA / "meshes").glob("*.ply"))}
"""Meshes that ship here by name; the terms of what others made are in LICENSES.md beside them."""

QUESTIONS = {path.stem: path for path in sorted((_DATA / "questions").glob("*.toml"))}
"""Scene files that put one question each to a machine: small triangles, depth, stencil, texels, cutouts, sampling."""

SCENES = {path.stem: path for path in sorted(_DATA.rglob("*.toml"))}
"""Scene files that ship here by name, those of cameras that move in a folder of their own."""

_LARGEST_SIDE = 4096
_MOST_COPIES = 10000


_SCENE = {
    "size": several(2, whole(1, _LARGEST_SIDE)),
    "background": several(3, whole(0, 255)),
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
    "up": word(*UPS),
    "place": COORDINATES,
    "size": number(1e-6, FAR),
    "turn": number(-360, 360),
    "grid": several(2, whole(1, _MOST_COPIES)),
    "spacing": several(2, number(-FAR, FAR)),
    "turns": number(-360, 360),
    "colour": several(3, number(0, 1)),
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
"""Generated families, and what each may be told."""
_NEEDED = {"sized": ("count", "pixels"), "layers": ("depth",), "volumes": ("count", "size")}
_TRIANGLES = {
    "sized": lambda told: told["count"],
    "layers": lambda told: 2 * told["depth"] * told.get("columns", 8) * told.get("rows", 6),
    "volumes": lambda told: 8 * told["count"] + 2,
}


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated family and what it is told."""

    family: str
    told: Mapping[str, Any]

    @property
    def triangles(self) -> int:
        """Triangles that the family makes, those without an area counted."""
        return _TRIANGLES[self.family](self.told)


@dataclass(frozen=True, slots=True)
class SceneFile:
    """A scene file that is as it should be; ``folder`` is what its paths start from."""

    size: tuple[int, int] = SIZE
    background: tuple[int, int, int] = BACKGROUND
    samples: int = 1
    view: View = field(default_factory=View)
    frames: int = 1
    keys: tuple[CameraKey, ...] = ()
    bodies: tuple[Placed, ...] = ()
    generated: tuple[Generated, ...] = ()
    folder: Path = Path()
    affine: bool = False
    """Whether colours and texture coordinates of bodies are linear on the screen, not perspective-correct."""

    def view_at(self, frame: int) -> View:
        """Return how the scene is seen in a frame, from 0 on; raises InputError for one that it does not have."""
        if not 0 <= frame < self.frames:
            raise InputError(Fault(f"the scene has no frame {frame}", hint=f"allowed: 0 to {self.frames - 1}"))
        return view_at(self.view, self.keys, frame)


def read_scene(path: str | Path) -> SceneFile:
    """Read a scene file; raises InputError with every fault of it."""
    return parse_scene(read_text(path, SCENE), str(path))


def parse_scene(text: str, name: str = "scene") -> SceneFile:
    """Return what a scene file's text says; raises InputError with every fault of it, ``name`` as the place."""
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: TOMLDecodeError, and numbers of 5000 digits
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise InputError(Fault(f"not TOML: {reason}", Place(name))) from None
    faults: list[Fault] = []
    tables = {"camera": dict, "body": list, "generated": list}
    scalars = {key: value for key, value in found.items() if key not in tables}
    check(scalars, _SCENE, "", name, faults, also=tuple(tables))
    parts: dict[str, Any] = {}
    for key, kind in tables.items():
        parts[key] = found.get(key, kind())
        if not isinstance(parts[key], kind) or not all(isinstance(each, dict) for each in parts[key] if kind is list):
            faults.append(Fault(f"{key} is not a table", Place(name), f"write {'[[' if kind is list else '['}{key}..."))
            parts[key] = kind()
    camera = dict(camera_start(parts["camera"], name, faults))
    keys = camera_way(parts["camera"].get("at", []), found.get("frames"), camera, name, faults)
    bodies = [_body(each, number, name, faults) for number, each in enumerate(parts["body"], 1)]
    generated = [_generated(each, number, name, faults) for number, each in enumerate(parts["generated"], 1)]
    _check_order(bodies, generated, name, faults)
    if (many := sum(each.triangles for each in generated if each)) > MOST_TRIANGLES:
        faults.append(Fault(f"{many} generated triangles", Place(name), f"up to {MOST_TRIANGLES} in a scene"))
    if "interpolation" in found and not bodies:
        hint = "generated triangles are made on the screen, where all is linear"
        faults.append(Fault("interpolation without a [[body]]", Place(name), hint))
    if not bodies and not generated:
        faults.append(Fault("there is nothing to draw", Place(name), "a scene has a [[body]] or a [[generated]]"))
    if faults:
        raise InputError(faults)
    size = tuple(found.get("size", SIZE))
    return SceneFile(
        size,
        tuple(found.get("background", BACKGROUND)),
        found.get("samples", 1),
        View(**camera, width=size[0], height=size[1]),
        found.get("frames", 1),
        keys,
        tuple(each for each in bodies if each),
        tuple(each for each in generated if each),
        Path(name).parent,
        found.get("interpolation") == "affine",
    )


def _body(table: Mapping[str, Any], number: int, name: str, faults: list[Fault]) -> Placed | None:
    where = f"body {number}"
    if not check(table, _BODY, f"{where}: ", name, faults):
        return None
    sources = [key for key in ("mesh", "patches") if key in table]
    if len(sources) != 1:
        faults.append(Fault(f"{where} has {len(sources)} sources", Place(name), "give it a mesh or patches"))
        return None
    told = [key for key in ("samples", "tolerance", "counts", "one_sided") if key in table]
    if sources == ["mesh"] and told:
        faults.append(Fault(f"{where}: {told[0]} with a mesh", Place(name), "a mesh has its triangles already"))
        return None
    source = table[sources[0]]
    contradictions = [*_unknown(sources[0], source), *_without_effect(table)]
    if contradictions:
        faults += [Fault(f"{where}: {message}", Place(name), hint) for message, hint in contradictions]
        return None
    across, down = table.get("grid", (1, 1))
    if across * down > _MOST_COPIES:
        faults.append(Fault(f"{where}: {across * down} copies", Place(name), f"up to {_MOST_COPIES}"))
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
    return Placed(
        table.get("name", Path(source).stem), source, samples, places, table.get("size"), rest,
        table.get("up", "z"), sampling, table.get("one_sided", False),
    )  # fmt: skip


def _unknown(kind: str, source: str) -> list[tuple[str, str]]:
    """Return what is wrong with a name without a suffix, and what to do: no mesh and no patches ship as it."""
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
    """Return what in a body has no effect or contradicts the rest, and what to do."""
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
        found.append(
            ("a texture on patches that are sampled by view", "it would move with the samples: give it samples")
        )
    blend = table.get("blend", "replace")
    if "alpha" in table and blend in ("replace", "multiply"):
        found.append((f"alpha with blend {blend}", "alpha is for over, add and sorted"))
    if blend == "sorted" and (table.get("depth_write") or not table.get("colour_write", True)):
        found.append(("is sorted, and so writes colour and no depth", "leave depth_write and colour_write out"))
    return found


def _check_order(
    bodies: list[Placed | None], generated: list[Generated | None], name: str, faults: list[Fault]
) -> None:
    """Report what is drawn after bodies that are sorted, and is not."""
    first = next((each for each in bodies if each and each.rest.get("blend") == "sorted"), None)
    if first is None:
        return
    place, last = bodies.index(first), f"sorted bodies come last; {first.name} is sorted"
    for at, body in enumerate(bodies[place:], place + 1):
        if body and body.rest.get("blend") != "sorted":
            faults.append(Fault(f"body {at} follows a body that is sorted, and is not", Place(name), last))
    if generated:
        hint = "generated families are drawn after all bodies and are not sorted"
        faults.append(Fault(f"[[generated]] with a body that is sorted: {first.name}", Place(name), hint))


def _generated(table: Mapping[str, object], number: int, name: str, faults: list[Fault]) -> Generated | None:
    where = f"generated {number}"
    family = table.get("family")
    if not isinstance(family, str) or family not in FAMILIES:
        near = nearest(str(family), FAMILIES)
        hint = f"did you mean {near}?" if near else "allowed: " + ", ".join(FAMILIES)
        faults.append(Fault(f"{where}: family is {str(family)[:40]}", Place(name), hint))
        return None
    told = {key: value for key, value in table.items() if key != "family"}
    if not check(told, FAMILIES[family], f"{where}: ", name, faults):
        return None
    missing = [key for key in _NEEDED[family] if key not in told]
    if missing:
        faults.append(Fault(f"{where}: {family} needs {' and '.join(missing)}", Place(name)))
        return None
    return Generated(family, told)
