"""Memories from the events of a session, without a language model."""
