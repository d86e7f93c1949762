"""Neither meaning nor time: what the boxes count, each declared once under the public simulator's name."""

from attila_bridge.statistics.counts import STATISTICS, Counts, counts_of, statistic_of
from attila_bridge.statistics.statistic import AttilaStatistic

__all__ = ["STATISTICS", "AttilaStatistic", "Counts", "counts_of", "statistic_of"]
