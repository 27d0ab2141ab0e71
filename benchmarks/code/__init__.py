"""Uses of symbols that Clew finds, against the references that language servers know."""
