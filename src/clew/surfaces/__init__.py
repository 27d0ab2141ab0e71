"""The surfaces of Clew: MCP, the command line, the page, the language server and the menu of req.

A surface translates a request of its protocol into an operation, and the operation's result back. It may import
`operation`, the services and everything below them; no other room may import it. It must not know how an answer is
made, and holds no rule of a requirement, a document or a memory.
"""

# Implements: REQ-o00005
