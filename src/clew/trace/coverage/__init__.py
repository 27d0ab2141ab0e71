"""Which assertions are implemented and tested, and the figures over all requirements."""
