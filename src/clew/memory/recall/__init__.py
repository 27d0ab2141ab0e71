"""From a question to memories: one ranking, search and injection, the gate, and the block that an agent reads."""
