"""The kernels: their data, numpy's results, and the operations of a bit-serial machine for the same work.

Each works on all PEs. Sums are those of the node. In other work of several PEs a module is a separate machine, which
solves a separate problem.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from pim_kernels.kernel import HostMemory, PimKernel, PimProblem
from pixelflow.node import Physical

_WORDS, _BYTES = 1 << 32, 256


def _shape(memory: HostMemory) -> tuple[int, int]:
    """Return the number of modules, and of PEs in a module."""
    modules = memory.node.config.array.modules
    return modules, memory.node.lanes // modules


def _numbers(memory: HostMemory, random: np.random.Generator, count: int, below: int) -> NDArray[np.unsignedinteger]:
    kind = np.uint32 if below > _BYTES else np.uint8
    return random.integers(0, below, (memory.node.lanes, count)).astype(kind)


def _vector_add(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x, y = (_numbers(memory, random, 16, _WORDS) for _ in "xy")
    memory.put("x", x)
    memory.put("y", y)
    return PimProblem(x.size, lambda: bool((memory.get("z", 4) == x + y).all()), 4 * x.size)


def _totals(memory: HostMemory, wanted: NDArray[np.uint64], size: int) -> bool:
    """Return whether PE 0 holds the total."""
    return int(memory.get("sum", size)[0, 0]) == int(wanted.sum(dtype=np.uint64))


def _reduction(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x = _numbers(memory, random, 32, _WORDS)
    memory.put("x", x)
    return PimProblem(x.size, lambda: _totals(memory, x.astype(np.uint64), 7), 7)


def _dot_product(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x, y = (_numbers(memory, random, 64, _BYTES) for _ in "xy")
    memory.put("x", x)
    memory.put("y", y)
    products = x.astype(np.uint64) * y
    return PimProblem(x.size, lambda: _totals(memory, products, 5), 5)


def _gemv(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    a = _numbers(memory, random, 64, _BYTES)
    x = random.integers(0, _BYTES, 64).astype(np.uint8)
    memory.put("a", a)
    memory.put("x", np.tile(x, (len(a), 1)))
    wanted = a.astype(np.uint64) @ x.astype(np.uint64)
    return PimProblem(a.size, lambda: bool((memory.get("y", 4)[:, 0] == wanted).all()), 4 * len(a))


def _histogram(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    v = _numbers(memory, random, 32, _BYTES)
    memory.put("v", v)

    def check() -> bool:
        # PE p of the first panel has bins p, 32 + p, ..
        return bool((memory.get("bins", 4)[:32].T.ravel() == np.bincount(v.ravel(), minlength=256)).all())

    return PimProblem(v.size, check, 4 * 256)


def _prefix_sum(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x = _numbers(memory, random, 8, _WORDS)
    memory.put("x", x)

    def check() -> bool:
        by_module = x.reshape(_shape(memory)[0], -1)
        return bool(
            (memory.get("x", 4).reshape(by_module.shape) == np.cumsum(by_module, axis=1, dtype=np.uint32)).all()
        )

    return PimProblem(x.size, check, 4 * x.size)


def _select(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    record = _numbers(memory, random, 4, _WORDS)
    memory.put("record", record)
    memory.put("limit", np.full((len(record), 1), _WORDS // 4, np.uint32))
    chosen = record[:, 0] < _WORDS // 4

    def check() -> bool:
        right = True
        for module, (rows, taken) in enumerate(
            zip(record.reshape(*_shape(memory), 4), chosen.reshape(_shape(memory)), strict=True)
        ):
            wanted = np.ascontiguousarray(rows[taken]).view(np.uint8).reshape(-1, 4, 4)
            config = memory.node.config.sdram
            device = np.arange(4)[None, :]
            row, column = np.divmod(4 * np.arange(len(wanted))[:, None], config.columns)
            bank, row = np.divmod(row, config.rows)
            found = memory.node.texture_memory[module].read(Physical(device, bank, row, column))
            right &= bool((found == wanted).all())
        counts = memory.get("sum", 4).reshape(_shape(memory))[:, 0]
        return right and bool((counts == chosen.reshape(_shape(memory)).sum(axis=1)).all())

    return PimProblem(len(record), check, 16 * int(chosen.sum()))


def _sort(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    key = _numbers(memory, random, 4, _WORDS)
    memory.put("key", key)

    def check() -> bool:
        by_module = key.reshape(_shape(memory)[0], -1)
        return bool((memory.get("key", 4).reshape(by_module.shape) == np.sort(by_module, axis=1)).all())

    return PimProblem(key.size, check, 4 * key.size)


def _nearest(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    point = _numbers(memory, random, 64, _BYTES)
    query = random.integers(0, _BYTES, 16).astype(np.uint8)
    memory.put("point", point)
    memory.put("query", np.tile(query, (len(point), 1)))

    def check() -> bool:
        modules, lanes = _shape(memory)
        points = point.reshape(modules, 4 * lanes, 16).astype(np.int64)
        distance = np.abs(points - query).sum(axis=2)
        found = memory.get("best", 4).reshape(modules, lanes, 8)
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :8]
        wanted = np.take_along_axis(distance, nearest, axis=1) << 16 | nearest
        return bool((found == wanted[:, None, :]).all())

    return PimProblem(4 * len(point), check, 4 * 8 * _shape(memory)[0])


def _axpy(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x, y = (_numbers(memory, random, 16, _WORDS) for _ in "xy")
    memory.put("x", x)
    memory.put("y", y)
    expected = np.uint32(1_000_003) * x + y
    return PimProblem(x.size, lambda: bool((memory.get("y", 4) == expected).all()), 4 * x.size)


def _gemm(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    a = _numbers(memory, random, 16, _BYTES)
    b = random.integers(0, _BYTES, (16, 8)).astype(np.uint8)
    memory.put("a", a)
    memory.put("b", np.tile(b.ravel(), (len(a), 1)))
    expected = a.astype(np.uint64) @ b.astype(np.uint64)
    return PimProblem(8 * a.size, lambda: bool((memory.get("c", 3) == expected).all()), 3 * expected.size)


def _brightness(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    pixel = _numbers(memory, random, 64, _BYTES)
    memory.put("pixel", pixel)
    expected = np.minimum(pixel.astype(np.uint16) + 20, 255)
    return PimProblem(pixel.size, lambda: bool((memory.get("pixel", 1) == expected).all()), pixel.size)


def _downsample(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    pixel = _numbers(memory, random, 64, _BYTES)
    memory.put("pixel", pixel)
    expected = pixel.reshape(-1, 2, 16, 2).astype(np.uint16).sum(axis=(1, 3)) // 4
    return PimProblem(expected.size, lambda: bool((memory.get("mean", 1) == expected).all()), expected.size)


def _regression(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    x, y = (_numbers(memory, random, 32, _BYTES) for _ in "xy")
    memory.put("x", x)
    memory.put("y", y)
    both = [each.astype(np.uint64) for each in (x, y)]
    sums = [int(each.sum()) for each in both]
    products = [int((both[0] * each).sum()) for each in both]

    def check() -> bool:
        return memory.get("sums", 4)[0].tolist() == sums and memory.get("products", 5)[0].tolist() == products

    return PimProblem(x.size, check, 18)


def _kmeans(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    point = _numbers(memory, random, 32, _BYTES)
    centre = random.integers(0, _BYTES, (4, 2)).astype(np.uint8)
    memory.put("point", point)
    memory.put("centre", np.tile(centre.ravel(), (len(point), 1)))
    points = point.reshape(-1, 2).astype(np.int64)
    nearest = np.abs(points[:, None] - centre).sum(axis=2).argmin(axis=1)
    values = np.column_stack([np.ones_like(nearest), points])
    expected = np.concatenate([values[nearest == k].sum(axis=0) for k in range(4)])
    return PimProblem(len(points), lambda: bool((memory.get("cluster", 4)[0] == expected).all()), 48)


def _triangles(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    modules, lanes = _shape(memory)
    ends = np.stack(np.triu_indices(256, 1), axis=1)
    rows, triangles = [], []
    for _ in range(modules):
        edges = random.permutation(ends)[: 3 * lanes]
        matrix = np.zeros((256, 256), np.int64)
        matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = 1
        triangles.append(int(np.trace(matrix @ matrix @ matrix)) // 6)
        rows.append(np.packbits(matrix.astype(np.uint8), axis=1, bitorder="little")[edges])
    each = np.stack(rows).reshape(modules * lanes, 3, 2, 32)
    memory.put("from", np.ascontiguousarray(each[:, :, 0].reshape(-1, 96)))
    memory.put("to", np.ascontiguousarray(each[:, :, 1].reshape(-1, 96)))

    return PimProblem(3 * modules * lanes, lambda: int(memory.get("sum", 4)[0, 0]) == 3 * sum(triangles), 4)


def _radix_sort(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    key = _numbers(memory, random, 1, _WORDS)
    memory.put("key", key)
    expected = np.sort(key.reshape(_shape(memory)), axis=1).ravel()
    return PimProblem(key.size, lambda: bool((memory.get("key", 4)[:, 0] == expected).all()), 4 * key.size)


def _aes(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    block, key = (_numbers(memory, random, 16, _BYTES) for _ in range(2))
    for lane, (_, plain, secret) in enumerate(_AES_VECTORS):
        block[lane], key[lane] = (np.frombuffer(bytes.fromhex(text), np.uint8) for text in (plain, secret))
    keys = _expanded(key)
    memory.put("block", block)
    memory.put("keys", keys.reshape(len(block), 176))
    expected = _encrypted(block, keys)
    vectors = [bytes.fromhex(cipher) for cipher, _, _ in _AES_VECTORS]

    def check() -> bool:
        mine = memory.get("block", 1).astype(np.uint8)
        return bool((mine == expected).all()) and [bytes(each) for each in mine[: len(vectors)]] == vectors

    return PimProblem(len(block), check, block.size)


_AES_VECTORS = (
    ("3925841d02dc09fbdc118597196a0b32", "3243f6a8885a308d313198a2e0370734", "2b7e151628aed2a6abf7158809cf4f3c"),
    ("69c4e0d86a7b0430d8cdb78070b4c55a", "00112233445566778899aabbccddeeff", "000102030405060708090a0b0c0d0e0f"),
)
"""Ciphertext, plaintext and key of FIPS 197, appendices B and C.1."""


def _doubled(values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the products by x in GF(2^8)."""
    return (values << 1 ^ (values >> 7) * np.uint8(0x1B)).astype(np.uint8)


