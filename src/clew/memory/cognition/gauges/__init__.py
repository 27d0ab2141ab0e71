"""Telemetry: figures that describe the last questions of a session. Nothing reads them to decide."""
