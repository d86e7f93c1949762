"""Lanes as native code: LLVM text, its compilation and cache, threads, and the programs that groups of lanes run."""
