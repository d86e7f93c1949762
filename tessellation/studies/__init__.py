"""Studies: what passes and pictures take where a guess, a schedule, a library or the supply of instructions is another.

Everything is executed at that moment, timing only; nothing here is kept from an earlier run.
"""
