"""The file formats that feed the graph. A format is added by writing a reader and naming it here."""

# Implements: REQ-d00002
