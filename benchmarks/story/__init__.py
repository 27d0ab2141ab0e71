"""Questions about the history of repositories that nobody here wrote, with keys written before any answer was seen."""
