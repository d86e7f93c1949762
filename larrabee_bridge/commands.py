"""Larrabee's options for pictures: data for commands, light to import."""

from pixelflow.simd.commands import (
    ConfigurationOption,
    MachineCommands,
    MachineDrawing,
    MachineOption,
    ProjectionChoice,
)
from pixelflow.simd.units import whole_number


def _megahertz(text: str) -> float:
    """Return a clock, 1 to 100,000 MHz; raises ValueError with a text for users."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 100_000:
        raise ValueError(f"expected 1 to 100000 MHz; found {text[:40]!r}")
    return value


COMMANDS = MachineCommands(
    MachineDrawing(
        "Larrabee",
        options=(
            MachineOption(
                "--cores", "parts", "Larrabee's cores, 1 to 64 (default: 1)", whole_number, metavar="N", most=64
            ),
            MachineOption(
                "--tile", "tile", "side of Larrabee's tiles (default: 64)", int, 64, choices=(32, 64, 128), key="tile"
            ),
            MachineOption(
                "--ideal-memory",
                "ideal_memory",
                "Larrabee's accesses all hit the L1 cache",
                default=False,
                switch=True,
                key="ideal_memory",
            ),
            MachineOption(
                "--free-setup",
                "free_setup",
                "Larrabee's vertices, bins and planes take no cycles",
                default=False,
                switch=True,
                key="free_setup",
            ),
            MachineOption(
                "--core-mhz",
                "core_mhz",
                "clock of Larrabee's cores (default: 1000, the paper's unit)",
                _megahertz,
                metavar="MHZ",
                commands=("compare",),
            ),
        ),
        configuration=ConfigurationOption(
            "--core",
            "a value of Larrabee's core model, as run has them (repeatable)",
            {"kernels": "caches take part in the time of pictures, but with --ideal-memory"},
        ),
        projections=(
            ProjectionChoice(
                "vpu",
                "Larrabee's vector unit, which also tessellates",
                "the vector unit is Larrabee's",
                tessellates=True,
            ),
        ),
        engines=("rows", "compiled"),
        picture="larrabee_bridge.vector_picture:vector_picture",
        compared=True,
        beside={
            "tessellation": "larrabee_bridge.compare:tessellated_on_both",
            "tile_sizes": "larrabee_bridge.compare:in_every_tile",
        },
        topics={"tile_sizes": "tiles"},
        block="blocks of 4x4 pixels",
        ways="between cores and memory",
    ),
    kernels="larrabee_bridge.kernels.catalogue:KERNELS",
    studies={"sensitivity": "larrabee_bridge.compare:larrabee_sensitivity"},
    examples=(
        "pixelflow render glass --machine larrabee --size 80x60 -o glass.png",
        "pixelflow render nut --machine larrabee --projection vpu --size 80x60 -o n.png",
        "pixelflow compare nut --size 64x48 --cores 4 --explain cycles",
        "pixelflow verify larrabee 6.4 table1 gather-gain",
        "pixelflow kernels --machine larrabee decompression cloth",
        "pixelflow view blocks.mc --machine larrabee",
    ),
)
