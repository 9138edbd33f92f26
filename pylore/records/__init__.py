"""Records of people and agents: written, shared, merged, undone."""
