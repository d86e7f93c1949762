"""The model and how well founded it is: its rules, its assumptions, the caveats of results by their codes, and words.

CODE is that of a caveat, such as PF101; a word is looked up in the glossaries of all machines.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from microcode.places import LANGUAGE
from pixelflow import __version__
from pixelflow.caveats import CAVEATS, caveat
from pixelflow.cli.arguments import add_config_options
from pixelflow.cli.machine_values import PIXELFLOW, add_machine_option
from pixelflow.cli.registry import COMMANDS
from pixelflow.cli.screen import Screen
from pixelflow.config import NodeConfig, load_config
from pixelflow.isa import INSTRUCTIONS, PARAMETERS, SEMAPHORES, Declaration
from pixelflow.isa.declarations import COMPOSITION_START, ENABLE_STACK, INPUT_PORT, LATCH_STACK, MAIN_BYTES, OUTPUT_PORT
from pixelflow.isa.operands import COEFFICIENT_BITS
from pixelflow.node.machine_drawing import machine_drawing
from pixelflow.simd.configuration import leaves
from pixelflow.simd.errors import Fault, InputError, Place, UsageError, suggestion
from pixelflow.simd.files import shipped
from pixelflow.simd.isa.declare import InstructionSet
from pixelflow.simd.machine import machine_named, machines
from pixelflow.simd.report import Column, Fact, Heading, Json, Part, Report, Table, counted, number
from pixelflow.simd.units import GUESSED, Standing

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Rules of the model that are neither an instruction nor a configuration value, and what is not modelled.
#
# ``pixelflow about --model`` lists these with the declarations and the configuration, so that a reader finds every
# guess in one place.


class ModelRule(NamedTuple):
    """One rule: what the model does, how well founded that is, and on what grounds."""

    text: str
    source: str
    standing: Standing = Standing.INVENTED


RULES = (
    ModelRule(
        "a microinstruction takes one cycle and makes at most one memory access",
        "not printed; 16- and 32-bit addition in 7 and 13 cycles, quoted from memory for a later library, agree",
    ),
    ModelRule(
        f"PE memory: 0 to {MAIN_BYTES - 1} main, from {COMPOSITION_START} image composition, "
        f"from {INPUT_PORT} input port, from {OUTPUT_PORT} output port",
        "sizes: thesis 2.2.1 and 3.6; the order is not printed",
    ),
    ModelRule(
        "a PE has registers R, S and M of 8 bits, a carry C, an enable E and a latch L",
        "the thesis prints an 8-bit ALU and nothing of its registers",
    ),
    ModelRule(
        f"{len(ENABLE_STACK)} enables and {len(LATCH_STACK)} latches can be saved in a PE",
        "the float routines need 2",
    ),
    ModelRule(
        f"a call passes up to {PARAMETERS} addresses or bytes; {SEMAPHORES} counting semaphores",
        "semaphores: thesis 1 and 2.2.1; neither number is printed",
    ),
    ModelRule(
        f"the LEE takes signed coefficients of {COEFFICIENT_BITS} bits; results are cut to the bytes asked for",
        "thesis 2.2.9 prints the equations without a width",
    ),
    ModelRule(
        "a signal reaches the other stream in the next cycle; only one stream may wait for a semaphore",
        "the thesis says that semaphores synchronize the streams, not how",
    ),
    ModelRule(
        "the TIGC gives all modules the same transfer and continues when the last is done; meanwhile PEs must leave "
        "local ports and marks alone",
        "thesis 2.2.7 serves all EMCs of a module together; the rest is not printed",
    ),
    ModelRule("instruction words of 32 bits with an opcode of 8 bits", "no encoding is published"),
    ModelRule(
        "where igc.supply is a rate: words come in the order of execution, over a separate path to each IGC, or one "
        "for both (igc.shared_supply), on which they take turns, word by word, where both have room; as early as the "
        "FIFO has room, or without igc.prefetch when the instruction is the next one; a routine, or a loop outside of "
        "routines, is sent as a whole when it comes first and stays in the memory of the IGC until those used later "
        "want room; a run begins with nothing there",
        "thesis 2.2.2, 2.2.5: GPs send instructions to microcoded IGCs; neither memory, path nor rate is printed",
    ),
    ModelRule("at the start all PEs are enabled and all memory and registers are 0", "not printed"),
    ModelRule(
        "addresses and data leave a PE by its output port, data arrive in its input port; a base address is the first "
        "4 bytes of the output port, of which 24 bits are used",
        "ports: thesis 2.2.1; the place of the base in the port is invented",
        Standing.DERIVED,
    ),
    ModelRule(
        "an access is addressed inside an SDRAM by (bank * rows + row) * columns + column; texture memory starts as 0",
        "sizes: thesis 2.2.6; no format is printed",
    ),
    ModelRule(
        "an explicit write takes two passes of four SDRAMs each: four addresses and four words fill the port",
        "appendix B: two passes, since address and data exceed what one pass can send",
        Standing.DERIVED,
    ),
    ModelRule(
        "every module has wires to the TASICs of each other one (tasic.path_bytes_per_cycle), on which a round of an "
        "explicit write crosses, addresses and data, while the next one leaves the EMCs and the last one is stored",
        "thesis 2.2.1 says that there is a path between the TASICs and where it leads, nothing more",
    ),
    ModelRule(
        "the corner turners of an EMC hold one round: the address and the data of the PE served last",
        "thesis 2.2.7 says that they can be used again, not how much they hold",
    ),
    ModelRule(
        "a greedy SDRAM controller charges the unexplained extra cycle of a read once a round; with an address for "
        "each device, every device has its own schedule and a round ends with the last",
        "an option that is not the thesis's machine",
    ),
    ModelRule(
        "bytes for GP memory go round by round from the EMCs of a module, some rounds buffered in its TASICs, to the "
        "GNI, which takes one module at a time, buffers some parcels for each GP (gni.*) and passes on whole parcels; "
        "they are stored in the order in which they travel, for each module from a separate start address",
        "bandwidths: thesis 3.8, 4.1.4; the rest is not printed",
    ),
    ModelRule(
        "each GP has a separate memory path, in both directions at once; a load takes some blocks of 32 bytes at a "
        "time (gni.part_blocks) and can go to several modules together",
        "thesis 3.8 prints 200 MB/s for GP memory and two GPs",
    ),
    ModelRule(
        "the geometry network is one path of 800 MB/s that all nodes share, one parcel at a time",
        "bandwidth: thesis 3.8; neither form nor latency is printed",
    ),
    ModelRule(
        "results kept in texture memory are read back by three PEs of four, 32 bytes each; the fourth gets its bytes "
        "from these by PixSwap",
        "appendix B stores them and does not say how they come back",
    ),
    ModelRule(
        "floating point: IEEE 754 binary32, round to nearest even; subnormal operands are zeros, a result whose "
        "exponent before rounding is below the smallest normal is a zero; one quiet NaN",
        "the thesis prints cycle counts only; microcode, so nothing in the machine depends on it",
    ),
)

NOT_MODELLED = (
    "delivery of instruction words, unless igc.supply is a rate: they are there at once, as in the thesis",
    "the GPs as processors: they are memories behind the GNI",
    "commands to the nodes over the geometry network: it carries results only",
    "SDRAM mode registers and power-up; what a part holds before it is written",
    "image composition network of a node that runs by itself: its 64 bytes of a PE are plain memory; render runs it",
    "host, front end, power, physical layout",
)


_MEANINGS = {
    Standing.DERIVED: "computed from printed numbers",
    Standing.FITTED: "chosen so that a printed table comes out",
    Standing.INVENTED: "needed by the model, documented nowhere",
}


EXAMPLES = (
    "pixelflow about",
    "pixelflow about --model",
    "pixelflow about --assumptions",
    "pixelflow about PF101 PF102",
    "pixelflow about EIGC pass",
    "pixelflow about --drawing",
    "pixelflow about --language",
)

_SCHEMA = "pixelflow.about/1"
_SUBJECTS = ("model", "assumptions", "caveats", "drawing", "language")
"""Options of which one is shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subjects and the configuration whose values are listed."""
    add = parser.add_argument
    add("codes", nargs="*", metavar="CODE|WORD",
        help="explain caveats by the codes that reports print, such as PF101, and words, such as EIGC")  # fmt: skip
    add("--model", action="store_true", help="list every derived, fitted and invented rule")
    add("--assumptions", action="store_true", help="list values and instruction costs that are fitted or invented")
    add("--caveats", action="store_true", help="list the codes of caveats")
    add("--drawing", action="store_true", help="draw the machine: panels, x and y, registers, ports")
    add("--language", action="store_true", help="print the description of the .mc language")
    add_machine_option(parser)
    add_config_options(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Return the version, or the requested subject."""
    subjects = [f"--{name}" for name in _SUBJECTS if getattr(args, name)] + args.codes[:1]
    if len(subjects) > 1:
        raise UsageError(subjects[-1], f"{subjects[0]} is another subject", "ask for one of the two")
    if args.machine != PIXELFLOW and not args.assumptions:
        raise UsageError("--machine", "only assumptions are listed of other machines", "add --assumptions")
    if args.language:
        text = LANGUAGE.read_text(encoding="utf-8")
        return Report(results=[Fact(text.rstrip("\n"), key="language", value=text, wrap=False)], schema=_SCHEMA)
    if args.codes or args.caveats:
        return _entries(args.codes) if args.codes else _caveats()
    if args.machine != PIXELFLOW:
        machine = machine_named(args.machine)
        return _assumption_report(machine.configuration(), machine.instructions, {})
    config = load_config(args.config, args.overrides, args.preset)
    rules = (*_model_rules(config), *_assumptions(config, INSTRUCTIONS))
    data: dict[str, Json] = {
        "rules": [{"standing": each.standing.value, "rule": each.text, "source": each.source} for each in rules],
        "not_modelled": NOT_MODELLED,
        "config": {"sha256": config.sha256},
    }
    if args.assumptions:
        return _assumption_report(config, INSTRUCTIONS, data)
    if args.drawing:
        drawn = machine_drawing(config)
        parts: Iterable[Part] = [Fact(drawn, key="drawing", value=drawn, wrap=False)]
    else:
        parts = _model(config) if args.model else _version(config)
    return Report(results=list(parts), schema=_SCHEMA, data=data)


