"""A pass as data: PEs of samples, layout of PE memory, order of work, layout of texture memory."""
