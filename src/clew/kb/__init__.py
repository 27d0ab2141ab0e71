"""The knowledge base: documentation that answers questions without flooding the context.

Documents, their sections and entities, quotes with sources, and their tools live here. It may import the layers below
the services. It must not import another service, or give an answer without a quote.
"""

# Implements: REQ-d00093
