"""PixelFlow's options for pictures: data for commands, light to import."""

from pixelflow.simd.commands import MachineCommands, MachineDrawing, MachineOption, ProjectionChoice
from pixelflow.simd.units import whole_number

MOST_NODES = 40
"""As a machine has."""


def _nodes(text: str) -> int:
    if (value := whole_number(text)) > MOST_NODES:
        raise ValueError(f"expected 1 to {MOST_NODES} nodes, as a machine has; found {text[:40]!r}")
    return value


def _shaders(text: str) -> int:
    if (value := whole_number(text, 0, wanted="a whole number, 0 or more")) > MOST_NODES:
        raise ValueError(f"expected 0 to {MOST_NODES} nodes, as a machine has; found {text[:40]!r}")
    return value


_NODES = "PixelFlow's nodes that share the triangles; their pictures are merged by depth (default: 1)"
_SHADERS = "PixelFlow's nodes that shade what is seen, and send finished pixels to the frame buffer (default: 0)"

COMMANDS = MachineCommands(
    MachineDrawing(
        "PixelFlow",
        options=(
            MachineOption("--nodes", "parts", _NODES, _nodes, metavar="N"),
            MachineOption("--shaders", "shaders", _SHADERS, _shaders, metavar="N"),
        ),
        projections=(
            ProjectionChoice("emc", "the EMCs, samples of patches", "EMCs are PixelFlow's"),
            ProjectionChoice("emc-words", "the EMCs, on to instruction words", "EMCs are PixelFlow's"),
        ),
        picture="tessellation.rendering.pictures:picture_by_nodes",
        require="tessellation.rendering.pictures:refused_early",
        compared=True,
        block="regions of 128x64 pixels",
        ways="to and from the nodes",
    ),
    examples=(
        "pixelflow render teapot --samples 4 --size 256x192 -o teapot.png",
        "pixelflow render enneper --samples 5 --size 128x96 --flat --nodes 2 -o out.png",
        "pixelflow render enneper --size 96x64 --nodes 4 --shaders 2 -o out.png",
        "pixelflow render enneper --samples 4 --size 96x64 --projection emc -o out.png",
        "pixelflow render enneper --size 96x64 --projection emc-words -o words.png",
    ),
)
