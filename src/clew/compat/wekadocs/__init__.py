"""The older tools of wekadocs on documents and on their graph."""
