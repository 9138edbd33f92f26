"""The repository's history."""
