"""The configuration tree: presets, derived values, what each value says about itself, and who reads it."""

from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import pytest

from pixelflow.config import PRESETS, THESIS, TINY, ArrayConfig, LeeConfig, NodeConfig, SdramConfig, leaves
from pixelflow.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
LEAVES = list(leaves(THESIS))


def test_the_thesis_node() -> None:
    assert THESIS.array.shape == (4, 8, 8, 32)
    assert THESIS.lanes == 8192
    assert THESIS.array.blocks == 512
    assert THESIS.array.memory_bytes == 384
    array = THESIS.array
    assert (array.composition_start, array.input_port_start, array.output_port_start) == (256, 320, 352)
    assert THESIS.derived["texture bytes of a module"] == 16 << 20
    assert THESIS.seconds(100_000_000) == 1.0


def test_the_tiny_node_has_the_same_pes() -> None:
    assert TINY.lanes == 256
    assert TINY.array.memory_bytes == THESIS.array.memory_bytes
    assert replace(TINY, array=THESIS.array) == THESIS


def test_a_configuration_cannot_change() -> None:
    with pytest.raises(FrozenInstanceError):
        THESIS.array.modules = 2  # type: ignore[misc]


def test_the_fingerprint_depends_on_values_only() -> None:
    assert NodeConfig().sha256 == THESIS.sha256
    assert len({config.sha256 for config in (THESIS, TINY, NodeConfig(clock_mhz=99))}) == 3


@pytest.mark.parametrize(("key", "about", "value", "default"), LEAVES, ids=[leaf[0] for leaf in LEAVES])
def test_every_value_says_what_it_is(key: str, about, value, default) -> None:
    assert about.text and about.source
    assert value == default
    if isinstance(value, bool) or about.allowed is not None:
        return
    assert about.unit, f"{key} has no unit"
    assert about.low is not None and about.high is not None, f"{key} has no range"
    assert about.low <= value <= about.high


def watched(section: object, prefix: str, seen: set[str]) -> object:
    """A copy of a configuration section that notes which of its values are read."""
    kind = type(section)
    names = {each.name for each in fields(kind)}

    class Watched(kind):  # type: ignore[misc, valid-type]
        __slots__ = ()

        def __getattribute__(self, name: str) -> object:
            if name in names:
                seen.add(prefix + name)
            return super().__getattribute__(name)

    return Watched(**{name: getattr(section, name) for name in names})


PROGRAM = """
range x[1]
loop 2
    loop 3
        CALL keep, x
    end
end
EMC_SetLEE 0, 0, 2, 0, 5
EMC_MarkRead
EMC_MarkWrite
SIGNAL 0
routine keep(a)
    LD R, a
end
stream tigc
WAIT 0
TAS_MemRdBlock4 2
TAS_MemWrBlock4 2
"""


def test_read_by_is_true() -> None:
    """A value that claims a reader is read in a run; one without is not, so the tool may say so."""
    from microcode import assemble
    from pixelflow.node import Node

    program = assemble(PROGRAM)
    seen: set[str] = set()
    sections = {name: getattr(TINY, name) for name in ("array", "lee", "igc", "tasic", "sdram", "gni", "network")}
    config = NodeConfig(**{name: watched(section, f"{name}.", seen) for name, section in sections.items()})
    seen.clear()  # the checks of the tree itself have read everything
    Node(config).run(program)
    claimed = {key for key, about, _, _ in LEAVES if about.read_by is not None}
    assert claimed - {"clock_mhz"} == seen


def test_the_clock_gives_machine_time() -> None:
    from microcode import assemble
    from pixelflow.node import Node

    run = Node(replace(TINY, clock_mhz=50)).run(assemble(PROGRAM))
    assert run.seconds_at_clock == run.cycles / 50e6


def test_readers_are_files() -> None:
    assert all((ROOT / about.read_by).is_file() for _, about, _, _ in LEAVES if about.read_by is not None)


def test_all_faults_of_a_tree_come_at_once() -> None:
    with pytest.raises(InputError) as caught:
        NodeConfig(clock_mhz=0, array=ArrayConfig(modules=True, emcs_per_module=99), lee=LeeConfig(arrangement="x"))
    assert [str(fault).splitlines()[0] for fault in caught.value.faults] == [
        "error: clock_mhz: 0 is out of range",
        "error: array.modules: expected a whole number, found true",
        "error: array.emcs_per_module: 99 is out of range",
        "error: lee.arrangement: 'x' is not one of the allowed values",
    ]


def test_inconsistent_times_are_refused() -> None:
    with pytest.raises(InputError, match=r"sdram.trc_cycles: 8 is below tras_cycles \+ trp_cycles = 6 \+ 3"):
        NodeConfig(sdram=SdramConfig(trc_cycles=8))
    assert NodeConfig(sdram=SdramConfig(trc_cycles=9)).sdram.trc_cycles == 9


def test_lee_registers_must_hold_their_arrangement() -> None:
    with pytest.raises(InputError, match=r"lee.xp_bits: 6 bits cannot hold 127"):
        NodeConfig(lee=LeeConfig(xp_bits=6))
    assert NodeConfig(lee=LeeConfig(xp_bits=6, arrangement="zero")).lee.xp_bits == 6
    assert NodeConfig(lee=LeeConfig(xp_bits=7)).lee.xp_bits == 7


def test_presets_have_names() -> None:
    assert dict(PRESETS) == {"thesis": THESIS, "tiny": TINY}
