"""Actions behind the forms of the page. Every change is a draft, or is shown as a diff before it is written, and can
be undone."""

# Implements: REQ-d00421
