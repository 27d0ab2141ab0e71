"""Derived data: files that can be deleted and made again from their sources.

Parse cache, outlines of source files, history of git, and mapped vectors live here. It may import `store`, `edit`,
`workspace`, `formats` and `text`. It must not keep anything that a person or an agent wrote, and
not know the graph or a service.
"""

# Implements: REQ-d00035
