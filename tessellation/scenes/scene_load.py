"""From the name of a scene, mesh or patch file to a frame that any machine can draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pixelflow.simd.drawing import Blend, DepthTest, Draw, Frame, State, Texture
from pixelflow.simd.errors import Fault, InputError, Place, nearest
from tessellation.host.kept_model import ModelWork, kept_model
from tessellation.picture import MESH_SUFFIXES, SAMPLES, Model, SceneSource, Standpoint, View, read_model
from tessellation.picture.models import CHECKER, checker, read_texels, shipped_model
from tessellation.plan.mapping import MAX_SAMPLES
from tessellation.sampling import SampleChoice, Sampling
from tessellation.scenes.families import layers, sized, volumes
from tessellation.scenes.scene_file import MESHES, MOST_TRIANGLES, SCENES, Generated, SceneFile, read_scene
from tessellation.scenes.world import Body, Placed, SampledBodies, SampledCopy, copies_of, draws_of, upright
from tessellation.surface.bpt import BUILT_IN, PatchFile, is_patches, load
from tessellation.surface.mesh import Mesh

if TYPE_CHECKING:
    from tessellation.host.tessellator import Tessellation
    from tessellation.microprogram.method import Method

_LARGEST_TEXTURE = 1024
_FLOOR_COLOUR, _FLOOR_SIZE, _NEAR_FLOOR = (0.55, 0.56, 0.58), 2.5, 0.01
_FAMILIES: dict[str, Callable[..., Draw | list[Draw]]] = {"sized": sized, "layers": layers, "volumes": volumes}


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A frame and the tessellations that made it: ``anew`` are those for the camera of this frame.

    ``bodies`` are those of the first draws, one each, seen in ``view``; generated draws follow.
    """

    name: str
    frame: Frame
    anew: tuple[Tessellation, ...] = ()
    bodies: tuple[Body, ...] = ()
    view: View = field(default_factory=View)
    choice: SampleChoice | None = None
    """Samples chosen by view for the patches of all such bodies and their copies."""
    once: tuple[ModelWork, ...] = ()
    """Tessellations before the first frame, the same for every frame, in the order of bodies."""

    @property
    def tessellations(self) -> tuple[Tessellation, ...]:
        """All tessellations that this frame needs by itself."""
        return (*(each.whole() for each in self.once), *self.anew)

    @property
    def triangles(self) -> int:
        """Triangles of all draws, without those that have no area."""
        return sum(len(draw.triangles) for draw in self.frame.draws)


def load_scene(name: str, how: SceneSource | None = None) -> Scene:
    """Return the scene of a shipped name or of a file: scene (.toml), mesh or patches.

    Raises InputError if it is missing, unreadable or invalid.
    """
    with _placed(name):
        return prepare_scene(name, how).at()


def prepare_scene(name: str, how: SceneSource | None = None, method: Method | None = None) -> PreparedScene:
    """Return a scene with all its frames; ``method`` is that of passes of patches sampled by view."""
    how = how or SceneSource()
    described = _described(name, how)
    with _placed(name):
        return PreparedScene(Path(name).stem, described, how, method)


def frames_of(name: str) -> int:
    """Return the number of frames of a scene, without making any; raises InputError for a name that is not a scene."""
    return _described(name, SceneSource()).frames


def samples_by_view(name: str) -> bool:
    """Return whether a scene has patches sampled for each frame; raises InputError as `frames_of` does."""
    return any(body.sampling is not None for body in _described(name, SceneSource()).bodies)


@contextmanager
def _placed(name: str) -> Iterator[None]:
    """Add the scene as the place of faults without one."""
    try:
        yield
    except InputError as error:
        raise InputError(fault._replace(place=fault.place or Place(name)) for fault in error.faults) from None


def overruled(how: SceneSource) -> Iterator[tuple[str, str, str]]:
    """Yield what ``how`` sets and a scene file determines: option of commands, what it is, and how a file has it."""
    looks = how.flat or how.patch_samples is not None or how.tolerance is not None
    for given, option, what, key in (
        (looks, "--flat", "how its bodies look", "keys of its [[body]]"),
        (how.view is not None, "--camera", "where its camera is", "[camera]"),
        (how.floor, "--floor", "its bodies", '[[body]] with mesh = "floor" and a size, its width'),
        (how.up != "z", "--up", "which axis is up", 'up = "y" in its [[body]]'),
    ):
        if given:
            yield option, what, key


