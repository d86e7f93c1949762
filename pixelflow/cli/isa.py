"""Instruction reference, generated from the declarations that the machine itself executes."""

from __future__ import annotations

import argparse

from pixelflow.cli.arguments import UsageError
from pixelflow.cli.output import STANDARD_STREAM, output_file
from pixelflow.cli.screen import Column, Screen, counted
from pixelflow.isa import INSTRUCTIONS, Declaration
from pixelflow.simd.errors import InputError

EXAMPLES = (
    "pixelflow isa",
    "pixelflow isa EMC_TreeIntoMem_Li",
    "pixelflow isa --md",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the operation and the output form."""
    parser.add_argument("operation", nargs="?", metavar="OP", help="one instruction (default: all)")
    parser.add_argument("--md", action="store_true", help="print the whole manual as Markdown")
    parser.add_argument("-o", "--output", metavar="FILE", default=STANDARD_STREAM, help="where --md writes")


def run(args: argparse.Namespace) -> int:
    """Print one manual entry, the table of all, or the manual."""
    screen = Screen.of(args)
    if args.output != STANDARD_STREAM and not args.md:
        raise UsageError("-o", "only the manual is written to a file", "add --md")
    if args.json and args.md:
        raise UsageError("--md", "--json prints an object, not Markdown", "leave out one of the two")
    chosen = INSTRUCTIONS.values() if args.operation is None else (_find(args.operation),)
    if screen.json:
        screen.object("pixelflow.isa/1", instructions=[entry_object(each) for each in chosen])
    elif args.md:
        with output_file(args.output) as stream:
            stream.write(_markdown(chosen))
    elif args.operation is None:
        show_all(screen, chosen, "pixelflow isa OP")
    else:
        show_one(screen, chosen[0])
    return 0


def _find(word: str) -> Declaration:
    """Return the declaration of a mnemonic written in any case; raises InputError with the nearest one."""
    base, dot, suffix = word.partition(".")
    same = [each for each in INSTRUCTIONS.values() if each.mnemonic.lower() == base.lower()]
    if same and (not dot or (suffix.lower() == "e" and same[0].gateable)):
        return same[0]
    if same:
        raise InputError(f"{same[0].mnemonic} has no .{suffix} form; it is written {same[0].synopsis}")
    return INSTRUCTIONS.find(word)


def show_all(screen: Screen, declarations: tuple[Declaration, ...], command: str) -> None:
    """Print a table of instructions; ``command`` is what shows one of them."""
    screen.text(f"{len(declarations)} instructions; one of them: {command}")
    families = list(dict.fromkeys(each.family for each in declarations))
    for family in families:
        columns = [Column("instruction"), Column("cycles", numbers=True), Column("words", numbers=True)]
        columns += [Column("standing", fixed=True)]
        rows = []
        for each in declarations:
            if each.family is family:
                rows.append([each.synopsis, each.cost_text, str(each.words), each.standing.value])
        screen.text()
        screen.table(columns, rows, title=family.value)


def show_one(screen: Screen, declaration: Declaration) -> None:
    """Print one manual entry."""
    screen.text(declaration.synopsis)
    screen.text(
        f"    {declaration.family.value}; cycles: {declaration.cost_text}; {counted(declaration.words, 'word')}"
    )
    screen.text()
    for paragraph in declaration.manual.split("\n\n"):
        screen.paragraph(" ".join(paragraph.split()), indent="    ")
        screen.text()
    if declaration.operands:
        width = max(len(spec.name) for spec in declaration.operands)
        for spec in declaration.operands:
            optional = " (optional)" if spec.optional else ""
            screen.text(f"    {spec.name:<{width}}  {spec.allowed}{optional}")
        screen.text()
    if declaration.gateable:
        screen.paragraph(".E: registers and carry change only in the PEs whose enable is set.", indent="    ")
        screen.text()
    screen.paragraph(f"standing: {declaration.standing} ({declaration.source})", indent="    ")


def entry_object(declaration: Declaration) -> dict[str, object]:
    """Return one manual entry for JSON."""
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
    }


def _markdown(declarations: tuple[Declaration, ...]) -> str:
    """Return the manual; the same declarations always give the same text."""
    lines = [
        "# Instruction set",
        "",
        "Generated by `pixelflow isa --md` from the declarations; do not edit.",
        "",
        "`.E` after a mnemonic: registers and carry change only in the PEs whose enable is set. Cycles are those of",
        "the EMC at one microinstruction a cycle; sequencer control costs none.",
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
    lines.append(
        f"Cycles: {declaration.cost_text}. Opcode {declaration.opcode:#04x}, {counted(declaration.words, 'word')}. "
        f"Standing: {declaration.standing} ({declaration.source})."
    )
    return lines
