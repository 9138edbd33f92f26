"""A repository → files, symbols, imports, calls, co-changes."""

RULES, INDEXED, OWED = "code_rules", "code_indexed_at", "code_owed"
"""Keys of ``meta``: rules and time of the last run; a run with missing edges."""
