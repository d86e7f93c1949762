"""Are the vector instructions of native code counted right?"""

from __future__ import annotations

import pytest

from benchmarks.vector_bound import vector_operations
from pixelflow.simd.lanes import Shape

X86 = """
f:
	pushq	%rbp
	vmovdqa64	(%rax), %zmm1
	vpaddb	%zmm1, %zmm1, %zmm2
.LBB0_1:
	vmovdqu64	(%rcx,%rsi), %zmm5
	vpandq	(%r8,%rsi), %zmm5, %zmm5
	vpaddb	%zmm5, %zmm1, %zmm6 {%k1}   # a comment with %zmm
	vmovdqu8	%zmm6, %zmm7 {%k1}
	vpcmpltub	%zmm5, %zmm1, %k1
	vmovdqa64	%zmm6, %zmm8
	movq	-16(%rsp), %r8
	vmovdqu64	%zmm8, (%rax,%rsi)
	addq	$64, %rsi
	jb	.LBB0_1
	vpxor	%xmm0, %xmm0, %xmm0
	retq
"""
"""In the loop: and, add, masked move, compare."""

AARCH64 = """
f:
	mov	x8, xzr
.LBB0_1:
	ldr	q0, [x9, x8]
	add	v0.16b, v0.16b, v1.16b
	sshr	v2.16b, v0.16b, #7
	mov	v3.16b, v2.16b
	str	q2, [x10, x8]
	add	x8, x8, #16
	cmp	x8, x1
	b.lo	.LBB0_1
	ret
"""
"""In the loop: add, shift."""


@pytest.mark.parametrize(
    ("text", "expected"), [(X86, 4), (AARCH64, 2), ("f:\n\tvpaddb %zmm0, %zmm0, %zmm0\n\tretq\n", 0)]
)
def test_counted_by_hand(text: str, expected: int) -> None:
    assert vector_operations(text) == expected


@pytest.mark.parametrize("additions", [1, 3])
def test_an_addition_is_one_instruction_for_each_vector(make, additions: int) -> None:
    """Row 1 is added to row 0 once or three times, on 128 lanes."""
    engine = make(Shape(128, 32, 4, (), (), ("E",)))

    def meaning(lanes) -> None:
        total = lanes.load(0)
        for _ in range(additions):
            total, _ = lanes.add(total, lanes.load(1), lanes.bit(False))
        lanes.store(0, total)

    chain = engine.chain([engine.prepare(meaning)])
    vectors = 128 // make.native().tools.vectors.width
    assert engine.tiles == 1
    (text,) = engine.assembly(chain)
    assert vector_operations(text) * engine.strips == additions * vectors
