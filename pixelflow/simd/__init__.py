"""Core that every machine stands on; nothing here names one."""
