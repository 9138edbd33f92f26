"""A repository → files, symbols, imports, calls, co-changes."""

RULES, INDEXED, OWED = "code_rules", "code_indexed_at", "code_owed"
"""Keys of ``meta``: the rules that files were read by; when; a run whose edges are not written."""
