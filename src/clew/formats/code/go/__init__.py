"""The reader for Go, by the grammar of tree-sitter."""
