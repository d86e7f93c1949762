"""Several nodes joined by the geometry network, for results that travel over it (thesis 2.2.1, 3.8).

Nodes that run a program have all their parts; the others have only their interface and their GPs' memories.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import NamedTuple

from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.node.account import Run
from pixelflow.node.node import Node
from pixelflow.node.run.block_diagram import NodeBoxes, connect_network
from pixelflow.node.run.clocked import Clocked
from pixelflow.node.run.stream import deadlock
from pixelflow.node.texture_memory import GpMemory
from pixelflow.simd.boxes import Clock, Netlist
from pixelflow.simd.errors import DeadlockError, InputError, InternalError
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.units import Cycle


class MachineRun(NamedTuple):
    """The account of a run of several nodes."""

    runs: dict[int, Run]
    """By the number of the node."""
    cycles: int
    """The cycle in which all nodes had ended."""
    network_bytes: int
    network_busy_cycles: int
    stored_bytes: dict[int, int]
    """Bytes that reached the GPs of each node."""
    gni_cycles: dict[int, dict[str, int]]
    """Busy cycles of the paths out of each node's GNI, as in `Run.gni_cycles`; ``network_out`` leads to the network."""


class Machine:
    """Nodes of one configuration in a ring; node n + 1 is the next one along the geometry network."""

    def __init__(self, nodes: int, config: NodeConfig = THESIS, engine: str = AUTO) -> None:
        if not 2 <= nodes <= 40:
            raise InputError(f"a machine has 2 to 40 nodes, not {nodes}")
        self.config = config
        self.engine = engine
        self.gp_memory = [[GpMemory() for _ in range(config.gni.gp_count)] for _ in range(nodes)]
        """The memories of the GPs of every node."""
        self._nodes: dict[int, Node] = {}

    def node(self, number: int) -> Node:
        """Return a node; its PEs and texture memory are allocated on first use."""
        self._check_number(number)
        if number not in self._nodes:
            node = Node(self.config, self.engine)
            node.gp_memory = self.gp_memory[number]
            node.texture.nodes = len(self.gp_memory)
            node.texture.gps_of = lambda places: self.gp_memory[(number + places) % len(self.gp_memory)]
            self._nodes[number] = node
        return self._nodes[number]

    def _check_number(self, number: int) -> None:
        if type(number) is not int or not 0 <= number < len(self.gp_memory):
            raise InputError(f"there is no node {number!r}: the machine has 0 to {len(self.gp_memory) - 1}")

    def run(
        self,
        programs: Mapping[int, Program],
        *,
        max_cycles: int | None = None,
        shuffle_seed: int | None = None,
        function: bool = True,
    ) -> MachineRun:
        """Run programs of two streams in parallel, each on its node; raises what :meth:`Node.run` raises.

        Also InputError without any program, for a node that does not exist, and for a program of one stream.
        """
        if not programs:
            raise InputError("a machine runs at least one program, on one of its nodes")
        for number in programs:
            self._check_number(number)
        if any(len(program.entries) < 2 for program in programs.values()):
            raise InputError("every program of a machine needs both streams (eigc and tigc)")
        with ExitStack() as taken:
            for number in programs:
                taken.enter_context(self.node(number).alone())
            return self._run_nodes(programs, max_cycles, shuffle_seed, function=function)

    def _run_nodes(
        self, programs: Mapping[int, Program], max_cycles: int | None, shuffle_seed: int | None, *, function: bool
    ) -> MachineRun:
        count = len(self.gp_memory)
        netlist = Netlist("machine")
        boxes = [NodeBoxes.of(self.config, node=n, nodes=count, modules=n in programs) for n in range(count)]
        running: dict[int, Clocked] = {}
        for number, each in enumerate(boxes):
            if number not in programs:
                each.join(netlist)
                continue
            node = self.node(number)
            if function:
                node.load_once(programs[number])
            performance = node.performance(programs[number], None, node.bus, function=function)
            running[number] = Clocked(
                programs[number],
                self.config,
                performance,
                max_cycles=max_cycles,
                boxes=each,
                netlist=netlist,
                bus=node.bus,
            )
        network = connect_network(netlist, boxes)
        watchers = tuple(watcher for both in running.values() for watcher in both.watchers)
        clock = Clock(netlist, watchers=watchers, shuffle_seed=shuffle_seed)
        for both in running.values():
            both.clock = clock
        with ExitStack() as watched:
            for number, both in running.items():
                watched.enter_context(self.node(number).watched(both, function=function))
            end = self._run(clock, running)
        for each in boxes:
            each.check_bytes()
        sent = sum(each.gni.state.to_network_bytes for each in boxes)
        taken = sum(each.gni.state.from_network_bytes for each in boxes)
        if not sent == network.state.carried_bytes == taken:
            carried = network.state.carried_bytes
            raise InternalError(f"geometry network: {sent} bytes given, {carried} carried, {taken} taken")
        return MachineRun(
            runs={number: self.node(number).account(both, function=function) for number, both in running.items()},
            cycles=end,
            network_bytes=network.state.carried_bytes,
            network_busy_cycles=network.state.busy_cycles,
            stored_bytes={number: sum(gp.state.stored_bytes for gp in each.gps) for number, each in enumerate(boxes)},
            gni_cycles={number: dict(each.gni.state.busy_cycles) for number, each in enumerate(boxes)},
        )

    def _run(self, clock: Clock, running: Mapping[int, Clocked]) -> Cycle:
        """Run all nodes to their end, and close their accounts; return the last cycle."""
        try:
            end = clock.run()
        except DeadlockError:
            raise DeadlockError(
                "\n".join(
                    f"node {number}: {deadlock(both.program, list(both.streams.values()), clock.cycle)}"
                    for number, both in running.items()
                    if any(stream.waiting is not None for stream in both.streams.values())
                )
            ) from None
        finally:
            for both in running.values():
                both.flush()
        for both in running.values():
            both.settle()
        return end
