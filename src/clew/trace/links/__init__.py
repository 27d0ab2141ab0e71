"""Suggested links between tests, code and requirements: finding, deciding, writing."""
