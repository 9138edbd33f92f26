"""The machine: git, files, processes."""
