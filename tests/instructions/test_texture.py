"""Does every texture instruction move the bytes that its manual entry says, on every engine, in the cycles it takes?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import microcode
from pixelflow.config import TINY, NodeConfig, SdramConfig
from pixelflow.isa import INPUT_PORT, INSTRUCTIONS, OUTPUT_PORT, Unit
from pixelflow.node import Node
from pixelflow.node.kernels import ENGINES
from pixelflow.node.texture_addresses import Physical
from pixelflow.simd.errors import MachineFault
from tests.instructions.texture_rows import ROWS, TextureRow, block, words

CHECKED = SdramConfig(check_commands=True)


def machine(row: TextureRow, **sections: SdramConfig) -> NodeConfig:
    return replace(TINY, array=replace(TINY.array, modules=row.modules), **sections)


def where(address: int) -> Physical:
    line, column = divmod(address, 512)
    return Physical(np.arange(8), np.full(8, line // 2048), np.full(8, line % 2048), np.full(8, column))


def as_bytes(values: bytes) -> np.ndarray:
    return np.frombuffer(values, np.uint8)


def prepared(row: TextureRow, node: Node) -> Node:
    ports = np.zeros((32, node.lanes), np.uint8)
    for lane, values in row.ports.items():
        ports[:, lane] = as_bytes(values)
    node.write_memory(OUTPUT_PORT, ports)
    for flag, lanes in (("MR", row.read), ("MW", row.write)):
        marks = np.zeros(node.lanes, bool)
        marks[list(lanes)] = True
        node.set_flag(flag, marks)
    for address, values in row.memory.items():
        node.texture_memory[0].write(where(address), as_bytes(values).reshape(8, 4))
    node.gp_memory[0].write(0, as_bytes(row.gp))
    return node


def program(text: str):
    return microcode.assemble(f"HALT\nstream tigc\n{text}\n")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: repr(row.text))
def test_row(row: TextureRow, engine: str) -> None:
    node = prepared(row, Node(machine(row, sdram=CHECKED), engine=engine))
    expected = node.memory
    for lane, values in row.taken.items():
        expected[INPUT_PORT : INPUT_PORT + 32, lane] = as_bytes(values)
    run = node.run(program(row.text))
    assert np.array_equal(node.memory, expected)
    for address, values in (row.memory | row.stored).items():
        assert node.texture_memory[0].read(where(address)).tobytes() == values, hex(address)
    touched = {address // 512 for address in row.memory | row.stored}
    assert node.texture_memory[0].pages == len(touched)
    for address, values in row.returned.items():
        assert node.gp_memory[0].read(address, len(values)).tobytes() == values
    assert node.gp_memory[0].used == max([len(row.gp), *(start + len(found) for start, found in row.returned.items())])
    assert run.tasic_cycles == (row.cycles, *[0] * (row.modules - 1))
    assert run.gni_cycles == row.gni


def test_every_texture_instruction_has_rows() -> None:
    written = {line.split()[0] for row in ROWS for line in row.text.splitlines()}
    assert {d.mnemonic for d in INSTRUCTIONS.values() if d.unit is Unit.TASIC} == written


@pytest.mark.parametrize("row", ROWS, ids=lambda row: repr(row.text))
def test_times_do_not_come_from_the_checker(row: TextureRow) -> None:
    node = prepared(row, Node(machine(row)))
    assert node.run(program(row.text)).tasic_cycles == (row.cycles, *[0] * (row.modules - 1))


FAULTS = [
    (TextureRow("TAS_MemRdBlock4 1", read=(0,), ports={0: words(2)}), "texture address 0x2 is not a multiple of 4"),
    (TextureRow("TAS_MemRdBlock8 1", read=(0,), ports={0: words(4)}), "texture address 0x4 is not a multiple of 8"),
    (TextureRow("TAS_MemRdBlock4 1", read=(0,), ports={0: words(1 << 21)}), "texture address 0x200000 is not"),
    (TextureRow("TAS_MemRdBlock4 3", read=(0,)), "corner turner of an EMC that takes part holds no addresses"),
    (TextureRow("TAS_MemWrHeld4 1", write=(0,)), "the data corner turners hold no 4 bytes"),
    (TextureRow("TAS_MemWrOver4 1, 0", write=(0,)), "no module is 1 further on: the node has 1 module"),
    (TextureRow("TAS_LoopBack", read=(0,), write=(0, 1)), "not as many PEs marked for writing as for reading"),
    (
        TextureRow(
            "TAS_SetBanks 1\nTAS_SetCrossbar 2, 0\nTAS_SetStep 1\nTAS_MemWrBase4 2",
            write=(0, 1, 2),
            ports={0: words(0), 1: block(1), 2: block(2)},
        ),
        "alternate banks were promised, but module 0, EMC 0 accesses bank 0 in round 1",
    ),
    (TextureRow("TAS_GpWrite 1, 30, 3", write=(0,)), "bytes 30..32 are outside a port of 32"),
    (TextureRow("TAS_GpWrite 2, 0, 1", write=(0,)), "modules 0b10: the node has only 1"),
    (TextureRow("TAS_SetGp 1, 0, 2"), "there is no GP 2 in the node 0 places along"),
    (TextureRow("TAS_SetGp 1, 1, 0"), "there is no GP 0 in the node 1 places along"),
    (TextureRow("TAS_MemLoad 1, 2, 2097148"), "texture address 0x200000 is not a multiple of 4"),
]


@pytest.mark.parametrize(("row", "message"), FAULTS, ids=lambda value: getattr(value, "text", None))
def test_faults(row: TextureRow, message: str) -> None:
    with pytest.raises(MachineFault, match=message):
        prepared(row, Node(TINY)).run(program(row.text))
