"""Meaning: what the EU's instructions do, over the algebra of lanes; lane c is channel c of a thread."""
