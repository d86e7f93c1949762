"""The bytes of a module: what is written is read, only written rows take space, and nothing leaves the memory."""

import numpy as np
import pytest

from pixelflow.config import SdramConfig
from pixelflow.node.texture_addresses import AddressForm, AddressMap, Physical
from pixelflow.node.texture_memory import TextureMemory
from pixelflow.simd.errors import MachineFault

THESIS = SdramConfig()
SMALL = SdramConfig(rows=8, columns=16)


def everywhere(config: SdramConfig, size: int) -> Physical:
    """The addresses of all words."""
    limits = (config.devices_per_module, config.banks, config.rows, config.columns // size)
    device, bank, row, word = np.indices(limits).reshape(4, -1)
    return Physical(device, bank, row, word * size)


def words(seed: int, count: int, size: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (count, size), np.uint8)


def test_a_module_has_16_megabytes() -> None:
    assert TextureMemory(THESIS).size == 16 << 20


@pytest.mark.parametrize("size", [4, 8])
def test_every_word_of_a_small_memory_is_its_own(size: int) -> None:
    memory, where = TextureMemory(SMALL), everywhere(SMALL, size)
    values = words(1, len(where.device), size)
    order = np.random.default_rng(2).permutation(len(values))
    memory.write(Physical(*(each[order] for each in where)), values[order])
    assert np.array_equal(memory.read(where, size), values)
    assert memory.pages == SMALL.banks * SMALL.rows


def test_an_8_byte_word_is_two_4_byte_words() -> None:
    memory = TextureMemory(THESIS)
    memory.write(Physical(3, 1, 2047, 504), np.arange(8, dtype=np.uint8))
    assert memory.read(Physical(3, 1, 2047, np.array([504, 508]))).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert memory.read(Physical(3, 0, 2047, 504), 8).tolist() == [0] * 8
    assert memory.read(Physical(2, 1, 2047, 504), 8).tolist() == [0] * 8


def test_only_written_rows_take_space() -> None:
    memory = TextureMemory(THESIS)
    assert not memory.read(everywhere(SMALL, 4)).any()
    assert memory.pages == 0
    memory.write(Physical(np.arange(8), 0, 5, 0), words(3, 8, 4))
    memory.write(Physical(np.arange(8), 1, 5, 8), words(4, 8, 4))
    assert (memory.pages, memory.bytes_held) == (2, 8192)


@pytest.mark.slow
def test_a_whole_module_can_be_written() -> None:
    memory = TextureMemory(THESIS)
    where = everywhere(THESIS, 8)
    values = np.arange(len(where.device), dtype="<u8").view(np.uint8).reshape(-1, 8)
    for part in range(0, len(values), 1 << 19):
        chosen = slice(part, part + (1 << 19))
        memory.write(Physical(*(each[chosen] for each in where)), values[chosen])
    assert memory.bytes_held == memory.size
    assert np.array_equal(memory.read(where, 8), values)


def test_the_last_of_several_writes_to_one_word_stays() -> None:
    memory = TextureMemory(THESIS)
    memory.write(Physical(np.zeros(3, int), 0, 0, 4), np.array([[1] * 4, [2] * 4, [3] * 4], np.uint8))
    assert memory.read(Physical(0, 0, 0, 4)).tolist() == [3] * 4


@pytest.mark.parametrize("form", AddressForm)
def test_linear_addresses_reach_every_byte(form: AddressForm) -> None:
    """Bytes written by linear address come back in that order, one word from each SDRAM at a time."""
    addresses, memory = AddressMap(THESIS, form), TextureMemory(THESIS)
    linear = np.arange(0, 480, 4)
    values = words(5, 120, 4)
    memory.write(addresses.to_physical(linear), values)
    assert np.array_equal(memory.read(addresses.to_physical(linear[::-1])), values[::-1])
    assert memory.pages == (2 if form is AddressForm.ALTERNATE else 1)


@pytest.mark.parametrize(
    ("where", "size", "message"),
    [
        (Physical(8, 0, 0, 0), 4, r"device 8 is outside 0\.\.7"),
        (Physical(0, 2, 0, 0), 4, r"bank 2 is outside 0\.\.1"),
        (Physical(0, 0, -1, 0), 4, r"row -1 is outside 0\.\.2047"),
        (Physical(0, 0, 0, 512), 4, r"column 512 is outside 0\.\.511"),
        (Physical(0, 0, 0, 510), 4, "column 510 does not begin a word of 4 bytes"),
        (Physical(0, 0, 0, np.array([0, 8, 4])), 8, "column 4 does not begin a word of 8 bytes"),
        (Physical(0, 0, 0, 0), 2, "a word has 4 or 8 bytes, not 2"),
    ],
)
def test_what_is_not_there_is_refused(where: Physical, size: int, message: str) -> None:
    memory = TextureMemory(THESIS)
    with pytest.raises(MachineFault, match=message):
        memory.read(where, size)
    if size in (4, 8):
        with pytest.raises(MachineFault, match=message):
            memory.write(where, np.zeros(size, np.uint8))
    assert memory.pages == 0


@pytest.mark.parametrize("values", [np.zeros(4), np.zeros(3, np.uint8), np.zeros((5, 4), np.uint8), np.uint8(3)])
def test_words_must_be_words(values: np.ndarray) -> None:
    with pytest.raises(MachineFault, match="words"):
        TextureMemory(THESIS).write(Physical(np.arange(2), 0, 0, 0), values)


def test_nothing_can_be_read_and_written() -> None:
    memory, none = TextureMemory(THESIS), Physical(*(np.zeros(0, int) for _ in range(4)))
    memory.write(none, np.zeros((0, 4), np.uint8))
    assert memory.read(none, 8).shape == (0, 8)


def test_a_memory_can_be_put_back() -> None:
    memory, where = TextureMemory(THESIS), Physical(np.arange(8), 1, 77, 40)
    empty = memory.digest()
    memory.write(where, words(6, 8, 4))
    held, digest = memory.snapshot(), memory.digest()
    memory.write(where, words(7, 8, 4))
    memory.write(Physical(0, 0, 1, 0), words(7, 1, 4)[0])
    assert memory.digest() != digest
    other = TextureMemory(THESIS)
    for each in (memory, other):
        each.restore(held)
        assert each.digest() == digest
        assert np.array_equal(each.read(where), words(6, 8, 4))
    memory.clear()
    assert (memory.digest(), memory.pages) == (empty, 0)
    memory.write(where, np.zeros((8, 4), np.uint8))
    assert memory.digest() == empty
