"""A folder of Markdown files in step with the memory, so that memories are reviewed and merged like code."""
