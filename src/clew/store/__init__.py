"""Stored data that exists in no file of the project: records, events, jobs, settings."""

# Implements: REQ-o00002
