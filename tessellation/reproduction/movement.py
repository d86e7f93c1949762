"""Data movement and memory: tables 2 to 4, 6, 8 and 9, sections 2.2, 3 and 4.1.4, appendix B."""

from __future__ import annotations

from dataclasses import replace

from microcode import Builder, assemble
from microcode.catalogue import FLOATS, Kind, Library
from pixelflow.config import THESIS, NodeConfig
from pixelflow.evidence import Basis, Derivation, Number, Row, derived
from pixelflow.node import AddressForm, AddressMap, Machine, Node, Run, sdram_distances
from pixelflow.simd.units import Standing
from tessellation.microprogram.gp_traffic import Returned, emit_return
from tessellation.microprogram.ports import store_program
from tessellation.plan.memory_map import AXES, BATCH_BYTES, FLOAT_BYTES, RESULTS, fitting_map, memory_map
from tessellation.plan.schedule import Stage
from tessellation.plan.texture_layout import FAR_WAYS, ResultArea
from tessellation.reproduction import cost_model
from tessellation.reproduction.bench import MARKS, ThesisBench, figure_row, row, spent, texture_stream, whole
from tessellation.reproduction.predictions import Prices, batches, path, read_slot, text_of, touched_bytes, write_slot
from tessellation.reproduction.thesis import table

_PATH = Basis(Standing.THESIS, "the path to GP memory, 200 MB/s, and the geometry network, 800 MB/s (section 3.8)")
_WINDOW = Basis(Standing.INVENTED, "parcels on their way through the GNI (gni.gp_buffers, gni.load_parts, part_blocks)")
_CLIENTS = 4
_FLOATS = len(RESULTS)


def write_back(bench: ThesisBench, size: int) -> int:
    """Execute the return of the last ``size`` of 24 bytes of all PEs to one GP; return the busy cycles of its path."""
    modules = range(bench.config.array.modules)
    areas = "\n".join(f"TAS_SetGpAddress {1 << module}, {module * 49_152}" for module in modules)
    return bench.transfer(f"{areas}\nTAS_GpWrite 15, {24 - size}, {size}").gni_cycles["store0"]


def returned(bench: ThesisBench, config: NodeConfig | None = None, gone: int = 0) -> Run:
    """Return the account of the program that returns points and normals of all PEs to one GP.

    The first ``gone`` of these six floats have been sent before; the marks set for them are included.
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
    """Return the cycles of that program: two enables, the marks, the bytes into the port, and the transfer.

    Its parcels, a PE of each EMC, fill the pins to the TASICs and the path to the GNI once; then the path to GP memory
    is the bottleneck. With a window of one parcel each is granted, sent and confirmed before the next.
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
    """Section 4.1.4, also with a window of one parcel."""
    measured = write_back(bench, 24)
    rate = 24 * bench.config.lanes * bench.config.clock_mhz / measured
    one = replace(bench.config, gni=replace(bench.config.gni, gp_buffers=1))
    return [
        figure_row(
            "24 bytes of every PE to a GP", cost_model.write_back_cycles(24), returned(bench).cycles, _PATH,
            "program-around",
            predicted=return_prediction(bench.config), busy=measured,
        ),
        figure_row("path to GP memory", 200, whole(rate), _PATH),
        row(
            "the same, a parcel at a time", None, None, returned(bench, one).cycles, _WINDOW,
            predicted=return_prediction(one), busy=returned(bench, one).gni_cycles["store0"],
        ),
    ]  # fmt: skip


def _load(bench: ThesisBench, blocks: int, config: NodeConfig | None = None) -> int:
    """Return the cycles to load this many blocks of 32 bytes into all modules from GP memory, including marks."""
    text = f"{MARKS}\nstream tigc\nWAIT 0\nTAS_MemLoad 15, {blocks}, 0\n"
    sha = (config or bench.config).sha256
    return bench.once(
        ("load", blocks, sha), lambda: texture_stream(bench.program(text, config)).cycles, f"load of {blocks}"
    )


