"""The graph of a project: nodes and edges, regions, building from files, walking, recorded changes.

It may import `formats`, `workspace`, `derived`, `edit` and the configuration. It must not know a service, an
operation, or a surface.
"""

# Implements: REQ-o00001
