"""Telling an MCP client how to start Clew.

`client_config` reads a client's configuration and says what it would become; `write_plan` puts it there. What a file
holds besides Clew's own entry is never touched, and a file that cannot be edited without rewriting it is refused
together with the lines to paste.
"""

# Implements: REQ-d00018
