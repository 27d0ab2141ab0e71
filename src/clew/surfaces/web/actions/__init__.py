"""What forms of the page do. Every change is a draft, or is shown as a difference before it is written, and can be
taken back."""

# Implements: REQ-d00421
