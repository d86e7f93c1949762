"""Boxes and wires: how timed parts of a machine are put together and run.

Knows no machine: a node's boxes live with the node. Nothing here touches data of processing elements.
"""

from pixelflow.sim.box import Box
from pixelflow.sim.clock import Clock
from pixelflow.sim.netlist import Netlist, NetlistError
from pixelflow.sim.wire import Transfer, Wire, WireError

__all__ = ["Box", "Clock", "Netlist", "NetlistError", "Transfer", "Wire", "WireError"]