def _table() -> NDArray[np.uint8]:
    """Return the S-box of AES: the inverse in GF(2^8), by powers of x + 1, then the affine map."""
    powers = np.ones(255, np.uint8)
    for at in range(1, 255):
        powers[at] = powers[at - 1] ^ _doubled(powers[at - 1])
    inverse = np.zeros(256, np.uint8)
    inverse[powers] = powers[-np.arange(255)]
    turned = [inverse << turn | inverse >> 8 - turn for turn in range(1, 5)]
    return np.bitwise_xor.reduce([inverse, *turned], axis=0) ^ np.uint8(0x63)


def _expanded(key: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the round keys of each key of 16 bytes: uint8[lanes, 11, 16]."""
    table, constant = _table(), np.ones(1, np.uint8)
    words = [key[:, at : at + 4] for at in range(0, 16, 4)]
    while len(words) < 44:
        last = words[-1]
        if len(words) % 4 == 0:
            last = table[np.roll(last, -1, axis=1)]
            last[:, :1] ^= constant
            constant = _doubled(constant)
        words.append(words[-4] ^ last)
    return np.concatenate(words, axis=1).reshape(-1, 11, 16)


def _encrypted(block: NDArray[np.uint8], keys: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return blocks of 16 bytes, encrypted with their round keys."""
    table, rows = _table(), (np.arange(16) * 5) % 16
    state = block ^ keys[:, 0]
    for turn in range(1, 11):
        state = table[state][:, rows]
        if turn < 10:
            first, second, third, fourth = (np.roll(state.reshape(-1, 4, 4), -by, axis=2) for by in range(4))
            state = (_doubled(first ^ second) ^ second ^ third ^ fourth).reshape(-1, 16)
        state ^= keys[:, turn]
    return state


def _convolution(memory: HostMemory, random: np.random.Generator) -> PimProblem:
    image = _numbers(memory, random, 72, _BYTES)
    memory.put("image", image)
    weights = ((37 * np.arange(36) + 11) % 17 - 8).reshape(2, 2, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(image.reshape(-1, 2, 6, 6).astype(np.int64), (3, 3), axis=(2, 3))
    expected = np.maximum(np.einsum("lcyxij,fcij->lfyx", windows, weights), 0).reshape(-1, 32)
    return PimProblem(expected.size, lambda: bool((memory.get("map", 2) == expected).all()), 2 * expected.size)


# fmt: off
_ALL = (
    PimKernel(
        "vector_add", "z = x + y, 32 bits", "16 sums", "z is in the PEs",
        _vector_add, {"add uint32": 16},
    ),
    PimKernel(
        "axpy", "y = a x + y, 32 bits", "16 sums", "y is in the PEs",
        _axpy, {"scaled_add int32": 16},
    ),
    PimKernel(
        "reduction", "sum of 32-bit integers", "32 numbers", "the sum is in a PE",
        _reduction, {"redsum 32": 32},
    ),
    PimKernel(
        "dot_product", "sum of products of bytes", "64 pairs", "the sum is in a PE",
        _dot_product, {"mul int32": 64, "redsum 32": 64}, {"mul uint16": 64, "redsum 16": 64},
    ),
    PimKernel(
        "gemv", "a row of 64 bytes in each PE by a vector", "64 bytes", "y is in the PEs",
        _gemv, {"scaled_add int32": 64}, {"mul_scalar uint16": 64, "add uint32": 64},
    ),
    PimKernel(
        "gemm", "a row of 16 bytes in each PE by a matrix", "16 bytes", "c is in the PEs",
        _gemm, {"scaled_add int32": 128}, {"mul_scalar uint16": 128, "add uint32": 128},
    ),
    PimKernel(
        "convolution", "2 images of 6 x 6 bytes, 2 filters, ReLU", "32 outputs", "the outputs are in the PEs",
        _convolution, {"scaled_add int32": 544, "max_scalar int32": 32},
        {"mul_scalar int16": 544, "add int16": 544, "max_scalar int16": 32},
    ),
    PimKernel(
        "brightness", "20 added to pixels, at most 255", "64 pixels", "the pixels are in the PEs",
        _brightness, {"add_scalar int16": 64, "min_scalar int16": 64, "max_scalar int16": 64},
        {"min_scalar uint8": 64, "add_scalar uint8": 64},
    ),
    PimKernel(
        "downsample", "means of 2 x 2 pixels", "16 means", "the means are in the PEs",
        _downsample, {"shift uint8": 64, "add uint8": 48}, {"add uint16": 48, "shift uint16": 16},
        "its mean drops two bits of each pixel first; with like widths it is exact",
    ),
    PimKernel(
        "regression", "sums for a line through points", "32 points", "the line, by four sums",
        _regression, {"mul int32": 64, "redsum 32": 128},
        {"mul uint16": 64, "redsum 16": 64, "redsum 8": 64},
    ),
    PimKernel(
        "kmeans", "points to the nearest of 4 centres", "16 points", "the centres, by 12 sums",
        _kmeans,
        {"sub int32": 128, "abs int32": 128, "add int32": 64, "min int32": 48, "eq int32": 64, "and int32": 128,
         "redsum 32": 192},
        {"sub int16": 128, "abs int16": 128, "add int16": 64, "min int16": 48, "eq int16": 64, "and uint8": 128,
         "redsum 8": 128, "redsum 1": 64},
    ),
    PimKernel(
        "histogram", "256 bins of bytes", "32 bytes", "256 counts are in the PEs",
        _histogram, {"eq_scalar uint8": 256 * 32, "redsum 8": 256 * 32},
    ),
    PimKernel(
        "triangles", "graph of 256 vertices", "3 edges", "a sum, three times the number of triangles",
        _triangles, {"and uint32": 24, "popcount uint32": 24, "redsum 32": 24},
    ),
    PimKernel(
        "prefix_sum", "running sums of 32-bit integers", "8 numbers", "a vector of each module, in its PEs",
        _prefix_sum, peer_ends="its model gives a prefix sum no time",
    ),
    PimKernel(
        "select", "records with a key below a limit, packed", "a record", "the records of each module, in its SDRAMs",
        _select, {"lt_scalar uint32": 1}, peer_ends="the host packs the records",
    ),
    PimKernel(
        "bitonic_sort", "32-bit keys", "4 keys", "a sorted vector of each module, in its PEs",
        _sort, peer_ends="its suite has a radix sort that the host helps with",
    ),
    PimKernel(
        "radix_sort", "32-bit keys", "a key", "a sorted vector of each module, in its PEs",
        _radix_sort, peer_ends="the host puts the keys in order",
    ),
    PimKernel(
        "nearest", "8 nearest of points of 16 bytes", "4 points", "8 points of each module to choose from",
        _nearest, {"sub_scalar int32": 64, "abs int32": 64, "add int32": 60},
        {"sub_scalar int16": 64, "abs int16": 64, "add int16": 60}, "the host finds the smallest",
    ),
    PimKernel(
        "aes", "AES-128, encryption", "a block", "the blocks are in the PEs",
        _aes, {"aes_sbox uint8": 160, "xor uint8": 860, "shift uint8": 144},
    ),
)
# fmt: on

KERNELS = MappingProxyType({kernel.name: kernel for kernel in _ALL})
"""Every kernel by name, in the order in which tables show them."""
