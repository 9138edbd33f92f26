"""Hubs on PostgreSQL, where stores exchange lines, and all SQL for them."""
