"""The engine for 32-bit words against exact arithmetic, and the shared memory's order of writes."""

from fractions import Fraction

import numpy as np
import pytest

from pixelflow.simd.lanes import float32, float64
from pixelflow.simd.lanes.engine import Shape
from pixelflow.simd.lanes.numbers import Rounding
from pixelflow.simd.lanes.words import ByteMemory, WordsEngine


def engine(groups: int = 2, memory: ByteMemory | None = None) -> WordsEngine:
    shape = Shape(lanes=16 * groups, group=16, rows=4, words=("p",), carries=("c",), masks=("m",), bits=32)
    return WordsEngine(shape, memory)


def rounded(exact: Fraction) -> np.float32:
    """Return the nearest binary32, ties to even, from the two neighbours of a first guess."""
    guess = np.float32(float(exact))
    near = [guess, np.nextafter(guess, np.float32(np.inf)), np.nextafter(guess, np.float32(-np.inf))]
    return min(near, key=lambda value: (abs(Fraction(float(value)) - exact), int(value.view(np.uint32)) & 1))


def test_a_fused_multiply_add_is_rounded_once() -> None:
    """Against exact fractions, with addends that nearly cancel the product and that lie on ties."""
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=4000).astype(np.float32) for _ in range(2))
    c = np.concatenate([-(a * b)[:2000], (a * b)[2000:] * np.float32(2.0) ** rng.integers(-26, 26, 2000)])
    c = c.astype(np.float32)
    found = float32.fuse(*(each.view(np.uint32) for each in (a, b, c))).view(np.float32)
    for x, y, z, result in zip(a, b, c, found, strict=True):
        assert result == rounded(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("y", "side"), [(3, -1), (1, 1)])
def test_a_sum_two_last_places_from_a_tie_stays_on_its_side(sign: int, y: int, side: int) -> None:
    """The product lies in the middle of two floats; the addend moves it by a bit less than two places of binary64."""
    a, b = np.array([sign * (1 + 2.0**-12)], np.float32), np.array([1 + y * 2.0**-12], np.float32)
    c = np.array([sign * side * 2.0**-51 * (1 - 2.0**-20)], np.float32)
    found = float32.fuse(*(each.view(np.uint32) for each in (a, b, c))).view(np.float32)[0]
    assert found == rounded(Fraction(float(a[0])) * Fraction(float(b[0])) + Fraction(float(c[0])))


