"""The core: what every machine is on, and nothing that names one."""
