"""Boxes and wires: how timed parts of a machine are put together and run.

Knows no machine: a node's boxes live with the node. Nothing here touches data of processing elements.
"""

from pixelflow.simd.boxes.box import Box
from pixelflow.simd.boxes.clock import Clock
from pixelflow.simd.boxes.netlist import Netlist, NetlistError
from pixelflow.simd.boxes.wire import Level, Sent, Wire, WireError

__all__ = ["Box", "Clock", "Level", "Netlist", "NetlistError", "Sent", "Wire", "WireError"]
