"""What a project is, as its own files and its history tell: for `clew brief`, in a repository that nobody set up."""
