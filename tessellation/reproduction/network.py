"""What moves between the node, its GPs and other nodes: sections 3.8 and 4.1.4, with the windows of the GNI."""

from __future__ import annotations

from dataclasses import replace

from microcode import Builder, assemble
from pixelflow.config import NodeConfig
from pixelflow.evidence import Basis, Derivation, Number, Row, derived
from pixelflow.node import Machine, Run
from pixelflow.simd.units import Standing
from tessellation.microprogram.gp_traffic import Returned, emit_return
from tessellation.plan.memory_map import BATCH_BYTES, FLOAT_BYTES, RESULTS, memory_map
from tessellation.published.cost_model import write_back_cycles
from tessellation.reproduction.bench import MARKS, ThesisBench, whole
from tessellation.reproduction.programs.prices import Prices, path, write_slot
from tessellation.reproduction.rows import figure_row, row

__all__ = ["paths", "results", "return_prediction", "returned", "write_back"]

_PATH = Basis(Standing.THESIS, "the path to GP memory, 200 MB/s, and the geometry network, 800 MB/s (section 3.8)")
_WINDOW = Basis(Standing.INVENTED, "parcels on their way through the GNI (gni.gp_buffers, gni.load_parts, part_blocks)")
_CLIENTS = 4
_FLOATS = len(RESULTS)


def write_back(bench: ThesisBench, size: int) -> int:
    """Execute the return of the last ``size`` of 24 bytes of all PEs to one GP; return the cycles of its path."""
    modules = range(bench.config.array.modules)
    areas = "\n".join(f"TAS_SetGpAddress {1 << module}, {module * 49_152}" for module in modules)
    return bench.transfer(f"{areas}\nTAS_GpWrite 15, {24 - size}, {size}").gni_cycles["store0"]


def returned(bench: ThesisBench, config: NodeConfig | None = None, gone: int = 0) -> Run:
    """Return the account of the program that returns points and normals of all PEs to one GP.

    The first ``gone`` of these six floats have left before; the marks that were set for them count all the same.
    """
    config = bench.config if config is None else config
    array = config.array

    def run() -> Run:
        builder = Builder("results")
        if gone:
            builder.emit("EMC_SetEnab")
            builder.emit("EMC_MarkWrite")
        columns = array.lanes // array.modules // 16
        emit_return(builder, memory_map(4, 4), Returned((1 << array.modules) - 1, columns), array, gone=gone)
        return bench.run(builder.build(), config)

    return bench.once(("returned", config.sha256, gone), run, "results to a GP")


