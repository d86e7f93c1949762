"""Tables of reports as data frames of pandas or polars, where one of them is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelflow.simd.errors import MissingPackageError
from pixelflow.simd.report.model import Json, Table

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["columns_of", "to_pandas", "to_polars"]


def columns_of(table: Table) -> dict[str, list[Json]]:
    """Return the cells of a table by column, as numbers and texts, without its rows of sums.

    A column is called as in JSON, or without a key there by its label.
    """
    return {
        column.key or column.label or "": [row[at] for row in table.rows] for at, column in enumerate(table.columns)
    }


def to_pandas(table: Table) -> pandas.DataFrame:
    """Return a table as a data frame; raises MissingPackageError without pandas."""
    try:
        import pandas
    except ImportError:
        raise MissingPackageError("this data frame needs pandas, which is not installed", "frames") from None
    return pandas.DataFrame(columns_of(table))


def to_polars(table: Table) -> polars.DataFrame:
    """Return a table as a data frame; raises MissingPackageError without polars."""
    try:
        import polars
    except ImportError:
        raise MissingPackageError("this data frame needs polars, which is not installed", "frames") from None
    return polars.DataFrame(columns_of(table), strict=False)
