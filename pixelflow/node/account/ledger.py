"""The ledger of a run: what went in against what came out. An imbalance is a defect of the simulator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from pixelflow.isa.control import SIGNAL
from pixelflow.node.run.order.clocked import Clocked
from pixelflow.node.run.streams.stream import Stream
from pixelflow.simd.errors import InternalError

__all__ = ["Ledger", "LedgerFlow", "SignalFlow", "ledger_of", "signal_flows"]


@dataclass(frozen=True, slots=True)
class SignalFlow:
    """The signals of one semaphore: sent by SIGNAL, of these carried to the other stream, taken by WAIT, left over."""

    sent: int
    carried: int
    taken: int
    left: int

    @property
    def balanced(self) -> bool:
        return self.sent == self.taken + self.left


@dataclass(frozen=True, slots=True)
class LedgerFlow:
    """Bytes of one direction: as was asked for, as the wires carried them, as the box at the end counts.

    On the local ports these are the bytes for which the rounds have slots, of EMCs without a PE left too. ``used`` are
    the bytes that go over the pins, addresses among them, ``moved`` those of data, as the meaning of the transfers has
    moved them.
    """

    asked: int = 0
    carried: int = 0
    counted: int = 0
    used: int = 0
    moved: int = 0

    @property
    def balanced(self) -> bool:
        return self.asked == self.carried == self.counted >= self.used >= self.moved


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a run moved. Commands and dones count one for each module."""

    signals: dict[int, SignalFlow]
    commands: int = 0
    dones: int = 0
    inbound: LedgerFlow = LedgerFlow()
    """Bytes from the EMCs to the TASICs: addresses, and data to be written."""
    outbound: LedgerFlow = LedgerFlow()
    """Bytes from the TASICs to the EMCs."""
    to_gps: LedgerFlow = LedgerFlow()
    """Bytes from the TASICs to the GNI, for GPs of this node or of others: every one of them is data that moved."""
    from_gps: LedgerFlow = LedgerFlow()
    """Bytes of loads from the own GPs to the GNI: every one of them is data that moved."""
    slots: int = 0
    """Slots of transfers with PEs: one of each EMC of a module in each round."""
    slots_used: int = 0
    """Those in which the EMC has a PE left. The others take their time, and nothing moves in them."""

    def check(self) -> None:
        """Raise InternalError where something was lost or appeared from nowhere."""
        wrong = [f"semaphore {number}: {flow}" for number, flow in self.signals.items() if not flow.balanced]
        if self.commands != self.dones:
            wrong.append(f"{self.commands} commands, {self.dones} done")
        wrong += [f"{name}: {flow}" for name, flow in self._flows() if not flow.balanced]
        if self.slots_used > self.slots:
            wrong.append(f"{self.slots} slots, {self.slots_used} used")
        if wrong:
            raise InternalError("the ledger of the run does not balance: " + "; ".join(wrong))

    def _flows(self) -> tuple[tuple[str, LedgerFlow], ...]:
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
            "slots": self.slots,
            "slots_used": self.slots_used,
            "bytes": {
                name: {each.name: getattr(flow, each.name) for each in fields(flow)}
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


def ledger_of(run: Clocked) -> Ledger:
    """Return the ledger of a run that has ended."""
    if run.boxes is None:
        return Ledger(signal_flows(run.streams.values()))
    totals, boxes, gni, moved = run.counts.totals, run.boxes, run.boxes.gni.state, run.moved
    sent = sum(box.state.sent_bytes for box in boxes.emcs)
    received = sum(box.state.received_bytes for box in boxes.emcs)
    for_gps = sum(box.state.sent_bytes for box in boxes.ports)
    from_gps = sum(box.state.given_bytes for box in boxes.gps)
    to_gps, loads, looped = moved["PEs to GPs"], moved["GPs to TASICs"], moved["PEs to PEs"]
    given = (totals["inbound asked"], totals["inbound"], sent, totals["inbound used"])
    taken = (totals["outbound asked"], totals["outbound"], received, totals["outbound used"])
    return Ledger(
        signal_flows(run.streams.values(), run.counts.signals),
        totals["commands"],
        totals["dones"],
        LedgerFlow(*given, moved["PEs to TASICs"] + looped),
        LedgerFlow(*taken, moved["TASICs to PEs"] + looped),
        LedgerFlow(to_gps, for_gps, gni.from_modules_bytes, to_gps, to_gps),
        LedgerFlow(loads, from_gps, gni.from_gps_bytes, loads, loads),
        totals["slots"],
        totals["slots used"],
    )