def is_scene(name: str) -> bool:
    """Return True for the name of a shipped scene, mesh or patches, and for one with the suffix of such a file."""
    suffix = Path(name).suffix.lower()
    return name in SCENES or name in MESHES or is_patches(name) or suffix in (".toml", *MESH_SUFFIXES)


def files_of(name: str) -> tuple[Path, ...]:
    """Return the user's files in a scene: the scene file, meshes, patches, textures.

    Raises InputError for a name that is not a scene, and for an unreadable scene file.
    """
    described = _described(name, SceneSource())
    files = [] if name in SCENES or name in MESHES or name in BUILT_IN else [Path(name)]
    for placed in described.bodies:
        shipped = BUILT_IN if placed.patches else MESHES
        files += [] if placed.source in shipped else [_beside(described, placed.source)]
        texture = placed.rest.get("texture", CHECKER)
        files += [] if texture == CHECKER else [_beside(described, texture)]
    return tuple(dict.fromkeys(files))


def _described(name: str, how: SceneSource) -> SceneFile:
    """Return the scene file of a name, or an equivalent one for a model alone."""
    if name in SCENES or Path(name).suffix.lower() == ".toml":
        for _, what, key in overruled(how):
            raise InputError(Fault(f"a scene file determines {what}", Place(name), key))
        return read_scene(SCENES.get(name, name))
    if name in MESHES or Path(name).suffix.lower() in MESH_SUFFIXES:
        if how.patch_samples is not None or how.tolerance is not None:
            raise InputError(Fault("samples of patches: a mesh has its triangles already", Place(name)))
        return _single(name, None, how)
    if name in BUILT_IN or Path(name).suffix.lower() == ".bpt":
        return _single(name, how.patch_samples or SAMPLES, how)
    if Path(name).is_dir():
        hint = "name a file in it, or a scene that ships here"
        raise InputError(Fault("is a folder, not a scene", Place(name), hint))
    known = (*SCENES, *MESHES, *BUILT_IN)
    near = nearest(name, known)
    hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}; files: .toml, .bpt, "
    raise InputError(Fault(f"{name} is not a scene", Place(name), hint if near else hint + ", ".join(MESH_SUFFIXES)))


def _single(name: str, samples: int | None, how: SceneSource) -> SceneFile:
    sampling = None if samples is None or how.tolerance is None else Sampling(how.tolerance, how.counts)
    samples = samples if sampling is None else None
    body = Placed(Path(name).stem, name, samples, (), None, {"flat": how.flat}, how.up, sampling, how.one_sided)
    return SceneFile(view=how.view or View(), bodies=(body,), folder=Path())


