"""The report of kernels: a table for each machine, and the published bit-serial machine beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pim_kernels.bit_serial import SOURCE
from pim_kernels.measure import Measured
from pixelflow.simd.report import Column, Json, Part, Report, Table, fixed, machine_time, number, share

__all__ = ["kernels_report"]

_NOTE = (
    "Data are in place when a run begins and results stay in the machine: no time is counted for that. What the GNI "
    "would take at least to bring the data, bytes by bandwidth, is the column `loading` (formula). Where a module "
    "stands alone, the host puts a number of each together."
)


def kernels_report(found: Mapping[str, Sequence[Measured]], *, energy: bool = False) -> Report:
    """Return what kernels took, by the name of the machine; fails where a result is not numpy's."""
    wrong = [f"{each.kernel.name} ({name})" for name, all_ in found.items() for each in all_ if not each.right]
    engines = dict.fromkeys(each.engine for all_ in found.values() for each in all_)
    parts: list[Part] = []
    for name, measured in found.items():
        parts += [*([""] if parts else []), *_of_machine(name, measured, energy=energy)]
    return Report(
        "kernels of processing in memory",
        (f"engine {', '.join(engines)}",),
        parts,
        schema="pixelflow.kernels/1",
        data={"machines": {name: [_object(each, energy=energy) for each in all_] for name, all_ in found.items()}},
        notes=(_NOTE, *_peers(found)),
        failure=f"not numpy's result: {', '.join(wrong)}" if wrong else None,
    )


def _of_machine(name: str, measured: Sequence[Measured], *, energy: bool) -> Iterator[Part]:
    if not measured:
        return
    config = measured[0].config
    array = config.array
    yield f"{name}: {number(config.lanes)} PEs, {array.emcs_per_module} EMCs in each of {array.modules} modules"
    columns = [
        Column("kernel"), Column("a PE has"), Column("elements", number), Column("numpy"), Column("cycles", number),
        Column("time", machine_time), Column("enabled", _percent), Column("waits", _percent),
        Column("PE bytes", number), Column("port bytes", number), Column("loading", number),
        *([Column("energy uJ", fixed(1))] if energy else []),
        Column("bit-serial", _time_or_none), Column("how often", _ratio_or_none),
    ]  # fmt: skip
    rows = [(*_row(each), *([each.energy.total / 1e9] if energy else []), *_beside(each)) for each in measured]
    yield Table(columns, rows)


def _row(each: Measured) -> tuple[Json, ...]:
    return (
        each.kernel.name,
        each.kernel.each,
        each.elements,
        "equal" if each.right else "WRONG",
        each.cycles,
        each.config.seconds(each.cycles),
        each.utilisation,
        each.waited,
        each.memory_bytes,
        each.port_bytes,
        each.loading,
    )


def _beside(each: Measured) -> tuple[float | None, float | None]:
    peer = each.peer_nanoseconds
    return (None, None) if peer is None else (peer / 1e9, peer / each.nanoseconds)


def _percent(value: float) -> str:
    return share(round(1e6 * value), 10**6)


def _time_or_none(seconds: float | None) -> str:
    return "-" if seconds is None else machine_time(seconds)


def _ratio_or_none(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.1f}"


def _peers(found: Mapping[str, Sequence[Measured]]) -> Iterator[str]:
    kernels = {each.kernel.name: each.kernel for all_ in found.values() for each in all_}
    yield (
        f"bit-serial (published counts, formula): {SOURCE}; as many columns as PEs, and how often this machine's time "
        "goes into that"
    )
    for kernel in kernels.values():
        if kernel.peer_ends:
            yield f"bit-serial {kernel.name}: {kernel.peer_ends}"


def _object(each: Measured, *, energy: bool) -> dict[str, Json]:
    found: dict[str, Json] = {
        "kernel": each.kernel.name,
        "pes": each.config.lanes,
        "config_sha256": each.config.sha256,
        "engine": each.engine,
        "elements": each.elements,
        "equals_numpy": each.right,
        "cycles": each.cycles,
        "seconds_at_clock": each.config.seconds(each.cycles),
        "enabled_share": each.utilisation,
        "waiting_share": each.waited,
        "pe_memory_bytes": each.memory_bytes,
        "port_bytes": each.port_bytes,
        "loaded_bytes": each.loaded,
        "loading_cycles_formula": each.loading,
        "result_bytes": each.left,
        "left_to_host": each.kernel.ends,
        "state_digest": each.digest,
        "bit_serial": {
            "operations": dict(each.kernel.peer),
            "nanoseconds_formula": each.peer_nanoseconds,
            "left_to_host": each.kernel.peer_ends,
            "source": SOURCE,
        },
    }
    return found | ({"energy": each.energy.as_object()} if energy else {})
