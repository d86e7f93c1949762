"""A netlist: the boxes of a machine and the wires between their ports, checked before anything moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from pixelflow.simd.boxes.box import Box
from pixelflow.simd.boxes.wire import Item, Level, Wire
from pixelflow.simd.errors import InternalError, nearest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Netlist", "NetlistError"]

AnyBox: TypeAlias = "Box[object, DataclassInstance]"
Part = TypeVar("Part", bound=AnyBox)


class NetlistError(InternalError):
    """Boxes and wires that do not fit together; the message lists every fault."""


@dataclass(frozen=True, slots=True)
class _Connection:
    wire: Wire
    source: AnyBox
    source_port: str
    sink: AnyBox
    sink_port: str


class Netlist:
    """Boxes and wires by name. Build it, call :meth:`check` (the clock does), print it to see the machine."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._boxes: dict[str, AnyBox] = {}
        self._connections: dict[str, _Connection] = {}
        self._faults: list[str] = []

    @property
    def boxes(self) -> tuple[AnyBox, ...]:
        """The boxes, in the order in which they were added."""
        return tuple(self._boxes.values())

    @property
    def wires(self) -> tuple[Wire, ...]:
        """The wires, in the order in which they were connected."""
        return tuple(connection.wire for connection in self._connections.values())

    def add(self, box: Part) -> Part:
        """Add a box and return it; a second box of the same name is a fault."""
        if box.name in self._boxes:
            self._faults.append(f"two boxes have the name {box.name}")
        else:
            self._boxes[box.name] = box
        return box

    def connect(
        self,
        name: str,
        source: tuple[AnyBox, str],
        sink: tuple[AnyBox, str],
        *,
        latency: int = 1,
        bandwidth: int = 1,
        unit: str = "items",
    ) -> Wire:
        """Lay a wire from an output port to an input port, each given as (box, port name); return the wire.

        Latency and bandwidth are those of :class:`Wire`. What does not fit is a fault that :meth:`check` reports.
        """
        wire = Wire(name, latency=latency, bandwidth=bandwidth, unit=unit)
        return self._lay(wire, source, sink)

    def connect_level(
        self, name: str, source: tuple[AnyBox, str], sink: tuple[AnyBox, str], value: Item, *, latency: int = 1
    ) -> Level:
        """Lay a wire that always carries a value, ``value`` at first; what does not fit is reported as by `connect`."""
        wire = Level(name, value, latency=latency)
        self._lay(wire, source, sink)
        return wire

    def _lay(self, wire: Wire, source: tuple[AnyBox, str], sink: tuple[AnyBox, str]) -> Wire:
        name = wire.name
        if name in self._connections:
            self._faults.append(f"two wires have the name {name}")
            return wire
        self._connections[name] = _Connection(wire, *source, *sink)
        self._attach(wire, *source, source[0].outputs, "output")
        self._attach(wire, *sink, sink[0].inputs, "input")
        return wire

    def _attach(self, wire: Wire, box: AnyBox, port: str, ports: tuple[str, ...], direction: str) -> None:
        if self._boxes.get(box.name) is not box:
            self._faults.append(f"wire {wire.name}: box {box.name} was not added")
        if port not in ports:
            close = nearest(port, ports)
            hint = f"; did you mean {close}?" if close else f" (it has: {', '.join(ports) or 'none'})"
            self._faults.append(f"wire {wire.name}: box {box.name} has no {direction} {port}{hint}")
        elif port in box.wires:
            self._faults.append(f"{box.name}.{port} is connected twice: {box.wires[port].name} and {wire.name}")
        else:
            box.wires[port] = wire

    def check(self) -> None:
        """Raise NetlistError with every fault: ports that are open, taken twice or unknown, and names used twice."""
        faults = list(self._faults)
        for box in self.boxes:
            both = set(box.inputs) & set(box.outputs)
            faults += [f"{box.name}.{port} is both an input and an output" for port in sorted(both)]
            faults += [
                f"{box.name}.{port} is not connected" for port in (*box.inputs, *box.outputs) if port not in box.wires
            ]
        if faults:
            raise NetlistError(f"netlist {self.name}: {len(faults)} faults\n" + "\n".join(f"  {f}" for f in faults))

    def sink_of(self, wire: Wire) -> AnyBox:
        """Return the box that reads a wire."""
        return self._connections[wire.name].sink

    def diagram(self) -> str:
        """Return the block diagram as text: each box, what it sends where, and by which wire."""
        lines = [f"{self.name}: {len(self._boxes)} boxes, {len(self._connections)} wires"]
        for box in self.boxes:
            lines.append(f"{box.name}  ({type(box).__name__})")
            leaving = [each for each in self._connections.values() if each.source is box]
            width = max((len(each.source_port) for each in leaving), default=0)
            for each in leaving:
                wire = each.wire
                about = f"{wire.bandwidth} {wire.unit}/cycle, latency {wire.latency}"
                end = f"{each.sink.name}.{each.sink_port}"
                lines.append(f"  {each.source_port:<{width}} --> {end}  [{wire.name}: {about}]")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.diagram()
