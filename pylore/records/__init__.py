"""What people and agents write down, and what becomes of it."""
