"""A tessellation in binary32 by numpy: the operations of section 4.1.3 in their order, each rounded to nearest even.

It shares no line with the machine: Bernstein values are rounded here from exact fractions, and the arithmetic is that
of the host's processor. So every bit of a pass must be the one that stands here, whatever library and schedule, unless
a routine rounds wrongly, a value is another one, or something is done in another order.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np

__all__ = ["different", "elevated", "exact_weights", "flushed", "nearest", "single_samples"]

_TINY = np.finfo(np.float32).tiny


def nearest(exact: Fraction) -> np.float32:
    """Return the binary32 number nearest to a fraction, the even one of two."""
    guess = np.float32(float(exact))
    around = (guess, np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf)))
    return min(around, key=lambda one: (abs(Fraction(float(one)) - exact), int(one.view(np.uint32)) & 1))


def exact_weights(degree: int, samples: int) -> np.ndarray:
    """Return B_i(t) of that degree at t = 0, 1/(samples-1), .. 1, rounded once: float32[samples, degree + 1]."""
    steps = [Fraction(index, samples - 1) for index in range(samples)]
    return np.array(
        [[nearest(comb(degree, i) * t**i * (1 - t) ** (degree - i)) for i in range(degree + 1)] for t in steps],
        np.float32,
    )


def flushed(values: np.ndarray) -> np.ndarray:
    """Return binary32 numbers with those below the smallest normal one taken for zeros of their sign."""
    return np.where(np.abs(values) < _TINY, np.copysign(np.float32(0), values), values)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return flushed(a * b)


def _surface(net: np.ndarray, in_u: np.ndarray, in_v: np.ndarray) -> np.ndarray:
    """Return the sum over j of B_j(v) * (sum over i of B_i(u) * b_ij): [patch, u, v, axis]."""
    total = None
    for j in range(net.shape[2]):
        column = None
        for i in range(net.shape[1]):
            term = _product(in_u[None, :, None, i, None], net[:, None, None, i, j])
            column = term if column is None else flushed(column + term)
        term = _product(in_v[None, None, :, j, None], column)
        total = term if total is None else flushed(total + term)
    return total


def single_samples(nets: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and normals of control nets [patch, m+1, n+1, 3]: float32[patch, i, j, xyz] each."""
    nets = flushed(nets.astype(np.float32))
    rows, columns = nets.shape[1] - 1, nets.shape[2] - 1
    in_u, in_v = exact_weights(rows, samples), exact_weights(columns, samples)
    with np.errstate(all="ignore"):
        points = _surface(nets, in_u, in_v)
        du = _surface(flushed(nets[:, 1:] - nets[:, :-1]), exact_weights(rows - 1, samples), in_v)
        dv = _surface(flushed(nets[:, :, 1:] - nets[:, :, :-1]), in_u, exact_weights(columns - 1, samples))
        crossed = []
        for axis in range(3):
            after, last = (axis + 1) % 3, (axis + 2) % 3
            one, other = _product(du[..., after], dv[..., last]), _product(du[..., last], dv[..., after])
            crossed.append(flushed(one - other))
        squares = [_product(each, each) for each in crossed]
        length = np.sqrt(flushed(flushed(squares[0] + squares[1]) + squares[2]))
        normals = np.stack([flushed(each / length) for each in crossed], axis=-1)
    return np.broadcast_to(points, normals.shape), normals


def different(found: np.ndarray, expected: np.ndarray) -> int:
    """Return how many binary32 numbers have other bits; NaNs are all alike."""
    both_nan = np.isnan(found) & np.isnan(expected)
    return int(((found.view(np.uint32) != np.ascontiguousarray(expected).view(np.uint32)) & ~both_nan).sum())


def elevated(net: np.ndarray, count: int) -> np.ndarray:
    """Return the net of the same surface with ``count`` control points a side, in float64: its degrees raised."""
    for _ in range(2):
        while net.shape[0] < count:
            share = (np.arange(net.shape[0] + 1) / net.shape[0])[:, None, None]
            nothing = np.zeros((1, *net.shape[1:]))
            net = share * np.concatenate([nothing, net]) + (1 - share) * np.concatenate([net, nothing])
        net = net.swapaxes(0, 1)
    return net