def pair(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    bits = values.view(np.uint64)
    return (bits & np.uint64(0xFFFFFFFF)).astype(np.uint32), (bits >> np.uint64(32)).astype(np.uint32)


def number(words: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    return (words[1].astype(np.uint64) << np.uint64(32) | words[0]).view(np.float64)


def test_a_fused_multiply_add_of_doubles_is_rounded_once() -> None:
    """Against exact fractions, which Python's division rounds once: addends that nearly cancel, ties, far exponents."""
    rng = np.random.default_rng(8)
    a, b, scale = rng.normal(size=3000), rng.normal(size=3000), rng.integers(-120, 120, 3000)
    c = np.concatenate([-(a * b)[:1000], (a * b)[1000:2000] * 2.0 ** scale[1000:2000], rng.normal(size=1000)])
    a[2000:] *= 2.0 ** rng.integers(-600, 480, 1000)  # products down to nothing and up to almost the largest
    b[2000:] *= 2.0 ** rng.integers(-520, 500, 1000)
    a[2000:2100], c[2000:2100] = np.ldexp(a[2000:2100], -500), 0.0
    a[2600:2800], b[2600:2800] = np.ldexp(rng.normal(size=(2, 200)), [[1015], [-600]])  # one factor almost the largest
    a[2800:], b[2800:] = np.ldexp(rng.normal(size=(2, 200)), [[-490], [-510]])
    c[2100:] = -(a * b)[2100:]  # what is left of these lies below the last bit of the product, however small that is
    found = number(float64.fuse(pair(a), pair(b), pair(c)))
    for x, y, z, result in zip(a.tolist(), b.tolist(), c.tolist(), found.tolist(), strict=True):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        assert result == exact.numerator / exact.denominator


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("product", "z", "expected"),
    [
        (1, 1 + 2.0**-52, 1 + 2.0**-52),  # below the middle of it and the next double, which is even
        (-1, 1 + 2.0**-51, 1 + 2.0**-51),  # above the middle of it and the one before
        (1, 1 + 2.0**-51, 1 + 2.0**-51),
        (-1, 1 + 2.0**-52, 1 + 2.0**-52),
    ],
)
def test_a_sum_of_doubles_far_below_the_last_place_from_a_tie_stays_on_its_side(
    product: int, z: float, expected: float, sign: int
) -> None:
    """The product is 2^-53 less 2^-109, which no double between sees: (1 - 2^-28)(1 + 2^-28) = 1 - 2^-56."""
    x, y, last = (np.array([each]) for each in (sign * product * 2.0**-53 * (1 - 2.0**-28), 1 + 2.0**-28, sign * z))
    assert number(float64.fuse(pair(x), pair(y), pair(last)))[0] == sign * expected


def test_doubles_against_numpy() -> None:
    rng = np.random.default_rng(9)
    a, b = (rng.normal(size=2000) * 2.0 ** rng.integers(-500, 500, 2000) for _ in range(2))
    a[:500] *= 2.0 ** np.round(-np.log2(np.abs(a[:500])) + rng.integers(-3, 33, 500))  # where integers are
    lanes = engine()
    assert np.array_equal(number(lanes.double_add(pair(a), pair(b))), a + b)
    assert np.array_equal(number(lanes.double_multiply(pair(a), pair(b))), a * b)
    assert np.array_equal(lanes.double_less(pair(a), pair(b)), a < b)
    assert np.array_equal(lanes.double_equal(pair(a), pair(np.where(a < b, a, b))), a < b)
    with np.errstate(over="ignore", under="ignore"):
        assert np.array_equal(lanes.double_to_float(pair(a)).view(np.float32), a.astype(np.float32))
    small = np.abs(a) < 2.0**31
    for rounding, rounded in ((0, np.rint), (1, np.floor), (2, np.ceil), (3, np.trunc)):
        found = lanes.double_to_integer(pair(a), Rounding(rounding)).view(np.int32)
        assert np.array_equal(found[small], rounded(a[small])) and (found[np.abs(a) > 2.0**31] == -(2**31)).all()
    words = rng.integers(0, 1 << 32, 2000, np.uint32)
    assert np.array_equal(number(lanes.to_double(words, signed=True)), words.view(np.int32).astype(float))
    assert np.array_equal(number(lanes.to_double(words, signed=False)), words.astype(float))
    floats = rng.normal(size=2000).astype(np.float32)
    assert np.array_equal(number(lanes.float_to_double(floats.view(np.uint32))), floats.astype(float))


def test_lanes_that_take_no_part_read_nothing_of_the_smallest_memory() -> None:
    memory = ByteMemory(4)
    memory.data[:] = [[1, 2, 3, 4]]
    beyond = np.array([[0, 4, 0, 0xFFFFFFFF]], np.uint32)
    found = memory.fetch(beyond, 4, np.array([[True, False, True, False]]))
    assert found.tolist() == [[0x04030201, 0, 0x04030201, 0]]


def test_a_fused_multiply_add_rounds_once_where_binary64_rounds_to_a_tie() -> None:
    """The sum lies 2^-70 below the middle of two floats, which binary64 does not see: it would go to the even one."""
    a = np.array([(1 + 2.0**-23) * 2.0**-24], np.float32)
    b = np.array([1 - 2.0**-23], np.float32)
    c = np.array([1 + 2.0**-23], np.float32)
    twice = (a.astype(np.float64) * b + c).astype(np.float32)
    once = float32.fuse(*(each.view(np.uint32) for each in (a, b, c))).view(np.float32)
    assert (twice[0], once[0]) == (1 + 2.0**-22, 1 + 2.0**-23)


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        (Rounding.NEAREST, [2, 4, 0xFFFFFFFE, 0]),
        (Rounding.DOWN, [2, 3, 0xFFFFFFFD, 0xFFFFFFFF]),
        (Rounding.UP, [3, 4, 0xFFFFFFFE, 0]),
        (Rounding.TO_ZERO, [2, 3, 0xFFFFFFFE, 0]),
    ],
)
def test_the_four_ways_to_a_whole_number(rounding: Rounding, expected: list[int]) -> None:
    floats = np.array([2.5, 3.5, -2.5, -0.25], np.float32).view(np.uint32)
    assert float32.to_integer(floats, rounding).tolist() == expected


