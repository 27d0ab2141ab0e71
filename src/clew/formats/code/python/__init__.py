"""Python by its own grammar: definitions, scopes, imports and what names mean, as far as one file says it."""

# Implements: REQ-d00741
