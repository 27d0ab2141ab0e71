"""Facts of source files: what each defines, imports and uses, in terms that belong to no language."""

# Implements: REQ-d00740
