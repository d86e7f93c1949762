"""The machine: a node with its PE array, LEE, sequencer and semaphores.

Meaning (`pe_array`, `lee`) and time (`igc`, `run`) are separate files; `node` puts them together.
"""

from pixelflow.node.node import Node
from pixelflow.node.run import RoutineUse, Run

__all__ = ["Node", "RoutineUse", "Run"]
