"""The block diagram of a node with both streams: TASICs, ports, GNI and GPs as boxes, and the wires between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.tas import MEM_WR_OVER4
from pixelflow.node.run.gni_box import GniBox, GniPortBox, GniPortSpec, GniSpec, GpBox, GpSpec, NetworkBox, NetworkSpec
from pixelflow.node.run.sequencer_box import EigcBox, TigcBox
from pixelflow.node.run.tasic_box import EmcPortsBox, EmcPortsSpec, TasicBox, TasicSpec
from pixelflow.simd.boxes import AnyBox, Netlist
from pixelflow.simd.errors import InternalError


class NodeBoxes(NamedTuple):
    """The boxes of one node without its sequencers; a node that runs nothing has an interface and GPs only."""

    gni: GniBox
    gps: list[GpBox]
    tasics: list[TasicBox]
    emcs: list[EmcPortsBox]
    ports: list[GniPortBox]
    prefix: str = ""

    @classmethod
    def of(cls, config: NodeConfig, *, node: int = 0, nodes: int = 1, modules: bool = True) -> NodeBoxes:
        """Make the boxes of node number ``node`` of ``nodes``; without ``modules``, of one that runs nothing."""
        spec = GniSpec.of(config, node=node, networked=nodes > 1)
        there = range(spec.modules if modules else 0)
        if not modules:
            spec = spec._replace(modules=0)
        boxes = cls(
            GniBox(spec),
            [GpBox(gp, GpSpec(spec.gp_bytes_per_cycle)) for gp in range(spec.gps)],
            [TasicBox(module, TasicSpec.of(config)) for module in there],
            [EmcPortsBox(module, EmcPortsSpec.of(config)) for module in there],
            [GniPortBox(GniPortSpec.of(config, module, node=node, nodes=nodes)) for module in there],
            f"node[{node}]." if nodes > 1 else "",
        )
        for box in boxes.all:
            box.name = boxes.prefix + box.name
        return boxes

    @property
    def all(self) -> tuple[TasicBox | EmcPortsBox | GniPortBox | GniBox | GpBox, ...]:
        """Every box, in the order of the block diagram."""
        return (*self.tasics, *self.emcs, *self.ports, self.gni, *self.gps)

    @property
    def bytes_moved(self) -> dict[str, tuple[int, int]]:
        """Bytes passed from one kind of box to the next, as counted by the givers and by the takers."""
        gni = self.gni.state
        return {
            "EMCs to TASICs for GPs": (_sum(self.emcs, "collected_bytes"), _sum(self.ports, "sent_bytes")),
            "TASICs to GNI": (_sum(self.ports, "sent_bytes"), gni.from_modules_bytes),
            "through the GNI": (
                gni.from_modules_bytes + gni.from_network_bytes,
                gni.to_gps_bytes + gni.to_network_bytes,
            ),
            "GNI to GPs": (gni.to_gps_bytes, _sum(self.gps, "stored_bytes")),
            "GPs to GNI": (_sum(self.gps, "given_bytes"), gni.from_gps_bytes),
            "GNI to TASICs": (gni.to_modules_bytes, _sum(self.tasics, "loaded_bytes")),
        }

    def check_bytes(self) -> None:
        """Raise InternalError where bytes were lost or appeared between two boxes of a run that has ended."""
        wrong = [f"{way}: {gave} given, {took} taken" for way, (gave, took) in self.bytes_moved.items() if gave != took]
        if wrong:
            raise InternalError(f"{self.gni.name}: bytes do not balance: {'; '.join(wrong)}")

    def join(self, netlist: Netlist, eigc: EigcBox | None = None, tigc: TigcBox | None = None) -> None:
        """Add the boxes to a netlist, and the sequencers where the node runs a program."""
        sequencers = [box for box in (eigc, tigc) if box is not None]
        for box in sequencers:
            box.name = self.prefix + box.name
        distances = () if tigc is None else _distances(tigc.stream.program, len(self.tasics))
        for tasic, emcs in zip(self.tasics, self.emcs, strict=True):
            tasic.reach(distances)
            emcs.reach(distances)
        for each in (*sequencers, *self.all):
            netlist.add(each)
        if eigc is not None and tigc is not None:
            netlist.connect(f"{eigc.name}.signals", (eigc, "signals_out"), (tigc, "signals_in"))
            netlist.connect(f"{tigc.name}.signals", (tigc, "signals_out"), (eigc, "signals_in"))
            for module in range(len(self.tasics)):
                self._join_module(netlist, tigc, module)
                for distance in distances:
                    self._join_path(netlist, module, distance)
        for index, gp in enumerate(self.gps):
            width = self.gni.spec.gp_bytes_per_cycle
            netlist.connect(
                f"{gp.name}.store", (self.gni, f"store{index}"), (gp, "store"), bandwidth=width, unit="bytes"
            )
            netlist.connect(f"{gp.name}.stored", (gp, "stored"), (self.gni, f"stored{index}"))
            netlist.connect(f"{gp.name}.ask", (self.gni, f"ask{index}"), (gp, "ask"), bandwidth=self.gni.spec.parts)
            netlist.connect(f"{gp.name}.give", (gp, "give"), (self.gni, f"give{index}"), bandwidth=width, unit="bytes")

    def _join_module(self, netlist: Netlist, tigc: TigcBox, module: int) -> None:
        """Widths: one byte a cycle for each EMC and direction (derived, thesis 2.2.4), to the GNI 800 MB/s (3.8)."""
        tasic, emcs, port, gni = self.tasics[module], self.emcs[module], self.ports[module], self.gni
        pins = emcs.spec.emcs * emcs.spec.port_bytes_per_cycle
        path = gni.spec.bytes_per_cycle
        # A node has few GPs, and each may acknowledge one parcel in a cycle; other nodes too.
        words = 64
        name = tasic.name
        netlist.connect(f"{name}.command", (tigc, f"command{module}"), (tasic, "command"))
        netlist.connect(f"{name}.done", (tasic, "done"), (tigc, f"done{module}"))
        netlist.connect(f"{name}.fetch", (tasic, "fetch"), (emcs, "fetch"))
        netlist.connect(f"{name}.inbound", (emcs, "inbound"), (tasic, "inbound"), bandwidth=pins, unit="bytes")
        netlist.connect(f"{name}.outbound", (tasic, "outbound"), (emcs, "outbound"), bandwidth=pins, unit="bytes")
        netlist.connect(f"{name}.gp_command", (tasic, "gp_command"), (port, "command"))
        netlist.connect(f"{name}.gp_done", (port, "done"), (tasic, "gp_done"))
        netlist.connect(f"{name}.load_request", (tasic, "load_request"), (gni, f"load_request{module}"))
        netlist.connect(f"{name}.loaded", (tasic, "loaded"), (gni, f"loaded{module}"))
        netlist.connect(
            f"{name}.from_gni", (gni, f"from_gni{module}"), (tasic, "from_gni"), bandwidth=path, unit="bytes"
        )
        name = port.name
        netlist.connect(f"{name}.collect", (port, "collect"), (emcs, "collect"))
        netlist.connect(f"{name}.collected", (emcs, "collected"), (port, "collected"), bandwidth=pins, unit="bytes")
        netlist.connect(f"{name}.request", (port, "request"), (gni, f"request{module}"))
        netlist.connect(f"{name}.grant", (gni, f"grant{module}"), (port, "grant"), bandwidth=words)
        netlist.connect(f"{name}.to_gni", (port, "to_gni"), (gni, f"to_gni{module}"), bandwidth=path, unit="bytes")
        netlist.connect(f"{name}.delivered", (gni, f"delivered{module}"), (port, "delivered"), bandwidth=words)

    def _join_path(self, netlist: Netlist, module: int, distance: int) -> None:
        """Connect the EMCs of a module with the TASICs of the module at a distance."""
        emcs, tasic = self.emcs[module], self.tasics[(module + distance) % len(self.tasics)]
        name, width = f"{self.tasics[module].name}.over{distance}", tasic.spec.path_bytes_per_cycle
        netlist.connect(f"{name}.fetch", (tasic, f"fetch{distance}"), (emcs, f"fetch{distance}"))
        netlist.connect(name, (emcs, f"over{distance}"), (tasic, f"over{distance}"), bandwidth=width, unit="bytes")


def _distances(program: Program, modules: int) -> tuple[int, ...]:
    """Return the distances over which a program writes, as far as a node has modules at them."""
    found = {each.operands[0] for each in program.by_kind.kinds if each.declaration is MEM_WR_OVER4}
    return tuple(distance for distance in range(1, modules) if distance in found)


def _sum(boxes: Sequence[AnyBox], name: str) -> int:
    return sum(getattr(box.state, name) for box in boxes)


def connect_network(netlist: Netlist, nodes: list[NodeBoxes]) -> NetworkBox:
    """Join the interfaces of several nodes by a geometry network; return its box."""
    width = nodes[0].gni.spec.bytes_per_cycle
    box = NetworkBox(NetworkSpec(len(nodes), width))
    netlist.add(box)
    words = 64
    for node, boxes in enumerate(nodes):
        gni, name = boxes.gni, f"{box.name}[{node}]"
        netlist.connect(f"{name}.from", (gni, "network_out"), (box, f"from{node}"), bandwidth=width, unit="bytes")
        netlist.connect(f"{name}.to", (box, f"to{node}"), (gni, "network_in"), bandwidth=width, unit="bytes")
        netlist.connect(f"{name}.ack_from", (gni, "network_ack_out"), (box, f"ack_from{node}"), bandwidth=words)
        netlist.connect(f"{name}.ack_to", (box, f"ack_to{node}"), (gni, "network_ack_in"), bandwidth=words)
    return box
