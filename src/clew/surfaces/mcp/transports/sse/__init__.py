"""Server-sent events: the endpoints, the log that a client resumes from, and the sessions with their limits."""
