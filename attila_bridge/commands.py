"""Commands on ATTILA other than runs, as data that is light to import."""

from pixelflow.simd.commands import ConfigurationOption, MachineCommands, MachineDrawing

COMMANDS = MachineCommands(
    MachineDrawing(
        "ATTILA",
        configuration=ConfigurationOption("--gpu", "a value of ATTILA's model, as run has them (repeatable)"),
        require="attila_bridge.picture:refused_early",
        block="8x8 tiles of a triangle's scan tiles",
        ways="to and from memory",
    ),
    examples=(
        "pixelflow render enneper --machine attila --size 64x48 -o enneper.png",
        "pixelflow verify attila registers setup",
    ),
)
