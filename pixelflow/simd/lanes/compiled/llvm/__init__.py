"""LLVM: vector operations as IR, the tools that make native code of it, and the cache of what was made."""
