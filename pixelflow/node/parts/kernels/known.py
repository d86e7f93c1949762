"""The routines that are known: which digest is which kernel.

A digest stands here once `tests/kernels` has compared the kernel with the routine's microcode; the same tests assemble
the library and compare the digests. A routine that has changed by one bit is not found here, and its microcode is
carried out. Nothing but its instruction words counts, wherever its scratch memory lies: not its name, nor the names of
its parameters. Two routines with equal digests do the same to the operands that they are called with.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache

from pixelflow.isa import EncodingError, Program, Routine, Unit
from pixelflow.isa.control import RET, START
from pixelflow.node.parts.kernels.floats.kernel import Kernel, KernelOperation
from pixelflow.simd.isa.operands import Mem

__all__ = ["digest", "kernel_of", "known"]

# Operation, bytes of mantissa, the digests of its routines: that of the plain library before that of the tuned one.
_KNOWN = """
from_integer 3 20b01682f7613aa4bac93a96 a2f8b45d71b85ee7b69fcb4e
add 3 6c758aacc2fa89e1f4680a33 3cb5be366ca037e013c89148
add_finite 3 aaf181bc39271cd2c7380034
subtract 3 5cab8110f0d90f193e86578c 81e8deff7adddfa05374635f
subtract_finite 3 7a6143a7aaefc496e00e78c8
multiply 3 b4d5569d9df6dc68e43d4700 fd12c612c26c8247318a6b1e
multiply_finite 3 cc752df210ab918b0d89c05b
divide 3 26c211a557fd5744c7ac28c0 2f5f1d1fa4ea21e08164297c
divide_finite 3 63d435e7c4596e981bf872a2
square_root 3 98f4e83a2b57f9f37067c346 94f98884e5bf6cb45ee571fb
square_root_finite 3 e51edc4e8d5e1bd6b6339037
negate 3 2eda113ddf6c5b91ee450f46
absolute 3 9e31607eeb6ad8336f43c5cc
less 3 f837f083dcbff235cf9543de
equal 3 04ec0621755f82558e46447a
to_integer 3 898c471b935995735c3beedf
from_integer 4 c272844a9b3dd1e76abc92ac 3ec9a9488a4ec891257a417f
add 4 a52fc20d547447a7d6689cf5 0f304f58059944951a2e9df2
add_finite 4 16942954eb440e7080b1567b
subtract 4 a624e680f1115cdc503ce641 1a89d059c30c3785205fcc25
subtract_finite 4 47c126a3988acb01431cf76c
multiply 4 3858e311dcda90f40eb84062 f4683c675af697010e52beb2
multiply_finite 4 6c5faa64b157d51ef1069855
divide 4 487f2c6d6b1c8b9e9bbeab4d 954d6b38c7587c592ce635e4
divide_finite 4 19f511cb97f271ef47364305
square_root 4 f18e36420c8f6b2e622b71b9 1c482f53f1e77ad8e628e609
square_root_finite 4 bba6a163d2ee1da18a02faac
negate 4 051d8d7747cee5442bc37cd5
absolute 4 8569fcda2cf3b9911b68f7a1
less 4 4a5d366621ff76c22af6c733
equal 4 81ec855202a6d7d99a455c00
to_integer 4 4f3ddee9360bab3ffcd9a87f
from_integer 5 a35ba7a295479d9560ca9a31 b6a23870d22b1ed70080c7bb
add 5 fd4b1220660632a6c358444c 0e08311eac97fd2cdf85634d
add_finite 5 dabe7658de20dcf3f8556963
subtract 5 a56aebf046cef817664580df 18e54bd054a5c43c453010ae
subtract_finite 5 a0d5b15c71e0945031601f2d
multiply 5 24174e00bc16b3b43bde3217 caa6e13669a532434acbf60a
multiply_finite 5 b65bbdfb8553ba7f56a3e4ac
divide 5 bdab70e905bde8bc8634433d fc3899f4131f9bd4ef5466b9
divide_finite 5 c844e2d8acf4b7c900afcfd5
square_root 5 53a25e088c3275952df2ac3e dfd3854828ff7c2541e854f8
square_root_finite 5 baf2f50df699035ebbc286f2
negate 5 e66f4d70bcfac2a6ea32c89d
absolute 5 00038fe1c6ae769350ccd631
less 5 28eec56578eb00ab412a8f16
equal 5 7f0560e6ea310e5b87dbfc9f
to_integer 5 5524a1b36726670e1bca8b64
from_integer 6 458e242573afdb6f4001125b 0e267c2b631beee1d997451d
add 6 fc6561fe0dd62747ce3d7468 577959e2f14b74835f2c0283
add_finite 6 b72f396f46bd77a3649c1dc9
subtract 6 1de2a90bb840348c850b1ff0 f8c7b9d5eadd30e8fc000720
subtract_finite 6 17c827b60ba9b1beeb0154f8
multiply 6 5ae65929f2e1f91f0cfeeacc 94393fdda7e20dea4890c49f
multiply_finite 6 f5ac1c036d8274fc3ff405a0
divide 6 08fe7d7f34cfa5302f2491ca 7c0a294edb1d579efd6db353
divide_finite 6 7320096998ebd6e9ea2f556a
square_root 6 1d4c75ca17273386a1a512cf f86d17b2315ac809c7c37ce8
square_root_finite 6 2646e61c39c5639d1142ee3b
negate 6 b98766573df7497e430fbd89
absolute 6 358a943dab023d7958fb0837
less 6 30b6e4c1999df5988711cc10
equal 6 7540c21980d106cb6d1b9412
to_integer 6 520d38b2b5214680adb87a04
"""

_FINITE = "_finite"


@cache
def known() -> dict[str, Kernel]:
    """Return the kernel of each digest."""
    found = {}
    for line in _KNOWN.split("\n")[1:-1]:
        name, size, *digests = line.split()
        operation = KernelOperation(name.removesuffix(_FINITE))
        found |= dict.fromkeys(digests, Kernel(operation, int(size), name.endswith(_FINITE)))
    return found


def kernel_of(program: Program, routine: Routine) -> Kernel | None:
    """Return the kernel that does what a routine does; None where there is none."""
    return known().get(digest(program, routine) or "")


def digest(program: Program, routine: Routine) -> str | None:
    """Return a hash of a routine's instructions, with addresses in its scratch memory counted from where that begins.

    None for what cannot have a kernel: a routine that is not one piece of straight code from START to RET, or that
    touches memory besides its operands and one range of scratch.
    """
    instructions = program.by_kind
    first, end = program.index_of[routine.entry], program.index_of.get(routine.end, len(instructions))
    start, *body, last = [instructions[index] for index in range(first, end)]
    if start.declaration is not START or last.declaration is not RET or len(routine.scratch) > 1:
        return None
    at, size = routine.scratch[0] if routine.scratch else (0, 0)
    seen = hashlib.sha256()
    for instruction in body:
        if instruction.declaration.unit is not Unit.PE:
            return None
        moved = []
        for operand in instruction.operands:
            if isinstance(operand, Mem) and operand.base is None:
                operand = Mem(operand.offset - at)
                if not 0 <= operand.offset < size:
                    return None
            moved.append(operand)
        try:
            words = replace(instruction, operands=tuple(moved)).encode()
        except EncodingError:  # words that the assembler never makes
            return None
        for word in words:
            seen.update(word.to_bytes(4, "little"))
    return seen.hexdigest()[:24]
