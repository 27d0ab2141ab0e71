"""Commands that are no operations: each module has `EXAMPLE`, `configure(parser)` and `run(args)`."""
