"""Programs and kernels as words: their text, their words again, their sources, the rules that they break."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gen6_bridge.code.assembler import assemble_text
from gen6_bridge.code.isa import INSTRUCTIONS, EuInstruction
from gen6_bridge.code.legality import broken_rules
from gen6_bridge.records.files import Entry, Judged, judged, list_in, object_in
from pixelflow.simd.errors import InputError
from pixelflow.simd.isa.encoding import EncodingError

__all__ = ["code_of", "judge_rules", "judge_sources", "judge_text", "judge_words", "words_of"]

_MARKS = {"rsq": (" inv ", " rsq "), "fdiv": (" pow ", " fdiv ")}
"""What a note at the end of a source line says that the public assembler cannot write."""


def words_of(entry: Entry) -> list[int]:
    """Return the instruction words of a record."""
    if "words" not in entry:
        raise KeyError("words")
    return [int(str(word), 16) for word in list_in(entry, "words")]


def code_of(entry: Entry) -> list[EuInstruction]:
    """Return the instructions of a record; raises InputError for words that mean nothing."""
    try:
        return [INSTRUCTIONS.decode_whole(word) for word in words_of(entry)]
    except ValueError as error:
        raise InputError(str(error)) from None


def plain(text: str) -> str:
    """Return a text with one blank wherever it has some."""
    return " ".join(text.split())


def judge_text(kind: str, path: Path, entries: list[Entry], names: list[str], key: str) -> Iterator[Judged]:
    """Compare the disassembler's text of each instruction."""

    def check(position: int) -> Iterator[str]:
        texts = list_in(entries[position], key)
        for number, (word, text) in enumerate(zip(words_of(entries[position]), texts, strict=True)):
            found = _text_of(word)
            if plain(found) != plain(str(text)):
                yield f"instruction {number}: {plain(found)}, recorded {plain(str(text))}"

    yield from judged(kind, path, names, check)


def _text_of(word: int) -> str:
    try:
        return INSTRUCTIONS.decode_whole(word).text()
    except ValueError as error:
        return f"refused: {error}"


def judge_words(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Compare the words that decoded instructions are encoded to."""

    def check(position: int) -> Iterator[str]:
        for number, word in enumerate(words_of(entries[position])):
            try:
                found = INSTRUCTIONS.decode_whole(word).whole
            except (ValueError, EncodingError) as error:
                yield f"instruction {number}: refused: {error}"
                continue
            if found != word:
                yield f"instruction {number}: {found:032x}, recorded {word:032x}"

    yield from judged(kind, path, names, check)


def judge_sources(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Compare the words that a record's source is assembled to, but for those that were altered afterwards."""

    def check(position: int) -> Iterator[str]:
        entry = entries[position]
        lines, altered = list_in(entry, "asm"), list_in(entry, "patched")
        try:
            found = assemble_text("\n".join(_written(str(line)) for line in lines), names[position]).instructions
        except InputError as error:
            yield f"refused: {error.faults[0].message}"
            return
        for number, (mine, word) in enumerate(zip(found, words_of(entry), strict=True)):
            if mine.whole != word and number not in altered:
                yield f"instruction {number}: {mine.whole:032x}, recorded {word:032x}"

    yield from judged(kind, path, names, check)


def _written(line: str) -> str:
    source, mark, note = line.partition("#")
    before, after = _MARKS.get(note.strip(), ("", "")) if mark else ("", "")
    return re.sub(before, after, source, count=1) if before else source


def judge_rules(kind: str, path: Path, entries: list[Entry], names: list[str]) -> Iterator[Judged]:
    """Compare the rules of legality that instructions of programs break."""

    def check(position: int) -> Iterator[str]:
        recorded = object_in(entries[position], "rules_broken")
        for number, instruction in enumerate(code_of(entries[position])):
            rules = recorded.get(str(number)) or []
            wanted = sorted(str(each) for each in (rules.split() if isinstance(rules, str) else rules))  # type: ignore[union-attr]
            found = sorted(broken_rules(instruction))
            if found != wanted:
                yield f"instruction {number}: breaks {' '.join(found) or 'none'}, recorded {' '.join(wanted) or 'none'}"

    yield from judged(kind, path, names, check)
