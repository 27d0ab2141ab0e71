"""Git: `run` starts it, `find` finds the work tree, `protect` keeps a repository from naming programs, `parse`
understands what git prints, `questions` are what Clew asks of a folder,
and `history` how its files came to be."""

# Implements: REQ-d00260
