"""The stateful cursor of elspais."""
