"""A drawing of the machine in characters: streams, modules, EMCs, panels and PEs, with x and y, registers and ports."""

from __future__ import annotations

from collections.abc import Sequence

from pixelflow.config import NodeConfig
from pixelflow.isa import SEMAPHORES
from pixelflow.node.lee import EMC_HEIGHT, EMC_WIDTH
from pixelflow.simd.report import number

_INNER = 43
"""Characters inside a module."""
_PES_DOWN = 4
"""Rows of PEs in the drawing of a panel, which has twice as many columns."""


def machine_drawing(config: NodeConfig) -> str:
    """Return the drawing of a node, at most 80 columns wide."""
    array = config.array
    width, height = EMC_WIDTH * array.emcs_per_module, EMC_HEIGHT * array.modules
    sizes = f"{array.modules} modules x {array.emcs_per_module} EMCs x {array.panels_per_emc} panels"
    lines = [
        f"one node: {sizes} x {array.pes_per_panel} PEs = {number(array.lanes)} PEs at {config.clock_mhz} MHz",
        "",
        f"   EIGC  <--- SIGNAL, WAIT: {SEMAPHORES} semaphores --->  TIGC",
        "    │ one instruction for every PE             │ one transfer for all modules",
        "    ▼                                          ▼",
        *_modules(config),
        f"   x = 0 to {width - 1} to the right, y = 0 to {height - 1} downwards: a module is a strip of",
        f"   {width} x {EMC_HEIGHT} PEs; the linear expression evaluator computes A x + B y + C in all",
        "",
        *_in_a_row(_emc(array.panels_per_emc), _panel(array.pes_per_panel), _pe(config)),
        "",
        "lane = ((module * {} + EMC) * {} + panel) * {} + PE".format(*array.shape[1:]),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _modules(config: NodeConfig) -> list[str]:
    array, lines = config.array, []
    emcs = " │ ".join([f"EMC {n}" for n in range(min(array.emcs_per_module, 2))])
    more = f" │ ...         │ EMC {array.emcs_per_module - 1}" if array.emcs_per_module > 2 else ""
    for module in range(array.modules):
        edge = "┌┐" if module == 0 else "├┤"
        lines.append(f" {edge[0]}{f' module {module} ':─^{_INNER}}{edge[1]}")
        path = f" ◄─ ports ─► TASICs ◄─► {config.sdram.devices_per_module} SDRAMs"
        lines.append(f" │{f' {emcs}{more}':<{_INNER}}│{path}")
    return [*lines, f" └{'─' * _INNER}┘"]


def _emc(panels: int) -> list[str]:
    rows = [f"│ panel {2 * row} │ panel {2 * row + 1} │" for row in range(panels // 2)]
    bar = "─" * 9
    body = [line for row in rows for line in (f"├{bar}┼{bar}┤", row)][1:]
    return [f"an EMC, {EMC_WIDTH} x {2 * panels}", f"┌{bar}┬{bar}┐", *body, f"└{bar}┴{bar}┘"]


def _panel(pes: int) -> list[str]:
    across = pes // _PES_DOWN
    numbers = [[_PES_DOWN * column + row for column in range(across)] for row in range(_PES_DOWN)]
    rows = [f"│{''.join(f'{each:>3}' for each in row)} │ y {row[0]}" for row in numbers]
    bar = "─" * (3 * across + 1)
    moves = ["EMC_PixCopy and EMC_PixSwap", "exchange bytes in a panel"]
    return [f"a panel: its PEs, {across} x {_PES_DOWN}", f"┌{bar}┐", *rows, f"└{bar}┘", *moves]


def _pe(config: NodeConfig) -> list[str]:
    array = config.array
    sizes = (
        ("main memory", array.main_bytes),
        ("composition", array.composition_bytes),
        ("input port", array.port_bytes),
        ("output port", array.port_bytes),
    )
    rows, start = ["R  S  M   8 bits each", "C carry   E enable"], 0
    for name, size in sizes:
        rows.append(f"{start:>3}..{start + size - 1:<3} {name}")
        start += size
    bar = "─" * 24
    return ["a PE", f"┌{bar}┐", *(f"│ {row:<22} │" for row in rows), f"└{bar}┘"]


def _in_a_row(*blocks: Sequence[str]) -> list[str]:
    """Return blocks of lines next to each other, two blanks between them."""
    height = max(map(len, blocks))
    widths = [max(map(len, block)) for block in blocks]
    filled = [[*block, *[""] * (height - len(block))] for block in blocks]
    rows = zip(*filled, strict=True)
    return ["  ".join(f"{line:<{wide}}" for line, wide in zip(row, widths, strict=True)) for row in rows]
