"""Functions on text: words, sentences, Markdown lines, tokens, terminals.

It may import the standard library and its neighbours of the lowest layer. It must not know a file format, the project,
or any other room.
"""

# Implements: REQ-d00263
