"""From LLVM IR to addresses of native code, for the processor of this host or a lesser one.

Each batch of functions becomes one object, which stays in memory as long as the process.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import llvmlite
import llvmlite.binding as llvm

from pixelflow.simd.lanes.native.lowering import DECLARATIONS, Vectors

_WIDEST = (("avx512bw", 64), ("avx2", 32))
"""Features that give vectors of more than 16 bytes; every other processor has 16."""

_OPTIONS = ("--disable-x86-domain-reassignment",) if llvm.get_process_triple().startswith(("x86_64", "i686")) else ()
"""Options of LLVM, for the whole process. The pass that moves numbers to mask registers drops the zeroing of bits
above 16 bits: a number of 32 bits that went through a mask of 16 lanes was stored whole (LLVM 20, AVX-512)."""

for _option in _OPTIONS:  # once: a second time is an error that ends the process
    llvm.set_option("", _option)

LANES = "pixelflow.simd.lanes"
"""The package whose files decide what the IR is and how it becomes code."""

HASTY, CAREFUL = 0, 1
"""How code is generated: in a quarter of the time, or so that it runs half as long again faster."""


class Toolchain:
    """Compiles for one processor; ``width`` is the number of bytes of its vectors."""

    def __init__(self, cpu: str, features: str, width: int) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.cpu = cpu
        self.features = features
        has = set(features.split(","))
        self.vectors = Vectors(
            width, ternary=width == 64 and "+avx512f" in has, matrix=width == 64 and {"+avx512f", "+gfni"} <= has
        )
        self._linker = llvm.create_lljit_compiler(self._machine())
        self._loaded: list[llvm.ResourceTracker] = []
        """Keeps the code of functions in memory."""

    @property
    def identity(self) -> str:
        """Everything except the IR that the native code depends on."""
        versions = f"{llvmlite.__version__} {llvm.llvm_version_info}"
        options = " ".join(_OPTIONS)
        return f"{llvm.get_process_triple()} {self.cpu} {self.features} {self.vectors} {versions} {options}"

    def compile(self, texts: Sequence[str], level: int = CAREFUL, *, promotes: bool = False) -> bytes:
        """Return the object code of functions.

        Where ``promotes``, their local variables become registers and calls of ``alwaysinline`` functions their text.
        Raises RuntimeError where LLVM refuses.
        """
        module, machine = llvm.parse_assembly("\n".join([DECLARATIONS, *texts])), self._machine(level)
        if promotes:
            builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
            passes = llvm.create_new_module_pass_manager()
            passes.add_always_inliner_pass()
            passes.add_sroa_pass()
            passes.run(module, builder)
        return machine.emit_object(module)

    def assembly(self, texts: Sequence[str]) -> str:
        """Return what `compile` makes of functions as text."""
        return self._machine().emit_assembly(llvm.parse_assembly("\n".join([DECLARATIONS, *texts])))

    def load(self, code: bytes, names: Sequence[str]) -> list[int]:
        """Return the addresses of the functions of an object; raises RuntimeError where one is not in it."""
        library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        for name in names:
            library.export_symbol(name)
        loaded = library.link(self._linker, f"object {len(self._loaded)}")
        self._loaded.append(loaded)
        return [loaded[name] for name in names]

    def _machine(self, level: int = CAREFUL) -> llvm.TargetMachine:
        # A linker takes its target machine over, and each level has its own.
        target = llvm.Target.from_default_triple()
        return target.create_target_machine(cpu=self.cpu, features=self.features, opt=level, jit=True)


@cache
def toolchain(width: int | None = None) -> Toolchain:
    """Return the tools for this host, with its own vectors or of ``width`` bytes; one per process and width.

    If LLVM cannot name a processor's features, none are used.
    """
    try:
        found = llvm.get_host_cpu_features()
    except RuntimeError:
        return Toolchain("generic", "", width or 16)
    if width is None:
        width = next((size for feature, size in _WIDEST if found.get(feature)), 16)
    return Toolchain(llvm.get_host_cpu_name(), found.flatten(), width)
