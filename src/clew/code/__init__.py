"""Questions about source code: who uses a symbol, and which tests run it.

The rule that finds the symbol of a text, and the answers about its uses, live here. It may import the layers below the
services; names are bound in `graph/code/binding`. It must not import another service, or call something a use that is
only a word.
"""

# Implements: REQ-d00742
