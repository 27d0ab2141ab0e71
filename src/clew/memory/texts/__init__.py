"""Texts of memories, without the store: secrets taken out, checks, kind and title, the block that an agent reads."""
