"""Instructions that end inputs."""

from __future__ import annotations

from attila_bridge.code.isa.declarations import ShaderFamily, declare
from attila_bridge.code.isa.execution import ShaderExecution
from attila_bridge.code.isa.operands import SRC, ShaderSource
from attila_bridge.code.isa.registers import ShaderStage
from pixelflow.simd.lanes.algebra import Bit, Word

__all__: list[str] = []


@declare("KIL", 0x50, SRC, latency=3, family=ShaderFamily.FLOW, stages=(ShaderStage.FRAGMENT,), writes=False)
def _kil(shader: ShaderExecution[Word, Bit], src: ShaderSource) -> None:
    """Kill the fragment where a component of ``src`` is less than 0: no colour is written, depth may have been."""
    shader.kill(shader.lanes.float_less(shader.source(src), shader.lanes.word(0)))
