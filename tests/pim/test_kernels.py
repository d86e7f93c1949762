"""Do the kernels give numpy's results on every engine and machine, in the cycles that can be worked out by hand?"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from microcode import assemble
from pim_kernels import KERNELS, kernels_report, measure
from pim_kernels.bit_serial import nanoseconds
from pim_kernels.kernel import HostMemory, lane_bits
from pixelflow.cli.main import main
from pixelflow.config import LARGE, THESIS, TINY, ArrayConfig, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import available

TWO_MODULES = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=2))
ALONE = {
    "vector_add": 16 * 12,
    "axpy": 16 * (4 * 2 + 10 * 11 + 6),
    "gemv": 4 + 64 * 20,
    "gemm": 3 * 8 + 16 * 8 * 17,
    "convolution": 2 * 16 * (4 + 17 * 14 + 6 + 4),
    "brightness": 64 * 6,
    "downsample": 16 * (2 + 3 * 2 + 3),
    "aes": 160 * (1 + 4 * 28 + 4 * 50) + 10 * 6 * 8 + 9 * 4 * (6 + 4 * 9) + 11 * 48,
}
"""Kernels in which nothing leaves a PE, worked out by hand.

A byte of a sum takes 3 cycles; a product of bytes 3 loads, 8 steps, 1 store, 2 for the second byte, and 3 for each byte
to which only the carry goes. `axpy` has ten products of bytes in a word, six with a carry to the next. Filters have 17
weights that are not 0. Of AES an S-box takes four linear maps of 28 cycles and four products of 50, rows move by six
places of 8 cycles, a column is mixed in 6 and 9 for each byte, and a byte of the key takes 3.
"""
MASKED = {"convolution", "brightness", "aes"}
"""Those of them that disable PEs."""
HEAVY = {"aes", "bitonic_sort", "histogram", "kmeans", "nearest", "radix_sort"}


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each in HEAVY)) for each in KERNELS])
def test_engines_agree_and_give_numpys_results(name: str) -> None:
    found = {engine: measure(KERNELS[name], TWO_MODULES, engine, seed=5) for engine in available()}
    assert all(each.right for each in found.values())
    assert len({(each.cycles, each.digest, each.enabled) for each in found.values()}) == 1


@pytest.mark.parametrize("name", KERNELS)
def test_a_wrong_byte_is_seen_and_time_follows_from_the_program(name: str) -> None:
    """The check compares what it says: with one result changed it fails. Cycles are the same without data.

    Only what is selected says how long its transfer takes.
    """
    kernel = KERNELS[name]
    program, node = kernel.program(TINY), Node(TINY, "rows")
    node.load(program)
    problem = kernel.place(HostMemory(node, program), np.random.default_rng(3))
    cycles = node.run(program).total_cycles
    if name == "select":
        with pytest.raises(InputError, match="marks"):
            Node(TINY, "rows").run(program, function=False)
    else:
        assert Node(TINY, "rows").run(program, function=False).total_cycles == cycles
    assert problem.check()
    where = {
        "vector_add": "z",
        "axpy": "y",
        "gemv": "y",
        "gemm": "c",
        "convolution": "map",
        "brightness": "pixel",
        "downsample": "mean",
        "regression": "sums",
        "kmeans": "cluster",
        "histogram": "bins",
        "prefix_sum": "x",
        "bitonic_sort": "key",
        "radix_sort": "key",
        "nearest": "best",
        "aes": "block",
    }
    start = next(each.start for each in program.ranges if each.name == where.get(name, "sum"))
    byte = node.read_memory(start)
    byte[0, 0] ^= 1
    node.write_memory(start, byte)
    assert not problem.check()


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize(
    "config",
    [TINY, *(pytest.param(each, marks=pytest.mark.slow) for each in (THESIS, LARGE))],
    ids=["tiny", "thesis", "large"],
)
def test_what_stays_in_a_pe_takes_the_same_on_every_machine(name: str, config: NodeConfig) -> None:
    found = measure(KERNELS[name], config)
    assert (found.right, found.cycles, found.utilisation == 1.0) == (True, ALONE[name], name not in MASKED)


@pytest.mark.parametrize("config", [THESIS, LARGE], ids=["thesis", "large"])
@pytest.mark.parametrize("name", ["reduction", "prefix_sum", "select"])
def test_modules_work_together_on_large_machines(name: str, config: NodeConfig) -> None:
    assert measure(KERNELS[name], config).right


@pytest.mark.slow
@pytest.mark.parametrize("config", [THESIS, LARGE], ids=["thesis", "large"])
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_on_large_machines(name: str, config: NodeConfig) -> None:
    assert measure(KERNELS[name], config, seed=9).right


def test_an_exchange_by_texture_memory() -> None:
    """Worked by hand for one EMC, PE 0 of each of 8 panels: a write and a read of 8 rounds, from the first access on.

    A round of a write takes the longer of an access of 11 cycles and the 32 bytes that come for the next round
    meanwhile: 7 * 32 + 11. A round of a read takes an access of 12 and then 32 cycles for as many bytes: 8 * 44.
    """
    text = "range x[4]\nrange y[4]\nleaders\nput x, 4\nget y, 4, 5\nstream tigc\nserve 1\n"
    run = Node(TINY, "rows").run(with_network(text))
    assert run.tasic_cycles == (7 * 32 + 11 + 8 * (12 + 32),)


def test_an_exchange_over_the_path_between_modules() -> None:
    """PE 0 of the second module to that of the first: a write of 11, a read of 12 and 32; nothing for the second."""
    text = "leaders\nrepeat k in 5 .. 7\n    where_clear k\nend\nfold x, y, 4, 8\nstream tigc\nserve_fold 8\n"
    config = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=1))
    run = Node(config, "rows").run(with_network(f"range x[4]\nrange y[4]\n{text}", LANE_BITS=8, MODULE_BITS=1))
    assert run.tasic_cycles == (11 + 12 + 32, 0) and run.ledger.over.used == 32


def with_network(text: str, **parameters: int) -> Program:
    """Assemble a program that has the ways between PEs."""
    given = ", ".join(f"{name} = {value}" for name, value in parameters.items())
    return assemble(f'include "texture/network.mc"{f" with {given}" * bool(given)}\n{text}')


@pytest.mark.parametrize("bits", [8, 11])
def test_a_bit_of_a_pe_is_a_bit_of_x_or_y(bits: int) -> None:
    """`where_set` enables exactly the PEs whose number in the module has the bit."""
    config = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=1 << bits - 8))
    for k in range(bits):
        node = Node(config, "rows")
        node.run(with_network(f"where_set {k}\n"))
        numbers = np.arange(node.lanes) & (1 << bits) - 1
        assert (node.flag("E") == (numbers >> k & 1).astype(bool)).all()


def test_what_a_kernel_needs_of_a_machine() -> None:
    assert [lane_bits(config.array) for config in (TINY, THESIS, LARGE)] == [8, 11, 13]
    with pytest.raises(InputError) as caught:
        lane_bits(ArrayConfig(emcs_per_module=3, panels_per_emc=4))
    assert [fault.message.split(":")[0] for fault in caught.value.faults] == [
        "array.panels_per_emc",
        "array.emcs_per_module",
    ]


def test_sums_want_modules_that_a_tree_can_halve() -> None:
    three = replace(TINY, array=replace(TINY.array, modules=3))
    assert measure(KERNELS["vector_add"], three).right
    with pytest.raises(InputError, match=r"array\.modules: 3 is not a power of two"):
        KERNELS["reduction"].program(three)


def test_the_published_bit_serial_machine() -> None:
    """A 32-bit sum by hand: 64 row reads of 28.5 ns, 32 row writes of 43.5 ns, 97 logic steps of 3 ns."""
    assert nanoseconds({"add uint32": 1}, 8192) == pytest.approx(64 * 28.5 + 32 * 43.5 + 97 * 3.0)
    # 8 rows read, each with 8192 / 64 = 128 counts of 0.76 ns; the host adds one core's sum.
    assert nanoseconds({"redsum 8": 1}, 8192) == pytest.approx(8 * (28.5 + 128 * 0.76) + 1 / 2.3)
    assert nanoseconds({"redsum 8": 1}, 32768) == pytest.approx(8 * (28.5 + 128 * 0.76) + 4 / 2.3)


def test_like_widths_take_a_bit_serial_machine_less() -> None:
    """Every operation that a kernel names is published; of 64 products of bytes, each 16 bits wide and added up."""
    one = measure(KERNELS["dot_product"], TINY)
    product, total = 272 * 28.5 + 136 * 43.5 + 528 * 3.0, 16 * (28.5 + 4 * 0.76) + 1 / 2.3
    assert one.like_nanoseconds == pytest.approx(64 * (product + total))
    for kernel in KERNELS.values():
        if kernel.like and kernel.name != "downsample":
            assert nanoseconds(kernel.like, 8192) < nanoseconds(kernel.peer, 8192)
        assert kernel.peer or kernel.peer_ends
        assert nanoseconds(kernel.like or kernel.peer, 8192) >= 0


def test_a_report_fails_where_a_result_is_wrong() -> None:
    found = measure(KERNELS["vector_add"], TINY)
    assert kernels_report({"tiny": [found]}).failure is None
    failure = kernels_report({"tiny": [found._replace(right=False)]}).failure
    assert "vector_add (tiny)" in failure


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", "vector_add", "reduction", "--preset", "tiny", "--json", "--energy", "-q"]) == 0
    report = json.loads(capsys.readouterr().out)
    (found,) = report["machines"].values()
    assert [(each["kernel"], each["equals_numpy"]) for each in found] == [("vector_add", True), ("reduction", True)]
    assert found[0]["cycles"] == 192 and found[0]["loaded_bytes"] == 2 * 64 * 256
    assert found[0]["loading_cycles_formula"] == 2 * 64 * 256 // 8
    assert found[0]["energy"]["total_fj"] > 0 and "45 nm" in found[0]["energy"]["process"]
    peer = found[0]["bit_serial"]
    assert (peer["columns"], peer["rows_of_columns"], peer["area_mm2"]) == (256, 1, None)
    assert peer["nanoseconds_formula"] == peer["like_nanoseconds_formula"]
    assert main(["kernels", "sort"]) == 2
    assert main(["kernels", "gemv", "-D", "array.panels_per_emc=2"]) == 3
    assert "allowed: 8 " in capsys.readouterr().err
    assert main(["kernels", "gemv", "--price", "word=1"]) == 2


def test_host_memory_refuses_what_does_not_fit() -> None:
    """Names, types, shapes and sizes: each says what was found and what is allowed, and nothing is written."""
    node, program = Node(TINY, "rows"), assemble("range x[16]\nrange y[7]\nLD R, x\n")
    memory, lanes = HostMemory(node, program), node.lanes
    good = np.arange(8 * lanes, dtype=np.uint16).reshape(lanes, 8)
    before = node.digest()
    refused = [
        ("X", good, "no memory range 'X'.*\n.*did you mean x"),
        ("zz", good, "no memory range 'zz'.*\n.*ranges: x, y"),
        ("x:word", good, "is not a form"),
        (7, good, "the name of a range"),
        ("x", good.astype(np.int64), r"x: expected uint8, .*found int64"),
        ("x", good.astype(np.float32), r"found float32"),
        ("x", good > 3, r"found bool"),
        ("x", good.tolist(), r"expected an array uint\[256, count\] for x, found list"),
        ("x", good.ravel(), r"x has 16 bytes, found uint16\[2048\]"),
        ("x", good[:, 0], r"found uint16\[256\].*\n.*expected shape \(256, 8\)"),
        ("x", good[:1], r"found uint16\[1, 8\]"),
        ("x", good[:-1], r"found uint16\[255, 8\]"),
        ("x", good.T, r"found uint16\[8, 256\]"),
        ("x", good[:, :7], r"found uint16\[256, 7\]"),
        ("x", np.hstack([good, good]), r"found uint16\[256, 16\]"),
        ("x", good.reshape(lanes, 4, 2), r"found uint16\[256, 4, 2\]"),
        ("x", good.astype(np.uint8), r"so 16 numbers of uint8"),
        ("y", good[:, :3], r"y has 7 bytes.*\n.*uint16 does not divide it"),
    ]
    assert lanes == 256
    for name, values, message in refused:
        with pytest.raises(InputError, match=message):
            memory.put(name, values)
    assert node.digest() == before and memory.written == 0
    for name, size, message in (
        ("z", 2, "no memory range 'z'"),
        ("x", 3, r"x has 16 bytes, not a multiple of words of 3.*\n.*divide it: 1, 2, 4, 8"),
        ("y", 2, "y has 7 bytes.*\n.*divide it: 1, 7"),
        *(("x", size, "a number has 1 to 8 bytes") for size in (0, -2, 9, 16, 2.0, "2", True, None)),
    ):
        with pytest.raises(InputError, match=message):
            memory.get(name, size)


def test_host_memory_keeps_numbers_whatever_their_order_in_the_host() -> None:
    node, program = Node(TINY, "rows"), assemble("range x[16]\nLD R, x\n")
    memory = HostMemory(node, program)
    numbers = np.random.default_rng(2).integers(0, 1 << 16, (node.lanes, 8))
    for kind, order in (("<u2", "C"), (">u2", "C"), ("<u2", "F")):
        memory.put("x", np.zeros((node.lanes, 8), np.uint16))
        memory.put("x", np.asarray(numbers.astype(kind), order=order))
        assert np.array_equal(memory.get("x", 2), numbers)
        assert np.array_equal(node.read_memory(0, 2), [numbers[:, 0] & 255, numbers[:, 0] >> 8])
    assert memory.written == 6 * 16 * node.lanes
