"""A simulator of PixelFlow, the 8192-PE SIMD graphics machine of UNC Chapel Hill.

A first session needs no other import::

    import pixelflow as pf

    node, program = pf.Node(), pf.assemble("range count[1]\\nEMC_TreeIntoMem_Li count, 1, 1, 1, 0")
    run = node.run(program)
    node.map("count")

The names come from the rooms of the tree, each when it is asked for; importing this package loads none of them.
"""

TYPE_CHECKING = False  # not from typing, whose import takes longer than all of this

if TYPE_CHECKING:
    from microcode import Builder, Imm, M, Program, R, S, assemble, listing
    from pixelflow.cli.sweep import Sweep, sweep
    from pixelflow.cli.view import explore
    from pixelflow.config import THESIS, TINY, NodeConfig, load_config
    from pixelflow.node import Node, Run
    from pixelflow.simd.errors import InputError, SimulatorError
    from tessellation import Mesh, Patch, PatchFile, Tessellation, load, tessellate

__version__ = "0.1.0"

__all__ = [
    "THESIS",
    "TINY",
    "Builder",
    "Imm",
    "InputError",
    "M",
    "Mesh",
    "Node",
    "NodeConfig",
    "Patch",
    "PatchFile",
    "Program",
    "R",
    "Run",
    "S",
    "SimulatorError",
    "Sweep",
    "Tessellation",
    "__version__",
    "assemble",
    "explore",
    "listing",
    "load",
    "load_config",
    "sweep",
    "tessellate",
]

_ROOMS = {
    name: room
    for room, names in {
        "microcode": "Builder Imm M Program R S assemble listing",
        "pixelflow.cli.view": "explore",
        "pixelflow.cli.sweep": "Sweep sweep",
        "pixelflow.config": "THESIS TINY NodeConfig load_config",
        "pixelflow.node": "Node Run",
        "pixelflow.simd.errors": "InputError SimulatorError",
        "tessellation": "Mesh Patch PatchFile Tessellation load tessellate",
    }.items()
    for name in names.split()
}
"""The names of a first session, and the rooms whose faces have them."""


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_ROOMS[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
