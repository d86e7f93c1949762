"""Tessellated models for scenes: what is drawn of them, and of their account what every picture says.

A scene that is drawn again finds both in the store; the tessellation itself, with its runs and programs, is read when a
report looks into it.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from microcode.places import LIBRARY
from pixelflow.config import THESIS, NodeConfig
from pixelflow.simd.attendance import Telling
from pixelflow.simd.lanes import AUTO, choose
from pixelflow.simd.report import plural
from pixelflow.simd.store import MODEL, digest_of, key_of, store
from tessellation.picture.models import Model
from tessellation.surface.patch import Patch

if TYPE_CHECKING:
    from tessellation.host.session import PassBegins
    from tessellation.host.tessellator import Tessellation


class ModelWork(NamedTuple):
    """A tessellated model, and the work of it."""

    model: Model
    cycles: int
    is_stored: bool
    """True if it comes from the store: an earlier process executed its runs."""
    whole: Callable[[], Tessellation]
    """Returns the tessellation."""

    @classmethod
    def of(cls, done: Tessellation) -> ModelWork:
        """Return that of a tessellation, with its samples joined."""
        mesh = done.mesh(weld=True)
        return cls(Model(mesh.points, mesh.normals, mesh.triangles), done.cycles, done.is_stored, lambda: done)


def tessellate_kept(
    patches: Sequence[Patch],
    samples: int,
    *,
    engine: str = AUTO,
    config: NodeConfig = THESIS,
    progress: Callable[[PassBegins], object] | None = None,
) -> Tessellation:
    """Return the result of `tessellate`, kept for the next process: for models that ship, drawn again and again.

    Its accounts and its wall time are those of the run that made it. Engines other than the default one always run.
    """
    from tessellation.host import tessellator

    def made() -> Tessellation:
        return tessellator.tessellate(patches, samples, engine=engine, config=config, progress=progress)

    key = _key(patches, samples, engine, config)
    if key is None:
        return made()
    found = store().get_object(MODEL, key, tessellator.Tessellation)
    if found is None:
        found = made()
        store().put_object(MODEL, key, replace(found, is_stored=True))
    return found


def kept_model(
    patches: Sequence[Patch], samples: int, *, engine: str, config: NodeConfig, progress: Telling | None
) -> ModelWork:
    """Return the result of `tessellate_kept` for a scene, itself kept for the next process."""

    @cache
    def whole() -> Tessellation:
        return tessellate_kept(patches, samples, engine=engine, config=config, progress=progress)

    key = _key(patches, samples, engine, config)
    if key is None:
        return ModelWork.of(whole())
    drawn = key_of(key, "drawn")
    found: tuple[Model, int] | None = store().get_object(MODEL, drawn, tuple)
    if found is None:
        work = ModelWork.of(whole())
        store().put_object(MODEL, drawn, (work.model, work.cycles))
        return work
    if progress is not None:
        progress(f"{plural(len(patches), 'patch')}, kept from an earlier run")
    return ModelWork(*found, True, whole)


def _key(patches: Sequence[Patch], samples: int, engine: str, config: NodeConfig) -> str | None:
    """Return the key of a tessellation in the store; None for an engine that always runs: any but the default one."""
    chosen = choose(engine).engine if engine in (AUTO, "compiled") else None
    if chosen is None:
        return None
    code = digest_of("pixelflow", "microcode", "tessellation")
    return key_of(code, _library(), chosen, pickle.dumps((patches, samples, config)))


def _library() -> list[tuple[str, str]]:
    """Return names and hashes of the library's files; one of the working folder comes first, as for an include."""
    names = sorted(path.relative_to(LIBRARY) for path in LIBRARY.rglob("*.mc"))
    found = [(name, name if name.is_file() else LIBRARY / name) for name in names]
    return [(str(name), hashlib.sha256(path.read_bytes()).hexdigest()) for name, path in found]


def origin(results: Iterable[Tessellation | ModelWork]) -> str:
    """Return what to add to cycles of several results where an earlier process has executed some."""
    return ", from the store" if any(each.is_stored for each in results) else ""