class PreparedScene:
    """A scene whose files have been read and whose bodies are placed; its frames differ by their cameras.

    Patches sampled by view stay in the texture memory of one node (thesis 4.4); all others are tessellated here, once.
    """

    def __init__(self, name: str, described: SceneFile, how: SceneSource, method: Method | None = None) -> None:
        """``method`` is that of passes of patches sampled by view. Raises InputError as `load_scene` does."""
        self.name, self._described = name, described
        self._size = how.size or described.size
        self._samples = how.samples or described.samples
        self._affine = described.affine or how.affine
        sources, states = _read(described, how)
        self._generated = [draw for each in described.generated for draw in _generated(each, *self._size)]
        if how.require is not None:
            looks = [(placed.name, state) for placed, state in zip(described.bodies, states, strict=True)]
            how.require([*looks, *((draw.name, draw.state) for draw in self._generated)], self._samples)
        self._slots: list[list[Body] | list[SampledCopy]] = []
        once = []
        triangles = sum(each.triangles for each in described.generated)
        for placed, source, state in zip(described.bodies, sources, states, strict=True):
            if placed.sampling is not None and isinstance(source, PatchFile):
                copies = _copies(placed, source, state, how)
                self._slots.append(copies)
                triangles += sum(len(copy.patches) for copy in copies) * 2 * (MAX_SAMPLES - 1) ** 2
            else:
                model, tessellation = _model(placed, source, state, how)
                once += [tessellation] if tessellation else []
                self._slots.append([model.placed(place, placed.size, turn) for place, turn in placed.places] or [model])
                triangles += len(model.corners) * max(1, len(placed.places))
            if triangles > MOST_TRIANGLES:
                raise InputError(Fault(f"{placed.name}: {triangles} triangles with it", hint=f"up to {MOST_TRIANGLES}"))
        if how.note is not None and (names := _overlapping(described.bodies, self._slots)):
            how.note(f"note: {' and '.join(names)} overlap at one place: move one with place = [x, y, z]")
        self._floor = [_floor_below(self._outlines())] if how.floor else []
        self._once = tuple(once)
        copies = [each for slot in self._slots for each in slot if isinstance(each, SampledCopy)]
        self.sampled = SampledBodies(copies, how, method) if copies else None
        """The bodies sampled by view."""

    @property
    def frames(self) -> int:
        return self._described.frames

    @property
    def background(self) -> tuple[int, int, int]:
        return self._described.background

    def view(self, frame: int = 0) -> View:
        """Return the view of a frame; raises InputError for one that does not exist."""
        width, height = self._size
        return self._described.view_at(frame)._replace(width=width, height=height)

    def standpoint(self, frame: int = 0) -> Standpoint:
        """Return the standpoint of a frame's camera, placed by the surfaces, independently of their samples."""
        found = Standpoint.of(self._outlines(), self.view(frame))
        return found._replace(near=found.near or _NEAR_FLOOR) if self._floor else found

    def _outlines(self) -> np.ndarray:
        """Return points of all surfaces but the floor, float64[point, xyz]."""
        bodies = (each for slot in self._slots for each in slot)
        return np.concatenate([each.points if isinstance(each, Body) else each.outline for each in bodies])

    def at(self, frame: int = 0) -> Scene:
        """Return a frame, tessellated for its camera; raises InputError for one that does not exist."""
        view = self.view(frame)
        bodies = [each for slot in self._slots for each in slot if isinstance(each, Body)]
        anew: tuple[Tessellation, ...] = ()
        standpoint, choice = self.standpoint(frame) if self._floor else None, None
        if self.sampled is not None:
            standpoint = self.standpoint(frame)
            found, done, choice = self.sampled.before(standpoint)
            anew = (done,)
            seen = iter(found)
            ordered = [each if isinstance(each, Body) else next(seen) for slot in self._slots for each in slot]
            bodies = [body for body in ordered if body is not None]
        bodies += self._floor
        draws = [*(draws_of(bodies, view, standpoint, affine=self._affine) if bodies else []), *self._generated]
        picture = Frame(*self._size, self._described.background, tuple(draws), self._samples)
        return Scene(self.name, picture, anew, tuple(bodies), view, choice, self._once)


def _overlapping(bodies: Sequence[Placed], slots: Sequence[list[Body] | list[SampledCopy]]) -> tuple[str, ...]:
    """Return the names of two bodies with the same foot; a flat one may be under another."""
    known: dict[tuple[float, float, float], str] = {}
    for placed, slot in zip(bodies, slots, strict=True):
        points = next(each.points if isinstance(each, Body) else each.outline for each in slot)
        for place, _ in placed.places if np.ptp(points, axis=0).all() else ():
            if place in known:
                return known[place], placed.name
            known[place] = placed.name
    return ()


def _floor_below(points: np.ndarray) -> Body:
    """Return a square below the middle of points, wider than they are; the camera goes by them alone."""
    model = shipped_model(MESHES["floor"])
    low, high = points.min(axis=0), points.max(axis=0)
    body = Body("floor", model.points, model.normals, np.asarray(model.corners, np.int64), _FLOOR_COLOUR)
    return body.placed((*(low + high)[:2] / 2, low[2]), _FLOOR_SIZE * (high - low)[:2].max(), 0.0)


def _copies(placed: Placed, source: PatchFile, state: State, how: SceneSource) -> list[SampledCopy]:
    if how.mesher is not None:
        hint = "a PixelFlow node samples by view: give the body samples, or leave the projection to the host"
        raise InputError(Fault(f"{placed.name}: a tolerance, and another machine's tessellation", hint=hint))
    return copies_of(placed, source.patches, state)


