"""Results go from the PEs to GP memory in the cycles that sections 3.8 and 4.1.4 count, and every byte gets there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import microcode
from pixelflow.config import THESIS, TINY, GniConfig, NodeConfig, SdramConfig
from pixelflow.node import Machine, Node
from pixelflow.simd.errors import DeadlockError, InputError, InternalError, MachineFault
from tests.texture.bench import EMC, IN_EMC, LANES, boxes_of, prepare, program, run

ALL = LANES >= 0
RESULTS = np.random.default_rng(5).integers(0, 256, (32, THESIS.lanes), np.uint8)

AREAS = "\n".join(f"TAS_SetGpAddress {1 << module}, {module * 49_152}" for module in range(4))
"""An area of 2048 x 24 bytes for each module."""


def by_travel(values: np.ndarray) -> np.ndarray:
    """Return uint8[module, round, EMC, byte] of all PEs: as they are stored."""
    return values.T.reshape(4, 8, 256, -1).swapaxes(1, 2)


def test_writing_back_takes_98304_cycles() -> None:
    """24 bytes of 8192 PEs over 2 bytes a cycle (4.1.4); the path to GP memory is busy all that time."""
    node = Node(THESIS)
    prepare(node, write=ALL, bytes=RESULTS)
    found = run(node, f"{AREAS}\nTAS_GpWrite 15, 0, 24")
    assert found.gni_cycles == {"store0": 98_304}
    # What comes on top: 24 cycles into the TASICs, 24 to the GNI, and 13 on wires between boxes.
    assert found.beside.cycles == 98_304 + 24 + 24 + 13
    assert np.array_equal(node.gp_memory[0].read(0, 196_608), by_travel(RESULTS[:24]).ravel())
    assert node.texture.moved["PEs to GPs"] == 196_608


def test_normals_alone_take_49152_cycles() -> None:
    node = Node(THESIS)
    prepare(node, write=ALL, bytes=RESULTS)
    found = run(
        node, "TAS_SetGpAddress 2, 24576\nTAS_SetGpAddress 4, 49152\nTAS_SetGpAddress 8, 73728\nTAS_GpWrite 15, 12, 12"
    )
    assert found.gni_cycles == {"store0": 49_152}
    assert np.array_equal(node.gp_memory[0].read(0, 98_304), by_travel(RESULTS[12:24]).ravel())


def test_two_gps_take_half_the_time() -> None:
    node = Node(THESIS)
    prepare(node, write=ALL, bytes=RESULTS)
    found = run(node, f"TAS_SetGp 12, 0, 1\n{AREAS}\nTAS_GpWrite 15, 0, 24")
    assert found.gni_cycles == {"store0": 49_152, "store1": 49_152}
    assert found.beside.cycles < 49_152 + 200
    expected = by_travel(RESULTS[:24])
    assert np.array_equal(node.gp_memory[0].read(0, 98_304), expected[:2].ravel())
    assert np.array_equal(node.gp_memory[1].read(98_304, 98_304), expected[2:].ravel())


def test_emcs_with_few_marked_pes_send_little() -> None:
    """EMC e of every module has e marked PEs; a round has bytes of those EMCs only that have a PE left."""
    node = Node(THESIS)
    prepare(node, write=IN_EMC < EMC, bytes=RESULTS)
    found = run(node, "TAS_GpWrite 4, 3, 6")
    assert found.gni_cycles == {"store0": 28 * 6 // 2}
    lanes = [4096 + 256 * emc + index for index in range(7) for emc in range(index + 1, 8)]
    assert np.array_equal(node.gp_memory[0].read(0, 28 * 6), RESULTS[3:9, lanes].T.ravel())


def test_other_bandwidths() -> None:
    """The paths follow the configuration: 100 MB/s to memory takes twice as long."""
    node = Node(NodeConfig(gni=GniConfig(gp_memory_mb_per_second=100)))
    prepare(node, write=IN_EMC < 16, bytes=RESULTS)
    found = run(node, "TAS_GpWrite 15, 0, 24")
    assert found.gni_cycles == {"store0": 512 * 24}


@pytest.mark.parametrize(("buffers", "slower"), [(1, True), (2, False), (4, False)])
def test_two_buffers_keep_the_path_to_gp_memory_busy(buffers: int, slower: bool) -> None:
    """A parcel of 192 bytes takes 24 cycles into the GNI and 96 into memory; its buffer is held for both."""
    node = Node(NodeConfig(gni=GniConfig(gp_buffers=buffers)))
    prepare(node, write=IN_EMC < 16, bytes=RESULTS)
    found = run(node, "TAS_GpWrite 15, 0, 24")
    assert found.gni_cycles == {"store0": 512 * 12}
    assert (found.beside.cycles > 512 * 12 + 100) is slower


@pytest.mark.parametrize(
    "text", [f"{AREAS}\nTAS_GpWrite 15, 0, 24", "TAS_MemLoad 15, 100, 0", "TAS_MemRdGp4 4, 2, 4, 4"]
)
def test_timing_only_agrees(text: str) -> None:
    source = microcode.assemble(f"EMC_MarkRead\nEMC_MarkWrite\nSIGNAL 0\nstream tigc\nWAIT 0\n{text}\n")
    small = replace(TINY, array=replace(THESIS.array, emcs_per_module=2, panels_per_emc=2))
    whole = Node(small).run(source)
    timing = Node(small).run(source, function=False)
    assert (timing.cycles, timing.beside.cycles, timing.tasic_cycles, timing.gni_cycles) == (
        whole.cycles,
        whole.beside.cycles,
        whole.tasic_cycles,
        whole.gni_cycles,
    )


def test_lost_bytes_are_an_internal_error() -> None:
    node = Node(TINY)
    prepare(node, write=np.arange(256) < 3)
    both = boxes_of(node, "TAS_GpWrite 1, 0, 24")
    assert both.boxes.bytes_moved["GNI to GPs"] == (72, 72)
    both.boxes.gps[0].state.stored_bytes -= 1
    with pytest.raises(InternalError, match="GNI to GPs: 72 given, 71 taken"):
        both.boxes.check_bytes()


# --- results leave while control points come in ----------------------------------------------------------------------


def fine_grain(node: Node, step_cycles: int, *, returning: bool):
    """Run one step of table 11 for each module: control points in, X of one module out, computation beside both."""
    prepare(node, read=IN_EMC % 4 == 0, write=ALL, bytes=np.vstack((np.zeros((4, node.lanes), np.uint8), RESULTS[4:])))
    transfers = [f"TAS_MemRdGp4 4, {1 << m}, 4, 4" if returning else "TAS_MemRdRepeat4 4, 1" for m in range(4)]
    emc = f"SIGNAL 0\nLOOP {step_cycles}\nADD R, #1\nENDL\nWAIT 1\n" * 4
    tasic = "".join(f"WAIT 0\n{transfer}\nSIGNAL 1\n" for transfer in transfers)
    areas = "\n".join(f"TAS_SetGpAddress {1 << module}, {module * 8192}" for module in range(4))
    return node.run(microcode.assemble(f"{emc}\nstream tigc\n{areas}\n{tasic}"))


def test_x_returns_while_y_is_computed() -> None:
    """5,467 cycles of a step of table 11 hide a read (3,584) and the X of a module (4 x 2048 / 2 = 4,096 cycles)."""
    node = Node(THESIS)
    node.texture_memory[0].write((np.arange(8), 0, 0, 0), np.arange(32, dtype=np.uint8).reshape(8, 4))
    found = fine_grain(node, 5_467, returning=True)
    assert found.cycles == 4 * 5_467
    assert found.waits.get("sem 1", 0) == 0
    assert found.tasic_cycles == (4 * 3_584,) * 4
    assert found.gni_cycles == {"store0": 4 * 4_096}
    for module in range(4):
        assert np.array_equal(node.gp_memory[0].read(8192 * module, 8192), by_travel(RESULTS[4:8])[module].ravel())
    served = (LANES < 2048) & (IN_EMC % 4 == 0)
    assert (node.read_memory(320, 32)[:, served] == np.arange(32)[:, None]).all()


def test_the_return_is_what_a_step_waits_for_where_it_is_short() -> None:
    """Addresses of all rounds but the first go over the pins at once, 60 cycles in which no result does."""
    plain = fine_grain(Node(THESIS), 1, returning=False)
    both = fine_grain(Node(THESIS), 1, returning=True)
    assert 4 * 3_584 < plain.cycles < 4 * 3_600
    assert 4 * 4_096 < both.cycles < 4 * (4_096 + 60 + 20)


# --- from GP memory to texture memory --------------------------------------------------------------------------------


@pytest.mark.parametrize(("modules", "copies"), [(1, 1), (15, 4), (10, 2)])
def test_loading_patches(modules: int, copies: int) -> None:
    """240 blocks of 32 bytes at 2 bytes a cycle, to one module or to several at the same time."""
    node = Node(NodeConfig(sdram=SdramConfig(check_commands=True)))
    blocks = 240
    data = np.random.default_rng(9).integers(0, 256, blocks * 32, np.uint8)
    node.gp_memory[0].write(1000, data)
    found = run(node, f"TAS_SetGpAddress 15, 1000\nTAS_MemLoad {modules}, {blocks}, 508\nTAS_MemLoad {modules}, 1, 0")
    # The last 16 blocks: 64 cycles to the module and 176 into its SDRAMs.
    assert blocks * 16 + 64 + 176 <= found.beside.cycles - (16 + 4 + 11) < blocks * 16 + 64 + 176 + 20
    assert found.tasic_cycles == tuple(11 * (blocks + 1) * (modules >> module & 1) for module in range(4))
    for module, memory in enumerate(node.texture_memory):
        address = 508 + 4 * np.arange(blocks)[:, None]
        held = memory.read((np.arange(8)[None, :], 0, address // 512, address % 512)).reshape(-1)
        assert np.array_equal(held, data if modules >> module & 1 else np.zeros_like(data))
    assert node.texture.moved["GPs to TASICs"] == (blocks + 1) * 32
    assert node.texture.moved["TASICs to texture memory"] == (blocks + 1) * 32 * copies


def test_a_whole_patch_database() -> None:
    """512 bicubic patches of 480 bytes: 122,880 cycles on the path out of GP memory, and a few hundred behind it."""
    node = Node(THESIS)
    found = run(node, "TAS_MemLoad 15, 7680, 0")
    assert 122_880 < found.beside.cycles < 122_880 + 300


def test_pes_may_use_their_ports_during_a_load() -> None:
    node = Node(TINY)
    node.run(microcode.assemble("SIGNAL 0\nLD R, #1\nST [352], R\nstream tigc\nWAIT 0\nTAS_MemLoad 1, 100, 0\n"))
    assert (node.read_memory(352) == 1).all()


# --- several nodes ---------------------------------------------------------------------------------------------------

SERVER = "\n".join(f"TAS_SetGp {1 << module}, {module + 1}, 0" for module in range(4)) + "\nTAS_GpWrite 15, 0, 24"


@pytest.mark.parametrize("seed", [None, 1])
def test_a_tessellation_server_with_four_clients(seed: int | None) -> None:
    """196,608 bytes at 8 a cycle are 24,576 cycles of the network, and as many of each client's GP memory (3.8)."""
    machine = Machine(5)
    prepare(machine.node(0), write=ALL, bytes=RESULTS)
    found = machine.run({0: program(SERVER)}, shuffle_seed=seed)
    assert found.network_bytes == 196_608
    assert found.network_busy_cycles == 24_576
    assert 24_576 < found.cycles < 24_576 + 200
    assert found.stored_bytes == {0: 0, 1: 49_152, 2: 49_152, 3: 49_152, 4: 49_152}
    for module, values in enumerate(by_travel(RESULTS[:24])):
        assert np.array_equal(machine.gp_memory[module + 1][0].read(0, 49_152), values.ravel())


