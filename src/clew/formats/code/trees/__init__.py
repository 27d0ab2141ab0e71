"""Syntax trees of languages with a grammar of tree-sitter: parsing, and the part that all readers of trees share."""