def test_the_limits_of_a_signed_integer() -> None:
    floats = np.array([2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, np.inf, np.nan], np.float32)
    expected = [0x7FFFFF80, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000]
    assert float32.to_integer(floats.view(np.uint32), Rounding.NEAREST).tolist() == expected


def test_integers_against_python() -> None:
    rng = np.random.default_rng(6)
    lanes = engine(64)
    a, b = (rng.integers(0, 1 << 32, (64, 16), np.uint32) for _ in range(2))
    by = rng.integers(0, 40, (64, 16)).astype(np.uint32)
    every = list(zip(*(each.ravel().tolist() for each in (a, b, by)), strict=True))

    def signed(value: int) -> int:
        return value - (value >> 31 << 32)

    def double(low: np.ndarray, high: np.ndarray) -> list[int]:
        return [h << 32 | l for l, h in zip(low.ravel().tolist(), high.ravel().tolist(), strict=True)]  # noqa: E741

    products = double(*lanes.multiply(a, b, signed=True))
    assert products == [signed(x) * signed(y) % (1 << 64) for x, y, _ in every]
    assert double(*lanes.multiply(a, b, signed=False)) == [x * y for x, y, _ in every]
    total, carry = lanes.add(a, b, lanes.bit(True))
    assert double(total, carry) == [x + y + 1 for x, y, _ in every]
    assert lanes.shift_up(a, by).ravel().tolist() == [x << s & 0xFFFFFFFF for x, _, s in every]
    assert lanes.shift_down(a, by, signed=False).ravel().tolist() == [x >> s for x, _, s in every]
    down = lanes.shift_down(a, by, signed=True)
    assert down.ravel().tolist() == [signed(x) >> s & 0xFFFFFFFF for x, _, s in every]
    assert lanes.less(a, b, signed=True).ravel().tolist() == [signed(x) < signed(y) for x, y, _ in every]


def test_masks_are_numbers_and_back() -> None:
    lanes = engine(2)
    numbers = np.array([[0x8001], [0x1234]], np.uint32)
    bits = lanes.spread(numbers)
    assert np.flatnonzero(bits[0]).tolist() == [0, 15]
    assert (lanes.collect(bits) == numbers).all()
    assert lanes.rank(bits)[0].tolist() == [0, *[1] * 15]


def test_groups_that_have_no_turn_are_not_written() -> None:
    memory = ByteMemory(8, 2)
    lanes = engine(2, memory)
    lanes.let(np.array([False, True]))
    lanes.store(1, lanes.word(5))
    lanes.write("p", lanes.word(6))
    lanes.set_flag("m", lanes.bit(True))
    lanes.put(lanes.word(4), lanes.word(7), 4)
    for values in (lanes.get_rows(1, 1)[0], lanes.get_word("p"), lanes.get_bit("m")):
        assert not values[:16].any()
        assert values[16:].all()
    assert memory.data.view(np.uint32).tolist() == [[0, 0], [0, 7]]


@pytest.mark.parametrize("shift", [0, 1])
def test_of_writes_that_meet_the_last_lane_stays(shift: int) -> None:
    """Whole words at one address, and words that overlap byte by byte."""
    lanes = engine(1, ByteMemory(64))
    addresses = lanes.series([4 + shift * (lane & 1) for lane in range(16)])
    lanes.put(addresses, lanes.series([0x01010101 * lane for lane in range(16)]), 4)
    expected = [15] * 4 if not shift else [14, 15, 15, 15, 15]
    assert lanes.memory.data[0, 4 : 4 + len(expected)].tolist() == expected


def test_a_snapshot_brings_everything_back() -> None:
    lanes, other = engine(), engine()
    lanes.store(2, lanes.word(9), lanes.pattern([lane < 3 for lane in range(16)]))
    lanes.set_flag("c", lanes.bit(True))
    other.restore(lanes.snapshot())
    assert other.digest() == lanes.digest() != engine().digest()


def test_words_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match="32 bits, not of 8"):
        WordsEngine(Shape(lanes=16, group=16, rows=1, words=(), carries=(), masks=()))
    with pytest.raises(ValueError, match="8 or 32"):
        Shape(lanes=16, group=16, rows=1, words=(), carries=(), masks=(), bits=16)
