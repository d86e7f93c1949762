"""The compiled engine: meanings lowered to LLVM IR and run as native vector code."""

from pixelflow.simd.lanes.compiled.engine import CompiledEngine

__all__ = ["CompiledEngine"]
