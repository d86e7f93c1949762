"""Options and projections of the Gen6 EU: data for commands, light to import."""

from pixelflow.simd.commands import (
    ConfigurationOption,
    MachineCommands,
    MachineDrawing,
    MachineOption,
    ProjectionChoice,
)
from pixelflow.simd.units import whole_number

COMMANDS = MachineCommands(
    MachineDrawing(
        "Gen6",
        options=(
            MachineOption("--eus", "parts", "execution units of Gen6, 1 to 12 (default: 1)", whole_number,
                metavar="N", most=12, commands=("render", "compare")),
        ),
        configuration=ConfigurationOption("--eu", "a value of the Gen6 EU's model, as run has them (repeatable)"),
        projections=(
            ProjectionChoice("eus", "Gen6's execution units, which also light", "execution units are Gen6's"),
        ),
        picture="gen6_bridge.compare:picture_by_units",
        ways_by_size="gen6_bridge.compare:ways",
        block="subspans of 2x2 pixels",
        ways="by messages",
    ),
    examples=(
        "pixelflow render enneper --machine gen6 --size 48x32 -o enneper.png",
        "pixelflow render nut --machine gen6 --projection eus --size 64x48 -o n.png",
        "pixelflow verify gen6 --quick",
    ),
)  # fmt: skip
