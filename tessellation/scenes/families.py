"""Generated triangles on the screen, for experiments with sizes, depths and overdraw.

Each family is a function of its parameters and a seed alone.
"""

from __future__ import annotations

import numpy as np

from pixelflow.simd.drawing import Blend, DepthTest, Draw, State, Stencil, StencilStep, StencilTest, snap
from pixelflow.simd.errors import Fault, InputError


def sized(width: int, height: int, *, count: int, pixels: float, seed: int = 1, state: State | None = None) -> Draw:
    """Return ``count`` equilateral triangles of ``pixels`` area each, anywhere inside the screen, at any angle.

    Raises InputError if they do not fit.
    """
    generator = np.random.default_rng(seed)
    radius = np.sqrt(4 * pixels / (3 * np.sqrt(3)))  # of the circle through the corners
    if 2 * radius > min(width, height):
        raise InputError(Fault(f"triangles of {pixels:g} pixels do not fit into {width}x{height}"))
    middle = generator.uniform((radius, radius), (width - radius, height - radius), (count, 2))
    angle = generator.uniform(0, 2 * np.pi, (count, 1)) + np.array([0, 2, 4]) * np.pi / 3
    points = middle[:, None] + radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    depths = np.repeat(generator.random((count, 1)), 3, axis=1)
    colours = generator.integers(0, 256, (count, 3, 3)).astype(np.uint8)
    return Draw(f"{count} triangles of {pixels:g} pixels", snap(points, depths, colours), state or State())


def layers(
    width: int, height: int, *, depth: int, columns: int = 8, rows: int = 6, seed: int = 1, state: State | None = None
) -> Draw:
    """Return the screen covered ``depth`` times by cells of two triangles, with random depth order in each cell.

    Of d layers in random order, 1 + 1/2 + ... + 1/d are nearer than all previous ones, on average.
    """
    generator = np.random.default_rng(seed)
    x, y = np.linspace(0, width, columns + 1).round(), np.linspace(0, height, rows + 1).round()
    left, top = np.meshgrid(x[:-1], y[:-1])
    right, bottom = np.meshgrid(x[1:], y[1:])
    corner = {"lt": (left, top), "rt": (right, top), "rb": (right, bottom), "lb": (left, bottom)}
    halves = [
        np.stack([np.stack(corner[name], axis=-1).reshape(-1, 2) for name in names], axis=1)
        for names in (("lt", "rt", "rb"), ("lt", "rb", "lb"))
    ]
    cell = np.stack(halves, axis=1)  # [cell, half, corner, xy]
    cells = len(cell)
    points = np.broadcast_to(cell, (depth, *cell.shape)).reshape(-1, 3, 2)
    order = generator.permuted(np.broadcast_to(np.arange(depth)[:, None], (depth, cells)), axis=0)
    depths = np.repeat(((order + 0.5) / depth).reshape(-1), 2)[:, None] * np.ones(3)
    colours = np.repeat(generator.integers(0, 256, (depth * cells, 1, 3)), 2, axis=0) * np.ones((1, 3, 1))
    return Draw(f"{depth} layers", snap(points, depths, colours.astype(np.uint8)), state or State())


def volumes(width: int, height: int, *, count: int, size: float, seed: int = 1) -> list[Draw]:
    """Return shadow volumes, which only count in the stencil, and the shade of pixels within them.

    Each volume is a convex outline ``size`` pixels across between two depths. Its far side counts up where it is hidden
    and its near side down (Carmack's reverse); pixels with a nonzero count are darkened. The stencil has 8 bits: a
    pixel within 256 volumes, or a multiple of that, counts as outside.
    """
    generator = np.random.default_rng(seed)
    angle = np.arange(6) * np.pi / 3
    middle = generator.uniform((0, 0), (width, height), (count, 1, 2))
    outline = np.clip(middle + size / 2 * np.stack([np.cos(angle), np.sin(angle)], axis=-1), 0, (width, height))
    fan = np.stack([outline[:, [0, k, k + 1]] for k in range(1, 5)], axis=1).reshape(-1, 3, 2)
    near = generator.uniform(0.0, 0.5, count)
    far = near + generator.uniform(0.1, 0.5, count)
    black = np.zeros((len(fan), 3, 3), np.uint8)
    found = []
    for (name, state), depth in zip(counting(f"{count} volumes"), (far, near), strict=True):
        depths = np.repeat(depth, 4)[:, None] * np.ones(3)
        found.append(Draw(name, snap(fan, depths, black), state))
    return [*found, shade(width, height)]


def counting(volumes: str) -> tuple[tuple[str, State], tuple[str, State]]:
    """Return names and states of the far and the near sides of volumes."""
    return (
        (f"far sides of {volumes}", _counts(StencilStep.UP)),
        (f"near sides of {volumes}", _counts(StencilStep.DOWN)),
    )


def _counts(step: StencilStep) -> State:
    return State(depth_write=False, colour_write=False, stencil=Stencil(hidden=step))


def shade(width: int, height: int) -> Draw:
    """Return a draw that halves every pixel with a nonzero stencil."""
    corners = np.array([[[0, 0], [width, 0], [width, height]], [[0, 0], [width, height], [0, height]]], float)
    test = Stencil(StencilTest.DIFFERENT, 0)
    state = State(depth_test=DepthTest.ALWAYS, depth_write=False, blend=Blend.OVER, alpha=128, stencil=test)
    return Draw("shade", snap(corners, np.zeros((2, 3)), np.zeros((2, 3, 3), np.uint8)), state)
