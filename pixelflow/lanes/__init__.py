"""Lanes: one algebra, several engines, all giving the same bits.

Nothing here knows what machine it serves, what an instruction is called, or what time is.
"""

from pixelflow.lanes.shape import Shape

__all__ = ["ENGINES", "Shape", "make_engine"]

ENGINES = ("bit-serial", "rows")
"""Names of the engines: the reference, and the numpy default."""


def make_engine(name: str, shape: Shape):
    """Return a new engine by name; raises ValueError for a name that is not in ENGINES."""
    if name == "bit-serial":
        from pixelflow.lanes.bitserial import BitSerialEngine

        return BitSerialEngine(shape)
    if name == "rows":
        from pixelflow.lanes.rows import RowsEngine

        return RowsEngine(shape)
    raise ValueError(f"no engine {name!r}; there are {', '.join(ENGINES)}")