def _load_prediction(config: NodeConfig, blocks: int) -> Derivation:
    """Return the cycles of such a load.

    GP memory sends parts in sequence while the previous one is written; with a window of one part it waits for that.
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
        # The last part is not followed by a request, so its word has no effect.
        text = "marks + wires + parts * (words + give + pass_on + writes * slot) - loaded"
        words, wires = path("ask", "loaded"), path("freed", "command", "load_request", "done")
        return derived(text, **names, wires=wires, words=words, loaded=path("loaded"))
    wires = path("freed", "command", "load_request", "ask", "done")
    return derived("marks + wires + parts * give + pass_on + writes * slot", **names, wires=wires)


_BLOCKS = 8192
_FEW = 32


def paths(bench: ThesisBench) -> list[Row]:
    """Section 3.8: the rates of the network and of GP memory in both directions, and the cycles of a load."""
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


# Movement between PEs and texture memory: tables 2 and 6, sections 2.2.4 and 3.5, appendix B.


SDRAM = Basis(Standing.FITTED, "SDRAM times, fitted to table 2; accesses in equal slots")
PORTS = Basis(Standing.DERIVED, "a byte a cycle on the wire between an EMC and the TASICs, from 3.2 GB/s")
_COPY = Basis(Standing.FITTED, "PixCopy takes (N + 1) B + 2 cycles, fitted to table 6")
_READS = Basis(Standing.FITTED, "12 cycles a read, fitted to table 6, and a byte a cycle on the ports")
_LEE = Basis(Standing.FITTED, "a LEE load of n bytes takes n + 1 cycles, fitted to table 4")
_TIMES = Basis(Standing.INVENTED, "typical parts of the time; accesses of 4 and 8 bytes do not reach tRAS, tRC, tRRD")

_PRINTED = THESIS.clock_mhz / 1000
"""From bytes a cycle to GB/s, for printed cycles."""


# Two PEs of an EMC in 16 are marked, in groups of one with a base address and others with words for the eight SDRAMs.
# Even EMCs write to bank 0 and odd ones to bank 1, so that accesses alternate if that is declared.
_WRITES = """\
EMC_SetEnab
EMC_TreeIntoMem_Li [352], 4, 0, 0, 0
EMC_TreeLTZero_Li 0, 1, 8, 0, 0
EMC_TreeIntoMem_Li [352], 4, 0, 0, {bank}
EMC_SetEnab
EMC_ClearMarks
EMC_TreeEQZero_Li 0, 1, 32, 64, 0
EMC_MarkWrite
SIGNAL 0
HALT
stream tigc
repeat bit in 0 .. 3
    TAS_SetCrossbar bit + 3, bit
