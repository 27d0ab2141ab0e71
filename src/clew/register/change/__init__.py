"""Every change of a register, each as one transaction."""

# Implements: REQ-d00085
