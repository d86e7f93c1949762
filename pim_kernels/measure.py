"""A kernel measured: run on a node with data, compared with numpy, its cycles, bytes and utilisation counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pim_kernels.bit_serial import nanoseconds
from pim_kernels.kernel import HostMemory, PimKernel
from pixelflow.config import NodeConfig
from pixelflow.node import EnergyConfig, EnergyMeter, Node, Run, RunEnergy
from pixelflow.observe.stats import Collector
from pixelflow.simd.lanes import AUTO

__all__ = ["KernelRun", "measure"]


@dataclass(frozen=True)
class KernelRun:
    """What a kernel took on one machine."""

    kernel: PimKernel
    config: NodeConfig
    engine: str
    right: bool
    """Whether all results are numpy's."""
    elements: int
    loaded: int
    """Bytes that the host has put into the PEs, for which no time is counted."""
    left: int
    """Bytes of results that the host has to read."""
    run: Run
    enabled: int
    """Enabled PEs, summed up over the busy cycles of the EMC stream."""
    energy: RunEnergy
    digest: str
    """Of the node afterwards: the same on every engine."""

    @property
    def cycles(self) -> int:
        """Cycles of the run."""
        return self.run.total_cycles

    @property
    def nanoseconds(self) -> float:
        """Time of the machine."""
        return 1e9 * self.config.seconds(self.cycles)

    @property
    def utilisation(self) -> float:
        """Share of enabled PEs, times the share of cycles in which they are told anything."""
        return self.enabled / (self.config.lanes * self.cycles)

    @property
    def waited(self) -> float:
        """Share of the cycles in which the EMC stream waits for texture memory."""
        return sum(self.run.waits.values()) / self.cycles

    @property
    def loading(self) -> int:
        """Cycles that the GNI takes at least to bring the data: bytes by its bandwidth (formula)."""
        each = self.config.gni.mb_per_second // self.config.clock_mhz
        return -(-self.loaded // each)

    @property
    def memory_bytes(self) -> int:
        """Bytes read from and written to the memories of the PEs."""
        return self.energy.counts["memory_read"] + self.energy.counts["memory_write"]

    @property
    def port_bytes(self) -> int:
        """Bytes between EMCs and TASICs, both ways, addresses and idle places among them."""
        return self.energy.counts["port_byte"]

    @property
    def peer_nanoseconds(self) -> float | None:
        """Time of a bit-serial machine as wide for the same work, by a published formula; None where there is none."""
        return nanoseconds(self.kernel.peer, self.config.lanes) if self.kernel.peer else None


def measure(
    kernel: PimKernel, config: NodeConfig, engine: str = AUTO, *, seed: int = 1, prices: EnergyConfig | None = None
) -> KernelRun:
    """Run a kernel on random data and return what it took; raises InputError where it does not fit the machine."""
    program = kernel.program(config)
    node, collector, meter = Node(config, engine), Collector(), EnergyMeter(config, prices)
    node.load(program)
    memory = HostMemory(node, program)
    problem = kernel.place(memory, np.random.default_rng(seed))
    collector.attach(node.bus)
    meter.attach(node.bus)
    run = node.run(program)
    enabled = collector.runs[0].values["array.enabled_pe_cycles"]
    return KernelRun(
        kernel,
        config,
        node.engine,
        problem.check(),
        problem.elements,
        memory.written,
        problem.left,
        run,
        enabled or 0,
        meter.runs[-1],
        node.digest(),
    )
