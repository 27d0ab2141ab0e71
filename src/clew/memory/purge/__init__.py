"""Purging: taking memories out for good, also from the history, the indexes and every other file of Clew."""
