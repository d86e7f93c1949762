"""The vector unit and the core around it: instructions, threads, issue, caches, ring."""
