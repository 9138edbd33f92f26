"""What commands do: functions with keyword parameters that return results and print nothing.

The command line, the SDK and the MCP server call the same functions. What a person should know is
returned as notes. Callers read the working directory and the environment.
"""
