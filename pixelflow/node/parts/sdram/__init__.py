"""Time: SDRAM commands, their rules, slots and schedules, and the checker that shares no code with them."""
