"""Instruction reference, generated from the declarations that the machine itself executes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence

from pixelflow.caveats import coded
from pixelflow.cli.machine_values import PIXELFLOW, add_machine_option
from pixelflow.cli.screen import STANDARD_STREAM, Screen, output_file
from pixelflow.isa import INSTRUCTIONS, Declaration, NodeDeclaration
from pixelflow.simd.errors import Fault, InputError, UsageError
from pixelflow.simd.isa.declare import InstructionSet
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Column, Fact, Json, Part, Report, Table, counted, verbatim

EXAMPLES = (
    "pixelflow isa",
    "pixelflow isa EMC_TreeIntoMem_Li ADD",
    "pixelflow isa --find carry",
    "pixelflow isa --md",
)

_SCHEMA = "pixelflow.isa/1"
_MEANING = 20
"""Columns of a screen that the meaning needs at least."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the instructions and the output form."""
    parser.add_argument("operations", nargs="*", metavar="OP", help="instructions to describe (default: list all)")
    parser.add_argument("--find", metavar="WORD", help="list the instructions whose entry has this word")
    add_machine_option(parser)
    parser.add_argument("--md", action="store_true", help="print the whole manual as Markdown")
    parser.add_argument("-o", "--output", metavar="FILE", default=STANDARD_STREAM, help="where --md writes")


def run(args: argparse.Namespace, screen: Screen) -> Report | int:
    """Return one manual entry or the table of all, or write the manual."""
    if args.output != STANDARD_STREAM and not args.md:
        raise UsageError("-o", "only the manual is written to a file", "add --md")
    if screen.json and args.md:
        raise UsageError("--md", "--json prints an object, not Markdown", "leave out one of the two")
    if args.find is not None and args.operations:
        raise UsageError("--find", "lists the instructions that have a word", "leave out the names, or --find")
    known = INSTRUCTIONS if args.machine == PIXELFLOW else machine_named(args.machine).instructions
    own = "pixelflow isa" if args.machine == PIXELFLOW else f"pixelflow isa --machine {args.machine}"
    others = f"all of them: {own}"
    chosen = [_find(known, word, others) for word in args.operations] or _having(known, args.find, others)
    report = _report(chosen, None if args.operations else f"{own} OP")
    if not args.md:
        return report
    with output_file(args.output) as stream:
        stream.write(_markdown(chosen))
    screen.write_page(report)
    return 0


def _having(known: InstructionSet[Declaration], word: str | None, others: str) -> list[Declaration]:
    """Return the instructions whose entry has a word, all for None; raises InputError if none has it."""
    wanted = (word or "").lower()
    found = [each for each in known.values() if wanted in f"{each.synopsis} {each.family.value} {each.manual}".lower()]
    if not found:
        raise InputError(Fault(f"no instruction has {word!r} in its entry", hint=others))
    return found


def _find(known: InstructionSet[Declaration], word: str, others: str) -> Declaration:
    """Return the declaration of a mnemonic written in any case; raises InputError with the nearest one."""
    base, dot, suffix = word.partition(".")
    same = [each for each in known.values() if each.mnemonic.lower() == base.lower()]
    if same and (not dot or (suffix.lower() == "e" and same[0].gateable)):
        return same[0]
    if same:
        raise InputError(f"{same[0].mnemonic} has no .{suffix} form; it is written {same[0].synopsis}")
    return known.find(word, others)


def _report(declarations: Sequence[Declaration], command: str | None) -> Report:
    """Return a table of instructions, which ``command`` describes one of; without it, the manual entry of each."""
    if command is None:
        parts = [part for each in declarations for part in ("", *_entry(each))][1:]
    else:
        parts = list(_all(declarations, command))
    return Report(results=parts, schema=_SCHEMA, data={"instructions": [_entry_object(each) for each in declarations]})


def _all(declarations: Sequence[Declaration], command: str) -> Iterator[Part]:
    yield f"{counted(len(declarations), 'instruction')}; one of them: {command}"
    columns = (Column("instruction", fixed=True), Column("cycles", verbatim), Column("meaning", least=_MEANING))
    for family in dict.fromkeys(each.family for each in declarations):
        of_family = [each for each in declarations if each.family is family]
        rows = [(each.synopsis, each.cost_text, meaning_of(each)) for each in of_family]
        yield from ("", Table(columns, rows, family.value))


