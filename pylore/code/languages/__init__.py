"""Languages: a module or a folder each, with the language as the name."""
