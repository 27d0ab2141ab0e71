"""Hooks of agents' hosts: events of a session are captured, and memories are injected in answer."""
