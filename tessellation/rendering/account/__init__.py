"""Account of a picture by nodes (watching): what its figures rest on, and what is not counted."""

from tessellation.rendering.account.grounds import ENCODING, PE_BITS, counted_by_nodes, grounds_of_nodes
from tessellation.rendering.account.uncounted import (
    PIXELS,
    feed_floors,
    free_feed,
    free_pixels,
    uncounted_pixels,
    uncounted_work,
)

__all__ = [
    "ENCODING",
    "PE_BITS",
    "PIXELS",
    "counted_by_nodes",
    "feed_floors",
    "free_feed",
    "free_pixels",
    "grounds_of_nodes",
    "uncounted_pixels",
    "uncounted_work",
]
