"""Replay: histories fetched or read from a file, run against today's code, and told as a story for people.

Pure telling and small I/O; nothing here changes anything. `python -m replaying.record` renews the golden histories.
"""
