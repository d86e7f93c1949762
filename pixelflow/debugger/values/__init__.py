"""Values that users ask about: expressions of the .mc language over what PEs hold, conditions, and what a poke writes."""
