"""The working tree: finding files, reading them without leaving the project, following their changes, and git.

It may import `text`, `errors` and the small modules of the lowest layer. It must not know what a file means: no format,
no graph, no service.
"""

# Implements: REQ-d00004
