"""Texts for people and models from results."""
