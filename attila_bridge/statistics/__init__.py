"""Statistics: what the boxes count, each declared once under the public simulator's name, with its unit and meaning."""

from attila_bridge.statistics.counts import STATISTICS, Counts, counts_of, statistic_of
from attila_bridge.statistics.statistic import Statistic

__all__ = ["STATISTICS", "Counts", "Statistic", "counts_of", "statistic_of"]
