"""Finding a tool by the task it does."""
