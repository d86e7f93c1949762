"""The configuration tree: presets, derived values, what each value says about itself, and who reads it."""

from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import pytest

from pixelflow.config import (
    LARGE,
    PRESETS,
    THESIS,
    TINY,
    ArrayConfig,
    GniConfig,
    LeeConfig,
    NodeConfig,
    SdramConfig,
    TasicConfig,
)
from pixelflow.simd.configuration import leaves
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import available

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
    assert len({config.sha256 for config in (THESIS, TINY, NodeConfig(clock_mhz=50))}) == 3


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
    """Every value is read in a run, and names its reader."""
    from microcode import assemble
    from pixelflow.node import Node
    from tessellation.rendering import RecordWork, run_network

    program = assemble(PROGRAM)
    seen: set[str] = set()
    sections = {
        name: getattr(TINY, name) for name in ("array", "lee", "igc", "extra", "tasic", "sdram", "gni", "composition")
    }
    config = NodeConfig(**{name: watched(section, f"{name}.", seen) for name, section in sections.items()})
    sections["igc"] = replace(TINY.igc, supply=200)
    supplied = NodeConfig(**{name: watched(section, f"{name}.", seen) for name, section in sections.items()})
    seen.clear()  # the checks of the tree itself have read everything
    Node(supplied).run(program)
    run = Node(config).run(program)
    run_network([[RecordWork(run.cycles, 0)]] * 2, record_bytes=6, config=config)
    assert {key for key, about, _, _ in LEAVES if about.read_by} - {"clock_mhz"} == seen


def test_the_clock_gives_machine_time() -> None:
    from microcode import assemble
    from pixelflow.node import Node

    run = Node(replace(TINY, clock_mhz=50)).run(assemble(PROGRAM))
    assert run.seconds_at_clock == run.cycles / 50e6


def test_readers_are_files() -> None:
    assert all(about.read_by and (ROOT / about.read_by).is_file() for _, about, _, _ in LEAVES)


