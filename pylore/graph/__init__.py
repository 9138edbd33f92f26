"""Walks over the graph, and queries of its shape."""
