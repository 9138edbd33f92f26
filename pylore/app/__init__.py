"""Requests: functions with keyword parameters that return results and never print.

The command line, the SDK and the MCP server call the same functions. Notes are for people. Callers
read the working directory and the environment.
"""
