"""The thesis's figures and those of this machine: published | formula | measured | deviation | standing | notes.

*Published* is printed in a table or the text. *Formula* is the closed form of `cost_model.py` at the thesis's own
costs. *Measured* was executed on the caller's bench, by default with the thesis's schedule and the library ``plain``;
sizes and address mappings are read from the machine. A row has a note if and only if formula or measured figure differs
from the published one, however little.

>>> from tessellation.reproduction import PAPER, ThesisBench
>>> PAPER.rows("table 6", ThesisBench())[4].measured
164
"""

from tessellation.reproduction.bench import ThesisBench
from tessellation.reproduction.paper import PAPER

__all__ = ["PAPER", "ThesisBench"]
