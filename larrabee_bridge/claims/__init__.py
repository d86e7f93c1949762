"""Claims (watching): those of Seiler et al. 2008 beside what is found here; no model reads the printed figures."""

from larrabee_bridge.claims.measures.bench import Bench
from larrabee_bridge.claims.published.claim import Claim, Kind, Measured
from larrabee_bridge.claims.report import CLAIMS, Row, by_class, closing, is_long, measured_rows

__all__ = ["CLAIMS", "Bench", "Claim", "Kind", "Measured", "Row", "by_class", "closing", "is_long", "measured_rows"]