def _generated(generated: Generated, width: int, height: int) -> list[Draw]:
    found = _FAMILIES[generated.family](width, height, **generated.told)
    return found if isinstance(found, list) else [found]


def _read(described: SceneFile, how: SceneSource) -> tuple[list[Model | PatchFile], list[State]]:
    """Return the contents of each body's file, read once each, and the state of its draw.

    Raises InputError with the faults of all files.
    """
    faults: dict[Fault, None] = {}  # ordered and without repetition
    found: dict[tuple[str, bool], Model | PatchFile] = {}
    states: list[State] = []
    for placed in described.bodies:
        try:
            if _key(placed) not in found:
                found[_key(placed)] = _source(placed, described, how)
        except InputError as error:
            faults |= dict.fromkeys(error.faults)
        try:
            states.append(_state(placed, described))
        except InputError as error:
            faults |= dict.fromkeys(error.faults)
    if faults:
        raise InputError(faults)
    return [found[_key(placed)] for placed in described.bodies], states


def _key(placed: Placed) -> tuple[str, bool]:
    """Return the file of a body and whether it is read as patches."""
    return placed.source, placed.patches


def _source(placed: Placed, described: SceneFile, how: SceneSource) -> Model | PatchFile:
    if not placed.patches:
        shipped = MESHES.get(placed.source)
        return read_model(str(_beside(described, placed.source))) if shipped is None else shipped_model(shipped)
    file = load(placed.source if placed.source in BUILT_IN else str(_beside(described, placed.source)))
    if how.note is not None:
        for note in file.notes:
            how.note(f"note: {file.name}: {note}")
    return file


def _model(placed: Placed, source: Model | PatchFile, state: State, how: SceneSource) -> tuple[Body, ModelWork | None]:
    """Return a body unplaced, and the tessellation of its patches."""
    tessellation = None
    model: Model | Mesh
    if isinstance(source, Model):
        model, corners = source, source.corners
    else:
        if how.mesher is not None:
            model = how.mesher(source.patches, placed.samples or SAMPLES)
            corners = model.triangles
        else:
            tessellation = _tessellated(placed, source, how)
            model, corners = tessellation.model, tessellation.model.corners
    points, normals = (np.asarray(values, np.float64) for values in (model.points, model.normals))
    if placed.up == "y":
        points, normals = upright(points), upright(normals)
    rest = placed.rest
    body = Body(
        placed.name, points, normals, np.asarray(corners, np.int64),
        placed.colour, rest.get("flat", False), state, rest.get("repeats", 4.0),
    )  # fmt: skip
    return body, tessellation


def _tessellated(placed: Placed, source: PatchFile, how: SceneSource) -> ModelWork:
    """Tessellate patches; a shipped model whose run is not watched may be kept from an earlier process."""
    patches, samples = source.patches, placed.samples or SAMPLES
    if placed.source in BUILT_IN and how.watch is None:
        return kept_model(patches, samples, engine=how.engine, config=how.config, progress=how.progress)
    from tessellation.host.tessellator import tessellate

    done = tessellate(patches, samples, engine=how.engine, config=how.config, progress=how.progress, watch=how.watch)
    return ModelWork.of(done)


def _beside(described: SceneFile, source: str) -> Path:
    return described.folder / source


def _state(placed: Placed, described: SceneFile) -> State:
    rest = placed.rest
    blend = Blend[rest.get("blend", "replace").upper()]
    return State(
        depth_test=DepthTest[rest.get("depth_test", "less").upper()],
        depth_write=rest.get("depth_write", blend in (Blend.REPLACE,)),
        colour_write=rest.get("colour_write", True),
        blend=blend,
        alpha=rest.get("alpha", 255),
        texture=_texture(rest["texture"], described, rest.get("mipmaps", False)) if "texture" in rest else None,
        cutout=rest.get("cutout", 0),
    )


def _texture(name: str, described: SceneFile, mipmaps: bool) -> Texture:
    if name == CHECKER:
        return Texture(checker(), mipmaps)
    path = _beside(described, name)
    texels = read_texels(path, _LARGEST_TEXTURE, f"powers of two up to {_LARGEST_TEXTURE}")
    try:
        return Texture(texels, mipmaps)
    except InputError as error:
        raise InputError(fault._replace(place=Place(str(path))) for fault in error.faults) from None
