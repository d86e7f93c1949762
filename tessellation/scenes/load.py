"""From the name of a scene, a mesh or a patch file to a frame that any machine may draw."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pixelflow.simd.drawing import Blend, DepthTest, Draw, Frame, State, Texture
from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place, nearest
from pixelflow.simd.files import TEXTURE, read_bytes
from tessellation.host.tessellator import Tessellation, tessellate
from tessellation.picture import MESH_SUFFIXES, SAMPLES, Model, SceneSource, View, read_model
from tessellation.scenes.families import layers, sized, volumes
from tessellation.scenes.file import MESHES, MOST_TRIANGLES, SCENES, Generated, Placed, SceneFile, colour_of, read_scene
from tessellation.scenes.world import Body, draws_of
from tessellation.surface.bpt import BUILT_IN, PatchFile, load

__all__ = ["Scene", "files_of", "load_scene"]

_CHECKER = "checker"
"""The texture that ships here."""
_CHECKER_SIDE = 64
_CHECKER_FIELD = 8
_LARGEST_TEXTURE = 1024
_FAMILIES = {"sized": sized, "layers": layers, "volumes": volumes}


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A frame, and what a PixelFlow node did to make it: the tessellations of its patches, in the order of bodies.

    ``bodies`` are those of the first draws, one each; ``view`` is how they are seen. Generated draws follow.
    """

    name: str
    frame: Frame
    tessellations: tuple[Tessellation, ...] = ()
    bodies: tuple[Body, ...] = ()
    view: View = field(default_factory=View)

    @property
    def triangles(self) -> int:
        """Triangles of all draws, those without an area left out."""
        return sum(len(draw.triangles) for draw in self.frame.draws)


def load_scene(name: str, how: SceneSource | None = None) -> Scene:
    """Return the scene of a name that ships here or of a file: scene (.toml), mesh or patches.

    Raises InputError for what is not there, cannot be read or says what cannot be.
    """
    how = how or SceneSource()
    described = _described(name, how)
    try:
        return _build(name, described, how)
    except InputError as error:
        raise InputError(replace(fault, place=fault.place or Place(name)) for fault in error.faults) from None


def files_of(name: str) -> tuple[Path, ...]:
    """Return the files of the user that a scene is made of: the scene file, meshes, patches, textures.

    Raises InputError for a name that is no scene, and for a scene file that cannot be read.
    """
    described = _described(name, SceneSource())
    files = [] if name in SCENES or name in MESHES or name in BUILT_IN else [Path(name)]
    for placed in described.bodies:
        shipped = MESHES if placed.samples is None else BUILT_IN
        files += [] if placed.source in shipped else [_beside(described, placed.source)]
        texture = placed.rest.get("texture", _CHECKER)
        files += [] if texture == _CHECKER else [_beside(described, texture)]
    return tuple(dict.fromkeys(files))


def _described(name: str, how: SceneSource) -> SceneFile:
    """Return the scene file of a name, or the one that would say the same of a model alone."""
    if name in SCENES or Path(name).suffix.lower() == ".toml":
        if how.patch_samples is not None or how.flat:
            raise InputError(Fault("a scene file says itself how its bodies look", Place(name)))
        if how.up != "z":
            raise InputError(Fault("a scene file says itself what is up", Place(name), 'up = "y" in its [[body]]'))
        return read_scene(SCENES.get(name, name))
    if name in MESHES or Path(name).suffix.lower() in MESH_SUFFIXES:
        if how.patch_samples is not None:
            raise InputError(Fault("samples of patches: a mesh has its triangles already", Place(name)))
        return _single(name, None, how)
    if name in BUILT_IN or Path(name).suffix.lower() == ".bpt":
        return _single(name, how.patch_samples or SAMPLES, how)
    known = (*SCENES, *MESHES, *BUILT_IN)
    near = nearest(name, known)
    hint = f"did you mean {near}?" if near else f"known: {', '.join(known)}; files: .toml, .bpt, "
    raise InputError(Fault(f"{name} is no scene", Place(name), hint if near else hint + ", ".join(MESH_SUFFIXES)))


def _single(name: str, samples: int | None, how: SceneSource) -> SceneFile:
    body = Placed(Path(name).stem, name, samples, (), None, {"flat": how.flat}, how.up)
    return SceneFile(bodies=(body,), folder=Path())