def test_two_nodes_send_to_each_other() -> None:
    machine = Machine(2, TINY)
    source = program("TAS_SetGp 1, 1, 0\nTAS_GpWrite 1, 0, 4")
    for number in range(2):
        values = np.full((32, 256), number + 1, np.uint8)
        prepare(machine.node(number), write=np.arange(256) < 10, bytes=values)
    found = machine.run({0: source, 1: source})
    assert found.stored_bytes == {0: 40, 1: 40}
    assert machine.gp_memory[0][0].read(0, 41).tolist() == [2] * 40 + [0]
    assert machine.gp_memory[1][0].read(0, 41).tolist() == [1] * 40 + [0]
    assert found.network_busy_cycles == 2 * 10  # each parcel of 4 bytes takes a cycle of its own


def test_two_servers_share_the_network() -> None:
    """Two times 24,576 cycles one after the other, where the memories of eight clients would be done in one of them."""
    machine = Machine(10)
    for number in (0, 5):
        prepare(machine.node(number), write=ALL, bytes=RESULTS)
    found = machine.run({0: program(SERVER), 5: program(SERVER)})
    assert found.network_busy_cycles == 2 * 24_576 and found.network_bytes == 2 * 196_608
    assert 2 * 24_576 < found.cycles < 2 * 24_576 + 200


