"""Meaning: what carries out the steps of a run, and the record of them."""
