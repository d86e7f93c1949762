"""What reads programs back: listing, disassembler, totals, symbols, static checks."""
