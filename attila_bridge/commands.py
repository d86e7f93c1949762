"""What commands can ask of ATTILA besides runs: data for commands, light to import."""

from pixelflow.simd.commands import BenchmarkPlace, ConfigurationOption, MachineCommands, MachineDrawing

COMMANDS = MachineCommands(
    MachineDrawing(
        "ATTILA",
        configuration=ConfigurationOption("--gpu", "a value of ATTILA's model, as run has them (repeatable)"),
        require="attila_bridge.picture:refused_early",
        block="8x8 tiles of a triangle's scan tiles",
        ways="to and from memory",
    ),
    benchmarks={
        "attila": BenchmarkPlace("cycles a second of three of ATTILA's frames", "attila_bridge.claims.rates:RATES")
    },
    examples=(
        "pixelflow render enneper --machine attila --size 64x48 -o enneper.png",
        "pixelflow bench attila --rounds 1",
        "pixelflow verify attila registers setup",
    ),
    records="attila_bridge.records:report",
)
