"""The thesis's figures beside those of this machine: published | formula | measured | deviation | standing | notes.

*Published* is what a table or the text prints. *Formula* is the closed form of `cost_model.py` at the thesis's own
costs. *Measured* was executed on the bench that the caller gives, by the thesis's schedule and the library ``thesis``
where nothing else is said; sizes and address mappings are read from the machine. A row has a note where, and only
where, formula or measured figure differ from the published one, however little it may be.

>>> from tessellation.reproduction import Bench, REPRODUCTIONS
>>> REPRODUCTIONS["table 6"].rows(Bench())[4].measured
164
"""

from __future__ import annotations

from collections.abc import Callable

from pixelflow.simd.records import record
from tessellation.published.rows import Row
from tessellation.published.thesis import table
from tessellation.reproduction import arithmetic, loads, memory, passes, transfers
from tessellation.reproduction.bench import Bench

__all__ = ["REPRODUCTIONS", "WITHOUT_FIGURES", "Bench", "Reproduction"]


@record
class Reproduction:
    """A table, or what a chapter of the text prints: where, about what, notes on the whole, and what executes it."""

    name: str
    title: str
    section: str
    notes: tuple[str, ...]
    parts: tuple[Callable[[Bench], list[Row]], ...]
    effort: int = 1
    """How long it takes beside the others, if these are executed in their order; for progress alone."""

    def rows(self, bench: Bench) -> list[Row]:
        """Execute what is needed and was not executed on the bench before, and return the rows."""
        return [row for part in self.parts for row in part(bench)]


def _table(number: int, part: Callable[[Bench], list[Row]], effort: int = 1) -> Reproduction:
    of_thesis = table(number)
    return Reproduction(f"table {number}", of_thesis.title, of_thesis.section, of_thesis.notes, (part,), effort)


_ALL = (
    _table(1, arithmetic.table_1, 6),
    _table(2, transfers.table_2),
    _table(3, loads.table_3, 6),
    _table(4, loads.table_4, 50),
    _table(5, arithmetic.table_5, 40),
    _table(6, transfers.table_6),
    _table(7, arithmetic.table_7),
    _table(8, memory.table_8, 8),
    _table(9, memory.table_9),
    _table(11, passes.table_11),
    _table(12, passes.table_12),
    _table(13, arithmetic.table_13, 8),
    Reproduction("figure 11", "Logical to physical address mapping", "4.3", (), (memory.linear,)),
    Reproduction("figure 12", "The same with alternating bank access", "4.3", (), (memory.alternating,)),
    Reproduction("figure 13", "Stages of tessellation for a bicubic patch", "5", (), (passes.figure_13,), 5),
    Reproduction("section 1", "Introduction", "1.0", (), (passes.section_1,)),
    Reproduction("section 2", "Hardware overview", "2.1 and 2.2",
        ("section2-index", "section2-sign"), (memory.capacities, transfers.bandwidths)),
    Reproduction("section 3", "Approaches to tessellation", "3.2 to 3.6", ("section3-panels", "section3-blocks"),
        (loads.section_3_2, transfers.random_reads, memory.sizes)),
    Reproduction("section 4", "Tessellation implementation", "4.1.3 and 4.1.4", ("section4-waits",),
        (passes.other_claims, transfers.results)),
    Reproduction("section 5", "Results", "1.0 and 5", (), (passes.section_5,)),
    Reproduction("appendix b", "Caching intermediate results", "appendix B", ("appendix-b-units",),
        (transfers.appendix_b,)),
)  # fmt: skip

REPRODUCTIONS: dict[str, Reproduction] = {each.name: each for each in _ALL}
"""What can be reproduced, by name."""

WITHOUT_FIGURES: dict[str, str] = {
    "table 10": "names the calls of the application interface, which is `tessellation.PatchManager`",
    "figure 7": "the rendering pipeline: a picture without numbers",
    "figure 10": "missing from the text, which names no address of it; see figures 11 and 12",
    "figure 14": "missing from the text; `texture/caching.mc` executes what appendix B says of it",
    "figure 15": "shows which PEs of an EMC write in which pass; `texture/caching.mc` writes them so",
}
"""Tables and figures of the thesis that print no quantity, and why."""
