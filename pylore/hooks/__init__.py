"""Hooks of coding agents and git: print a few lines from the store."""
