"""The core: what every machine stands on, and nothing that names one."""
