"""The reader for Java, by the grammar of tree-sitter."""