end
TAS_SetStep 1
TAS_SetBanks {alternate}
WAIT 0
TAS_MemWrBase{size} {rounds}
"""
_MARKED_PES, _ROUNDS = 32, 15


def _access(bench: ThesisBench, size: int, *, alternate: bool) -> float:
    """Execute writes of ``size`` bytes to every SDRAM one after the other, and return the cycles of each."""
    bank = bench.config.sdram.rows * bench.config.sdram.columns
    run = bench.program(_WRITES.format(bank=bank, alternate=int(alternate), size=size, rounds=_ROUNDS))
    groups = _MARKED_PES // (1 + _ROUNDS * size // 4)
    return whole(run.tasic_cycles[0] / (groups * _ROUNDS * bench.config.array.emcs_per_module))


def _read(bench: ThesisBench, size: int, *, alternate: bool) -> float:
    """Execute reads of ``size`` bytes by all PEs one after the other; return the cycles of each without its send."""
    run = bench.transfer(f"TAS_SetBanks {int(alternate)}\nTAS_MemRdBlock{size} 1")
    array = bench.config.array
    rounds = array.lanes // array.emcs * 4 // size
    sent = 8 * size // bench.config.tasic.port_bytes_per_cycle
    return whole((run.tasic_cycles[0] / rounds - sent) / array.emcs_per_module)


def table_2(bench: ThesisBench) -> list[Row]:
    """Accesses to SDRAMs in a steady state, writes and reads, and device rules that these do not exercise."""
    writes, reads = [], []
    overhead = bench.config.tasic.read_overhead_cycles
    for name, cycles, size in table(2).rows:
        alternate = "alternate" in name
        slot = cost_model.access_cycles(size, alternate=alternate)
        writes.append(row(f"{name}, write", cycles, slot, _access(bench, size, alternate=alternate), SDRAM))
        own = read_slot(bench.config.sdram, size, alternate=alternate)
        predicted = derived("slot + overhead", slot=own, overhead=overhead)
        measured = _read(bench, size, alternate=alternate)
        reads.append(row(f"{name}, read", cycles, slot, measured, _READS, "read-overhead", predicted=predicted))
    return [*writes, *reads, *_rules(bench)]


def _rules(bench: ThesisBench) -> list[Row]:
    """The times of the devices, each tried on one."""
    sdram = bench.config.sdram
    times = {
        "tRCD": sdram.trcd_cycles, "tRP": sdram.trp_cycles, "tRAS": sdram.tras_cycles, "tRC": sdram.trc_cycles,
        "tRRD": sdram.trrd_cycles,
    }  # fmt: skip
    found = sdram_distances(sdram)
    return [
        row(name, None, None, found[name], _TIMES, unit="clocks", predicted=derived("parameter", parameter=clocks))
        for name, clocks in times.items()
    ]


def table_6(bench: ThesisBench) -> list[Row]:
    """One transfer of 32 bytes to every block."""
    rows = []
    for sends, emc, tasic in table(6).rows:
        run = bench.one_batch(sends)
        spread = spent(run, Stage.DISTRIBUTION)
        rows.append(row(f"{sends} sends, EMC", emc, cost_model.distribution_cycles(sends), spread, _COPY))
        rows.append(row(f"{sends} sends, TASIC", tasic, cost_model.tasic_cycles(sends), run.tasic_cycles[0], _READS))
    # The time that the columns of table 6 leave for a read, compared with table 2.
    one, two = (table(6).row(sends)["TASIC Cycles"] for sends in (1, 2))
    left = derived("(2 * one - two) / reads", one=int(one), two=int(two), reads=_reads(bench))
    four = int(table(2).row("4 bytes, random")["Cycles"])
    measured = read_cycles(bench)
    rows.append(row("a read of table 6", four, whole(left.value), measured, _READS, "table2-table6", derived=left))
    return rows


def bandwidths(bench: ThesisBench) -> list[Row]:
    """Return the bandwidths of section 2.2.4, measured."""
    lanes, rate = bench.config.lanes, bench.config.clock_mhz / 1000
    loaded = bench.program("EMC_TreeIntoMem_Li [0], 8, 1, 1, 0\n").cycles
    node = 32 * lanes / bench.transfer("TAS_LoopBack").tasic_cycles[0]
    gp = 24 * lanes / write_back(bench, 24)
    return [
        figure_row(
            "8 bytes through the LEE",
            8 * lanes / cost_model.lee_load_cycles(8) * _PRINTED,
            8 * lanes / loaded * rate,
            _LEE,
            predicted=derived("8 * lanes / load * rate", lanes=lanes, load=Prices(bench.config).load(8), rate=rate),
        ),
        figure_row("ports of the node", 32 * _PRINTED, node * rate, PORTS),
        figure_row("ports against path to a GP", 16, whole(node / gp), PORTS),
    ]


def _reads(bench: ThesisBench) -> int:
    """Return the reads of a transfer to every block."""
    return 16 * bench.config.array.emcs_per_module


def read_cycles(bench: ThesisBench) -> float:
    """Return the cycles of one read without its sends, from transfers with one send and with two."""
    one, two = (bench.one_batch(sends).tasic_cycles[0] for sends in (1, 2))
    return whole((2 * one - two) / _reads(bench))


def random_reads(bench: ThesisBench) -> list[Row]:
    """Section 3.5."""
    slot = cost_model.access_cycles(4, alternate=False)
    own = read_slot(bench.config.sdram, 4)
    predicted = derived("slot + overhead", slot=own, overhead=bench.config.tasic.read_overhead_cycles)
    measured = read_cycles(bench)
    return [figure_row("a random read of 4 bytes", slot, measured, _READS, "read-overhead", predicted=predicted)]


def _caching(bench: ThesisBench, way: str) -> Run:
    """Run the program that keeps points and normals in texture memory."""
    area = ResultArea.at(way, 0, bench.config)
    return bench.once(("cache", way), lambda: bench.run(store_program(area, memory_map(4, 4))), f"caching, {way}")


_ROUND = {"explicit": 4 * (4 + 4), "base": 4 + 8 * 4, "alternate": 4 + 8 * 4, "split": 4 + 8 * 4}
"""Bytes from a PE for the first round of accesses: four addresses and words, or a base and eight words."""


def _caching_prediction(bench: ThesisBench, way: str) -> Derivation:
    """Return the cycles of that program, from its text and the writes of appendix B.

    The EMC stream takes the declared cycles of its text, and stalls in each pass for the words from box to box, the
    first round into the TASICs, and the writes. The program ends with the later stream: after the last write the TASICs
    restore their generator while the EMCs are notified and enable all PEs.
    """
    config, program = bench.config, _caching(bench, way).program
    emc, tasic, prices = text_of(program, "eigc"), text_of(program, "tigc"), Prices(config)
    awaited = max(index for index, each in enumerate(emc) if each.mnemonic == "WAIT")
    written = [index for index, each in enumerate(tasic) if each.mnemonic.startswith("TAS_MemWr")]
    writes = derived(
        "ways * words * emcs * slot",
        ways=2 if way == "explicit" else 1, words=_WRITES_OF_EMC, emcs=config.array.emcs_per_module,
        slot=write_slot(config.sdram, 4, alternate=way in FAR_WAYS),
    )  # fmt: skip
    arrived = path("arrived")
    return derived(
        "emc + passes * (wires + fill) + writes + max(0, generator - arrived - rest)",
        emc=prices.sum(program, emc),
        passes=len(written),
        wires=path("filled", "command", "fetch", "done", "arrived"),
        fill=_ROUND[way] // config.tasic.port_bytes_per_cycle,
        writes=writes,
        generator=prices.sum(program, tasic[written[-1] + 1 :]),
        arrived=arrived,
        rest=prices.sum(program, emc[awaited + 1 :]),
    )


_WRITES_OF_EMC = 192
"""Words of an EMC in one SDRAM: of 256 PEs three in four give two each for every SDRAM (appendix B)."""


def appendix_b(bench: ThesisBench) -> list[Row]:
    """The ways to cache points and normals in texture memory: whole programs, and busy cycles of the TASICs."""
    writes = _WRITES_OF_EMC
    fast = cost_model.caching_cycles(writes, alternate=True)
    rows = []
    for name, way, cycles in (
        ("every PE gives its own addresses", "explicit", 2 * cost_model.caching_cycles(writes)),
        ("one base for three PEs", "base", cost_model.caching_cycles(writes)),
        ("writes to alternate banks", "alternate", fast),
        ("in summary", "alternate", fast),
    ):
        run = _caching(bench, way)
        rows.append(
            figure_row(
                name, cycles, run.total_cycles, SDRAM, "program-around",
                predicted=_caching_prediction(bench, way), busy=run.tasic_cycles[0],
            )
        )  # fmt: skip
    return rows


# Loads of a pass before it computes: tables 3 and 4, and section 3.2.


_ADDRESSES = Basis(Standing.FITTED, "what the 12 cycles of a patch consist of is invented, made to fit table 3")
_BERNSTEIN = Basis(
    Standing.FITTED, "a LEE load of 4 bytes takes 5 cycles; what the 6 of a column consist of is invented"
)
_PLACES = Basis(Standing.THESIS, "16 PEs a block, a PE for each sample (sections 3.1.3 and 3.2)")


def side(text: str) -> int:
    """Return the n of ``nxn``."""
    return int(text.partition("x")[0])


def table_3(bench: ThesisBench) -> list[Row]:
    """Base addresses, for passes full of patches of one size."""
    singles: list[Row] = []
    counts: list[Row] = []
    rows: list[Row] = []
    for size, each, patches, total in table(3).rows:
        run = bench.tessellation(4, (side(size),))
        placed = bench.placed((side(size),))
        cycles = spent(run, Stage.ADDRESSES)
        name = f"{size} samples"
        fitting = bench.config.lanes // side(size) ** 2
        singles.append(row(f"a patch of {name}", each, cost_model.ADDRESS_CYCLES, cycles // placed, _ADDRESSES))
        counts.append(row(f"patches of {name}", patches, fitting, placed, _PLACES, unit="patches"))
        rows.append(row(f"all patches of {name}", total, cost_model.address_cycles(patches), cycles, _ADDRESSES))
    return singles + rows + counts


def table_4(bench: ThesisBench) -> list[Row]:
    """Bernstein values, for passes of patches of one size and of all sizes."""
    rows = []
    for net, *cells in table(4).rows:
        n = side(net)
        for sizes, published in zip(((4,), (8,), (16,), (4, 8, 16)), cells, strict=True):
            measured = spent(bench.tessellation(n, sizes), Stage.BERNSTEIN)
            text = f"{net} net, {sizes[0]}x{sizes[0]} samples" if len(sizes) == 1 else f"{net} net, all sizes"
            rows.append(row(text, published, cost_model.bernstein_cycles(n, n, sizes), measured, _BERNSTEIN))
    return rows


def section_3_2(bench: ThesisBench) -> list[Row]:
    """Loads that enable each patch in turn; no pass has patches of 64x64 samples, so those are not executed."""
    measured = spent(bench.tessellation(4, (8,)), Stage.ADDRESSES)
    return [
        figure_row("loads of 2 patches", cost_model.address_cycles(2), None, _ADDRESSES, "section3-loads"),
        figure_row("loads of 128 patches", cost_model.address_cycles(128), measured, _ADDRESSES, "section3-loads"),
    ]


# Memory layout: tables 8 and 9, and the sizes of memories in sections 2.2 and 3.


_LAYOUT = Basis(Standing.DERIVED, "the layout of table 9, continued to larger nets by table 8")
_MACHINE = Basis(Standing.THESIS, "sizes of section 2.2.1 and 2.2.6, read from the memories of a node")
_MAPPINGS = Basis(Standing.DERIVED, "the address mappings as section 4.3 describes them; their figures are missing")
_MB = 1 << 20


_MARK_BYTES, _TEMPORARIES = 2, 2
"""Administrative bytes and temporaries that the program uses: the marks of a sample, a sum and a product."""


def _scratch() -> int:
    """Return the scratch bytes declared by the float routines of a pass."""
    used = ("fmul", "fadd", "fsub", "fsqrt", "fdiv")
    return max(
        entry.scratch_bytes
        for entry in FLOATS
        if entry.library is Library.PLAIN and entry.kind is Kind.COMPLETE and entry.name in used
    )


def _touched(n: int) -> Derivation:
    """Return the reserved bytes that a pass of n x n nets uses."""
    layout = fitting_map(n, n)
    return derived(
        "reserved - (batch - 32) - (administrative - marks) - (temporaries - 4 * floats) - (scratch - routines)",
        reserved=layout.used,
        batch=layout["control_points"].size + layout["base_address"].size,
        administrative=layout["administrative"].size,
        marks=_MARK_BYTES,
        temporaries=layout["temporaries"].size,
        floats=_TEMPORARIES,
        scratch=layout["scratch"].size,
        routines=_scratch(),
    )


def table_8(bench: ThesisBench) -> list[Row]:
    """Bytes of PE memory that a pass reads or writes, compared with those reserved."""
    rows = []
    for net, published in table(8).rows:
        n = side(net)
        note = "bytes-touched" if memory_map(n, n).fits else "table8-order"
        touched = len(touched_bytes(bench.tessellation(n)))
        both = (cost_model.memory_bytes(n), touched)
        rows.append(row(f"{net} net", published, *both, _LAYOUT, note, unit="bytes", predicted=_touched(n)))
    return rows


_RANGES = (
    "x_point", "y_point", "z_point", "bernstein_u", "bernstein_u_difference", "bernstein_v", "bernstein_v_difference",
    "control_points", "administrative", "temporaries", "scratch",
)  # fmt: skip


def table_9(bench: ThesisBench) -> list[Row]:
    """Start of each range: the layout's address, and the first byte at or after it that a bicubic pass touches."""
    layout = memory_map(4, 4)
    touched = sorted(touched_bytes(bench.tessellation(4)))
    starts = [layout[name].start for name in _RANGES] + [layout.used]
    rows = []
    for start, (address, usage) in zip(starts, table(9).rows, strict=True):
        measured = next((byte for byte in touched if byte >= start), touched[-1] + 1)
        # Memory is free past the scratch declared by the routines.
        free = start == layout.used
        predicted = derived("start + routines", start=layout["scratch"].start, routines=_scratch()) if free else None
        rows.append(row(usage, address, start, measured, _LAYOUT, "bytes-touched", unit="address", predicted=predicted))
    return rows


