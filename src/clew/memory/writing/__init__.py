"""From a text to a memory: secrets taken out, kind and worth decided, compared with what is there."""
