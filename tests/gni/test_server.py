"""Do the results of a tessellation server reach the clients' memories bit by bit, in the time that the paths take?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.config import load_config
from pixelflow.simd.errors import InputError
from tessellation import Method, Patch, PatchManager, PatchServer

CONFIG = load_config(None, ["array.emcs_per_module=2", "array.modules=4"])
"""Four modules of two EMCs: 2,048 PEs, 128 blocks."""


def patches(count: int) -> list[Patch]:
    nets = np.random.default_rng(3).random((count, 4, 4, 3), np.float32)
    return [Patch(net) for net in nets]


def tessellated(manager: PatchManager, count: int = 24, samples: tuple[int, ...] = (4, 8, 3)) -> PatchManager:
    for index, patch in enumerate(patches(count)):
        manager.add(patch).mark(samples[index % len(samples)])
    manager.tessellate()
    return manager


@pytest.mark.parametrize("method", [Method(), Method(schedule="shared-columns"), Method(load="gp")])
@pytest.mark.parametrize("clients", [3, *(pytest.param(each, marks=pytest.mark.slow) for each in (4, 1))])
def test_samples_in_the_clients_memories_are_those_of_a_plain_tessellation(method: Method, clients: int) -> None:
    plain = tessellated(PatchManager({3: 24}, config=CONFIG, method=method))
    server = tessellated(PatchServer({3: 24}, clients=clients, config=CONFIG, method=method))
    for one, other in zip(plain.handles, server.handles, strict=True):
        assert one.result.points.tobytes() == other.result.points.tobytes()
        assert one.result.normals.tobytes() == other.result.normals.tobytes()
    assert server.cycles == plain.cycles
    shares = [handle.number for client in range(clients) for handle in server.share(client)]
    assert sorted(shares) == list(range(24))


def test_the_paths_are_busy_for_as_long_as_their_bytes_take() -> None:
    """8 bytes a cycle on the network, 2 into the memory of each client: 24 bytes of every PE of a full array (3.8)."""
    server = tessellated(PatchServer({3: 128}, config=CONFIG), 128, (4,))
    (delivery,) = server.deliveries
    sent = 24 * CONFIG.lanes
    assert delivery.run.network_bytes == sum(delivery.bytes_each) == sent
    assert delivery.run.network_busy_cycles == delivery.run.gni_cycles[0]["network_out"] == sent // 8
    assert delivery.client_cycles == (sent // 4 // 2,) * 4
    # 48 cycles copy the results into the ports; parcels of 48 bytes, from two EMCs each, do not quite fill the paths.
    assert sent // 8 + 48 < delivery.run.cycles < 1.07 * sent // 8
    memories = [server.machine.gp_memory[node][0] for node in range(5)]
    assert memories[0].used == 0 and all(memory.used for memory in memories[1:])


def test_marks_and_passes_are_as_those_of_a_manager() -> None:
    """Patches that are marked again are delivered again; those that are not keep their samples."""
    server = tessellated(PatchServer({3: 4}, clients=2, config=CONFIG), 4)
    kept = server.handles[0].result
    server.handles[1].mark(16)
    (again,) = server.tessellate()
    assert again.result.samples == 16 and server.handles[0].result is kept
    assert [len(server.share(client)) for client in range(2)] in ([1, 0], [0, 1])
    with pytest.raises(InputError, match="5 clients"):
        PatchServer({3: 4}, clients=5, config=CONFIG)
    with pytest.raises(InputError, match="leave it direct"):
        PatchServer({3: 4}, config=CONFIG, method=Method(results="gp"))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    small = ["-D", "array.emcs_per_module=2"]
    assert main(["serve", "teapot", "--samples", "4", *small, "--json", "-o", "t.obj", "--per-client"]) == 0
    found = json.loads(capsys.readouterr().out)
    # The 8 patches of a module lie in one EMC, all of whose 256 PEs send.
    assert [client["bytes"] for client in found["clients"]] == [256 * 24] * 4
    assert all(path["busy_cycles"] == path["formula_cycles"] for path in found["paths"])
    # Words of the pass, and of the server's program and the clients' that follows it.
    delivery = found["guesses"]["delivery"]
    assert delivery["executed_words"] >= delivery["needed_words"] > 0
    assert delivery["rate_mb_per_second"] is delivery["shared_path"] is None
    assert found["written"] == [f"t-{client}.obj" for client in range(1, 5)]
    lines = [line for name in found["written"] for line in Path(name).read_text().splitlines()]
    assert sum(line.startswith("v ") for line in lines) == 32 * 16
    assert main(["serve", "teapot", "--samples", "4", *small, "-D", "igc.supply=200"]) == 0
    assert "200 MB/s" in " ".join(capsys.readouterr().out.split())
    assert main(["serve", "teapot", *small, "--results", "gp"]) == 2
    assert "--results" in capsys.readouterr().err
    assert main(["serve", "teapot", *small, "--per-client"]) == 2


@pytest.mark.parametrize(
    ("load", "source", "outside"), [("direct", "texture", True), ("gp", "texture", False), (None, "lee", False)]
)
def test_a_database_that_is_there_before_is_not_counted(load: str | None, source: str, outside: bool, capsys) -> None:
    options = ["--samples", "2", "-D", "array.emcs_per_module=2", "--control-points", source]
    options += ["--load", load] if load else []
    assert main(["serve", "teapot", *options]) == 0
    printed = capsys.readouterr().out
    assert ("(PF201)" in printed) == outside
    assert ("server's GP" in printed) == (load == "gp")


def test_values_on_which_nothing_depends_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A server composes no picture; its results go over the network and come out of texture memory."""
    keys = ["composition.node_cycles=7", "gni.mb_per_second=400", "sdram.trp_cycles=2"]
    assert main(["serve", "enneper", "--samples", "2", *(word for key in keys for word in ("-D", key))]) == 0
    notes = [line.split()[1] for line in capsys.readouterr().err.splitlines() if "made no difference" in line]
    assert notes == ["composition.node_cycles"]
