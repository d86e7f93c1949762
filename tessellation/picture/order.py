"""An order of a picture: how its scene is made, and what the machine that draws it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from pixelflow.config import THESIS, NodeConfig
from pixelflow.simd.attendance import Telling

if TYPE_CHECKING:
    from pixelflow.node import Node
    from pixelflow.simd.commands import Told
    from pixelflow.simd.configuration import Effective
    from pixelflow.simd.drawing import State
    from pixelflow.simd.machine import AnyMachine
    from tessellation.picture.camera import View
    from tessellation.surface.mesh import Mesh
    from tessellation.surface.patch import Patch


SIZE = (640, 480)
"""Width and height in pixels of a picture whose scene says none."""
BACKGROUND = (222, 224, 230)
"""Red, green and blue of what is not drawn on, where a scene says none."""
SAMPLES = 8
"""Samples of named patches along u and along v."""
UPS = ("z", "y")
"""Which axis of a file may be up; that of the world is z."""

Loaded = TypeVar("Loaded")
"""A scene that has been made."""


@dataclass(frozen=True, slots=True)
class SceneSource:
    """How a scene is made where it says nothing itself.

    ``size`` and ``samples`` (a pixel's) replace those of a scene file; ``patch_samples``, or ``tolerance`` with
    ``counts`` and ``one_sided``, ``flat``, ``up`` and ``view``, but for its size, are for a model that is named instead
    of a scene file. Patches are tessellated by a node with ``config`` on ``engine``. ``affine`` lets colours and
    texture coordinates be linear on the screen, whatever the file says.
    """

    size: tuple[int, int] | None = None
    samples: int | None = None
    patch_samples: int | None = None
    tolerance: float | None = None
    counts: str = "any"
    one_sided: bool = False
    flat: bool = False
    affine: bool = False
    up: str = "z"
    view: View | None = None
    config: NodeConfig = THESIS
    engine: str = "auto"
    progress: Telling | None = None
    note: Callable[[str], None] | None = None
    """Is told what a user should know of the files."""
    watch: Callable[[Node], None] | None = None
    mesher: Callable[[Sequence[Patch], int], Mesh] | None = None
    """Makes a mesh of patches, at this many samples along u and along v, instead of a node."""
    require: Callable[[Sequence[tuple[str, State]], int], None] | None = None
    """Refuses, before any work, names and states of draws, at this many samples a pixel, that a machine does not
    draw.
    """


@dataclass(frozen=True, slots=True)
class PictureOrder(Generic[Loaded]):
    """A picture that a command wants."""

    machine: AnyMachine
    scene: str
    source: SceneSource
    loader: Callable[[str, SceneSource], Loaded]
    effective: Effective[NodeConfig]
    """The configuration of the node that tessellates."""
    told: Told
    """What the drawer is told."""
    output: str
    """The name of the picture's file, which the report has."""
    projection: str = "host"

    def load(self, mesher: Callable[[Sequence[Patch], int], Mesh] | None = None) -> Loaded:
        """Make the scene, by another ``mesher`` than a node; raises InputError for what is not a scene."""
        return self.loader(self.scene, replace(self.source, mesher=mesher))
