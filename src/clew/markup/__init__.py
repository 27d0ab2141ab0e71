"""HTML: the templates and styles that the page and the matrix share, and prose as HTML."""

# Implements: REQ-d00417
