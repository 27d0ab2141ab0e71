"""Tools of other systems, each set for a profile of its own, as adapters over the services."""

# Implements: REQ-p00003
