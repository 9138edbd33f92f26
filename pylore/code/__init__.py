"""A repository → files, symbols, imports, calls, co-changes."""
