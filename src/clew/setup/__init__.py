"""Setting up a folder: detection of its contents, and the configuration files of MCP clients.

It may import the layers below the services. It must not import another service, or change a file of the user without
showing the change.
"""

# Implements: REQ-d00018
