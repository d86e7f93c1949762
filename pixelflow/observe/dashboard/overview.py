"""The first block of a frame: what every part of the machine did with its time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.text import Text

from pixelflow.observe.dashboard.panels import STYLES
from pixelflow.observe.dashboard.state import DashboardState, ModuleState, StreamState
from pixelflow.simd.dashboard.cells import CellField, count, flow, share

__all__ = ["overview"]

_KINDS = (("busy", "█", ""), ("wait", "▒", "yellow"), ("idle", "·", "dim"), ("unknown", " ", "dim"))
"""The parts of a stream's time: heading, character of the bar, style (busy: that of the stream)."""

_SHARE = 8

_LABEL = 8
_LEAST_BAR = 10


def overview(state: DashboardState, width: int, lines: int) -> list[Text]:
    """Return the account of the streams, and the busy cycles of TASICs, SDRAM banks and GNI, and the enabled PEs."""
    rows = [("PEs", _enabled(state))]
    if state.texture_missing is None:
        gni = CellField("GNI", f"bold {STYLES['GNI']}")
        rows = [("TASICs", _tasics(state)), ("SDRAM", [*_banks(state), gni, *_gni(state)]), *rows]
    else:
        rows.append(("TASICs, SDRAM banks, GNI", [CellField(f"– {state.texture_missing}", "dim")]))
    done = _streams(state, width)
    for index, (label, fields) in enumerate(rows):
        name = CellField(f"{label:<{_LABEL - 2}}", f"bold {STYLES.get(label, '')}")
        spare = lines - len(done) - len(rows) + index + 1
        done += flow([name, *fields], width, max(1, min(2, spare)), indent=" " * _LABEL)
    return done[:lines]


# --- streams -------------------------------------------------------------------------------------------------------


def _parts(stream: StreamState, kinds: int) -> tuple[int, ...]:
    return (stream.busy, stream.wait, stream.idle, stream.open)[:kinds]


def _streams(state: DashboardState, width: int) -> list[Text]:
    """Return a table of the streams: with bars and shares where they fit, else with the counts alone."""
    kinds = 4 if any(stream.open for stream in state.streams) else 3
    counts = [[count(part) for part in _parts(stream, kinds)] for stream in state.streams]
    names = [f"{character} {name}".strip() for name, character, _ in _KINDS[:kinds]]
    columns = [max([len(name), *(len(row[index]) for row in counts)]) for index, name in enumerate(names)]
    used = _LABEL + sum(columns) + 2 * kinds
    shares = [_SHARE, _SHARE, _SHARE, 0][:kinds] if used + 3 * _SHARE <= width else [0] * kinds
    used += sum(shares)
    if used > width:
        return _records(state, width, kinds)
    head = Text(" " * _LABEL, no_wrap=True)
    for name, size, after in zip(names, columns, shares, strict=True):
        head.append(f"{name:>{size}}{' ' * (after + 2)}", "dim")
    head.rstrip()
    bar = width - used if shares[0] and width - used >= _LEAST_BAR else 0
    rows = [head]
    for stream, cells in zip(state.streams, counts, strict=True):
        row = Text(no_wrap=True)
        row.append(f"{stream.name:<{_LABEL}}", f"bold {STYLES.get(stream.name, '')}")
        columns_of = zip(cells, columns, shares, _parts(stream, kinds), _KINDS, strict=False)
        for cell, size, after, part, (_, _, style) in columns_of:
            row.append(f"{cell:>{size}}", style)
            row.append(f" {share(part, state.cycle):>{after - 1}}" if after else "", "dim")
            row.append("  ")
        row.append_text(_bar(stream, state.cycle, bar))
        rows.append(row)
    return rows


def _records(state: DashboardState, width: int, kinds: int) -> list[Text]:
    """Return a line for each stream, with as many of its counts as fit."""
    rows = []
    for stream in state.streams:
        fields = [CellField(stream.name, f"bold {STYLES.get(stream.name, '')}")]
        parts = zip(_KINDS, _parts(stream, kinds), strict=False)
        fields += [CellField(f"{name} {count(part)}", style) for (name, _, style), part in parts]
        rows += flow(fields, width, 2, indent="  ")
    return rows


def _bar(stream: StreamState, cycles: int, width: int) -> Text:
    """Return the parts of a stream's time as a bar; rounding moves the borders, never the length."""
    bar = Text(no_wrap=True)
    edges, sum_ = [0], 0
    for part in _parts(stream, len(_KINDS)):
        sum_ += part
        edges.append(round(width * sum_ / cycles) if cycles else 0)
    for (begin, end), (_, character, style) in zip(pairwise(edges), _KINDS, strict=True):
        bar.append(character * (end - begin), style or STYLES.get(stream.name, ""))
    return bar


# --- one line each -------------------------------------------------------------------------------------------------


def _by_module(modules: Sequence[ModuleState], texts: Sequence[str]) -> list[CellField]:
    """Return a text for each module, or one where all are the same."""
    if len(set(texts)) == 1 and len(texts) > 1:
        return [CellField(f"{texts[0]} in each module")]
    return [CellField(f"[{each.module}] {text}") for each, text in zip(modules, texts, strict=True)]


def _tasics(state: DashboardState) -> list[CellField]:
    busy = [f"{count(each.busy)} {share(each.busy, state.cycle)}" for each in state.modules]
    return [CellField("busy", "dim"), *_by_module(state.modules, busy)]


def _banks(state: DashboardState) -> list[CellField]:
    known = [each.open_rows for each in state.modules if each.open_rows is not None]
    if state.banks_missing is not None or len(known) < len(state.modules):
        return [CellField(f"banks – {state.banks_missing or 'nobody looked'}", "dim")]
    texts = [", ".join("closed" if row is None else f"row {count(row)}" for row in rows) for rows in known]
    return [CellField("open in its banks", "dim"), *_by_module(state.modules, texts)]


def _gni(state: DashboardState) -> list[CellField]:
    if not state.gni:
        return [CellField("not used", "dim")]
    return [
        CellField("busy", "dim"),
        *(CellField(f"{path} {count(cycles)} {share(cycles, state.cycle)}") for path, cycles in state.gni),
    ]


def _enabled(state: DashboardState) -> list[CellField]:
    enabled = [each.enabled for each in state.modules if each.enabled is not None]
    if len(enabled) < len(state.modules):
        return [CellField("– a run without PE data", "dim")]
    total = CellField(f"{count(sum(enabled))} of {count(state.pes)} enabled")
    return [total, *_by_module(state.modules, [count(each) for each in enabled])]
