"""A run of a program: streams issue, an order decides when, a performance executes."""
