"""The ledger of a run: what went in against what came out. An imbalance is a defect of the simulator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pixelflow.errors import InternalError
from pixelflow.isa.control import SIGNAL
from pixelflow.node.order.igc_box import EigcBox, TigcBox
from pixelflow.node.order.netlist import NodeBoxes
from pixelflow.node.order.tasic_box import TasicBox
from pixelflow.node.streams.stream import Stream
from pixelflow.records import record
from pixelflow.sim import Transfer

__all__ = ["Flow", "Ledger", "SignalFlow", "WireCounts", "signal_flows"]


@record
class SignalFlow:
    """The signals of one semaphore: sent by SIGNAL, of these carried to the other stream, taken by WAIT, left over."""

    sent: int
    carried: int
    taken: int
    left: int

    @property
    def balanced(self) -> bool:
        return self.sent == self.taken + self.left


@record
class Flow:
    """Bytes of one direction: as was asked for, as the wires carried them, as the box at the end counts.

    ``moved`` are those that the meaning of the transfers moved: data alone, without addresses and idle places.
    """

    asked: int = 0
    carried: int = 0
    counted: int = 0
    moved: int = 0

    @property
    def balanced(self) -> bool:
        return self.asked == self.carried == self.counted >= self.moved


@record
class Ledger:
    """What a run moved. Commands and dones count one for each module."""

    signals: dict[int, SignalFlow]
    commands: int = 0
    dones: int = 0
    inbound: Flow = Flow()
    """Bytes from the EMCs to the TASICs: addresses, and data to be written."""
    outbound: Flow = Flow()
    """Bytes from the TASICs to the EMCs."""
    to_gps: Flow = Flow()
    """Bytes from the TASICs to the GNI, for GPs of this node or of others: every one of them is data that moved."""
    from_gps: Flow = Flow()
    """Bytes of loads from the own GPs to the GNI: every one of them is data that moved."""

    def check(self) -> None:
        """Raise InternalError where something was lost or appeared from nowhere."""
        wrong = [f"semaphore {number}: {flow}" for number, flow in self.signals.items() if not flow.balanced]
        if self.commands != self.dones:
            wrong.append(f"{self.commands} commands, {self.dones} done")
        wrong += [f"{name}: {flow}" for name, flow in self._flows() if not flow.balanced]
        if wrong:
            raise InternalError("the ledger of the run does not balance: " + "; ".join(wrong))

    def _flows(self) -> tuple[tuple[str, Flow], ...]:
        return (
            ("bytes to the TASICs", self.inbound),
            ("bytes to the EMCs", self.outbound),
            ("bytes for GPs", self.to_gps),
            ("bytes from GPs", self.from_gps),
        )

    def as_object(self) -> dict[str, Any]:
        """Return the totals as plain values, for JSON."""
        return {
            "signals": {
                str(number): {"sent": f.sent, "carried": f.carried, "taken": f.taken, "left": f.left}
                for number, f in self.signals.items()
            },
            "commands": self.commands,
            "dones": self.dones,
            "bytes": {
                name: {"asked": flow.asked, "carried": flow.carried, "counted": flow.counted, "moved": flow.moved}
                for name, flow in (
                    ("to_tasics", self.inbound),
                    ("to_emcs", self.outbound),
                    ("to_gps", self.to_gps),
                    ("from_gps", self.from_gps),
                )
            },
        }


def signal_flows(streams: Iterable[Stream], carried: Counter[int] | None = None) -> dict[int, SignalFlow]:
    """Return the flow of every semaphore that a run used, from what executed and what the counters hold."""
    sent: Counter[int] = Counter()
    taken: Counter[int] = Counter()
    left: Counter[int] = Counter()
    for stream in streams:
        for index, use, semaphore in stream.sequencer.semaphore_uses:
            if times := stream.executed[index]:
                counts = sent if use is SIGNAL else taken
                counts[semaphore] += times
        left.update({number: count for number, count in enumerate(stream.semaphores.counts) if count})
    carried = carried or Counter()
    used = sorted(sent.keys() | taken.keys() | left.keys())
    return {number: SignalFlow(sent[number], carried[number], taken[number], left[number]) for number in used}


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

    def __call__(self, transfer: Transfer) -> None:
        count = self._count.get(transfer.wire)
        if count is not None:
            count(transfer)

    def _signals(self, transfer: Transfer) -> None:
        self.signals.update(transfer.item)

    def _command(self, transfer: Transfer) -> None:
        command = transfer.item
        self.totals["commands"] += 1
        self.totals["inbound asked"] += command.inbound_bytes * self._emcs
        self.totals["outbound asked"] += command.outbound_bytes * self._emcs

    def _done(self, transfer: Transfer) -> None:
        self.totals["dones"] += 1

    def _inbound(self, transfer: Transfer) -> None:
        self.totals["inbound"] += transfer.amount

    def _outbound(self, transfer: Transfer) -> None:
        self.totals["outbound"] += transfer.amount

    def ledger(self, streams: Iterable[Stream], boxes: NodeBoxes, moved: Mapping[str, int]) -> Ledger:
        """Return the ledger of a run that has ended; ``moved`` are the bytes that went each way (texture_unit.WAYS)."""
        totals, gni = self.totals, boxes.gni.state
        sent = sum(box.state.sent_bytes for box in boxes.emcs)
        received = sum(box.state.received_bytes for box in boxes.emcs)
        for_gps = sum(box.state.sent_bytes for box in boxes.ports)
        from_gps = sum(box.state.given_bytes for box in boxes.gps)
        to_gps, loads, looped = moved["PEs to GPs"], moved["GPs to TASICs"], moved["PEs to PEs"]
        return Ledger(
            signal_flows(streams, self.signals),
            totals["commands"],
            totals["dones"],
            Flow(totals["inbound asked"], totals["inbound"], sent, moved["PEs to TASICs"] + looped),
            Flow(totals["outbound asked"], totals["outbound"], received, moved["TASICs to PEs"] + looped),
            Flow(to_gps, for_gps, gni.from_modules_bytes, to_gps),
            Flow(loads, from_gps, gni.from_gps_bytes, loads),
        )

    def snapshot(self) -> dict[str, Any]:
        return {"totals": dict(self.totals), "signals": dict(self.signals)}

    def restore(self, snapshot: dict[str, Any]) -> None:
        self.totals, self.signals = Counter(snapshot["totals"]), Counter(snapshot["signals"])
