"""Do bytes for another module's SDRAMs arrive there, whichever way a program is run, and does everything show them?"""

from __future__ import annotations

import numpy as np
import pytest

from microcode import assemble
from pixelflow.config import NodeConfig, load_config
from pixelflow.isa.declarations import INPUT_PORT, OUTPUT_PORT, PORT_BYTES
from pixelflow.node import Node, Replay
from pixelflow.node.kernels import ENGINES
from pixelflow.node.texture_addresses import Physical
from pixelflow.observe import Carried
from tests.documents.marks import markdown_table, table_after
from tests.streams.test_exchanges import account
from tests.trace.runs import traced

MODULES, WORDS = 4, 64
CONFIG = load_config(None, [f"array.modules={MODULES}", "array.emcs_per_module=2"], "tiny")
LANES = CONFIG.lanes // MODULES


def prepared(engine: str = "rows", seed: int = 1995) -> Node:
    """Return a node with random words for random addresses of some PEs."""
    node, random = Node(CONFIG, engine), np.random.default_rng(seed)
    addresses = 4 * random.integers(0, WORDS, (node.lanes, 4), np.uint32)
    words = random.integers(0, 1 << 32, (node.lanes, 4), np.uint32)
    ports = np.concatenate([addresses, words], axis=1).astype("<u4").view(np.uint8)
    node.write_memory(OUTPUT_PORT, np.ascontiguousarray(ports.T))
    node.set_flag("MW", random.random(node.lanes) < np.repeat([0.1, 0.3, 0, 0.02], LANES))
    return node


def program(*transfers: str):
    return assemble("HALT\nstream tigc\n" + "\n".join(transfers))


def stored(node: Node) -> np.ndarray:
    """Return the words of all modules: [module, device, word]."""
    at = Physical(np.arange(8)[:, None], *np.zeros((2, 8, WORDS), int), 4 * np.arange(WORDS)[None])
    read = [memory.read(Physical(*np.broadcast_arrays(*at)), 4) for memory in node.texture_memory]
    return np.stack(read).reshape(MODULES, 8, WORDS, 4).view("<u4")[..., 0]


