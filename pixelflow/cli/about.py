"""What this simulator models, and how well founded each of its rules is."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from microcode.reader import LANGUAGE
from pixelflow import __version__
from pixelflow.cli.arguments import add_config_options
from pixelflow.cli.machine_config import unread_keys
from pixelflow.cli.screen import Screen
from pixelflow.config import NodeConfig, load_config
from pixelflow.isa import INSTRUCTIONS, PARAMETERS, SEMAPHORES
from pixelflow.isa.declarations import COMPOSITION_START, ENABLE_STACK, INPUT_PORT, LATCH_STACK, MAIN_BYTES, OUTPUT_PORT
from pixelflow.isa.operands import COEFFICIENT_BITS
from pixelflow.node.machine_drawing import machine_drawing
from pixelflow.simd.configuration import leaves
from pixelflow.simd.errors import UsageError
from pixelflow.simd.report import Column, Fact, Heading, Part, Report, Table, number, table_object
from pixelflow.simd.units import Standing

# Rules of the model that are neither an instruction nor a configuration value, and what is not modelled.
#
# ``pixelflow about --model`` lists these beside the declarations and the configuration, so that a reader finds every
# guess in one place.


@dataclass(frozen=True, slots=True)
class ModelRule:
    """One rule: what the model does, how well founded that is, and on what grounds."""

    text: str
    standing: Standing
    source: str


RULES = (
    ModelRule(
        "a microinstruction takes one cycle and makes at most one memory access",
        Standing.INVENTED,
        "not printed; 16- and 32-bit addition in 7 and 13 cycles, quoted from memory for a later library, agree",
    ),
    ModelRule(
        f"PE memory: 0 to {MAIN_BYTES - 1} main, from {COMPOSITION_START} image composition, "
        f"from {INPUT_PORT} input port, from {OUTPUT_PORT} output port",
        Standing.INVENTED,
        "sizes: thesis 2.2.1 and 3.6; the order is not printed",
    ),
    ModelRule(
        "a PE has registers R, S and M of 8 bits, a carry C, an enable E and a latch L",
        Standing.INVENTED,
        "the thesis prints an 8-bit ALU and nothing of its registers",
    ),
    ModelRule(
        f"{len(ENABLE_STACK)} enables and {len(LATCH_STACK)} latches can be saved in a PE",
        Standing.INVENTED,
        "the float routines need 2",
    ),
    ModelRule(
        f"a call passes up to {PARAMETERS} addresses or bytes; {SEMAPHORES} counting semaphores",
        Standing.INVENTED,
        "semaphores: thesis 1 and 2.2.1; neither number is printed",
    ),
    ModelRule(
        f"the LEE takes signed coefficients of {COEFFICIENT_BITS} bits; results are cut to the bytes asked for",
        Standing.INVENTED,
        "thesis 2.2.9 prints the equations without a width",
    ),
    ModelRule(
        "a signal reaches the other stream in the next cycle; only one stream may wait for a semaphore",
        Standing.INVENTED,
        "the thesis says that semaphores synchronize the streams, not how",
    ),
    ModelRule(
        "the TIGC gives all modules the same transfer and goes on when the last is done; meanwhile PEs must leave "
        "local ports and marks alone",
        Standing.INVENTED,
        "thesis 2.2.7 serves all EMCs of a module together; the rest is not printed",
    ),
    ModelRule("instruction words of 32 bits with an opcode of 8 bits", Standing.INVENTED, "no encoding is published"),
    ModelRule(
        "where igc.supply is a rate: words come in the order of execution, over a path of its own to each IGC, or one "
        "for both (igc.shared_supply), on which they take turns, word by word, where both have room; as early as the "
        "FIFO has room, or without igc.prefetch when the instruction is the next one; a routine, or a loop outside of "
        "routines, is sent as a whole when it comes first and stays in the memory of the IGC until those used later "
        "want room; a run begins with nothing there",
        Standing.INVENTED,
        "thesis 2.2.2, 2.2.5: GPs send instructions to microcoded IGCs; neither memory, path nor rate is printed",
    ),
    ModelRule("at the start all PEs are enabled and all memory and registers are 0", Standing.INVENTED, "not printed"),
    ModelRule(
        "addresses and data leave a PE by its output port, data arrive in its input port; a base address is the first "
        "4 bytes of the output port, of which 24 bits are used",
        Standing.DERIVED,
        "ports: thesis 2.2.1; the place of the base in the port is invented",
    ),
    ModelRule(
        "an access is addressed inside an SDRAM by (bank * rows + row) * columns + column; texture memory starts as 0",
        Standing.INVENTED,
        "sizes: thesis 2.2.6; no format is printed",
    ),
    ModelRule(
        "an explicit write takes two passes of four SDRAMs each: four addresses and four words fill the port",
        Standing.DERIVED,
        "appendix B: two passes, since address and data exceed what one pass can send",
    ),
    ModelRule(
        "the corner turners of an EMC hold one round: the address and the data of the PE served last",
        Standing.INVENTED,
        "thesis 2.2.7 says that they can be used again, not how much they hold",
    ),
    ModelRule(
        "a greedy SDRAM controller charges the unexplained extra cycle of a read once a round; with an address for "
        "each device, every device has its own schedule and a round ends with the last",
        Standing.INVENTED,
        "an option that is not the thesis's machine",
    ),
    ModelRule(
        "bytes for GP memory go round by round from the EMCs of a module, some rounds buffered in its TASICs, to the "
        "GNI, which takes one module at a time, buffers some parcels for each GP (gni.*) and passes on whole parcels; "
        "they are stored in the order in which they travel, for each module from an address of its own on",
        Standing.INVENTED,
        "bandwidths: thesis 3.8, 4.1.4; the rest is not printed",
    ),
    ModelRule(
        "each GP has a memory path of its own, in both directions at once; a load takes some blocks of 32 bytes at a "
        "time (gni.part_blocks) and can go to several modules together",
        Standing.INVENTED,
        "thesis 3.8 prints 200 MB/s for GP memory and two GPs",
    ),
    ModelRule(
        "the geometry network is one path of 800 MB/s that all nodes share, one parcel at a time",
        Standing.INVENTED,
        "bandwidth: thesis 3.8; neither form nor latency is printed",
    ),
    ModelRule(
        "results kept in texture memory are read back by three PEs of four, 32 bytes each; the fourth gets its bytes "
        "from these by PixSwap",
        Standing.INVENTED,
        "appendix B stores them and does not say how they come back",
    ),
    ModelRule(
        "floating point: IEEE 754 binary32, round to nearest even; subnormal operands are zeros, a result whose "
        "exponent before rounding is below the smallest normal is a zero; one quiet NaN",
        Standing.INVENTED,
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
    "pixelflow about --drawing",
    "pixelflow about --language",
)

_SCHEMA = "pixelflow.about/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--model`` and the configuration whose values are listed."""
    parser.add_argument("--model", action="store_true", help="list every derived, fitted and invented rule")
    parser.add_argument("--drawing", action="store_true", help="draw the machine: panels, x and y, registers, ports")
    parser.add_argument("--language", action="store_true", help="print the description of the .mc language")
    add_config_options(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Return the version, the list of rules, the drawing or the description of the language."""
    if args.language and (args.model or args.drawing):
        raise UsageError("--language", "the language has neither rules nor a drawing", "leave out the other option")
    if args.language:
        text = LANGUAGE.read_text(encoding="utf-8")
        return Report(results=[Fact(text.rstrip("\n"), key="language", value=text, wrap=False)], schema=_SCHEMA)
    if args.model and args.drawing:
        raise UsageError("--drawing", "the drawing has no list of rules", "leave out --model")
    config = load_config(args.config, args.overrides, args.preset)
    found = list(rules(config))
    columns = (Column("standing", key="standing"), Column("rule", key="rule"), Column("source", key="source"))
    data = {
        "rules": table_object(Table(columns, [(standing.value, *texts) for standing, *texts in found])),
        "not_modelled": NOT_MODELLED,
        "not_read": unread_keys(config),
        "config": {"sha256": config.sha256},
    }
    if args.drawing:
        drawn = machine_drawing(config)
        parts: Iterable[Part] = [Fact(drawn, key="drawing", value=drawn, wrap=False)]
    else:
        parts = _model(found, config) if args.model else _version(config)
    return Report(results=list(parts), schema=_SCHEMA, data=data)


def rules(config: NodeConfig) -> Iterator[tuple[Standing, str, str]]:
    """Yield (standing, what, source) of everything that the thesis does not print."""
    for rule in RULES:
        yield rule.standing, rule.text, rule.source
    for key, known, value, _ in leaves(config):
        if known.read_by is not None and known.standing is not Standing.THESIS:
            unit = f" {known.unit}" if known.unit else ""
            yield known.standing, f"{key} = {value}{unit}: {known.text}", known.source
    grouped: dict[tuple[Standing, str], list[str]] = {}
    for declaration in INSTRUCTIONS.values():
        if declaration.standing is not Standing.THESIS:
            grouped.setdefault((declaration.standing, declaration.source), []).append(declaration.mnemonic)
    for (standing, source), mnemonics in grouped.items():
        yield standing, f"instructions {', '.join(mnemonics)}", source


def _model(found: Sequence[tuple[Standing, str, str]], config: NodeConfig) -> Iterator[Part]:
    yield "What the model does that Keller's thesis (UNC TR95-043) does not print. Everything else is printed there."
    for standing, meaning in _MEANINGS.items():
        yield from ("", Heading(f"{standing}: {meaning}"), "each rule, and below it on what grounds")
        for each, text, source in found:
            if each is standing:
                yield from (f"  - {text}", f"      {source}")
    yield from ("", Heading("not modelled"))
    yield from (f"  - {text}" for text in NOT_MODELLED)
    if unread := unread_keys(config):
        yield from ("", "configured, but not read yet by any part of the model: " + ", ".join(unread))


def _version(config: NodeConfig) -> Iterator[str]:
    yield f"pixelflow-sim {__version__}"
    yield (
        "A simulator of one PixelFlow node: microcode executed on every processing element, cycles counted as executed."
    )
    yield f"machine: {number(config.lanes)} PEs at {config.clock_mhz} MHz, config {config.sha256[:6]}"
    yield "see: pixelflow about --model, pixelflow isa, pixelflow config show"
