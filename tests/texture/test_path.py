"""Do bytes for another module's SDRAMs arrive there, whichever way a program is run, and does everything show them?"""

from __future__ import annotations

import numpy as np
import pytest

from microcode import assemble
from pixelflow.config import load_config
from pixelflow.isa.declarations import OUTPUT_PORT, PORT_BYTES
from pixelflow.node import Node, Replay
from pixelflow.node.kernels import ENGINES
from pixelflow.node.texture_addresses import Physical
from pixelflow.observe import Carried
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
