"""The reader for TypeScript and JavaScript, with JSX, by the grammars of tree-sitter."""
