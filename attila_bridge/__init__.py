"""ATTILA: a cycle-level unified GPU of 2006 on the lanes that all machines here share."""
