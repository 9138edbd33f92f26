"""Transcripts of coding agents, read as events: a file an agent, which yields what was said."""
