"""The embedded stack behind `interlock dev`: children, their readiness, their addresses and keys.

It speaks commands, environment and HTTP, and imports no room.
"""
