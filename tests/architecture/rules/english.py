"""Plain English: turns of phrase that a native reader stumbles over, counted in docstrings, comments, texts, documents.

    python -m tests.architecture.rules.english [TURN]

prints the count of each turn, or every place of one.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.source_tree import nodes, place, sources, text, tracked

TURNS = {
    "Who, Whose, Whether, What": r"^\W*(?:Who|Whose|Whether|What)\b",
    "told, tells": r"\b(?:told|tells?|telling)\b",
    "beside": r"\bbeside\b",
    "nobody, somebody, whoever": r"\b(?:nobody|somebody|whoever)\b",
    "so many": r"\bso many\b",
    "carry out": r"\b(?:carr(?:y|ies|ied|ying)) (?:\w+ ){0,2}?out\b",
    "lies, stands": r"\b(?:lies|lie|stands?)\b(?! for\b)",
    "goes on": r"\bgo(?:es)? on\b",
    "from ... on": r"\bfrom [`\w.]+(?: [`\w.]+)? on\b(?! (?:the|a|an|each|it|its|this|that|which)\b)",
    "is no, has none": r"(?<!there )\b(?:is no|are no|has none|have none)\b(?! longer)",
    "comes again, of itself, for nothing, besides": r"\b(?:comes? again|of itself|for nothing|besides)\b",
    "worked out": r"\bworked out\b",
    "of its own": r"\bof (?:its|their|one's|his) own\b",
    "taken for, honest to, weigh": r"\b(?:to be taken for|honest to the|guesses in it)\b",
}
"""Each with its pattern; the first is a docstring's head, so it is looked for there alone."""
MOST = 25
"""Turns in the whole tree; it only becomes lower."""
HEAD = next(iter(TURNS))
ANY = re.compile("|".join(TURNS.values()), re.IGNORECASE)
"""Most texts have no turn at all, which is seen at once."""
NOT_ENGLISH = {"LICENSE.md", "CHANGELOG.md"}
"""Documents that are not ours, or whose entries are history."""


@cache
def said(path: Path) -> tuple[tuple[int, bool, str], ...]:
    """Return what a file says in English: line, whether it is a docstring, text."""
    if path.suffix == ".md":
        prose = re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), text(path), flags=re.DOTALL)
        return tuple((line, False, each) for line, each in enumerate(re.sub("`[^`\n]*`", "`", prose).splitlines(), 1))
    docstrings = {
        id(node.value)
        for node in nodes(path)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    strings = [
        (node.lineno, id(node) in docstrings, node.value)
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    ]
    if not any("#" in line and ANY.search(line, line.index("#")) for line in text(path).splitlines()):
        return tuple(strings)
    tokens = tokenize.generate_tokens(io.StringIO(text(path)).readline)
    comments = [(token.start[0], False, token.string) for token in tokens if token.type == tokenize.COMMENT]
    return tuple(strings + comments)


def found(root: Path) -> Iterator[tuple[str, str, str]]:
    """Find each turn: which it is, its place, and the words around it."""
    documents = [path for path in tracked(root) if path.suffix == ".md" and path.name not in NOT_ENGLISH]
    for path in (*sources(root), *documents):
        for line, docstring, words in said(path):
            for turn, pattern in TURNS.items() if ANY.search(words) else ():
                if turn != HEAD or docstring:
                    for match in re.finditer(pattern, words, re.IGNORECASE if turn != HEAD else 0):
                        near = words[max(0, match.start() - 30) : match.end() + 30]
                        yield turn, place(root, path, line + words[: match.start()].count("\n")), " ".join(near.split())


def english_is_plain(root: Path) -> list[str]:
    """The tree has no more turns of this table than the most that it had."""
    count = sum(1 for _ in found(root))
    return [f"{count} turns, the most are {MOST}: python -m tests.architecture.rules.english"] if count > MOST else []


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    if sys.argv[1:]:
        sys.stdout.writelines(f"{where}: {near}\n" for turn, where, near in found(root) if turn == sys.argv[1])
    else:
        counts = Counter(turn for turn, _, _ in found(root))
        sys.stdout.writelines(f"{counts[turn]:6,}  {turn}\n" for turn in TURNS)
        sys.stdout.write(f"{counts.total():6,}  in all\n")
