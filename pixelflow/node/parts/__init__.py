"""Parts of the node that hold data: PE array, texture memory with its TASICs, SDRAMs; the state of all of them."""