def _build(name: str, described: SceneFile, how: SceneSource) -> Scene:
    width, height = how.size or described.size
    samples = how.samples or described.samples
    view = replace(described.view, width=width, height=height)
    sources, states = _read(described, how)
    generated = [draw for each in described.generated for draw in _generated(each, width, height)]
    if how.require is not None:
        looks = [(placed.name, state) for placed, state in zip(described.bodies, states, strict=True)]
        how.require([*looks, *((draw.name, draw.state) for draw in generated)], samples)
    bodies, tessellations = [], []
    triangles = sum(each.triangles for each in described.generated)
    for placed, source, state in zip(described.bodies, sources, states, strict=True):
        model, tessellation = _model(placed, source, state, how)
        tessellations += [tessellation] if tessellation else []
        triangles += len(model.corners) * max(1, len(placed.places))
        if triangles > MOST_TRIANGLES:
            raise InputError(Fault(f"{placed.name}: {triangles} triangles with it", hint=f"up to {MOST_TRIANGLES}"))
        bodies += [model.placed(place, placed.size, turn) for place, turn in placed.places] or [model]
    draws = [*(draws_of(bodies, view, affine=described.affine or how.affine) if bodies else []), *generated]
    frame = Frame(width, height, described.background, tuple(draws), samples)
    return Scene(Path(name).stem, frame, tuple(tessellations), tuple(bodies), view)


def _generated(generated: Generated, width: int, height: int) -> list[Draw]:
    found = _FAMILIES[generated.family](width, height, **generated.told)
    return found if isinstance(found, list) else [found]


def _read(described: SceneFile, how: SceneSource) -> tuple[list[Model | PatchFile], list[State]]:
    """Return, body by body, what its file holds, each read once, and how it looks.

    Raises InputError with the faults of all files, those that are missing among them.
    """
    faults: dict[Fault, None] = {}  # in their order, each once
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
    """Return what says which file a body is of, and as what it is read."""
    return placed.source, placed.samples is None


def _source(placed: Placed, described: SceneFile, how: SceneSource) -> Model | PatchFile:
    if placed.samples is None:
        return read_model(str(MESHES.get(placed.source) or _beside(described, placed.source)))
    file = load(placed.source if placed.source in BUILT_IN else str(_beside(described, placed.source)))
    if how.note is not None:
        for note in file.notes:
            how.note(f"note: {file.name}: {note}")
    return file


def _model(
    placed: Placed, source: Model | PatchFile, state: State, how: SceneSource
) -> tuple[Body, Tessellation | None]:
    """Return a body as its mesh or its patches are, and what tessellating them took."""
    tessellation = None
    if isinstance(source, Model):
        model, corners = source, source.corners
    else:
        if how.mesher is not None:
            model = how.mesher(source.patches, placed.samples)
        else:
            machine = {"engine": how.engine, "config": how.config, "progress": how.progress, "watch": how.watch}
            tessellation = tessellate(source.patches, placed.samples, **machine)
            model = tessellation.mesh(weld=True)
        corners = model.triangles
    points, normals = (np.asarray(values, np.float64) for values in (model.points, model.normals))
    if placed.up == "y":  # a quarter turn around x
        points, normals = (values[:, [0, 2, 1]] * (1, -1, 1) for values in (points, normals))
    rest = placed.rest
    body = Body(
        placed.name,
        points,
        normals,
        np.asarray(corners, np.int64),
        colour_of(rest),
        rest.get("flat", False),
        state,
        rest.get("repeats", 4.0),
    )
    return body, tessellation


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
    if name == _CHECKER:
        at = np.arange(_CHECKER_SIDE) // _CHECKER_FIELD
        light = (at + at[:, None]) % 2 == 0
        texels = np.full((_CHECKER_SIDE, _CHECKER_SIDE, 4), 255, np.uint8)
        texels[~light] = (90, 110, 150, 255)
        return Texture(texels, mipmaps)
    path = _beside(described, name)
    try:
        from PIL import Image

        content = read_bytes(path, TEXTURE)
        with Image.open(io.BytesIO(content)) as image:
            if max(image.size) > _LARGEST_TEXTURE:  # before it is decoded
                hint = f"powers of two up to {_LARGEST_TEXTURE}"
                raise InputError(Fault(f"a texture of {image.width}x{image.height} texels", Place(str(path)), hint))
            return Texture(_texels(image), mipmaps)
    except ImportError:
        what = "reading textures needs Pillow, which is not installed"
        raise MissingPackageError(what, "image", Place(str(path))) from None
    except InputError as error:
        raise InputError(replace(fault, place=Place(str(path))) for fault in error.faults) from None
    except Exception as error:  # the library's readers raise whatever the damage leads to
        raise InputError(Fault(f"not a picture that can be read: {error}"[:300], Place(str(path)))) from None


def _texels(image) -> np.ndarray:
    """Return the texels of a picture, uint8[row, column, rgba]: of 16-bit grey ones the upper 8 bits."""
    if image.mode.startswith("I"):
        grey = (np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)
        return np.stack([grey, grey, grey, np.full_like(grey, 255)], axis=-1)
    return np.array(image.convert("RGBA"), np.uint8)
