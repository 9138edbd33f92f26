"""Full text, vectors and similar_to edges, in step with the nodes."""
