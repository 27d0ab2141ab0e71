"""What was authored through Clew and lives in no file: records, events, jobs, settings."""

# Implements: REQ-o00002
