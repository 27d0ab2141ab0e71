"""HTML: the templates and styles that the page and the matrix share, and prose as HTML.

It may import `text`. It must not know the data that it renders beyond the values it is given: no graph, no
service, no request.
"""

# Implements: REQ-d00417
