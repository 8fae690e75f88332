"""A bundle examined before it counts: its cases, conflicts searched for, and decisions on record judged again.

Pure; who publishes a bundle is not decided here.
"""
