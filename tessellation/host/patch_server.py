"""A tessellation server: one node tessellates, and other nodes get the results to render them (thesis 3.8).

Node 0 holds the patch database and runs the passes. After each pass a second program runs on the whole machine: it
copies points and normals into the output ports, and every module sends them over the geometry network to its client,
into the memory of that node's GP 0. As many clients as modules fill the network (800 MB/s) and the paths to the
clients' memories (200 MB/s each) equally. The thesis describes the arrangement in a paragraph and did not pursue it:
the assignment of modules to clients, and the places of results in GP memory, are invented.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from microcode import Builder
from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import Machine, MachineRun
from pixelflow.simd.errors import Fault, InputError, InternalError
from tessellation.host.manager import PatchHandle, PatchManager
from tessellation.host.session import PassBegins, Session
from tessellation.microprogram.gp_traffic import RESULT_BYTES, Returned, emit_return, received
from tessellation.microprogram.method import FloatLibrary, Method
from tessellation.microprogram.passes import Plan

_SERVER = 0
"""The number of the node that tessellates; client n is node n + 1."""


@dataclass(frozen=True, slots=True)
class _ToClients(Returned):
    """PEs that send results to other nodes: ``gps`` is their number, and each always receives from the same modules."""

    @property
    def by_gp(self) -> dict[int, int]:
        senders: dict[int, int] = {}
        for module in self._numbers:
            senders[module % self.gps] = senders.get(module % self.gps, 0) | 1 << module
        return senders

    def emit_gps(self, builder: Builder, modules: int) -> None:
        for client, senders in self.by_gp.items():
            if senders & modules:
                builder.emit("TAS_SetGp", senders & modules, client + 1, 0)


class Delivery(NamedTuple):
    """The run that brought the results of one pass to the clients."""

    run: MachineRun
    bytes_each: tuple[int, ...]
    """Bytes that arrived in the memory of each client's GP."""

    @property
    def client_cycles(self) -> tuple[int, ...]:
        """Cycles in which the path to the memory of each client's GP was busy."""
        return tuple(self.run.gni_cycles[client + 1].get("store0", 0) for client in range(len(self.bytes_each)))


class _ServerSession(Session):
    """A session on node 0 of a machine, whose results come from the clients' memories."""

    def __init__(self, machine: Machine, clients: int, library: FloatLibrary, method: Method) -> None:
        super().__init__(machine.config, machine.engine, library, method, node=machine.node(_SERVER))
        self.deliveries: list[Delivery] = []
        self._machine = machine
        self._clients = clients

    def _results(self, plan: Plan, gone: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        array = self.config.array
        sent = _ToClients.of(plan.work, self._clients)
        builder = Builder("send results to the clients")
        emit_return(builder, plan.memory, sent, array)
        run = self._machine.run({_SERVER: builder.build()})
        memories = [gps[0] for gps in self._machine.gp_memory[_SERVER + 1 :]]
        points, normals, there = received(self.node, sent, memories=memories)
        arrived = tuple(run.stored_bytes[client + 1] for client in range(self._clients))
        if sum(arrived) != RESULT_BYTES * int(there.sum()):
            raise InternalError(f"{sum(arrived)} bytes arrived at the clients for {int(there.sum())} results")
        self.deliveries.append(Delivery(run, arrived))
        return points, normals, there


class PatchServer(PatchManager):
    """Patches in the texture memory of one node, tessellated there for ``clients`` other nodes.

    Used as `PatchManager`; the samples in `PatchHandle.result` are those that the clients' memories hold.
    """

    session: _ServerSession

    def __init__(
        self,
        maximum: Mapping[int | tuple[int, int], int],
        *,
        clients: int = 4,
        config: NodeConfig = THESIS,
        library: str = "tuned",
        engine: str = "auto",
        method: Method | None = None,
    ) -> None:
        """Raises InputError like `PatchManager`, and for a number of clients other than 1 to the number of modules."""
        if not 1 <= clients <= config.array.modules:
            raise InputError(
                Fault(f"{clients} clients", hint=f"allowed: 1 to {config.array.modules}, the modules of the server")
            )
        if method is not None and method.to_gps:
            raise InputError(
                Fault(f"results {method.results}", hint="a server sends its results to the clients: leave it direct")
            )
        if method is not None and method.cache is not None:
            raise InputError(Fault("a server keeps no results in texture memory", hint="leave out the way of caching"))
        self.clients = clients
        self.machine = Machine(clients + 1, config, engine)
        super().__init__(maximum, config=config, library=library, engine=engine, method=method)

    def _session(self, config: NodeConfig, engine: str, library: FloatLibrary, method: Method) -> Session:
        return _ServerSession(self.machine, self.clients, library, method)

    def tessellate(self, progress: Callable[[PassBegins], object] | None = None) -> tuple[PatchHandle, ...]:
        self.session.deliveries.clear()
        return super().tessellate(progress)

    @property
    def deliveries(self) -> tuple[Delivery, ...]:
        """The delivery of the results of each pass of the last tessellation."""
        return tuple(self.session.deliveries)

    @property
    def delivery_cycles(self) -> int:
        """Cycles of all deliveries of the last tessellation, each from its start to the last arrival."""
        return sum(delivery.run.cycles for delivery in self.deliveries)

    def share(self, client: int) -> tuple[PatchHandle, ...]:
        """Return the patches of the last tessellation whose samples are in the memory of a client, numbered from 0."""
        placed = (place for plan in self.plans for place in plan.work.placements)
        numbers = sorted(place.patch for place in placed if place.module % self.clients == client)
        return tuple(self.handles[number] for number in numbers)
