"""From what happened in a session to memories, without a language model."""