def expected(node: Node, over: int, half: int) -> np.ndarray:
    """The same by the manual: one PE of each EMC in turn, in the order of PEs; the last write to an address stays."""
    ports = np.ascontiguousarray(node.read_memory(OUTPUT_PORT, PORT_BYTES).T).view("<u4").reshape(MODULES, 2, -1, 8)
    marks = node.flag("MW").reshape(MODULES, 2, -1)
    found = np.zeros((MODULES, 8, WORDS), np.uint32)
    for module in range(MODULES):
        lanes = [np.flatnonzero(marks[module, emc]) for emc in range(2)]
        for turn in range(max(map(len, lanes))):
            for emc, pes in enumerate(lanes):
                for device in range(4) if turn < len(pes) else ():
                    port = ports[module, emc, pes[turn]]
                    found[(module + over) % MODULES, 4 * half + device, port[device] // 4] = port[4 + device]
    return found


@pytest.mark.parametrize("over", range(1, MODULES))
@pytest.mark.parametrize("engine", ENGINES)
def test_words_arrive_on_every_engine(engine: str, over: int) -> None:
    """With time, without it, and where the run is repeated."""
    half, text = over % 2, program(f"TAS_MemWrOver4 {over}, {over % 2}")
    for timing in (True, False):
        node = prepared(engine)
        wanted = expected(node, over, half)
        for _ in range(3):
            node.run(text, timing=timing)
            assert np.array_equal(stored(node), wanted)
    assert np.count_nonzero(wanted[(2 + over) % MODULES]) == 0, "module 2 has no PE that is marked"


def test_all_ways_of_running_take_the_same_time() -> None:
    text = program("TAS_MemWrOver4 1, 0", "TAS_MemWrOver4 3, 1", "TAS_MemWrHalf4 0", "TAS_MemWrOver4 2, 0")
    whole = prepared()
    run = whole.run(text)
    assert account(prepared().run(text, function=False)) == account(run)
    for seed in range(10):
        node = prepared()
        assert account(node.run(text, shuffle_seed=seed)) == account(run)
        assert np.array_equal(stored(node), stored(whole))
    replay = Replay(prepared(), text)
    end = replay.goto(run.total_cycles)
    for cycle in (end // 2, end // 3, end):
        replay.goto(cycle)
    assert replay.position == end
    assert np.array_equal(stored(replay.node), stored(whole))


def test_a_trace_has_the_path() -> None:
    """A PE of each EMC: 32 cycles to the TASICs, 64 bytes over the path in 8, two writes of 11."""
    text = "EMC_TreeEQZero_Li 0, 2, 1, 0, 0\nEMC_TreeEQZero_Li 0, 2, 0, 1, 0\nEMC_MarkWrite\nSIGNAL 0\nstream tigc\n"
    found = traced(f"{text}WAIT 0\nTAS_MemWrOver4 3, 0\n", config=CONFIG)
    (span,) = found.trace.spans[next(track for track in found.trace.spans if track.name == "tasic[3]")]
    assert span.label.name == "PEs to texture memory of another module" and span.end - span.start == 2 * 11
    node, sent = Node(CONFIG), list[Carried]()
    node.bus.subscribe(sent.append, Carried)
    node.run(assemble(f"{text}WAIT 0\nTAS_MemWrOver4 3, 0\n"))
    (path,) = (each for each in sent if each.wire.endswith("over3"))
    assert (path.wire, path.amount, path.arrives - path.cycle) == ("tasic[0].over3", 64, 8)


# The table of the page: what the path costs and saves, at several rates, against GP memory.


RATES = (1, 2, 4, 8, 32)
NETWORK = """param BITS = 11
param MODULES = 0
include "texture/network.mc" with LANE_BITS = BITS, MODULE_BITS = MODULES
"""
SUM = f"{NETWORK}range sum[7]\nrange other[7]\ntotal sum, other, 7\n"
TOTAL = f"{SUM}stream tigc\nserve_total\n"
SUM_BY_GPS = f"""{SUM}
EMC_TreeEQZero_Li 0, 2, 1, 0, 0
EMC_TreeEQZero_Li 0, 1, 0, 16, 0
copy out, sum, 7
EMC_MarkWrite
EMC_MarkRead
fill sum, 7, 0
repeat module in 0 .. 3
    SIGNAL 0
    WAIT 1
    copy other, in, 7
    add sum, other, 7
end
stream tigc
serve BITS - PANEL_LANES
TAS_SetCrossbar 2, 0
TAS_SetCrossbar 3, 1
TAS_SetStep 1
repeat module in 0 .. 3
    TAS_SetGpAddress 1 << module, 32 * module
end
WAIT 0
TAS_GpWrite 15, 0, 32
TAS_SetGpAddress 1, 0
TAS_MemLoad 15, 4, 0
repeat module in 0 .. 3
    if module > 0
        WAIT 0
    end
    TAS_MemRdBlock4 2
    SIGNAL 1
end
"""
"""The sums of the modules go to GP memory and from there to every module, whose PE 0 adds them up."""
EACH = f"{NETWORK}range x[16]\nput x, 16\nstream tigc\nWAIT 0\n"
EACH_BY_GPS = f"""{NETWORK}range x[16]
copy out[16], x, 16
EMC_MarkWrite
SIGNAL 0
WAIT 1
stream tigc
const BLOCKS = 1 << (BITS - 1)
TAS_SetGp 12, 0, 1
TAS_SetGpAddress 10, 32 * BLOCKS
WAIT 0
TAS_GpWrite 15, 16, 16
repeat module in 0 .. 3
    TAS_SetGp 1 << (module + 1) % 4, 0, module / 2
    TAS_SetGpAddress 1 << (module + 1) % 4, 32 * BLOCKS * (module % 2)
    TAS_MemLoad 1 << (module + 1) % 4, BLOCKS, 0
end
SIGNAL 1
"""
READ = f"""{NETWORK}
EMC_TreeIntoMem_Li out, 4, 64, 4, 0
EMC_MarkRead
SIGNAL 0
WAIT 1
"""
SERVED = "stream tigc\nWAIT 0\nTAS_MemRdBlock4 1\nSIGNAL 1\n"
READ_OVER = f"""{READ}
range x[32]
copy x, in, 32
put x, 16
put x[16], 16
EMC_TreeIntoMem_Li out, 4, 64, 4, 192
EMC_TreeGEZero_Li 0, 2, 0, 1, -16
EMC_TreeIntoMem_Li out, 4, 64, 4, -64
EMC_SetEnab
EMC_MarkRead
SIGNAL 0
WAIT 1
{SERVED}
WAIT 0
TAS_MemWrOver4 1, 0
SIGNAL 1
WAIT 0
TAS_MemWrOver4 1, 1
SIGNAL 1
WAIT 0
TAS_MemRdBlock4 1
SIGNAL 1
"""
WORK = {
    "a sum of all PEs": (TOTAL, TOTAL, SUM_BY_GPS, 2),
    "16 bytes of each PE to the next module": (
        f"{EACH}TAS_MemWrHalf4 0\nSIGNAL 1\n", f"{EACH}TAS_MemWrOver4 1, 0\nSIGNAL 1\n", EACH_BY_GPS, 0,
    ),
    "32 bytes of the module before for each PE": (READ + SERVED, READ_OVER, None, 0),
}  # fmt: skip
"""Within modules, over the path, over GP memory; the bits of a module's number in the second."""
PAGE = "docs/pages/texture-memory.md"


def cycles(text: str, config: NodeConfig, **parameters: int) -> int:
    return Node(config, "rows").run(assemble(text, **parameters), function=False).total_cycles


def row(work: str, preset: str, bits: int) -> tuple[str | int, ...]:
    within, over, by_gps, modules = WORK[work]
    machine = load_config(None, [], preset)
    at = [load_config(None, [f"tasic.path_bytes_per_cycle={rate}"], preset) for rate in RATES]
    return (
        f"{work}, {preset}",
        cycles(within, machine, BITS=bits),
        *(cycles(over, each, BITS=bits, MODULES=modules) for each in at),
        "-" if by_gps is None else cycles(by_gps, machine, BITS=bits),
    )


def test_the_table_of_the_page() -> None:
    found = table_after(PAGE, "read by: tests/texture/test_path.py")
    heads = [cell.strip() for cell in found[0].strip("|").split("|")]
    rows = [row(work, *machine) for work in WORK for machine in (("thesis", 11), ("large", 13))]
    assert found == markdown_table(heads, rows)


def test_pes_get_what_the_module_before_has() -> None:
    """Every PE of module m what the one at the same place in module m - 1 has read; of the first what the last has."""
    node, columns = Node("thesis"), 4 * np.arange(1 << 12)
    at = Physical(*np.broadcast_arrays(np.arange(8), 0, columns[:, None] // 512, columns[:, None] % 512))
    words = np.random.default_rng(7).integers(0, 256, (MODULES, len(columns), 8, 4), np.uint8)
    for memory, each in zip(node.texture_memory, words, strict=True):
        memory.write(at, each)
    node.run(assemble(READ_OVER, BITS=11))
    x, y = node.coordinates()
    module, before = y // 16, (y // 16 - 1) % MODULES
    wanted = words[before, (64 * x + 4 * (y + 16 * (before - module))) // 4].reshape(node.lanes, 32)
    assert np.array_equal(node.read_memory(INPUT_PORT, PORT_BYTES).T, wanted)


@pytest.mark.parametrize("text", [TOTAL, SUM_BY_GPS])
def test_both_sums_of_the_table_are_the_sum(text: str) -> None:
    node, sums = Node("thesis"), assemble(text, BITS=11, MODULES=2 if text is TOTAL else 0)
    values = np.random.default_rng(3).integers(0, 1 << 40, node.lanes, np.uint64)
    start = next(each.start for each in sums.ranges if each.name == "sum")
    node.write_word(start, 7, values)
    node.run(sums)
    assert node.read_word(start, 7)[0] == values.sum()
