"""The sections of an answer to "why", one module each."""
