"""The block diagram of a node: which boxes there are, the wires between them, and a count of what these carry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pixelflow.config import NodeConfig
from pixelflow.node.run.order.emc_ports_box import EmcPortsBox, EmcPortsSpec
from pixelflow.node.run.order.gni_box import GniBox, GniSpec
from pixelflow.node.run.order.gni_port_box import GniPortBox, GniPortSpec
from pixelflow.node.run.order.gp_box import GpBox, GpSpec
from pixelflow.node.run.order.igc_box import EigcBox, TigcBox
from pixelflow.node.run.order.network_box import NetworkBox, NetworkSpec
from pixelflow.node.run.order.tasic_box import TasicBox, TasicSpec
from pixelflow.simd.boxes import Box, Netlist, Sent
from pixelflow.simd.errors import InternalError
from pixelflow.simd.snapshot import Snapshot

__all__ = ["NodeBoxes", "WireCounts", "connect_network"]


@dataclass(frozen=True)
class NodeBoxes:
    """The boxes of one node besides its sequencers; a node that runs nothing has an interface and GPs only."""

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
            spec = replace(spec, modules=0)
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
        """Bytes that went from one kind of box to the next, as the givers and as the takers have counted them."""
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
        """Raise InternalError where a run has ended and bytes were lost between two boxes, or came from nowhere."""
        wrong = [f"{way}: {gave} given, {took} taken" for way, (gave, took) in self.bytes_moved.items() if gave != took]
        if wrong:
            raise InternalError(f"{self.gni.name}: bytes do not balance: {'; '.join(wrong)}")

    def join(self, netlist: Netlist, eigc: EigcBox | None = None, tigc: TigcBox | None = None) -> None:
        """Add the boxes to a netlist, and the sequencers of a node that runs something."""
        sequencers = [box for box in (eigc, tigc) if box is not None]
        for box in sequencers:
            box.name = self.prefix + box.name
        for box in (*sequencers, *self.all):
            netlist.add(box)
        if eigc is not None and tigc is not None:
            netlist.connect(f"{eigc.name}.signals", (eigc, "signals_out"), (tigc, "signals_in"))
            netlist.connect(f"{tigc.name}.signals", (tigc, "signals_out"), (eigc, "signals_in"))
            for module in range(len(self.tasics)):
                self._join_module(netlist, tigc, module)
        for index, gp in enumerate(self.gps):
            path = {"bandwidth": self.gni.spec.gp_bytes_per_cycle, "unit": "bytes"}
            netlist.connect(f"{gp.name}.store", (self.gni, f"store{index}"), (gp, "store"), **path)
            netlist.connect(f"{gp.name}.stored", (gp, "stored"), (self.gni, f"stored{index}"))
            netlist.connect(f"{gp.name}.ask", (self.gni, f"ask{index}"), (gp, "ask"), bandwidth=self.gni.spec.parts)
            netlist.connect(f"{gp.name}.give", (gp, "give"), (self.gni, f"give{index}"), **path)

    def _join_module(self, netlist: Netlist, tigc: TigcBox, module: int) -> None:
        """Widths: one byte a cycle for each EMC and direction (derived, thesis 2.2.4), to the GNI 800 MB/s (3.8)."""
        tasic, emcs, port, gni = self.tasics[module], self.emcs[module], self.ports[module], self.gni
        pins = {"bandwidth": emcs.spec.emcs * emcs.spec.port_bytes_per_cycle, "unit": "bytes"}
        path = {"bandwidth": gni.spec.bytes_per_cycle, "unit": "bytes"}
        # A node has few GPs, and each may send word of one parcel in a cycle; other nodes too.
        words = {"bandwidth": 64}
        name = tasic.name
        netlist.connect(f"{name}.command", (tigc, f"command{module}"), (tasic, "command"))
        netlist.connect(f"{name}.done", (tasic, "done"), (tigc, f"done{module}"))
        netlist.connect(f"{name}.fetch", (tasic, "fetch"), (emcs, "fetch"))
        netlist.connect(f"{name}.inbound", (emcs, "inbound"), (tasic, "inbound"), **pins)
        netlist.connect(f"{name}.outbound", (tasic, "outbound"), (emcs, "outbound"), **pins)
        netlist.connect(f"{name}.gp_command", (tasic, "gp_command"), (port, "command"))
        netlist.connect(f"{name}.gp_done", (port, "done"), (tasic, "gp_done"))
        netlist.connect(f"{name}.load_request", (tasic, "load_request"), (gni, f"load_request{module}"))
        netlist.connect(f"{name}.loaded", (tasic, "loaded"), (gni, f"loaded{module}"))
        netlist.connect(f"{name}.from_gni", (gni, f"from_gni{module}"), (tasic, "from_gni"), **path)
        name = port.name
        netlist.connect(f"{name}.collect", (port, "collect"), (emcs, "collect"))
        netlist.connect(f"{name}.collected", (emcs, "collected"), (port, "collected"), **pins)
        netlist.connect(f"{name}.request", (port, "request"), (gni, f"request{module}"))
        netlist.connect(f"{name}.grant", (gni, f"grant{module}"), (port, "grant"), **words)
        netlist.connect(f"{name}.to_gni", (port, "to_gni"), (gni, f"to_gni{module}"), **path)
        netlist.connect(f"{name}.delivered", (gni, f"delivered{module}"), (port, "delivered"), **words)


def _sum(boxes: Sequence[Box], name: str) -> int:
    return sum(getattr(box.state, name) for box in boxes)


def connect_network(netlist: Netlist, nodes: list[NodeBoxes]) -> NetworkBox:
    """Join the interfaces of several nodes by a geometry network; return its box."""
    width = nodes[0].gni.spec.bytes_per_cycle
    box = NetworkBox(NetworkSpec(len(nodes), width))
    netlist.add(box)
    words = {"bandwidth": 64}
    for node, boxes in enumerate(nodes):
        gni, name = boxes.gni, f"{box.name}[{node}]"
        netlist.connect(f"{name}.from", (gni, "network_out"), (box, f"from{node}"), bandwidth=width, unit="bytes")
        netlist.connect(f"{name}.to", (box, f"to{node}"), (gni, "network_in"), bandwidth=width, unit="bytes")
        netlist.connect(f"{name}.ack_from", (gni, "network_ack_out"), (box, f"ack_from{node}"), **words)
        netlist.connect(f"{name}.ack_to", (box, f"ack_to{node}"), (gni, "network_ack_in"), **words)
    return box


@dataclass
class WireCounts:
    """Watches the wires of a node and counts what they carry; a watcher of the clock."""

    totals: Counter[str] = field(default_factory=Counter)
    signals: Counter[int] = field(default_factory=Counter)

    def watch(self, sequencers: Iterable[EigcBox | TigcBox], tasics: Iterable[TasicBox]) -> None:
        """Learn which wires there are."""
        self._count = {box.wires["signals_out"].name: self._signals for box in sequencers}
        for box in tasics:
            self._emcs = box.spec.emcs
            named = {"command": self._command, "done": self._done, "inbound": self._inbound, "outbound": self._outbound}
            self._count |= {box.wires[port].name: count for port, count in named.items()}

    def __call__(self, transfer: Sent) -> None:
        count = self._count.get(transfer.wire)
        if count is not None:
            count(transfer)

    def _signals(self, transfer: Sent) -> None:
        self.signals.update(transfer.item)

    def _command(self, transfer: Sent) -> None:
        command = transfer.item
        self.totals["commands"] += 1
        self.totals["inbound asked"] += command.inbound_bytes * self._emcs
        self.totals["outbound asked"] += command.outbound_bytes * self._emcs
        self.totals["slots"] += command.rounds * self._emcs
        self.totals["slots used"] += command.used
        self.totals["inbound used"] += command.given
        self.totals["outbound used"] += command.taken

    def _done(self, transfer: Sent) -> None:
        self.totals["dones"] += 1

    def _inbound(self, transfer: Sent) -> None:
        self.totals["inbound"] += transfer.amount

    def _outbound(self, transfer: Sent) -> None:
        self.totals["outbound"] += transfer.amount

    def snapshot(self) -> Snapshot:
        return {"totals": dict(self.totals), "signals": dict(self.signals)}

    def restore(self, snapshot: Snapshot) -> None:
        self.totals, self.signals = Counter(snapshot["totals"]), Counter(snapshot["signals"])
        if self.totals["commands"] and "slots" not in self.totals:  # a file of before: all slots count as used
            for way in ("inbound", "outbound"):
                self.totals[f"{way} used"] = self.totals[f"{way} asked"]
