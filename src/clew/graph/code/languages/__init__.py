"""Rules of the programming languages: where imports lead, which files share a namespace, in which order members are
looked for. They know the record of a source file and nothing of binding."""
