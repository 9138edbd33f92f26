"""A repository → files, symbols, imports, calls, co-changes."""

RULES, INDEXED, OWED = "code_rules", "code_indexed_at", "code_owed"
"""Keys of ``meta``: rules of the last run; time of the last run; the run that has not written edges
yet."""
