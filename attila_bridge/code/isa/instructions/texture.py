"""Texture reads: the coordinates go to a texture unit, the colour comes back."""

from __future__ import annotations

from collections.abc import Callable

from attila_bridge.code.isa.declarations import ShaderFamily, ShaderUnit, declare, described
from attila_bridge.code.isa.execution import Lookup, ShaderExecution
from attila_bridge.code.isa.operands import SAMPLER, SRC, ShaderDestination, ShaderSource, TextureOperand
from attila_bridge.code.isa.registers import ShaderStage
from pixelflow.simd.lanes.algebra import Bit, Word

__all__: list[str] = []


def _read(lookup: Lookup) -> Callable[..., None]:
    def meaning(
        shader: ShaderExecution[Word, Bit], dst: ShaderDestination, src: ShaderSource, unit: TextureOperand
    ) -> None:
        shader.write(dst, shader.sample(unit.number, shader.source(src), lookup))

    return meaning


def _declare_read(mnemonic: str, opcode: int, latency: int, lookup: Lookup) -> None:
    declares = declare(
        *(mnemonic, opcode, SRC, SAMPLER),
        latency=latency,
        family=ShaderFamily.TEXTURE,
        unit=ShaderUnit.TEXTURE,
        stages=(ShaderStage.FRAGMENT,),
    )
    declares(described(_read(lookup), f"Read a texture at ``{lookup.value}`` of ``src``."))


_declare_read("TEX", 0x40, 1, Lookup.PLAIN)
_declare_read("TXB", 0x41, 1, Lookup.BIASED)
_declare_read("TXP", 0x42, 5, Lookup.PROJECTED)
