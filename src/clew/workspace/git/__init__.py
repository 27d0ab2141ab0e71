"""Git: `run` starts it, `find` finds the work tree, `protect` keeps a repository from naming programs, `parse` reads
git's output, `questions` are Clew's questions about a folder, and `history` those about commits."""

# Implements: REQ-d00260
