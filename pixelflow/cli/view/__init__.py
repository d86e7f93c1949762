"""Options that say from where something is seen, for commands that draw and those that tessellate."""