def _model_rules(config: NodeConfig) -> tuple[ModelRule, ...]:
    """Return the rules that are neither an instruction nor an assumed value."""
    return (*RULES, *_values(config, (Standing.DERIVED,)))


def _assumptions(config: DataclassInstance, known: InstructionSet[Declaration]) -> Iterator[ModelRule]:
    """Yield the values and the instructions that are fitted or invented."""
    yield from _values(config, GUESSED)
    grouped: dict[tuple[str, Standing], list[str]] = {}
    for declaration in known.values():
        if declaration.standing in GUESSED:
            grouped.setdefault((declaration.source, declaration.standing), []).append(declaration.mnemonic)
    yield from (ModelRule(f"instructions {', '.join(names)}", *about) for about, names in grouped.items())


def _values(config: DataclassInstance, standings: Sequence[Standing]) -> Iterator[ModelRule]:
    """Yield the values of these standings that the model reads."""
    for key, known, value, _ in leaves(config):
        if known.standing in standings:
            unit = f" {known.unit}" if known.unit else ""
            yield ModelRule(f"{key} = {value}{unit}: {known.text}", known.source, known.standing)


def _assumption_report(
    config: DataclassInstance, known: InstructionSet[Declaration], data: Mapping[str, Json]
) -> Report:
    """Return the values and the instruction costs that are fitted or invented, with their sources."""
    found = list(_assumptions(config, known))
    values = sum(1 for _ in _values(config, GUESSED))
    costs = sum(each.standing in GUESSED for each in known.values())
    parts = [
        f"{counted(values, 'value')} and the costs of {counted(costs, 'instruction')} are assumptions; a result rests "
        "on those that took part in it.",
        *_by_standing(found),
    ]
    objects: list[Json] = [
        {"standing": each.standing.value, "assumption": each.text, "source": each.source} for each in found
    ]
    return Report(results=parts, schema=_SCHEMA, data={**data, "assumptions": objects})


