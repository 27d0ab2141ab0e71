"""The declaration of operations, and the one way to carry one out: decoding, freshness, paging, budget, listing.

It may import `text`, `errors` and `traffic`; projects, services and models appear in its types only. It must not know
any single operation, except by the module names in `listing.py`, and not which surface calls.
"""

# Implements: REQ-o00004
