"""Is energy what was executed, by hand, and does nothing else change where it is asked for?"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from microcode import assemble
from pixelflow.cli.main import main
from pixelflow.config import THESIS, TINY, NodeConfig
from pixelflow.node import EnergyConfig, EnergyMeter, Node, RunEnergy
from pixelflow.node.energy import energy_text
from pixelflow.simd.configuration import check_values
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import available

EXAMPLES = Path(__file__).parents[2] / "microcode" / "examples"


def energy(text: str, config: NodeConfig = TINY, *, engine: str = "rows", function: bool = True) -> RunEnergy:
    node, meter = Node(config, engine), EnergyMeter(config)
    meter.attach(node.bus)
    node.run(assemble(text), function=function)
    return meter.runs[-1]


ROWS = {
    # In each PE a byte read, a byte written, two operations; four words (HALT is one) go to the EMC.
    "LD R, [0]\nADD R, #1\nST [0], R": {"memory_read": 1, "memory_write": 1, "operation": 2, "word": 4},
    # Three bytes by 4 PEs each: read, four hops, written. Two words and HALT.
    "EMC_PixSwap [0], [8], 3, 4": {"memory_read": 3, "memory_write": 3, "hop": 12, "word": 3},
    # Two bytes of a linear expression, stored as they come; seven words and HALT.
    "EMC_TreeIntoMem_Li [0], 2, 1, 1, 0": {"linear": 2, "memory_write": 2, "word": 8},
    # A sum with memory reads, adds and writes each byte.
    "EMC_TreeAddMem_Li [0], 2, 1, 1, 0": {
        "linear": 2, "memory_read": 2, "memory_write": 2, "operation": 2, "word": 8,
    },
    # A compare with memory reads.
    "EMC_TreeLTMem_Li [0], 2, 1, 1, 0": {"linear": 2, "memory_read": 2, "word": 8},
    # Eight steps of a pair of registers.
    "MSTEP\nMSTEP": {"operation": 4, "word": 3},
    # Enables, marks and start-ups are nothing but their words: START, RET, CALL of 5, HALT.
    "CALL r\nroutine r()\nEMC_SetEnab\nend": {"word": 5 + 1 + 1 + 1 + 1},
}  # fmt: skip
"""Work of programs in one PE, and words at one EMC."""


@pytest.mark.parametrize("text", ROWS)
@pytest.mark.parametrize("function", [True, False])
def test_counts_by_hand(text: str, function: bool) -> None:
    found = energy(text, function=function)
    wanted = {name: times if name == "word" else 256 * times for name, times in ROWS[text].items()}
    assert {name: count for name, count in found.counts.items() if count} == wanted
    prices = EnergyConfig()
    assert found.total == sum(count * getattr(prices, name) for name, count in wanted.items())
    assert sum(found.families.values()) == found.total - wanted["word"] * prices.word


def test_what_is_executed_may_be_free() -> None:
    free = EnergyConfig(**dict.fromkeys((each.name for each in fields(EnergyConfig)), 0))
    check_values(free)
    assert replace(energy("LD R, [0]"), prices=free).total == 0


def test_transfers_by_hand() -> None:
    """One EMC, all 256 PEs read 32 bytes, then write 16: an access to 8 SDRAMs of 4 bytes each, then one to 4."""
    text = "EMC_MarkRead\nSIGNAL 0\nWAIT 1\nEMC_MarkWrite\nSIGNAL 0\nstream tigc\nWAIT 0\n"
    found = energy(text + "TAS_MemRdBlock4 2\nSIGNAL 1\nWAIT 0\nTAS_MemWrHalf4 0\n").counts
    assert found["row"] == 256 * 8 + 256 * 4
    assert (found["sdram_read"], found["sdram_write"]) == (256 * 32, 256 * 16)
    # 32 bytes to each PE, 32 bytes (4 addresses, 16 of data) from it.
    assert found["port_byte"] == 2 * 256 * 32
    assert found["network_byte"] == 0


def test_bytes_for_a_gp() -> None:
    text = "EMC_MarkWrite\nSIGNAL 0\nstream tigc\nTAS_SetGp 1, 0, 0\nWAIT 0\nTAS_GpWrite 1, 0, 8\n"
    assert energy(text).counts["network_byte"] == 256 * 8


def test_a_loop_and_more_pes_multiply() -> None:
    body = "loop 5\nADD R, [0]\nend"
    once, often = energy("ADD R, [0]"), energy(body)
    assert often.counts["memory_read"] == 5 * once.counts["memory_read"]
    assert energy(body, THESIS).counts["memory_read"] == 32 * often.counts["memory_read"]
    assert energy(body, THESIS).counts["word"] == 32 * often.counts["word"]


@pytest.mark.parametrize("name", ["vector_add.mc", "texture_copy.mc"])
def test_nothing_else_changes(name: str) -> None:
    program = assemble(EXAMPLES / name)
    for engine in available():
        plain, watched = Node(TINY, engine), Node(TINY, engine)
        meter = EnergyMeter(TINY)
        meter.attach(watched.bus)
        assert plain.run(program).total_cycles == watched.run(program).total_cycles
        assert plain.digest() == watched.digest()
    assert not plain.bus.watched


def test_prices() -> None:
    assert EnergyMeter(TINY, EnergyConfig(word=0)).runs == []
    with pytest.raises(InputError, match="operation: -1 is out of range"):
        EnergyConfig(operation=-1)
    assert [energy_text(each) for each in (0, 12, 1_500, 2_340_000, 999_600_000)] == [
        "0 fJ", "12 fJ", "1.5 pJ", "2.34 nJ", "1 uJ",
    ]  # fmt: skip


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = str(EXAMPLES / "vector_add.mc")
    assert main(["run", program, "--preset", "tiny", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    stats = tmp_path / "s.json"
    words = ["run", program, "--preset", "tiny", "--energy", "--price", "operation=0", "--stats", str(stats)]
    assert main([*words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert "energy" not in plain
    assert report["result"] == plain["result"] and report["state"] == plain["state"]
    spent = report["energy"]
    # Per PE 8 bytes read, 4 written; 20 words: CALL 5, 13 of the routine (START, 12 of 1), RET, HALT.
    assert spent["fj"]["memory_read"] == 256 * 8 * 400 and spent["fj"]["memory_write"] == 256 * 4 * 500
    assert spent["fj"]["operation"] == 0 and spent["counts"]["operation"] == 256 * 8
    values = json.loads(stats.read_text())["runs"][0]["statistics"]
    assert {f"energy.{name}": spent["fj"][name] for name in spent["fj"]}.items() <= values.items()
    assert {f"energy.price.{name}": price for name, price in spent["prices_fj"].items()}.items() <= values.items()
    assert spent["prices_given"] == {"operation": 0} and spent["prices_fj"]["operation"] == 0
    assert main(["run", program, "--price", "word=1"]) == 2
    assert main(["run", program, "--energy", "--price", "wrd=1"]) == 3
    assert "word?" in capsys.readouterr().err
    assert main(["run", program, "--energy", "--function-only"]) == 2


@pytest.mark.parametrize(
    "words",
    [
        ("tessellate", "enneper", "--samples", "2"),
        pytest.param(
            ("render", "enneper", "--samples", "2", "--size", "128x64", "-o", "x.png"), marks=pytest.mark.slow
        ),
    ],
    ids=lambda words: words[0],
)
def test_commands_of_several_runs_account_for_all_of_them(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made: list[EnergyMeter] = []
    begin = EnergyMeter.__init__

    def noted(self: EnergyMeter, *arguments: object) -> None:
        made.append(self)
        begin(self, *arguments)

    monkeypatch.setattr(EnergyMeter, "__init__", noted)
    assert main([*words, "--engine", "rows", "--json"]) == 0
    without = json.loads(capsys.readouterr().out)
    assert not made and "energy" not in without
    assert main([*words, "--engine", "rows", "--json", "--energy"]) == 0
    found = json.loads(capsys.readouterr().out)
    (meter,) = made
    assert len(meter.runs) == {"tessellate": 1, "render": 2}[words[0]]
    account = found.pop("energy")
    assert account["total_fj"] == sum(each.total for each in meter.runs) and account["standing"] == "invented"
    assert found == without, "no cycle and no bit depends on it"