def _by_standing(found: Sequence[ModelRule]) -> Iterator[Part]:
    for standing, meaning in _MEANINGS.items():
        rules = [each for each in found if each.standing is standing]
        if rules:
            yield from ("", Heading(f"{standing}: {meaning}"), "each, and below it on what grounds")
        for each in rules:
            yield from (f"  - {each.text}", f"      {each.source}")


def _caveats() -> Report:
    """Return the list of all caveats."""
    table = Table(
        [Column("code", fixed=True), Column("caveat")], [(each.code, each.title) for each in CAVEATS.values()]
    )
    data: dict[str, Json] = {"caveats": [each._asdict() for each in CAVEATS.values()]}
    return Report(results=[table, "", "an entry: pixelflow about CODE"], schema=_SCHEMA, data=data)


def _entries(asked: Sequence[str]) -> Report:
    """Return the entries of caveats and words; raises InputError for what is neither."""
    caveats = [caveat(each) for each in asked if re.fullmatch(r"PF\d+", each, re.IGNORECASE)]
    words = [found for each in asked if not re.fullmatch(r"PF\d+", each, re.IGNORECASE) for found in _words(each)]
    parts: list[Part] = []
    for each in caveats:
        parts += ["", f"{each.code}: {each.title}", f"    {each.meaning}", f"    What to do: {each.remedy}"]
    for word, meaning, whose in words:
        parts += ["", f"{word}: {meaning} ({whose})"]
    heads = ("word", "meaning", "source")
    defined = [dict(zip(heads, each, strict=True)) for each in words]
    data: dict[str, Json] = {"caveats": [each._asdict() for each in caveats], "words": defined}
    return Report(results=parts[1:], schema=_SCHEMA, data=data)


