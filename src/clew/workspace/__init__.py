"""The working tree: finding files, reading them without leaving the project, what git ignores, and what git knows."""
