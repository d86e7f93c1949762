"""An order of a picture: the way its scene is made, and the options for the machine that draws it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

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
"""Default width and height in pixels."""
BACKGROUND = (222, 224, 230)
"""Default red, green and blue of the background."""
SAMPLES = 8
"""Samples of named patches along u and along v."""
UPS = ("z", "y")
"""Axes of a file that may be up; that of the world is z."""

Loaded = TypeVar("Loaded")
"""A scene that has been made."""


class SceneSource(NamedTuple):
    """Settings for a scene beyond its file.

    ``size`` and ``samples`` (a pixel's) replace those of a scene file; ``patch_samples``, or ``tolerance`` with
    ``counts`` and ``one_sided``, ``flat``, ``up``, ``floor`` and ``view``, except for its size, are for a model named
    in place of a scene file. Patches are tessellated by a node with ``config`` on ``engine``. ``affine`` makes colours
    and texture coordinates linear on the screen and overrides the file.
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
    floor: bool = False
    view: View | None = None
    config: NodeConfig = THESIS
    engine: str = "auto"
    progress: Telling | None = None
    note: Callable[[str], None] | None = None
    """Receives notes on the files for the user."""
    watch: Callable[[Node], None] | None = None
    mesher: Callable[[Sequence[Patch], int], Mesh] | None = None
    """Makes a mesh of patches, at this many samples along u and along v, in place of a node."""
    require: Callable[[Sequence[tuple[str, State]], int], None] | None = None
    """Refuses draws (name and state, samples a pixel) that a machine does not support, before any work."""


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
    """Options for the drawer."""
    output: str
    """The name of the picture's file, for the report."""
    projection: str = "host"

    def load(self, mesher: Callable[[Sequence[Patch], int], Mesh] | None = None) -> Loaded:
        """Make the scene, with ``mesher`` in place of a node; raises InputError for a file that is not a scene."""
        return self.loader(self.scene, self.source._replace(mesher=mesher))
