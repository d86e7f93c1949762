"""Opcodes of the vector unit's instructions stay what they are: object files hold them."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from itertools import permutations

import pytest

from larrabee_bridge.vpu.isa import INSTRUCTIONS
from larrabee_bridge.vpu.isa.declarations import DST, VectorFamily, declare
from pixelflow.simd.errors import InternalError

FILES = ("floats", "integers", "memory", "scalar")
DIGEST = "534756a9b200dc7c755326a85ae720c486f42403502bc29c55804d85beeadd57"
"""Of opcode, mnemonic and the fields of all operands, by opcode: of the first 107, and of those with 64 bits."""
WIDE_DIGEST = "6d530b9b94a4f6d8caaf1beaf67186a67f11e1f7071039cdf60fa636d5639a59"
FIRST_WIDE = 108


def table() -> str:
    lines = []
    for each in INSTRUCTIONS.values():
        fields = [(field.operand, field.part, field.start, field.width, field.signed) for field in each.layout.fields]
        lines.append(f"{each.opcode} {each.mnemonic} {each.words} {fields}")
    return "\n".join(lines)


def test_the_table_of_opcodes_is_the_one_of_all_object_files() -> None:
    assert [each.opcode for each in INSTRUCTIONS.values()] == list(range(1, 147))
    lines = table().split("\n")
    for some, digest in ((lines[: FIRST_WIDE - 1], DIGEST), (lines[FIRST_WIDE - 1 :], WIDE_DIGEST)):
        assert hashlib.sha256("\n".join(some).encode()).hexdigest() == digest


@pytest.mark.parametrize("order", [FILES[::-1], list(permutations(FILES))[11]], ids=",".join)
def test_the_order_of_imports_changes_nothing(order: tuple[str, ...]) -> None:
    """The folder is a package without its face here, so that this order is the only one."""
    code = f"""
import sys, types
from importlib import import_module
import larrabee_bridge
home = types.ModuleType("larrabee_bridge.vpu.isa")
for name in [name for name in sys.modules if name.startswith("larrabee_bridge.vpu.isa")]:
    del sys.modules[name]
home.__path__ = [larrabee_bridge.__path__[0] + "/vpu/isa"]
sys.modules["larrabee_bridge.vpu.isa"] = home
for name in {order}:
    import_module("larrabee_bridge.vpu.isa." + name)
declarations = import_module("larrabee_bridge.vpu.isa.declarations")
for each in declarations.INSTRUCTIONS.values():
    fields = [(field.operand, field.part, field.start, field.width, field.signed) for field in each.layout.fields]
    print(each.opcode, each.mnemonic, each.words, fields)
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.rstrip("\n") == table()


def test_an_opcode_is_given_once() -> None:
    with pytest.raises(InternalError, match="vdivpd: mnemonic or opcode 0x01 is declared twice"):

        @declare("vdivpd", 0x01, DST, family=VectorFamily.FLOAT)
        def vdivpd(lanes, dst) -> None:
            """Never declared."""


def test_an_operand_without_a_kind_is_refused() -> None:
    with pytest.raises(AttributeError, match="kind"):
        declare("vdivpd", 0xFF, "nonesuch", family=VectorFamily.FLOAT)
