"""Ties between records and code, and their verdicts."""
