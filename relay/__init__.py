"""Brings committed wake-ups to Temporal: at once after a commit, again by the relay, and by the sweep what was lost.

Sees identifiers of every tenant, under a role of the database that can read nothing else.
"""
