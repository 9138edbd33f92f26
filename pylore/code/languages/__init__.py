"""Languages: a module or a folder each, named after its language."""
