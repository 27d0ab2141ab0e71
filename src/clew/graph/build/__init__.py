"""From files to the graph: reading, linking, and keeping both in step."""
