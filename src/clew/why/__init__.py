"""Questions that need several services: why something is there, an overview of a project, search over everything.

It may import every service and the layers below them; no service may import it. It must not know which surface calls,
and keeps no data of its own: each fact comes from the service that holds it.
"""

# Implements: REQ-d00360
