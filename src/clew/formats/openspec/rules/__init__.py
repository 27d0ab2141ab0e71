"""The rules that specs and changes are held to."""
