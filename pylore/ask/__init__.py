"""Questions to the model of the user."""
