"""From memory to memory: neighbours, causes, and the thirteen spaces in which two memories are compared."""
