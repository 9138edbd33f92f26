"""The store in one SQLite file: all SQL, and the only driver."""
