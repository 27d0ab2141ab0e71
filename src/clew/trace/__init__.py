"""Requirements: questions about the graph, findings, coverage, drafts and mutations, suggested links, safety branches.

It may import the layers below the services. It must not import another service, or write a file except by a
transaction.
"""

# Implements: REQ-d00013
