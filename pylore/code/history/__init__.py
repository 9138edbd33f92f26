"""What the repository's history says."""