def _words(asked: str) -> list[tuple[str, str, str]]:
    """Return the words that are called so, each with its meaning and its machine or section of the thesis."""
    packages = {"pixelflow": "PixelFlow", "tessellation": "PixelFlow", "microcode": "the language"}
    packages |= {each.run.__module__.partition(".")[0]: each.title for each in machines() if each.name != PIXELFLOW}
    entries = [
        (word, meaning, f"thesis {section[0]}" if section and section[0] != "-" else whose)
        for package, whose in packages.items()
        for word, meaning, *section in _glossary(package)
    ]
    named = [(re.split(r", | \(|\)", entry[0].lower()), entry) for entry in entries]
    plain = asked.lower()
    found = [entry for names, entry in named if plain in names or plain.removesuffix("s") in names]
    found = found or [entry for names, entry in named if plain in " ".join(names).split()]
    if not found:
        hint = suggestion(
            plain,
            [name for names, _ in named for name in names],
            "instructions: pixelflow isa --find WORD; codes: about --caveats",
        )
        hint = f"a command: pixelflow {plain} --help" if plain in COMMANDS else hint
        raise InputError(Fault("there is no caveat and no word of this name", Place(asked), hint))
    return found


def _glossary(package: str) -> Iterator[list[str]]:
    """Yield the rows of the table of words in the README of a package."""
    table = shipped(package, "README.md").read_text(encoding="utf-8").partition("\n| word | meaning |")[2]
    for line in table.splitlines()[2:]:
        if not line.startswith("| "):
            return
        yield [cell.replace("`", "") for cell in line.strip("| ").split(" | ")]


def _model(config: NodeConfig) -> Iterator[Part]:
    yield "What the model does that Keller's thesis (UNC TR95-043) does not print. Everything else is printed there."
    yield "Assumed values and instruction costs are listed separately: pixelflow about --assumptions"
    yield from _by_standing(_model_rules(config))
    yield from ("", Heading("not modelled"))
    yield from (f"  - {text}" for text in NOT_MODELLED)


def _version(config: NodeConfig) -> Iterator[str]:
    yield f"pixelflow-sim {__version__}"
    yield (
        "A simulator of one PixelFlow node: microcode executed on every processing element, cycles counted as executed."
    )
    yield f"machine: {number(config.lanes)} PEs at {config.clock_mhz} MHz, config {config.sha256[:6]}"
    yield "see: pixelflow about --model, about --assumptions, about --caveats, pixelflow isa, pixelflow config show"
