"""Access to the HTTP server: who may connect, as whom, how often, and how large a request may be."""