def test_all_faults_of_a_tree_come_at_once() -> None:
    with pytest.raises(InputError) as caught:
        NodeConfig(clock_mhz=0, array=ArrayConfig(modules=True, emcs_per_module=99), lee=LeeConfig(arrangement="x"))
    assert [str(fault).split(": ")[1] for fault in caught.value.faults] == [
        "clock_mhz",
        "array.modules",
        "array.emcs_per_module",
        "lee.arrangement",
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


@pytest.mark.parametrize(
    ("section", "values", "hint"),
    [
        ("array", ArrayConfig(modules=9), "allowed: 1 to 8 modules (a mask of modules has 8 bits in TAS_SetGp"),
        ("array", ArrayConfig(emcs_per_module=65), "allowed: 1 to 64 EMCs (figure 9 gives an EMC 16 columns"),
        ("array", ArrayConfig(emcs_per_module=17), "lee.xp_bits: 8 bits cannot hold 271, which the arrangement fig"),
        ("array", ArrayConfig(panels_per_emc=16), "allowed: 2 or 4 or 8 panels (panels are placed in pairs"),
        ("array", ArrayConfig(pes_per_panel=64), "allowed: 32 PEs (the equations of thesis 2.2.9 and figure 8"),
        ("array", ArrayConfig(main_bytes=512), "allowed: 16 to 256 bytes (what is past it begins at 256"),
        ("array", ArrayConfig(more_bytes=3713), "allowed: 0 to 3712 bytes (a call passes addresses below 4096"),
        ("tasic", TasicConfig(port_bytes_per_cycle=33), "allowed: 1 to 32 bytes (a port has no more bytes)"),
        ("sdram", SdramConfig(banks=3), "allowed: 2 or 4 or 8 banks (addresses are taken apart bit by bit"),
        ("array", ArrayConfig(composition_bytes=0), "allowed: 64 bytes (the instruction set fixes it)"),
        ("array", ArrayConfig(port_bytes=64), "allowed: 32 bytes (the instruction set fixes it)"),
        ("sdram", SdramConfig(devices_per_module=16), "allowed: 8 devices (the instruction set fixes it)"),
        ("lee", LeeConfig(xp_bits=11), "allowed: 1 to 10 bits (64 EMCs need no more; EMC_SetLEE writes values of 8)"),
        ("lee", LeeConfig(ys_bits=9), "allowed: 1 to 8 bits (the instruction set fixes it: EMC_SetLEE carries values"),
        ("sdram", SdramConfig(banks=4), "4 banks of 2048 rows of 512 bytes are more than 21 address bits reach"),
        ("sdram", SdramConfig(rows=4096), "banks * rows * columns is at most 2097152"),
        ("sdram", SdramConfig(columns=1024), "more than 21 address bits reach"),
        ("sdram", SdramConfig(rows=1000), "sdram.rows: 1000 is not a power of two"),
        ("sdram", SdramConfig(columns=12), "sdram.columns: 12 is not a power of two"),
    ],
)
def test_what_the_instruction_set_fixes(section: str, values, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        NodeConfig(**{section: values})
    assert hint in str(caught.value)


def test_the_sizes_are_those_of_the_instruction_set() -> None:
    from pixelflow import config as checks
    from pixelflow import config as sections
    from pixelflow.isa import declarations as registers
    from pixelflow.isa import operands, tas

    array = THESIS.array
    assert (array.main_bytes, array.composition_start) == (registers.MAIN_BYTES, registers.COMPOSITION_START)
    assert (array.input_port_start, array.output_port_start) == (registers.INPUT_PORT, registers.OUTPUT_PORT)
    assert (array.port_bytes, array.memory_bytes) == (registers.PORT_BYTES, registers.MEMORY_BYTES)
    assert (sections.COMPOSITION_START, sections.PE_BYTES) == (registers.COMPOSITION_START, registers.MEMORY_BYTES)
    assert sections.MOST_BYTES == 1 << operands.ARGUMENT_OFFSET_BITS - 1
    assert checks.ADDRESS_BITS == tas.ADDRESS_BITS
    assert NodeConfig(sdram=SdramConfig(banks=4, rows=1024)).sdram.banks == 4


def test_coordinates_have_16_bits() -> None:
    from microcode import assemble
    from pixelflow.node import Node

    with pytest.raises(InputError, match=r"lee.xe_bits: x could reach 8355855 with 4 bits of xe, 8 of xp and 4 of xs"):
        NodeConfig(lee=LeeConfig(xe_bits=4))
    with pytest.raises(InputError, match=r"lee.ye_bits: y could reach"):
        NodeConfig(lee=LeeConfig(ye_bits=4))
    widest = LeeConfig(xe_bits=3, ye_bits=3, yp_bits=8, xs_bits=8, ys_bits=8)
    registers = (
        (0, 0, 7),
        (1, 0, 7),
        *((2, i, 255) for i in range(16)),
        *((r, i, 255) for r in (3, 4, 5) for i in range(8)),
    )
    text = "".join(f"EMC_SetLEE 0, 0, {register}, {index}, {value}\n" for register, index, value in registers)
    digests = set()
    for engine in available():
        node = Node(replace(TINY, lee=widest), engine)
        node.run(assemble(f"{text}EMC_TreeIntoMem_Li [0], 4, 1, 3, 0\n"))
        x, y = node.coordinates()
        assert x.max() == y.max() == (255 << 7) + 255
        assert (node.read_word(0, 4) == x + 3 * y).all()
        digests.add(node.digest())
    assert len(digests) == 1


@pytest.mark.parametrize("name", ["mb_per_second", "gp_memory_mb_per_second"])
def test_bandwidths_are_whole_bytes_a_cycle(name: str) -> None:
    for value in (50, 250, 299):
        with pytest.raises(InputError, match=rf"gni.{name}: {value} MB/s are not a whole number of bytes"):
            NodeConfig(gni=GniConfig(**{name: value}))
    assert getattr(NodeConfig(gni=GniConfig(**{name: 300})).gni, name) == 300
    with pytest.raises(InputError, match="800 MB/s are not a whole number of bytes a cycle at 99 MHz"):
        NodeConfig(clock_mhz=99)


def test_presets_have_names() -> None:
    assert dict(PRESETS) == {"thesis": THESIS, "tiny": TINY, "large": LARGE}
    assert LARGE.lanes == 4 * THESIS.lanes
