"""Configuration as a frozen tree of values with unit, source, standing and range, read from strict TOML."""
