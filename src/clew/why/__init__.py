"""What crosses the parts of Clew."""
