"""The machine: a node with its PE array, LEE, sequencer and semaphores.

Meaning (`pe_array`, `lee`) and time (`igc`, `run`) are separate files; `node` puts them together.
"""

from pixelflow.node.checkpoint import Checkpoint
from pixelflow.node.gp_memory import GpMemory
from pixelflow.node.machine import Machine, MachineRun
from pixelflow.node.node import Node
from pixelflow.node.run import RoutineUse, Run

__all__ = ["Checkpoint", "GpMemory", "Machine", "MachineRun", "Node", "RoutineUse", "Run"]
