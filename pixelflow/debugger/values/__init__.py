"""Values that users ask about: expressions over what PEs hold, conditions, and what a poke writes."""
