"""The functions of commands that a search does not load, a module a family."""
