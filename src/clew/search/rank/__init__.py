"""From several signals to one ranking: recipes, fusion, links, variety."""

# Implements: REQ-d00032
