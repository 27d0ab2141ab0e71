"""Git: `run` starts it, `find` finds the work tree, `protect` keeps a repository from naming programs, `parse`
understands what git prints, and `questions` are what Clew asks of a folder."""
