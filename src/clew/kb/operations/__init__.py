"""The operations on documents and their graph."""
