"""Overview of a project from its files and its history: for `clew brief`, in a repository that nobody set up."""
