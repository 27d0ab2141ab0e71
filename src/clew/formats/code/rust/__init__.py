"""The reader for Rust, by the grammar of tree-sitter."""