def test_what_a_machine_refuses() -> None:
    with pytest.raises(InputError, match="2 to 40 nodes, not 1"):
        Machine(1)
    machine = Machine(2, TINY)
    with pytest.raises(InputError, match="there is no node 2"):
        machine.node(2)
    for number in (-1, 2, "0", True):
        with pytest.raises(InputError, match=f"there is no node {number!r}: the machine has 0 to 1"):
            machine.run({number: program("TAS_LoopBack")})
    with pytest.raises(InputError, match="at least one program"):
        machine.run({})
    with pytest.raises(InputError, match="needs both streams"):
        machine.run({0: microcode.assemble("LD R, #1\n")})
    with pytest.raises(MachineFault, match="there is no GP 0 in the node 2 places along"):
        machine.run({0: program("TAS_SetGp 1, 2, 0")})


@pytest.mark.parametrize("function", [True, False])
def test_a_deadlock_of_a_machine_says_who_waits_for_whom(function: bool) -> None:
    stuck = microcode.assemble("WAIT 3\nstream tigc\nWAIT 5\nSIGNAL 3\n")
    with pytest.raises(DeadlockError) as caught:
        Machine(2, TINY).run({0: program("TAS_LoopBack"), 1: stuck}, function=function)
    text = str(caught.value)
    assert text.startswith("node 1: ") and "node 0" not in text
    assert "sem 3 " in text and "TIGC" in text
    assert "sem 5 " in text
