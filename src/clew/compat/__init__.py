"""What exists only for a profile: tools of other systems, as adapters over the services."""

# Implements: REQ-p00003
