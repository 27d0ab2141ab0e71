"""What `ask` reads beside documents: code, manifests and variables. Imports nothing of the surfaces."""
