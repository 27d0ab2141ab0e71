"""Functions and classes of a source file: their names and the lines they cover.

A scan, not a parser: it knows strings and comments, and then either indentation or braces. That is enough to say
which function a comment belongs to, also in files with syntax errors and in languages nobody wrote a grammar for.
"""

# Implements: REQ-d00043
