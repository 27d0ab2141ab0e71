"""Managed requirements: register files with a validator, evidence, review and their tools.

`change` reads and writes the file, `rules` validate it, `reports` answer questions, and `git` merges it. It may import
the layers below the services. It must not import another service, or know who asks: MCP, the command line and the web
are alike.
"""

# Implements: REQ-d00088
