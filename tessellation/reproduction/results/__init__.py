"""Results, computed with PE data: what reported programs leave in memory, against references that share nothing."""
