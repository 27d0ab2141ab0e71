"""Changed code: its symbols, their users, and the tests to run, as commands; what tests reach."""
