"""The thesis's figures beside those of this machine: published | formula | measured | deviation | standing | notes.

*Published* is what a table or the text prints. *Formula* is the closed form of `cost_model.py` at the thesis's own
costs. *Measured* was executed on the bench that the caller gives, by the thesis's schedule and the library ``plain``
where nothing else is said; sizes and address mappings are read from the machine. A row has a note where, and only
where, formula or measured figure differ from the published one, however little it may be.

>>> from tessellation.reproduction import PAPER, ThesisBench
>>> PAPER.rows("table 6", ThesisBench())[4].measured
164
"""

from tessellation.reproduction.bench import ThesisBench
from tessellation.reproduction.paper import PAPER

__all__ = ["PAPER", "ThesisBench"]
