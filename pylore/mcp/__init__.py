"""The Model Context Protocol over stdio: tools that are thin over app/."""
