"""The tools and commands of the memory."""
