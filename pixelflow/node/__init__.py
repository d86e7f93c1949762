"""The machine: a node with its PE array, LEE, sequencer and semaphores.

Meaning (`pe_array`, `lee`) and time (`igc`, `run`) are separate files; `node` puts them together.
"""

from pixelflow.node.addresses import AddressMap, Cell, Form
from pixelflow.node.checkpoint import Checkpoint
from pixelflow.node.gp_memory import GpMemory
from pixelflow.node.machine import Machine, MachineRun
from pixelflow.node.node import Node
from pixelflow.node.replay import Replay
from pixelflow.node.run import RoutineUse, Run
from pixelflow.node.saved_run import Recorder, RunEnd, SavedRun
from pixelflow.node.upcoming import Upcoming

__all__ = [
    "AddressMap",
    "Cell",
    "Checkpoint",
    "Form",
    "GpMemory",
    "Machine",
    "MachineRun",
    "Node",
    "Recorder",
    "Replay",
    "RoutineUse",
    "Run",
    "RunEnd",
    "SavedRun",
    "Upcoming",
]
