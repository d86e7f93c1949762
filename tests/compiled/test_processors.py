"""Does the same lowering serve processors with other vectors? Lesser ones of this family run here, others compile."""

from __future__ import annotations

import platform

import llvmlite.binding as llvm
import pytest

from pixelflow.simd.lanes import make_engine
from pixelflow.simd.lanes.form import COORDINATES
from pixelflow.simd.lanes.native.compiled_engine import Native
from pixelflow.simd.lanes.native.dispatch import FIXED
from pixelflow.simd.lanes.native.lowering import DECLARATIONS, Vectors, block_of, function, parts_of
from pixelflow.simd.lanes.native.threads import TEXT
from pixelflow.simd.lanes.native.toolchain import Toolchain
from pixelflow.simd.store import Store
from tests.compiled.test_fused import expected, fused, shape, start
from tests.differential.random_programs import program

X86 = platform.machine() in ("x86_64", "AMD64")


@pytest.mark.skipif(not X86, reason="these processors are of the x86 family")
@pytest.mark.parametrize(("cpu", "width"), [("x86-64", 16), ("x86-64-v2", 16), ("x86-64-v3", 32)])
def test_lesser_processors(make, folder, monkeypatch, cpu: str, width: int) -> None:
    """SSE2 alone, SSE4.2, AVX2: one by one and fused."""
    native = Native(Toolchain(cpu, "", width), Store(folder))
    monkeypatch.setattr("pixelflow.simd.lanes.native.compiled_engine.native", lambda width=None: native)
    rows, engine = make_engine("rows", shape(96)), make(shape(96))
    for each in (rows, engine):
        start(each, 71, full=False).run([each.prepare(one.apply) for one in program(71, 150)])
    assert rows.digest() == engine.digest()
    start(engine, 72, full=False).run([fused(engine, 72, 30)])
    assert engine.digest() == expected(96, 72, 30, 1, full=False)


@pytest.mark.parametrize(
    ("triple", "cpu", "vectors"),
    [
        ("aarch64-linux-gnu", "", Vectors(16)),
        ("x86_64-linux-gnu", "icelake-server", Vectors(64, ternary=True, matrix=True)),
    ],
)
def test_other_processors_compile(triple: str, cpu: str, vectors: Vectors) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(triple)
    except RuntimeError:
        pytest.skip(f"this llvmlite has no {triple}")
    places = {name: 400 + at for at, name in enumerate((*shape(64).words, *shape(64).carries, *shape(64).masks))}
    places |= {name: 450 + at for at, name in enumerate(COORDINATES)}
    parts = [part for each in program(73, 30) for part in parts_of(each.apply, places)]
    block, _ = block_of(parts, 64, frozenset())
    fixed = [text(f"fixed{number}", 16) for number, text in FIXED.items()]
    # What a thread does while it waits is the one thing that is written down for one family.
    shared = "\n".join(line for line in TEXT.splitlines() if "pause" not in line)
    functions = [function("f", block, vectors), function("g", block, vectors, 4), *fixed, shared]
    module = llvm.parse_assembly("\n".join([DECLARATIONS, *functions]))
    assert len(target.create_target_machine(cpu=cpu, opt=1).emit_object(module)) > 1000
