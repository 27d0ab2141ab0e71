"""Managed requirements: a register file with a validator, evidence and review.

`transaction` reads and writes the file; `operations*` change a draft of it; `validator*` say what is wrong with it;
`queries` and `reports` answer questions. Nothing here knows who asks: MCP, the command line and the web are alike.
"""

# Implements: REQ-d00088