def meaning_of(declaration: Declaration) -> str:
    """Return the first clause of an instruction's manual entry."""
    text = " ".join(declaration.manual.split("\n\n")[0].replace("``", "").split())
    return re.split(r"(?<=[^.])[.;] ", text)[0].rstrip(".")


def _entry(declaration: Declaration) -> Iterator[Part]:
    cycles = f"cycles: {declaration.cost_text}; {counted(declaration.words, 'word')}"
    yield Fact(declaration.synopsis, wrap=False)
    yield from (Fact(f"    {declaration.family.value}; {cycles}", wrap=False), "")
    for paragraph in declaration.manual.split("\n\n"):
        yield from (f"    {' '.join(paragraph.split())}", "")
    if declaration.operands:
        width = max(len(spec.name) for spec in declaration.operands)
        for spec in declaration.operands:
            optional = " (optional)" if spec.optional else ""
            yield Fact(f"    {spec.name:<{width}}  {spec.allowed}{optional}", wrap=False)
        yield ""
    if declaration.gateable:
        yield from ("    .E: registers and carry change only in the PEs whose enable is set.", "")
    if isinstance(declaration, NodeDeclaration):
        yield Fact(coded(f"    in hardware, at most in a cycle: {declaration.needs}", "PF105"))
        yield from (f"        {example}  {placed.text}" for example, placed in declaration.hardware.items())
        yield ""
    yield f"    standing: {declaration.standing} ({declaration.source})"


def _entry_object(declaration: Declaration) -> dict[str, Json]:
    hardware: dict[str, Json] = {}
    if isinstance(declaration, NodeDeclaration):
        found = [{"example": example, **placed._asdict()} for example, placed in declaration.hardware.items()]
        hardware["hardware"] = {"needs": declaration.needs, "examples": found}
    return {
        "mnemonic": declaration.mnemonic,
        "opcode": declaration.opcode,
        "synopsis": declaration.synopsis,
        "family": declaration.family.value,
        "cycles": declaration.cost_text,
        "words": declaration.words,
        "gateable": declaration.gateable,
        "operands": [
            {"name": spec.name, "kind": spec.kind.value, "allowed": spec.allowed, "optional": spec.optional}
            for spec in declaration.operands
        ],
        "standing": declaration.standing.value,
        "source": declaration.source,
        "manual": declaration.manual,
        **hardware,
    }


def _markdown(declarations: Sequence[Declaration]) -> str:
    """Return the manual; the same declarations always give the same text."""
    lines = [
        "# Instruction set",
        "",
        "Generated by `pixelflow isa --md` from the declarations; do not edit.",
        "",
        "`.E` after a mnemonic: registers and carry change only in the PEs whose enable is set. Cycles are those of",
        "the EMC at one microinstruction a cycle; sequencer control costs none. In hardware: accesses to memory and",
        "sums of the busiest cycle, and bits outside registers and flags (PF105).",
    ]
    for family in dict.fromkeys(each.family for each in declarations):
        lines += ["", f"## {family.value.capitalize()}"]
        for each in declarations:
            if each.family is family:
                lines += _markdown_entry(each)
    return "\n".join(lines) + "\n"


def _markdown_entry(declaration: Declaration) -> list[str]:
    lines = ["", f"### {declaration.mnemonic}", "", f"`{declaration.synopsis}`", "", declaration.manual, ""]
    if declaration.operands:
        lines += ["| operand | what it may be |", "| --- | --- |"]
        lines += [
            f"| {spec.name} | {spec.allowed}{'; optional' if spec.optional else ''} |" for spec in declaration.operands
        ]
        lines.append("")
    needs = f"; in hardware: {declaration.needs}" if isinstance(declaration, NodeDeclaration) else ""
    words = counted(declaration.words, "word")
    lines.append(
        f"Cycles: {declaration.cost_text}{needs}. Opcode {declaration.opcode:#04x}, {words}. "
        f"Standing: {declaration.standing} ({declaration.source})."
    )
    return lines
