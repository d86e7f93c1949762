"""What commands can ask of the Gen6 EU besides runs: data for commands, light to import."""

from pixelflow.simd.commands import MachineCommands

__all__ = ["COMMANDS"]

COMMANDS = MachineCommands(
    examples=("pixelflow verify gen6 --quick",),
    records="gen6_bridge.records:report",
)
