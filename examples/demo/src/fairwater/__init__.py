"""Fairwater tells a skipper when there is enough water over the harbour bar."""

__version__ = "0.3.0"
