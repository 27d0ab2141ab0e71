"""File formats: bytes in, records with spans out.

Readers and writers of requirements, specs, registers, documents, source files and test reports live here. It may import
`text`, `errors` and the small modules of the lowest layer. It must not know the graph, the project, the disk or git: a
caller brings the bytes.
"""

# Implements: REQ-d00264
