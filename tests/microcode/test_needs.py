"""Does a program run only on the configuration that it says it needs, whichever way it is run?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from larrabee_bridge.vpu.program import TARGET as LARRABEE
from microcode import Builder, assemble, disassemble, listing
from pim_kernels import KERNELS
from pixelflow.cli.main import main
from pixelflow.config import THESIS, TINY, ArrayConfig, NodeConfig, SdramConfig, load_config
from pixelflow.course import EXERCISES
from pixelflow.debugger import DebugSession
from pixelflow.isa import Program
from pixelflow.node import Machine, Node, Recorder, Replay
from pixelflow.simd.errors import InputError
from tests.pim.test_kernels import ALONE

TEXT = 'needs "array.emcs_per_module" = 2, "it counts to", 2\nrange x[1]\nSTI x, #1\nLD R, x\n'
TWO = NodeConfig(array=ArrayConfig(modules=1, emcs_per_module=2))
REFUSED = (
    r"error: counter needs array.emcs_per_module = 2: it counts to 2; the configuration has 1\n"
    r"    -D array.emcs_per_module=2, or a program for this machine"
)


def program(text: str = TEXT) -> Program:
    return replace(assemble(text), name="counter")


def _resumed(node: Node) -> object:
    """A state saved where the program runs, put into another machine."""
    kept: list = []
    Node(TWO).run(program(), save_at=1, save=kept.append)
    mine = replace(kept[0], config_sha256=node.config.sha256, config=node.config.values)
    return node.resume(program(), mine)


def _recorded(node: Node) -> object:
    recorder = Recorder(node, "a test")
    recorder.attach(node.bus)
    return node.run(program())


def _stepped(node: Node) -> object:
    return list(node.steps(program()))


def _machine(node: Node) -> object:
    return Machine(2, node.config).run({0: program(TEXT + "stream tigc\nSIGNAL 0\n")})


WAYS: dict[str, Callable[[Node], object]] = {
    "run": lambda node: node.run(program()),
    "timing only": lambda node: node.run(program(), function=False),
    "untimed": lambda node: node.run(program(), timing=False),
    "limited": lambda node: node.run(program(), max_cycles=1000),
    "one stream": lambda node: node.run(program(), entry="eigc"),
    "saved": lambda node: node.run(program(), save_at=1),
    "resumed": _resumed,
    "steps": _stepped,
    "debugger": lambda node: DebugSession(Replay(node, program())),
    "replay": lambda node: Replay(node, program()),
    "recorded": _recorded,
    "two nodes": _machine,
    "an object file": lambda node: node.run(replace(Program.from_json(program().to_json()), name="counter")),
    "another process": lambda node: node.run(pickle.loads(pickle.dumps(program()))),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_run_asks_first(way: str) -> None:
    if way != "resumed":
        WAYS[way](Node(TWO, "rows"))
    node = Node(TINY, "rows")
    before = node.digest()
    with pytest.raises(InputError, match=REFUSED):
        WAYS[way](node)
    assert node.digest() == before, "nothing was done"


@pytest.mark.parametrize("timing", [True, False])
def test_a_program_that_ran_elsewhere_is_asked_again(timing: bool) -> None:
    """Kept results of a program, and of an array, belong to no configuration; two programs of the same words differ."""
    one = program()
    for _ in range(2):
        assert Node(TWO).run(one, timing=timing).reason == "halt"
        with pytest.raises(InputError, match=REFUSED):
            Node(TINY).run(one, timing=timing)
    node, free = Node(TINY), program(TEXT.partition("\n")[2])
    node.run(free, timing=timing)
    assert free.words == one.words and free.sha256 == one.sha256
    with pytest.raises(InputError, match=REFUSED):
        node.run(one, timing=timing)


def test_it_is_kept_wherever_a_program_is() -> None:
    one = program()
    assert [(each.key, each.value, each.why) for each in one.needs] == [("array.emcs_per_module", 2, "it counts to 2")]
    line = 'needs "array.emcs_per_module" = 2, "it counts to 2"\n'
    assert line in disassemble(one) and line in listing(one)
    assert assemble(disassemble(one)).needs == Program.from_json(one.to_json()).needs == one.needs
    assert pickle.loads(pickle.dumps(one)).needs == one.needs
    assert '"needs"' not in assemble("LD R, #1\n").to_json(), "earlier releases read what needs nothing"
    builder = Builder("counter")
    builder.need("array.emcs_per_module", 2, "it counts to 2")
    assert builder.build().needs == one.needs
    strange = assemble('needs "array.emcs_per_module" = 1, "a \\"b\\" \\\\ c\\n"\nHALT\n')
    assert assemble(disassemble(strange)).needs == strange.needs


def test_values_of_all_kinds() -> None:
    """Whole numbers, truth values as 1 and 0, texts; all faults come together, with the nearest name."""
    truth = program('needs "sdram.refresh" = 1\n')
    Node(replace(TINY, sdram=SdramConfig(refresh=True))).run(truth)
    with pytest.raises(
        InputError, match=r"needs sdram.refresh = true; the configuration has false\n +-D sdram.refresh=t"
    ):
        Node(TINY).run(truth)
    several = program(
        'needs "array.emc_per_module" = 1\nneeds "clock_mhz" = 50\nneeds "zzz" = "q"\nneeds "clock_mhz" = 50\n'
    )
    with pytest.raises(InputError) as found:
        Node(TINY).run(several)
    assert [fault.message.partition(" needs ")[2] for fault in found.value.faults] == [
        "array.emc_per_module = 1, which no configuration has",
        "clock_mhz = 50; the configuration has 100",
        "zzz = q, which no configuration has",
    ]
    assert [fault.hint for fault in found.value.faults] == [
        "did you mean array.emcs_per_module?",
        "-D clock_mhz=50, or a program for this machine",
        "pixelflow config show lists all",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('needs "a b" = 3', "1:7: error: 'a b' is not the name of a value"),
        ("needs array = 3", "expected text in quotes, found 'array'"),
        ('needs "x" 3', "expected =, found '3'"),
        ('needs "x" = 1.5', "a whole number or a text is needed here, not the number 1.5"),
        ('needs "x" = R', "a whole number or a text is needed here, not register R"),
        ('needs "x" = 1\nneeds "x" = 2', '2:7: error: x cannot be 1 and 2(?s:.*)first needed: "x" = 1'),
        ("needs", "the line ends too early; expected text in quotes"),
    ],
)
def test_wrong_statements_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        assemble(text + "\n")


def test_machines_whose_runs_do_not_check_refuse_the_statement() -> None:
    with pytest.raises(InputError, match="programs of this machine need nothing"):
        assemble('needs "x" = 1\n', LARRABEE)


@pytest.mark.parametrize("how", [(), ("--timing-only",), ("--function-only",), ("--json",)])
def test_the_command_refuses_it(
    how: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.mc").write_text(TEXT)
    assert main(["run", "counter.mc", "--preset", "tiny", *how]) == 3
    assert "counter needs array.emcs_per_module = 2: it counts to 2" in capsys.readouterr().err.replace("\n", " ")
    assert main(["run", "counter.mc", "--preset", "tiny", "-D", "array.emcs_per_module=2", *how]) == 0


def test_shipped_programs_that_need_something_say_so() -> None:
    """The sixth exercise has a table of 32 entries in a module, ways between PEs know the bits of their numbers."""
    four = load_config(None, ["array.panels_per_emc=4"])
    with pytest.raises(InputError, match=r"needs array.panels_per_emc = 8: .*; the configuration has 4"):
        Node(four).run(assemble(EXERCISES["streams"].stub))
    network = 'range sum[2]\nrange other[2]\ninclude "texture/network.mc"\ntotal sum, other, 2\nstream tigc\nserve 6\n'
    bits = r"needs array.emcs_per_module = 8: the number of a PE in its module has LANE_BITS bits: 11; .* has 1"
    with pytest.raises(InputError, match=bits):
        Node(TINY).run(assemble(network))
    Node(TINY).run(assemble(network.replace("serve 6", "serve 3").replace('.mc"', '.mc" with LANE_BITS = 8')))


SUMS = {"dot_product", "histogram", "kmeans", "reduction", "regression", "triangles"}


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_kernel_for_another_module_is_refused(name: str) -> None:
    """Those in which something leaves a PE are for modules of one size, sums for one number of modules."""
    kernel = KERNELS[name].program(THESIS)
    if name in ALONE:
        assert not kernel.needs
        return
    sums = {"array.modules"} if name in SUMS else set()
    assert {each.key for each in kernel.needs} == {"array.emcs_per_module", "array.panels_per_emc"} | sums
    with pytest.raises(InputError, match=r"needs array\.emcs_per_module = 8"):
        Node(TINY).run(kernel)
