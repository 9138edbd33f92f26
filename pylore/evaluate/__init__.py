"""Measure the quality of searches on queries with relevant nodes."""