def return_prediction(config: NodeConfig, gone: int = 0) -> Derivation:
    """Return the cycles of that program: two enables, the marks, and the bytes into the port; then what the paths take.

    Its parcels, a PE of each EMC, fill the pins to the TASICs and the path to the GNI once; then the path to GP memory
    decides. A window of one parcel lets each go all of its way before the next: it is granted and confirmed, too.
    """
    array, gni, clock = config.array, config.gni, config.clock_mhz
    size, prices = FLOAT_BYTES * (_FLOATS - gone), Prices(config)
    parcel = size * array.emcs_per_module
    names: dict[str, Number | Derivation] = {
        "enables": derived("2 * enable + mark", enable=prices.all, mark=prices.mark),
        "byte": prices.byte,
        "size": size,
        "collect": size // config.tasic.port_bytes_per_cycle,
        "into": -(-parcel // (gni.mb_per_second // clock)),
        "store": -(-parcel // (gni.gp_memory_mb_per_second // clock)),
        "parcels": array.lanes // array.emcs_per_module,
    }
    text = "enables + size * byte + wires + collect"
    there = ("freed", "command", "gp_command", "collect", "request")
    back = ("delivered", "gp_done", "done", "arrived")
    if gni.gp_buffers == 1:
        each = path("grant", "stored")
        return derived(f"{text} + parcels * (words + into + store)", **names, wires=path(*there, *back), words=each)
    return derived(f"{text} + into + parcels * store", **names, wires=path(*there, "grant", "stored", *back))


def results(bench: ThesisBench) -> list[Row]:
    """Section 4.1.4, and what a window of one parcel would make of it."""
    measured = write_back(bench, 24)
    rate = 24 * bench.config.lanes * bench.config.clock_mhz / measured
    one = replace(bench.config, gni=replace(bench.config.gni, gp_buffers=1))
    return [
        figure_row(
            "24 bytes of every PE to a GP", write_back_cycles(24), returned(bench).cycles, _PATH, "program-around",
            predicted=return_prediction(bench.config), busy=measured,
        ),
        figure_row("path to GP memory", 200, whole(rate), _PATH),
        row(
            "the same, a parcel at a time", None, None, returned(bench, one).cycles, _WINDOW,
            predicted=return_prediction(one), busy=returned(bench, one).gni_cycles["store0"],
        ),
    ]  # fmt: skip


def _load(bench: ThesisBench, blocks: int, config: NodeConfig | None = None) -> int:
    """Return the cycles in which all modules load so many blocks of 32 bytes from GP memory, with marks before it."""
    text = f"{MARKS}\nstream tigc\nWAIT 0\nTAS_MemLoad 15, {blocks}, 0\n"
    sha = (config or bench.config).sha256
    return bench.once(("load", blocks, sha), lambda: bench.program(text, config).beside.cycles, f"load of {blocks}")


def _load_prediction(config: NodeConfig, blocks: int) -> Derivation:
    """Return the cycles of such a load.

    GP memory gives parts one after the other, while one before is written; with one part on its way it waits for that.
    """
    gni, clock = config.gni, config.clock_mhz
    part = BATCH_BYTES * gni.part_blocks
    prices = Prices(config)
    names: dict[str, Number | Derivation] = {
        "marks": derived("enable + 2 * mark", enable=prices.all, mark=prices.mark),
        "parts": blocks // gni.part_blocks,
        "give": part // (gni.gp_memory_mb_per_second // clock),
        "pass_on": part // (gni.mb_per_second // clock),
        "writes": gni.part_blocks,
        "slot": write_slot(config.sdram, 4),
    }
    if gni.load_parts == 1:
        # Nobody asks again after the last part, so that its word leads nowhere.
        text = "marks + wires + parts * (words + give + pass_on + writes * slot) - loaded"
        words, wires = path("ask", "loaded"), path("freed", "command", "load_request", "done")
        return derived(text, **names, wires=wires, words=words, loaded=path("loaded"))
    wires = path("freed", "command", "load_request", "ask", "done")
    return derived("marks + wires + parts * give + pass_on + writes * slot", **names, wires=wires)


_BLOCKS = 8192
_FEW = 32


def paths(bench: ThesisBench) -> list[Row]:
    """Section 3.8: the rates of the network and of GP memory, both ways, and what a load takes."""
    config, clock = bench.config, bench.config.clock_mhz
    one = replace(config, gni=replace(config.gni, load_parts=1))
    busy, sent, cycles = bench.once("deliver", lambda: _delivered(bench), "results to four other nodes")
    stored = 24 * config.lanes * clock / write_back(bench, 24)
    steady = BATCH_BYTES * (_BLOCKS - _FEW) * clock / (_load(bench, _BLOCKS) - _load(bench, _FEW))
    rows = [
        figure_row("rate of the geometry network", 800, whole(sent * clock / busy), _PATH),
        figure_row("rate into GP memory", 200, whole(stored), _PATH),
        figure_row("rate out of GP memory", 200, whole(steady), _PATH),
        row("24 bytes of every PE to four nodes", None, sent * clock // 800, cycles, _WINDOW, busy=busy),
    ]
    for item, used in ((f"a load of {_BLOCKS:,} blocks", config), ("the same, a part at a time", one)):
        loaded = _load(bench, _BLOCKS, used)
        rows.append(row(item, None, None, loaded, _WINDOW, predicted=_load_prediction(used, _BLOCKS)))
    return rows


def _delivered(bench: ThesisBench) -> tuple[int, int, int]:
    """Send 24 bytes of every PE to four nodes; return busy cycles and bytes of the network, and cycles to the end."""
    to = "\n".join(f"TAS_SetGp {1 << client}, {client + 1}, 0" for client in range(_CLIENTS))
    program = assemble(f"{MARKS}\nstream tigc\n{to}\nWAIT 0\nTAS_GpWrite 15, 0, 24\n")
    machine = Machine(_CLIENTS + 1, bench.config, "rows")
    found = machine.run({0: program})
    return found.network_busy_cycles, found.network_bytes, found.cycles
