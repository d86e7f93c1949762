"""Memory of a chip (time): caches, the ring between cores, and the fibers that hide the latency of texels."""
