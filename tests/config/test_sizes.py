"""Machines of other sizes: the same bits in a PE and the same cycles, on every engine, with data and without."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from microcode import assemble
from pixelflow.cli.main import main
from pixelflow.config import LARGE, THESIS, TINY, ArrayConfig, LeeConfig, NodeConfig, SdramConfig, TasicConfig
from pixelflow.isa import target_of
from pixelflow.node import Checkpoint, Node
from pixelflow.simd.errors import InputError, MachineFault
from pixelflow.simd.lanes import available

EXAMPLES = Path(__file__).parents[2] / "microcode" / "examples"
IN_ONE_PANEL = ("vector_add.mc", "triangle.mc", "panel_sum.mc")
ODD = NodeConfig(
    array=ArrayConfig(modules=3, emcs_per_module=5, panels_per_emc=4, more_bytes=640),
    tasic=TasicConfig(port_bytes_per_cycle=4),
    sdram=SdramConfig(banks=8, rows=512),
)
WIDEST = NodeConfig(array=ArrayConfig(modules=1, emcs_per_module=64, panels_per_emc=2), lee=LeeConfig(xp_bits=10))


@pytest.mark.parametrize("name", IN_ONE_PANEL)
@pytest.mark.parametrize(
    "engine", [pytest.param(each, marks=[pytest.mark.slow] * (each == "bit-serial")) for each in available()]
)
def test_a_pe_holds_the_same_on_machines_of_every_size(name: str, engine: str) -> None:
    """Where nothing leaves the panel, the first EMC does what it does on the thesis machine, in as many cycles."""
    program = assemble(EXAMPLES / name)
    wanted = Node(THESIS, engine)
    run = wanted.run(program)
    for config in (TINY, LARGE, WIDEST):
        node, each = Node(config, engine), 32 * config.array.panels_per_emc
        assert node.run(program).cycles == run.cycles == node.run(program, function=False).cycles
        assert (node.memory[:, :each] == wanted.memory[:, :each]).all()


@pytest.mark.parametrize(
    "config",
    [TINY, pytest.param(LARGE, marks=pytest.mark.slow), ODD, pytest.param(WIDEST, marks=pytest.mark.slow)],
    ids=["tiny", "large", "odd", "widest"],
)
def test_engines_agree_about_transfers_on_machines_of_every_size(config: NodeConfig) -> None:
    program = assemble(EXAMPLES / "texture_copy.mc")
    found = set()
    for engine in available():
        node = Node(config, engine)
        run = node.run(program)
        found.add((run.total_cycles, node.digest()))
        assert Node(config, engine).run(program, function=False).total_cycles == run.total_cycles
    assert len(found) == 1


def test_coordinates_of_64_emcs() -> None:
    """Figure 9: 16 columns an EMC, so that the last PE of 64 EMCs is in column 1023."""
    x, y = Node(WIDEST, "rows").coordinates()
    assert x.tolist()[-32::4] == [1016, 1017, 1018, 1019, 1020, 1021, 1022, 1023]
    assert (x.min(), x.max(), y.max()) == (0, 1023, 3)


def test_a_wide_port_carries_a_round_in_fewer_cycles() -> None:
    """A read that 32 bytes of every PE come with: a round sends 32 bytes at 1 or 4 a cycle, 24 cycles less."""
    text = "stream tigc\nWAIT 0\nTAS_MemRdBlock4 2\nstream eigc\nEMC_MarkRead\nSIGNAL 0\n"
    narrow, wide = (
        Node(NodeConfig(tasic=TasicConfig(port_bytes_per_cycle=width)), "rows").run(assemble(text)).total_cycles
        for width in (1, 4)
    )
    assert narrow - wide == 256 * 24


@pytest.mark.parametrize("engine", available())
def test_memory_past_the_ports(engine: str) -> None:
    """Bytes 384 to 511 by their addresses, those from 512 on by a parameter."""
    config = NodeConfig(array=ArrayConfig(modules=1, emcs_per_module=1, more_bytes=640))
    text = "LD R, #7\nST [511], R\nCALL put, [1023]\nroutine put(d)\nLD R, #9\nST d, R\nend\n"
    node = Node(config, engine)
    node.run(assemble(text, target_of(256, 1024)))
    assert node.memory.shape == (1024, 256)
    assert set(node.memory[511]) == {7} and set(node.memory[1023]) == {9}
    assert node.memory.sum() == 256 * 16
    with pytest.raises(InputError, match=r"its memory is 0\.\.383"):
        assemble(text)
    with pytest.raises(InputError, match="byte 512 is past 511: pass it to a routine by CALL"):
        assemble("LD R, [512]", target_of(256, 1024))


@pytest.mark.parametrize("engine", available())
def test_less_main_memory(engine: str) -> None:
    node = Node(NodeConfig(array=ArrayConfig(modules=1, emcs_per_module=1, main_bytes=128)), engine)
    node.run(assemble("LD R, #1\nST [127], R\nST [256], R"))
    with pytest.raises(MachineFault, match=r"bytes 128..128 are outside the PE \(0..127 and 256..383\)"):
        node.run(assemble("ST [128], R"))
    with pytest.raises(InputError, match=r"no room for range x: main memory has no 129 free bytes"):
        assemble("range x[129]", target_of(128, 384))


def test_the_command_assembles_for_the_memory_of_its_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "past.mc"
    source.write_text("range x[4] at 500\nLD R, #5\nST x, R\n")
    assert main(["run", str(source)]) == 3
    assert "0..383" in capsys.readouterr().err
    assert main(["run", str(source), "-D", "array.more_bytes=120", "--range", "x", "--pe", "0"]) == 0


def test_checkpoints_know_the_size() -> None:
    program, saved = assemble(EXAMPLES / "texture_copy.mc"), []
    node = Node(ODD, "rows")
    node.run(program, save_at=100, save=saved.append)
    again = Node(ODD, "bit-serial")
    again.resume(program, Checkpoint.from_bytes(saved[0].to_bytes()))
    assert again.digest() == node.digest()
    with pytest.raises(InputError, match="configuration"):
        Node(THESIS, "rows").resume(program, saved[0])


def test_the_thesis_machine_has_the_fingerprint_of_before() -> None:
    """Whatever was saved by earlier versions goes on: a value that was added counts only where it is set."""
    assert THESIS.sha256.startswith("9a0da8268808425209d0")
    assert NodeConfig(array=ArrayConfig(more_bytes=1)).sha256 != THESIS.sha256


def test_a_tessellation_says_what_stops_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tessellate", "teapot", "--preset", "large"]) == 3
    said = capsys.readouterr().err
    assert "array.emcs_per_module: 32 " in said
    assert "allowed: 1 to 8 " in said
    assert np.prod(LARGE.array.shape) == 32_768
