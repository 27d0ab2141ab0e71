"""Writing files: all of them or none, whatever interrupts the writer."""

# Implements: REQ-d00246
