"""The commands: a file each, which declares its options and arguments as data."""
