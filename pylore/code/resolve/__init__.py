"""All files: from facts to edges."""
