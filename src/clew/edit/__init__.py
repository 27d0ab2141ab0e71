"""Writing files: all of them or none, whatever interrupts the writer.

The transaction over files, its journal and recovery, and the admission of state folders live here; no other room
replaces a file. It may import `workspace`, `grants`, `text` and `errors`. It must not know what a file means: no
format, no graph, no service.
"""

# Implements: REQ-d00246
