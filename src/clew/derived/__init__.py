"""What was made from something else and can be thrown away and made again."""

# Implements: REQ-d00035