def capacities(bench: ThesisBench) -> list[Row]:
    """Sections 2.2.1 and 2.2.7: sizes of the memories of a node."""
    node = Node(bench.config, "rows")
    device = 2 * 2048 * 512 // _MB
    built = node.texture_memory[0].config
    measured = built.banks * built.rows * built.columns // _MB
    module, modules = 8 * device, 4
    found = measured * built.devices_per_module
    other = derived("devices * size", devices=8, size=device)
    again = figure_row(
        "texture memory of a module again", module, found, _MACHINE, "section2-8mb", derived=other,
        predicted=derived("devices * size", devices=built.devices_per_module, size=measured),
    )  # fmt: skip
    return [
        figure_row("PE memory", 256 + 64 + 2 * 32, node.config.array.memory_bytes, _MACHINE),
        figure_row("texture memory of an SDRAM", device, measured, _MACHINE),
        figure_row("texture memory of a module", module, found, _MACHINE),
        figure_row("texture memory of a node", modules * module, found * len(node.texture_memory), _MACHINE),
        again,
    ]


def sizes(bench: ThesisBench) -> list[Row]:
    """Sections 3.5 and 3.6."""
    array = bench.config.array
    run = bench.tessellation(4)
    memory = memory_map(4, 4)
    floats = [memory[f"{axis}_{what}"] for axis in AXES for what in ("point", "du", "dv")]
    used = {byte for each in floats for byte in range(each.start, each.end)} & touched_bytes(run)
    kept = memory["administrative"].start - memory["control_points"].start
    values = FLOAT_BYTES * sum(rows * columns for rows, columns in cost_model.surfaces(4, 4))
    return [
        figure_row("blocks of an EMC", array.lanes // (16 * array.emcs), bench.placed((4,)) // array.emcs, _MACHINE),
        figure_row("values of a bicubic patch", values, BATCH_BYTES * len(batches(run)), _LAYOUT),
        figure_row("PE memory without ports", 256 + 64, array.input_port_start, _MACHINE),
        figure_row(
            "coordinates and derivatives", 72, len(used) + kept, _LAYOUT, "section3-bytes",
            # Table 9: the control patch is between these addresses.
            derived=derived("axes * floats * bytes + administrative - patch", axes=3, floats=3, bytes=4,
                administrative=140, patch=104),
        ),
    ]  # fmt: skip


def linear(bench: ThesisBench) -> list[Row]:
    """Figure 11: the SDRAMs of the first words of logical linear space, all at row 0 and column 0."""
    addresses = AddressMap(bench.config.sdram)
    rows = []
    for address in (0, 4, 8):
        where = addresses.to_physical(address)
        found = int(where.device) if (where.bank, where.row, where.column) == (0, 0, 0) else None
        rows.append(figure_row(f"SDRAM of the word at {address}", address // 4, found, _MAPPINGS))
    return rows


def alternating(bench: ThesisBench) -> list[Row]:
    """Figure 12: the bit of a linear address that alone selects the bank."""
    addresses = AddressMap(bench.config.sdram, AddressForm.ALTERNATE)
    bits = [bit for bit in range(24) if addresses.to_physical(1 << bit).bank]
    return [figure_row("bank bit", None, bits[0] if len(bits) == 1 else None, _MAPPINGS)]
