"""The three address spaces: one to one both ways, square, and with the bits where the text puts them."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixelflow.config import SdramConfig
from pixelflow.node.texture_addresses import AddressForm, AddressMap, Physical, Texel
from pixelflow.simd.errors import InputError, MachineFault

THESIS = SdramConfig()
FORMS = pytest.mark.parametrize("form", AddressForm, ids=[form.value for form in AddressForm])
MAPS = {form: AddressMap(THESIS, form) for form in AddressForm}
STARTS = range(0, 1 << 24, 1 << 20)
"""Where the megabytes of a module begin."""
SOME = (0, 1 << 23, (1 << 24) - (1 << 20))
"""Three of them: every address bit is 0 in one and 1 in one."""
WORDS = np.concatenate([np.arange(start, start + (1 << 20), 4, dtype=np.int64) for start in SOME])


def megabyte(start: int) -> np.ndarray:
    """The address of every byte of a megabyte."""
    return np.arange(start, start + (1 << 20), dtype=np.int64)


@cache
def spaces(form: AddressForm) -> tuple[Texel, Physical]:
    """The texture and physical addresses of every word."""
    return MAPS[form].to_texture(WORDS), MAPS[form].to_physical(WORDS)


@FORMS
@pytest.mark.parametrize("starts", [SOME, pytest.param(STARTS, marks=pytest.mark.slow)], ids=["some", "all"])
def test_every_byte_has_one_address_in_each_space(form: AddressForm, starts: Sequence[int]) -> None:
    """All 2^24 bytes of a module, both ways, through every space."""
    addresses = MAPS[form]
    for linear in map(megabyte, starts):
        physical, texel = addresses.to_physical(linear), addresses.to_texture(linear)
        # There are as many addresses in one space as in the other, so what comes back from each is one to one.
        assert np.array_equal(addresses.from_physical(physical), linear)
        assert np.array_equal(addresses.from_texture(texel), linear)
        for values, limit in zip((*physical, *texel), (8, 2, 2048, 512, 2048, 2048, 4), strict=True):
            assert values.min() >= 0 and values.max() < limit


@FORMS
@given(st.integers(0, (1 << 24) - 1))
def test_single_addresses_are_as_vectors(form: AddressForm, linear: int) -> None:
    addresses = MAPS[form]
    physical, texel = addresses.to_physical(linear), addresses.to_texture(linear)
    assert all(type(each) is int for each in (*physical, *texel))
    assert [int(each[0]) for each in addresses.to_physical(np.array([linear]))] == list(physical)


@FORMS
def test_the_words_from_address_0_on_are_in_sdrams_0_to_7(form: AddressForm) -> None:
    for word in range(8):
        assert MAPS[form].to_physical(4 * word) == Physical(device=word, bank=0, row=0, column=0)


@FORMS
def test_the_bytes_of_a_texel_are_columns_of_one_sdram(form: AddressForm) -> None:
    for linear in map(megabyte, STARTS[::5]):
        texel, physical = MAPS[form].to_texture(linear), MAPS[form].to_physical(linear)
        assert np.array_equal(texel.byte, physical.column & 3)
        same = [each.reshape(-1, 4) for each in (physical.device, physical.bank, physical.row, physical.column >> 2)]
        assert all((each == each[:, :1]).all() for each in same)


@FORMS
def test_row_and_column_0_of_a_texture_select_the_sdram(form: AddressForm) -> None:
    """And c1, the third bit of linear 2 to 4."""
    texel, physical = spaces(form)
    select = (texel.column & 1) | (texel.row & 1) << 1 | (texel.column >> 1 & 1) << 2
    assert np.array_equal(select, physical.device)
    assert np.array_equal(select, WORDS >> 2 & 7)


@FORMS
@pytest.mark.parametrize(
    "bits", [pytest.param(bits, marks=[pytest.mark.slow] * (18 < bits < 24)) for bits in range(2, 25)]
)
def test_the_footprint_is_square(form: AddressForm, bits: int) -> None:
    """Aligned linear blocks of 2^n words cover a rectangle of texels that is square, or twice as wide as high."""
    addresses = MAPS[form]
    for start in {0, (1 << 24) - (1 << bits), ((1 << 23) >> bits) << bits}:
        texel = addresses.to_texture(np.arange(start, start + (1 << bits), 4))
        height = int(np.ptp(texel.row)) + 1
        width = int(np.ptp(texel.column)) + 1
        assert height * width == 1 << (bits - 2)
        assert width in (height, 2 * height)


def test_which_bit_selects_the_bank() -> None:
    assert MAPS[AddressForm.STANDARD].bank_bit == 23
    assert MAPS[AddressForm.ALTERNATE].bank_bit == 6
    assert np.array_equal(spaces(AddressForm.ALTERNATE)[1].bank, WORDS >> 6 & 1)


def test_in_the_alternate_form_both_banks_have_the_same_row_and_column() -> None:
    """What appendix B asks for: addresses that differ in bit 6 alone differ in the bank alone."""
    low = WORDS[WORDS & 64 == 0]
    here, there = MAPS[AddressForm.ALTERNATE].to_physical(low), MAPS[AddressForm.ALTERNATE].to_physical(low | 64)
    assert not here.bank.any() and there.bank.all()
    assert all(np.array_equal(here[field], there[field]) for field in (0, 2, 3))


@FORMS
def test_an_8_byte_burst_holds_two_words_32_bytes_apart(form: AddressForm) -> None:
    physical = MAPS[form].to_physical(np.array([0, 32, 64 * 5, 64 * 5 + 32]))
    assert np.array_equal(physical.column[1::2] - physical.column[::2], [4, 4])
    assert not (physical.column[::2] % 8).any()


@FORMS
def test_a_patch_of_the_standard_form_stays_in_one_row(form: AddressForm) -> None:
    """480 bytes from a 512-byte boundary: 15 accesses to 8 SDRAMs each (section 4.1)."""
    physical = MAPS[form].to_physical(np.arange(512 * 7, 512 * 7 + 480, 32))
    assert len(set(zip(physical.bank.tolist(), physical.row.tolist(), strict=True))) == (
        1 if form is AddressForm.STANDARD else 2
    )


def test_the_figures() -> None:
    # fmt: off
    assert MAPS[AddressForm.STANDARD].figure().splitlines() == [
        "linear     a23 a22 a21 a20 a19 a18 a17 a16 a15 a14 a13 a12 a11 a10 a9 a8 a7 a6 a5   a4   a3   a2 a1 a0",
        "texture    r10 c10  r9  c9  r8  c8  r7  c7  r6  c6  r5  c5  r4  c4 r3 c3 r2 c2 r1   c1   r0   c0 b1 b0",
        "physical bank0 r10  r9  r8  r7  r6  r5  r4  r3  r2  r1  r0  c8  c7 c6 c5 c4 c3 c2 dev2 dev1 dev0 c1 c0",
    ]
    assert MAPS[AddressForm.ALTERNATE].figure().splitlines()[2] == (
        "physical r10  r9  r8  r7  r6  r5  r4  r3  r2  r1  r0  c8  c7  c6 c5 c4 c3 bank0 c2 dev2 dev1 dev0 c1 c0"
    )
    # fmt: on


@given(
    st.sampled_from([1, 2, 4, 8, 16]),
    st.sampled_from([2, 4]),
    st.integers(0, 16),
    st.integers(3, 16),
    st.sampled_from(AddressForm),
    st.data(),
)
def test_other_sizes(devices: int, banks: int, rows: int, columns: int, form: AddressForm, data: st.DataObject) -> None:
    config = SdramConfig(devices_per_module=devices, banks=banks, rows=1 << rows, columns=1 << columns)
    addresses = AddressMap(config, form)
    assert addresses.size == devices * banks << rows + columns
    assert addresses.texture_rows * addresses.texture_columns * 4 == addresses.size
    linear = data.draw(st.integers(0, addresses.size - 1))
    assert addresses.from_physical(addresses.to_physical(linear)) == linear
    assert addresses.from_texture(addresses.to_texture(linear)) == linear


def test_sizes_that_no_bits_address() -> None:
    with pytest.raises(InputError) as caught:
        AddressMap(SdramConfig(devices_per_module=6, rows=1000))
    assert [fault.message.split()[0] for fault in caught.value.faults] == ["sdram.devices_per_module:", "sdram.rows:"]


def test_addresses_outside_the_module_are_refused() -> None:
    addresses = MAPS[AddressForm.STANDARD]
    cases = [
        (lambda: addresses.to_physical(1 << 24), r"linear address 16777216 is outside 0\.\.16777215"),
        (lambda: addresses.to_texture(np.array([0, -4])), "linear address -4 is outside"),
        (lambda: addresses.from_physical(Physical(8, 0, 0, 0)), r"device 8 is outside 0\.\.7"),
        (lambda: addresses.from_texture(Texel(2048, 0)), r"texture row 2048 is outside 0\.\.2047"),
        (lambda: addresses.from_texture(Texel(0, 0, 4)), r"byte 4 is outside 0\.\.3"),
    ]
    for call, message in cases:
        with pytest.raises(MachineFault, match=message):
            call()
    assert addresses.to_physical(np.zeros(0, np.int64)).bank.size == 0


@FORMS
def test_a_number_names_the_cell_of_a_linear_address(form: AddressForm) -> None:
    """The 21 bits that a TASIC takes are those of a physical address without the SDRAM, whatever the figure."""
    addresses = MAPS[form]
    numbers = addresses.number_at(WORDS)
    assert np.array_equal(np.stack(addresses.cell(numbers)), np.stack(addresses.to_physical(WORDS)[1:]))
    assert np.array_equal(addresses.number(addresses.cell(numbers)), numbers)
    assert numbers.min() == 0 and numbers.max() == addresses.cells - 4 == (1 << 21) - 4


def test_in_figure_11_a_number_is_a_linear_address_without_the_select_bits() -> None:
    assert np.array_equal(MAPS[AddressForm.STANDARD].number_at(WORDS), WORDS // 32 * 4)
