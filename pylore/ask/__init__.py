"""Questions to the user's own model."""
