"""Sessions of coding agents: a log of events for days to weeks, and candidates for records."""
